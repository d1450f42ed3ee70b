"""`register.cpp`, and `register_<device>.cpp`: definitions, kernels, the functions that are registered for some, and
the boxed kernels of `fallback.h`, `functionalize.h` and `autocast.h`.

    TORCH_LIBRARY_IMPL(mylib, Functionalize, m) {
      m.impl("scale_", mylib::fallback::functionalize("mylib::scale", ""));
    }
    TORCH_LIBRARY_IMPL(mylib, AutocastCPU, m) {
      m.impl("scale", mylib::fallback::autocast(c10::DeviceType::CPU, at::kFloat, /*result=*/0));
    }

See Note [Functionalization].

Note [Kernels of structured operators]
The out variant of a structured operator names the impl function of a kernel class in `dispatch:`,
which is not a kernel, and the variants that delegate to it have none in the YAML. So neither is
among the kernels that the author writes, but kernels for keys without a dense backend (SparseCPU) are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from torchgen_lite.analysis.derive.layout import is_tensor_like
from torchgen_lite.analysis.derive.names import root_of
from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.policy import Origin
from torchgen_lite.analysis.program import Program
from torchgen_lite.diagnostics import did_you_mean
from torchgen_lite.languages.cpp.signature import CppSignature, signatures_of
from torchgen_lite.languages.cpp.text import quote
from torchgen_lite.languages.cpp.torch_types import CLASS_PREFIX
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.loader.entry.known_tags import KNOWN_TAGS
from torchgen_lite.schema.grouped import names_of, without_none
from torchgen_lite.targets.cpp import choices, registrations, required
from torchgen_lite.targets.cpp.conditions import condition
from torchgen_lite.targets.cpp.layout import Blocks, Layout, version_header
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp.proof import FUNCTIONS, Relation, proof_files
from torchgen_lite.targets.cpp_torch import types
from torchgen_lite.targets.cpp_torch.calls import declaration_includes
from torchgen_lite.targets.cpp_torch.model import Library
from torchgen_lite.targets.cpp_torch.wrappers import ANY_DEVICE, Wrapper, devices
from torchgen_lite.targets.output import Context, Files, Findings, Header


@dataclass(frozen=True, slots=True)
class TorchImplCall(registrations.ImplCall):
    """Registers a boxed kernel, the author's, or a function around that (`wrapper`), which the same file
    defines."""

    wrapper: Wrapper | None = None


def wrapped(
    key: str,
    wrapper: Wrapper,
    declared: Sequence[str] = (),
    choice: registrations.Choice | None = None,
) -> TorchImplCall:
    """The registration of a generated function."""
    function = f"TORCH_FN({wrapper.name})"
    operator = wrapper.operator
    return TorchImplCall(
        operator, key, function, wrapper.guard, None, declared, choice, wrapper=wrapper
    )


def kernel_registrations(
    kernels: Sequence[required.Kernel], library: Library
) -> Iterator[TorchImplCall]:
    """The kernels of the author, directly or through a function that guards the device.

    A kernel that the author's headers declare may have other types than the schema demands.
    """
    layout = library.layout
    shared = required.shared_names(kernels)
    for kernel, alternatives in required.implemented(kernels):
        operator = kernel.operator
        guard = operator.guard
        key = kernel.key
        signature = kernel.signature
        declared = required.declared(
            alternatives or [kernel], shared, library.options.kernel_headers
        )
        choice = choice_of(kernel, alternatives, shared, library) if alternatives else None
        device = devices(operator.function, key, kernel.backend)
        is_compared = _is_compared(kernel)
        if kernel.qualified in shared or device != ANY_DEVICE or is_compared:
            function = f"wrapper_{key}_{operator.flat}"
            called = kernel.qualified
            more = tuple[str, ...]()
            if not alternatives:
                called, more = _call(kernel, shared, library)
            if is_compared:
                more = (*more, layout.own("tensor_memory.h").name)
            wrapper = Wrapper(
                operator, function, guard, signature, device, more, called, is_compared
            )
            yield wrapped(key, wrapper, declared, choice)
        elif declared and not alternatives:
            function = (
                f"{layout.namespace}::proof::registered<{signature.type}, &{kernel.qualified}>()"
            )
            yield TorchImplCall(operator, key, function, guard, None, declared)
        else:
            function = f"TORCH_FN({kernel.qualified})"
            yield TorchImplCall(operator, key, function, guard, None, declared, choice)


def _call(
    kernel: required.Kernel, shared: Collection[str], library: Library
) -> tuple[str, tuple[str, ...]]:
    """How a kernel is called, and the headers that this needs; a declared one may have other types."""
    if not required.declared([kernel], shared, library.options.kernel_headers):
        return kernel.qualified, ()
    layout = library.layout
    call, header = _call_of(kernel.operator, layout)
    types = f"{call}, {kernel.signature.type}, &{kernel.qualified}"
    return f"{layout.namespace}::proof::as_declared<{types}>::call", (header,)


def choice_of(
    function: required.Kernel,
    kernels: Sequence[required.Kernel],
    shared: Collection[str],
    library: Library,
) -> registrations.Choice:
    """The function that chooses among kernels of one key."""
    asked = library.asked(kernels[0].operator.schema)
    return choices.choice(
        function, kernels, asked, lambda kernel: _call(kernel, shared, library)[0]
    )


def _is_compared(kernel: required.Kernel) -> bool:
    """Whether the results of a kernel are compared with the schema here: no kernel for a key of autograd does it if the
    operator is composed. Classes of the author are declared after the headers that this needs."""
    schema = kernel.operator.schema
    is_own = not kernel.operator.function.is_pytorchs
    gives = any(is_tensor_like(result.type) for result in schema.returns)
    has_class = any(CLASS_PREFIX in str(argument.type) for argument in schema.arguments)
    return is_own and gives and not has_class and kernel.key == "CompositeImplicitAutograd"


def _call_of(operator: CppOperator, layout: Layout) -> tuple[str, str]:
    """The typed call of an operator, and the header that declares it: PyTorch has those of its own operators."""
    if operator.function.namespace == "aten":
        root = root_of(operator.schema.base_name)
        return f"at::_ops::{operator.schema.flat_name}", f"ATen/ops/{root}_ops.h"
    return f"{layout.namespace}::ops::{operator.flat}", layout.own("operators.h").name


def build_registrations(
    library: Library, implemented: Iterable[TorchImplCall], tags: Collection[str]
) -> Files:
    """The definitions of the operators, without those that PyTorch defines, with those `tags` that they have;
    and what is registered."""
    defined = [o for o in library.operators if not o.function.is_pytorchs]
    libraries = registrations.definitions(defined, "at::Tag::{}".format, known_tags=tags)

    def context(shown: object, calls: Sequence[TorchImplCall]) -> Context:
        operators = defined if shown else []
        return {
            "includes": _includes(library, calls, operators),
            "wrappers": without_none([call.wrapper for call in calls]),
            "python_module": library.options.python_module,
        }

    template = "cpp_torch/register.cpp.j2"
    yield from registrations.registration_files(
        libraries, implemented, library.layout, library.options, "TORCH_LIBRARY", template, context
    )


def _includes(
    library: Library, calls: Sequence[TorchImplCall], defined: Sequence[CppOperator]
) -> Blocks:
    """PyTorch's headers, those of the library, and what declares the kernels."""
    layout = library.layout
    headers = library.options.kernel_headers
    needed = set[str]()
    declared = {*layout.given_namespace, *version_header([*calls, *defined], layout)}
    kernels: list[list[Header]] = [[]]
    for call in calls:
        if call.wrapper is not None:
            needed.update(call.wrapper.headers)
        if call.header is not None:
            declared.add(call.header)
        if call.choice is not None:
            declared |= {layout.own(choices.COUNTS), layout.own(choices.TENSORS)}
            if headers:
                needed.add(_call_of(call.operator, layout)[1])
        if _calls_kernel(call):
            kernels = required.kernel_includes(layout, headers)
            if headers:
                declared.add(layout.own("kernel_function.h"))
    of_library = {name for name in needed if name.startswith(f"{layout.namespace}/")}
    of_pytorch = {"torch/library.h", *(needed - of_library)}
    blocks = [list(map(Header, sorted(names))) for names in (of_pytorch, of_library)]
    # The last block has what declares kernels in this library, and with it what else it has.
    kernels[-1] += sorted(declared.difference(map(Header, needed)))
    return list(filter(None, [*blocks, *kernels]))


