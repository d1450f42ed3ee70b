"""The typed calls: `operators.h` with one struct for an operator, and functions that call them.

struct add_Tensor
    : detail::Calls<add_Tensor, at::Tensor(const at::Tensor&, const at::Tensor&, const at::Scalar&)> {
  static constexpr const char* name = "aten::add";
  static constexpr const char* overload_name = "Tensor";
};

inline at::Tensor add(const at::Tensor& self, const at::Tensor& other, const at::Scalar& alpha = 1) {
  return ops::add_Tensor::call(self, other, alpha);
}

Note [Calls are compiled where they are made]
A typed call takes 50 milliseconds to compile. Two per operator, in separate files, would take half
as long as a large library's registrations. So calls are members of a template, compiled only where
they are made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchgen_lite.analysis.derive.layout import TensorOptions, argument_layout, element_name
from torchgen_lite.languages.cpp import public
from torchgen_lite.languages.cpp.formula import OPTIONS
from torchgen_lite.languages.cpp.public import Style
from torchgen_lite.languages.cpp.signature import (
    KEYSET,
    CppSignature,
    signature_headers,
    signatures_of,
)
from torchgen_lite.languages.cpp.text import identifier
from torchgen_lite.languages.cpp.types import Expression
from torchgen_lite.schema import Argument, BaseType, OptionalType
from torchgen_lite.schema.grouped import names_of
from torchgen_lite.schema.kind import Variant
from torchgen_lite.targets.cpp import calls
from torchgen_lite.targets.cpp.layout import (
    Blocks,
    Layout,
    copied_files,
    include_blocks,
    stem,
    version_header,
)
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp_torch import types
from torchgen_lite.targets.cpp_torch.types import Classes
from torchgen_lite.targets.output import Files, Header, OutputFile

# The header with the functions that convert arguments.
_HELPERS = ("arguments.h",)
# What a method of the mixin is called on.
_TENSOR = "tensor_()"


def pass_on(operator: CppOperator, style: Style) -> tuple[Expression, ...]:
    """An expression for each parameter of `operator.signature`, with the library's header that it needs. A method passes
    on its tensor."""
    layout = argument_layout(operator.schema)
    options = None if style.faithful else layout.options
    passed: dict[str, Expression] = {}
    for argument in layout.inputs + layout.out:
        name = identifier(argument.name)
        if style.method and argument.name == "self":
            name = _TENSOR
        passed[argument.name] = Expression(name) if style.symint else _symbolic(argument, name)
    if options is not None:
        passed |= _unpacked(options)
        if "memory_format" in names_of(layout.inputs):
            text = "detail::memory_format(options, memory_format)"
            passed["memory_format"] = Expression(text, _HELPERS)
    return tuple([passed[p.name] for p in operator.signature.parameters])


def _symbolic(argument: Argument, name: str) -> Expression:
    """A number, or numbers, as `c10::SymInt`; a single number converts by itself."""
    if element_name(argument.type) != "SymInt" or isinstance(argument.type, BaseType):
        return Expression(name)
    return Expression(f"detail::symbolic({name})", _HELPERS)


def _unpacked(options: TensorOptions) -> dict[str, Expression]:
    """The parts of `at::TensorOptions`; required ones are read as such."""
    parts = {}
    for argument in options:
        optional = isinstance(argument.type, OptionalType)
        text = f"options.{OPTIONS[argument.name]}{'_opt' if optional else ''}()"
        if argument is options.dtype:
            text = f"c10::{'optTypeMeta' if optional else 'typeMeta'}ToScalarType({text})"
        parts[argument.name] = Expression(text)
    return parts


# Headers that nearly every signature needs.
_ALWAYS = ("ATen/core/Tensor.h", "c10/core/Scalar.h")
# A function whose arguments name the headers that they need.
TorchFunction = tuple[CppOperator, CppSignature, Sequence[Expression]]


def build_calls(operators: Sequence[CppOperator], layout: Layout) -> Files:
    """`operators.h`, `functions.h` and `redispatch_functions.h`, for each shard, and the code that
    calls share."""

    def includes(declared: Sequence[CppOperator]) -> Blocks:
        headers = declaration_includes(declared, signatures_of(declared), layout)
        return [[layout.own("call_operator.h")], *headers]

    yield from copied_files(layout, "cpp_torch", "version.h")
    if not operators:
        return
    every = list(public_functions(operators, layout.classes))
    yield from copied_files(layout, "cpp_torch", *_helpers(every), "call_operator.h")
    yield from calls.operator_headers(layout, operators, includes)
    for shard in layout.shards:
        of_shard = [function for function in every if function[0].shard == shard]
        for name, inner, call, build in (
            ("functions", "functions", "call", functions),
            ("redispatch_functions", "redispatch", "redispatch", redispatch_functions),
        ):
            shown = list(build(of_shard))
            headers = call_includes(layout, stem("operators", shard), shown)
            yield calls.function_file(layout, stem(name, shard), headers, shown, inner, call)
    if layout.shards != (None,):
        for name in ("functions", "redispatch_functions"):
            yield calls.umbrella_file(layout, name)


def _helpers(functions: Sequence[TorchFunction]) -> list[str]:
    """The headers of the library that convert their arguments."""
    headers = set[str]()
    for _, _, passed in functions:
        for expression in passed:
            headers.update(expression.headers)
    return sorted(headers)


def call_includes(layout: Layout, operators: str, shown: Sequence[TorchFunction]) -> Blocks:
    """The includes of functions and methods that make the calls declared by the header
    `operators`."""
    before = [layout.own(name) for name in (f"{operators}.h", *_helpers(shown))]
    declared = signature_headers([operator.signature for operator, _, _ in shown])
    return include_blocks(calls.function_headers(shown) - declared, before=before)


def declaration_includes(
    operators: Sequence[CppOperator],
    signatures: Sequence[CppSignature],
    layout: Layout,
) -> Blocks:
    """What declarations with these signatures need, and the conditions of these operators."""
    version = version_header(operators, layout)
    headers = signature_headers(signatures).union(_ALWAYS)
    blocks = include_blocks(headers.difference(layout.headers), after=version)
    authors = [Header(name, True) for name in layout.headers if name in headers]
    return [*blocks, authors] if authors else blocks


def public_functions(
    operators: Sequence[CppOperator],
    classes: Classes,
    variant: Variant = "function",
) -> Iterator[TorchFunction]:
    """The functions of each operator, or the methods."""
    for operator in operators:
        for style in public.styles(operator.function, variant):
            signature = public.signature(operator.function, style)
            signature = types.own_types(operator.function, signature, classes)
            yield operator, signature, pass_on(operator, style)


def functions(every: Sequence[TorchFunction]) -> Iterator[TorchFunction]:
    """The free functions of the public C++ dialect, with defaults."""
    return calls.distinct([entry for entry in every if "function" in entry[0].function.variants])


def redispatch_functions(every: Sequence[TorchFunction]) -> Iterator[TorchFunction]:
    """The same with a keyset first. Operators that are only methods have them too, as in PyTorch."""
    for operator, signature, passed in calls.distinct(every):
        parameters = (KEYSET, *signature.parameters)
        keyed = CppSignature(signature.name, signature.returns, parameters)
        yield operator, keyed, (Expression(KEYSET.name), *passed)


def build_methods(operators: Sequence[CppOperator], layout: Layout) -> Files:
    """The mixin, if any operator is a method."""
    with_self = []
    for operator in operators:
        if "method" in operator.function.variants and "self" in names_of(operator.schema.arguments):
            with_self.append(operator)
    # Of overloads that look the same in C++, only the first is a method.
    shown = list(calls.distinct(public_functions(with_self, layout.classes, "method")))
    if not shown:
        return
    context = {
        "namespace": layout.namespace,
        "includes": call_includes(layout, "operators", shown),
        "methods": shown,
    }
    yield OutputFile(layout.header("methods.h"), "cpp_torch/methods.h.j2", context)
