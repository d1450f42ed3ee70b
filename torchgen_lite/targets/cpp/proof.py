"""`verify_kernels.h`: the proof that the kernels have the types that their schemas demand.

using schema_0 = at::Tensor(const at::Tensor&, double);
template <class Schema>
auto found_0(int) -> decltype(look<Schema>::of(&::mylib::scale_cpu));
template <class Schema>
none_of_several found_0(...);
using kernel_0 = kernel<schema_0, decltype(found_0<schema_0>(0))>;
static_assert(
#line 3 "ops.yaml"
                    takes<kernel_0::found<1>, kernel_0::expected<1>>,
    "mylib::scale: argument 's' is 'float' in the schema, so kernel 'scale_cpu' takes 'double'");

Note [The proof of kernels]
The header is the last line of a file that defines kernels. A kernel that the file declares is found by a
qualified name; one that it does not is found too, as a constant `foo` that a using-directive puts behind
the namespace: qualified look-up follows a using-directive only where the namespace itself has no such
name. So no list says which kernel is in which file. `#line` makes a compiler report a mistake at the
argument in the YAML, and the condition stands in the argument's column, so the column is right too.
Where several kernels have the name, the one of the right type is taken; that there is none shows only
when the address is taken in a template.

Which C++ types the schema demands is the target's affair: a stable kernel and a classic one differ in
nothing else here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from torchgen_lite.diagnostics import Span
from torchgen_lite.dialects import cpp_text
from torchgen_lite.dialects.cpp.signature import CppSignature
from torchgen_lite.dialects.cpp.types import CType, unrooted
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.targets.cpp.kernels import flat, include_macro, qualified, split_kernel
from torchgen_lite.targets.output import OutputFile

CHECK_TEMPLATE = "cpp/kernel_check.h.j2"
VERIFY_TEMPLATE = "cpp/verify_kernels.h.j2"


@dataclass(frozen=True, slots=True)
class RequiredKernel:
    """A kernel that the author writes, and what its schema makes of it.

    `signature` is spelled in the types of the target, its parameters are named as in the schema;
    `keys` are the dispatch keys it is for, `condition` is that of an `#if`, or empty.
    """

    function: NativeFunction
    kernel: str
    keys: tuple[str, ...]
    signature: CppSignature
    condition: str = ""


@dataclass(frozen=True, slots=True)
class CheckView:
    """One `static_assert`: what it says, and at which place of the YAML it stands."""

    line: int
    path: str
    condition: str
    message: str


@dataclass(frozen=True, slots=True)
class KernelProofView:
    """Every check of one kernel."""

    name: str
    condition: str
    line: int
    path: str
    schema: str
    look: str
    fallback: str
    kernel: str
    checks: tuple[CheckView, ...]


def proof_files(
    include: str,
    namespace: str,
    kernels: Sequence[RequiredKernel],
    includes: Sequence[str],
    *,
    same: str = "std::is_same_v<Found, Expected>",
) -> Iterable[OutputFile]:
    """`kernel_check.h` and `verify_kernels.h` in the folder `include`.

    `includes` are the lines that declare the types of the signatures; `same` is how the type of an
    argument is compared, in C++.
    """
    check = {"namespace": namespace, "same": same}
    yield OutputFile(f"{include}/kernel_check.h", CHECK_TEMPLATE, check)
    places = [split_kernel(k.kernel, namespace) for k in kernels]
    context = {
        "namespace": namespace,
        "fallback": f"{flat(namespace)}_absent_kernels",
        "kernels_macro": include_macro(namespace),
        "includes": tuple(includes),
        "absent": [_absent(name, namespace) for name in dict.fromkeys(name for _, name in places)],
        "scopes": tuple(dict.fromkeys(scope for scope, _ in places)),
        "kernels": [build_kernel_proof(k, i, namespace) for i, k in enumerate(kernels)],
    }
    yield OutputFile(f"{include}/verify_kernels.h", VERIFY_TEMPLATE, context)


def _absent(name: str, namespace: str) -> str:
    """The constant that stands for a kernel where no kernel of the name is declared."""
    head = f"inline constexpr ::{namespace}::proof::not_here"
    line = f"{head} {name}{{}};"
    return line if len(line) <= cpp_text.LINE_LENGTH else f"{head}\n    {name}{{}};"


def build_kernel_proof(required: RequiredKernel, index: int, namespace: str) -> KernelProofView:
    """The aliases and checks of the kernel with that index."""
    signature = required.signature
    types, returns = signature.types, signature.returns
    address = f"&{qualified(required.kernel, namespace)}"
    found = f"decltype(found_{index}<schema_{index}>(0))"
    checks = tuple(_checks(required, index, types, returns))
    return KernelProofView(
        name=f"{required.function.name}, {', '.join(required.keys)}",
        condition=required.condition,
        line=checks[0].line,
        path=checks[0].path,
        schema=cpp_text.function_alias(f"schema_{index}", returns, types),
        look=f"auto found_{index}(int) -> decltype(look<Schema>::of({address}));",
        fallback=f"none_of_several found_{index}(...);",
        kernel=cpp_text.constant(f"using kernel_{index}", f"kernel<schema_{index}, {found}>"),
        checks=checks,
    )


def _checks(
    required: RequiredKernel, index: int, types: Sequence[CType], returns: CType
) -> Iterable[CheckView]:
    """Number of arguments, each argument, the result. A wrong number says nothing about the types."""
    schema, kernel = required.function.func, f"kernel_{index}"
    name = schema.name_span or schema.span or required.function.span
    start = f"{required.function.name}: "
    writer = f"so kernel '{split_kernel(required.kernel, '')[1]}'"
    count = f"{len(schema.arguments)} argument{'' if len(schema.arguments) == 1 else 's'}"
    extra = "" if len(types) == len(schema.arguments) else ", with the keys of the call"
    yield _check(
        name,
        f"counts<{kernel}::found_type, {kernel}::expected_type>",
        f"{start}the schema has {count}, {writer} takes {len(types)}{extra}",
    )
    arguments = {cpp_text.identifier(a.name): a for a in schema.arguments}
    for position, (parameter, type_) in enumerate(zip(signature_names(required), types)):
        argument = arguments.get(parameter)
        if argument is None:
            # What a kernel takes that is not in the schema.
            yield _check(
                name,
                f"takes<{kernel}::found<{position}>, {kernel}::expected<{position}>>",
                f"{start}{writer.removeprefix('so ')} takes '{unrooted(type_)}' first",
            )
            continue
        yield _check(
            argument.span or name,
            f"takes<{kernel}::found<{position}>, {kernel}::expected<{position}>>",
            f"{start}argument '{argument.name}' is '{argument.type}' in the schema, "
            f"{writer} takes '{unrooted(type_)}'",
        )
    written = [str(r.type) for r in schema.returns]
    result = f"'{written[0]}'" if len(written) == 1 else f"'({', '.join(written)})'"
    yield _check(
        (schema.returns[0].span if schema.returns else None) or name,
        f"gives<{kernel}::found_return, {kernel}::expected_return>",
        f"{start}the schema returns {result}, {writer} returns '{unrooted(returns)}'",
    )


def signature_names(required: RequiredKernel) -> list[str]:
    """The names of the parameters, as C++ takes them."""
    return [cpp_text.identifier(p.name) for p in required.signature.parameters]


def _check(span: Span | None, condition: str, message: str) -> CheckView:
    """A check at a place; without one it stands at the top of the file that would have it."""
    if span is None:
        return CheckView(
            1, cpp_text.quote("native_functions.yaml"), condition, cpp_text.quote(message)
        )
    line, column = span.source.line_column(span.start)
    return CheckView(
        line,
        cpp_text.quote(span.source.path),
        " " * (column - 1) + condition,
        cpp_text.quote(message),
    )