def _calls_kernel(registered: TorchImplCall) -> bool:
    """Whether a kernel of the author's has to be declared: it is registered, or a function around it."""
    if registered.wrapper is not None:
        return bool(registered.wrapper.kernel)
    return registered.header is None


# What is registered, and the copied header that has it; none for what libtorch has.
_BOXED = {
    Origin.falls_through: ("torch::CppFunction::makeFallthrough()", ""),
    Origin.cpu_fallback: ("{}::cpu()", "fallback.h"),
    Origin.underived: ("{}::underived()", "underived.h"),
}
_CASTS = {
    "float32": "at::kFloat",
    "lower_precision": "std::nullopt",
    "promote": "{}::Cast::promote",
    "dtype_argument": "{}::Cast::dtype_argument",
}


def boxed_registrations(library: Library) -> Iterator[TorchImplCall]:
    """The registrations at `Functionalize`, those that are no function of the author's, and those of `autocast`."""
    layout = library.layout
    scope = f"{layout.namespace}::fallback"
    for registration in library.registered:
        operator = library.by_facts[registration.operator]
        rule = registration.operator.function.autocast
        guard = operator.guard
        if registration.origin is Origin.functionalize and registration.source is not None:
            functional = registration.source.function
            name = library.by_facts[registration.source].full_name
            made = f"{{}}::functionalize({name}, {quote(functional.func.overload_name)})"
            header = "functionalize.h"
            guard = condition(operator.function, functional)
        elif registration.origin in _BOXED:
            made, header = _BOXED[registration.origin]
            is_elsewhere = registration.operator.name in library.selection.policy.elsewhere
            if registration.origin is Origin.underived and is_elsewhere:
                made = "{}::derived_in_python()"
        elif registration.origin in (Origin.autocast, Origin.autocast_over) and rule is not None:
            names = names_of(operator.schema.arguments)
            device = f"c10::DeviceType::{registration.key.removeprefix('Autocast')}"
            place = ""
            if rule.result:
                place = f", /*result=*/{names.index(rule.result)}"
            if rule.only:
                places = ", ".join(str(names.index(name)) for name in rule.only)
                place = f"{place or ', /*result=*/std::nullopt'}, /*only=*/{{{places}}}"
            made = f"{{}}::autocast({device}, {_CASTS[rule.dtype]}{place})"
            header = "autocast.h"
        else:
            continue
        kernel = made.replace("{}", scope)
        included = layout.own(header) if header else Header("torch/library.h")
        yield TorchImplCall(operator, registration.key, kernel, guard, header=included)


