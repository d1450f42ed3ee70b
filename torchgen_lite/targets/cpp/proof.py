"""`verify_kernels.h`: the proof that the kernels have the types that their schemas demand.

using scale_CPU_schema = at::Tensor(const at::Tensor&, double);
template <class Schema>
auto scale_CPU_found(int) -> decltype(look<Schema>::of(&::mylib::scale_cpu));
template <class Schema>
none_of_several scale_CPU_found(...);
using scale_CPU = kernel<scale_CPU_schema, decltype(scale_CPU_found<scale_CPU_schema>(0))>;
static_assert(
#line MYLIB_PLACE_scale_func
                    takes<scale_CPU::found<1>, scale_CPU::expected<1>>,
    "mylib::scale: argument 's' is 'float' in the schema, so kernel 'scale_cpu' takes 'double'");

Note [The proof of kernels]
The header is the last line of a file that defines kernels. A kernel that the file declares is found by a
qualified name; one that it does not is found too, as a constant `foo` that a using-directive puts behind
the namespace: qualified look-up follows a using-directive only where the namespace itself has no such
name. So no list says which kernel is in which file. `#line` makes a compiler report a mistake at the
argument in the YAML, and the condition stands in the argument's column, so the column is right too.
A class cannot look elsewhere: where it is not declared, one behind the namespace stands for it, whose members are
such constants; a class that is declared has every kernel.
Where several kernels have the name, the one of the right type is taken; that there is none shows only
when the address is taken in a template.

Which C++ types the schema demands is the target's affair: a stable kernel and a classic one differ in
nothing else here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from torchgen_lite.diagnostics import Span
from torchgen_lite.dialects import cpp_text
from torchgen_lite.dialects.cpp.signature import CppSignature
from torchgen_lite.dialects.cpp.types import CType, unrooted
from torchgen_lite.targets.cpp.kernels import (
    flat,
    include_macro,
    qualified,
    split_class,
    split_kernel,
)
from torchgen_lite.targets.cpp.layout import Blocks, Layout
from torchgen_lite.targets.cpp.model import Operator
from torchgen_lite.targets.cpp.places import place, schema_role
from torchgen_lite.targets.output import OutputFile


class RequiredKernel(NamedTuple):
    """A kernel that the author writes, and what its schema makes of it.

    `signature` is spelled in the types of the target, its parameters are named as in the schema;
    `keys` are the dispatch keys it is for; `is_member`: it is a static function of a class.
    """

    operator: Operator
    kernel: str
    keys: tuple[str, ...]
    signature: CppSignature
    is_member: bool = False


class CheckView(NamedTuple):
    """One `static_assert`: the macro of its place in the YAML, what stands before it there, and what it says.

    `relation` is between the `part` of the kernel found and that of the kernel expected.
    """

    place: str
    margin: str
    relation: str
    part: str
    message: str


class AbsentClassView(NamedTuple):
    """A class that stands for one that a file does not declare."""

    name: str
    members: tuple[str, ...]


class KernelProofView(NamedTuple):
    """Every check of one kernel; `id` names it after its operator and the first of its keys. A class without the
    member is an error, too, and has the place."""

    id: str
    name: str
    guard: str
    place: str
    returns: CType
    types: tuple[CType, ...]
    address: str
    is_member: bool
    checks: tuple[CheckView, ...]


def proof_files(
    layout: Layout,
    kernels: Sequence[RequiredKernel],
    includes: Blocks,
    is_boxed: bool,
) -> Iterable[OutputFile]:
    """`kernel_check.h` and `verify_kernels.h`.

    `includes` declare the types of the signatures. `is_boxed`: arguments are what the stable ABI
    unpacks from a boxed call, whatever way the kernel takes them.
    """
    namespace = layout.namespace
    check = {"namespace": namespace, "is_boxed": is_boxed}
    yield OutputFile(layout.header("kernel_check.h"), "cpp/kernel_check.h.j2", check)
    homes = [split_kernel(k.kernel, namespace) for k in kernels if not k.is_member]
    members = [split_kernel(k.kernel, namespace) for k in kernels if k.is_member]
    homes_of_classes = [split_class(scope)[0] for scope, _ in members]
    context = {
        "namespace": namespace,
        "fallback": f"{flat(namespace)}_absent_kernels",
        "kernels_macro": include_macro(namespace),
        "includes": includes,
        "absent": tuple(dict.fromkeys(name for _, name in homes)),
        "classes": _absent_classes(members),
        "scopes": tuple(dict.fromkeys([*[scope for scope, _ in homes], *homes_of_classes])),
        "kernels": [build_kernel_proof(kernel, namespace) for kernel in kernels],
    }
    yield OutputFile(layout.header("verify_kernels.h"), "cpp/verify_kernels.h.j2", context)


def _absent_classes(members: Sequence[tuple[str, str]]) -> list[AbsentClassView]:
    """The classes by their names, each with the kernels of all that are called so."""
    found: dict[str, dict[str, None]] = {}
    for scope, name in members:
        found.setdefault(split_class(scope)[1], {})[name] = None
    return [AbsentClassView(name, tuple(own)) for name, own in found.items()]


def build_kernel_proof(required: RequiredKernel, namespace: str) -> KernelProofView:
    """The types, the address and the checks of a kernel."""
    operator = required.operator
    return KernelProofView(
        id=f"{operator.flat}_{required.keys[0]}",
        name=f"{operator.function.name}, {', '.join(required.keys)}",
        guard=operator.guard,
        place=place(namespace, operator, "func"),
        returns=required.signature.returns,
        types=required.signature.types,
        address=f"&{qualified(required.kernel, namespace)}",
        is_member=required.is_member,
        checks=tuple(_checks(required, namespace)),
    )


def _checks(required: RequiredKernel, namespace: str) -> Iterator[CheckView]:
    """That a kernel is found, the number of arguments, each argument, the result.

    A wrong number says nothing about the types.
    """
    operator, types = required.operator, required.signature.types
    schema, check = operator.schema, partial(_check, operator, namespace)
    writer = f"kernel '{split_kernel(required.kernel, '')[1]}'"
    message = f"no {writer} has the types of the schema, or it is in an unnamed namespace"
    yield check(None, "fits", "_type", message)
    count = f"{len(schema.arguments)} argument{'' if len(schema.arguments) == 1 else 's'}"
    extra = "" if len(types) == len(schema.arguments) else ", with the keys of the call"
    message = f"the schema has {count}, so {writer} takes {len(types)}{extra}"
    yield check(None, "counts", "_type", message)
    arguments = {cpp_text.identifier(a.name): a for a in schema.arguments}
    for position, parameter in enumerate(required.signature.parameters):
        argument = arguments.get(cpp_text.identifier(parameter.name))
        takes = f"{writer} takes '{unrooted(parameter.type)}'"
        if argument is None:
            # What a kernel takes that is not in the schema.
            yield check(None, "takes", f"<{position}>", f"{takes} first")
            continue
        written = f"argument '{argument.name}' is '{argument.type}' in the schema"
        yield check(argument.span, "takes", f"<{position}>", f"{written}, so {takes}")
    results = [str(r.type) for r in schema.returns]
    result = f"'{results[0]}'" if len(results) == 1 else f"'({', '.join(results)})'"
    gives = f"so {writer} returns '{unrooted(required.signature.returns)}'"
    span = schema.returns[0].span if schema.returns else None
    yield check(span, "gives", "_return", f"the schema returns {result}, {gives}")


def _check(
    operator: Operator, namespace: str, span: Span | None, relation: str, part: str, message: str
) -> CheckView:
    """A check at a place of the schema, or at its name."""
    span = span or operator.schema.name_span
    column = span.source.line_column(span.start)[1] if span else 1
    shown = place(namespace, operator, schema_role(operator, span))
    text = cpp_text.quote(f"{operator.function.name}: {message}")
    return CheckView(shown, " " * (column - 1), relation, part, text)