def known_tags(program: Program) -> frozenset[str]:
    """PyTorch's tags. The project's own, `tags` of the configuration, are not in the enumeration."""
    of_project = set(program.config.tags) - set(KNOWN_TAGS)
    return frozenset({*KNOWN_TAGS, *program.tags} - of_project)


def check_tags(program: Program, functions: Sequence[NativeFunction]) -> Findings:
    """TG543: undeclared tags in definitions."""
    known = known_tags(program).union(program.config.tags)
    for function in functions:
        if function.is_pytorchs:
            continue
        for tag in function.tags:
            if tag not in known:
                message = f"libtorch has no tag `{tag}`"
                place = function.place("tags")
                help_ = did_you_mean(tag, known)
                help_ = help_ or "a tag of the project is declared with `tags` in the configuration"
                yield finding(function, "TG543", message, place, "not a tag", help_)


def torch_kernels(library: Library) -> list[required.Kernel]:
    """The kernels that the author writes."""
    signature = library.kernel_signature
    return required.author_kernels(
        library.registered, library.every, signature, library.options, library.layout
    )


def check_rows(library: Library) -> Findings:
    """TG544: kernels of one key of which some take symbolic integers."""
    for _, alternatives in required.implemented(torch_kernels(library)):
        for kernel in alternatives[1:]:
            if kernel.signature != alternatives[0].signature and kernel.row is not None:
                message = f"`{kernel.name}` and `{alternatives[0].name}` do not both take symbolic integers"
                hint = "end the names of all kernels of a key in `_symint`, or none"
                function = kernel.operator.function
                place = kernel.row.kernel_span
                yield finding(function, "TG544", message, place, "one function calls both", hint)


def build_kernels(
    kernels: Sequence[required.Kernel], library: Library, python: Sequence[str]
) -> Files:
    """`kernels.h`, and the proof."""
    layout = library.layout

    def includes(shown: Sequence[required.Kernel]) -> Blocks:
        return declaration_includes([k.operator for k in shown], signatures_of(shown), layout)

    def other(kernel: required.Kernel) -> CppSignature | None:
        """With symbolic integers, or without, unlike what the kernel's name says."""
        given = types.signature(kernel.operator.function, "SymInt", layout.classes)
        if given == kernel.signature:
            given = types.signature(kernel.operator.function, "int", layout.classes)
        if given == kernel.signature:
            return None
        return given

    relation = Relation()
    if library.options.kernel_headers:
        relation = Relation(
            "meant",
            "meant",
            other,
            by_name=_called_by_name(kernels, library),
            exactly=("meant_by_libtorch", "meant_by_libtorch"),
            folder="cpp_torch",
            copied=(FUNCTIONS, "kernel_types.h"),
        )
    yield from proof_files(layout, kernels, includes, relation, declares=True, python=python)


def _called_by_name(kernels: Sequence[required.Kernel], library: Library) -> frozenset[str]:
    """The kernels that generated functions call as C++ does, with those from which kernels of other variants are derived."""
    sources = set()
    for registration in library.registered:
        if registration.origin in (Origin.from_out, Origin.copied):
            sources.add(registration.source)
    called = [kernel.qualified for kernel in kernels if kernel.operator.facts in sources]
    return choices.called_by_name(kernels).union(called)
