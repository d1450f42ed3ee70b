"""Structured operators: one meta and one impl function, written by the author, serve all variants.

struct structured_scale : public at::impl::MetaBase {
  void meta(const at::Tensor& self, double s);
};

struct structured_scale_out_cpu : public structured_scale {
  void impl(const at::Tensor& self, double s, const at::Tensor& out);
};

at::Tensor structured_CPU_scale(const at::Tensor& self, double s) {
  using Kernel = ::mylib::structured_scale_out_cpu;
  ::mylib::structured::Functional<Kernel, 1> _op;
  _op.meta(self, s);
  _op.impl(self, s, _op.maybe_get_output(0));
  return std::move(_op.outputs[0]);
}

Note [Structured operators of PyTorch]
The meta function of `aten::add.out` is PyTorch's, so a kernel for a backend derives from
`at::meta::structured_add_Tensor` and has an impl function only. Nor is there a Meta kernel to register.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from torchgen_lite.analysis.derive.model import VariantGroup
from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.kernels import KernelEntry
from torchgen_lite.analysis.namespaces import TORCH_NAMESPACES
from torchgen_lite.analysis.policy import STRUCTURED
from torchgen_lite.analysis.registrations import Registration as Registered
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.dialects import cpp_text
from torchgen_lite.dialects.cpp import structured
from torchgen_lite.dialects.cpp.signature import CppParameter
from torchgen_lite.dialects.cpp.types import VOID, CType
from torchgen_lite.schema import SchemaKind
from torchgen_lite.schema.model import bare_type
from torchgen_lite.targets.cpp.conditions import condition
from torchgen_lite.targets.cpp.kernels import split_kernel
from torchgen_lite.targets.cpp.layout import Layout
from torchgen_lite.targets.cpp.model import Operator
from torchgen_lite.targets.cpp.places import place
from torchgen_lite.targets.cpp_torch import types
from torchgen_lite.targets.cpp_torch.registrations import Registration
from torchgen_lite.targets.cpp_torch.wrappers import (
    Wrapper,
    device_headers,
    device_lines,
)
from torchgen_lite.targets.output import OutputFile


@dataclass(frozen=True, slots=True)
class Group:
    """A structured operator: its variants, and the out variant as the library has it; `meta` is the C++ name of the
    class with the meta function."""

    group: VariantGroup
    out: Operator
    meta: str
    is_torch: bool

    @property
    def kernels(self) -> tuple[KernelEntry, ...]:
        """The impl functions, by key."""
        return tuple([kernel for kernel in self.out.facts.kernels if kernel.is_structured])


@dataclass(frozen=True, slots=True)
class StructView:
    """One class. `members` are lines of its body that stand before the function, whose place in the YAML is
    the macro `place`."""

    namespace: str
    guard: str
    comment: str
    name: str
    base: str
    members: tuple[str, ...]
    place: str
    returns: CType
    function: str
    parameters: str


def check_groups(operators: Sequence[Operator]) -> Iterator[Diagnostic]:
    """TG542: the class with the meta function has the name of the functional variant, so there must be one."""
    for operator in operators:
        if operator.function.structured and operator.facts.group is None:
            name = operator.function.func.local_name
            yield finding(
                operator.function,
                "TG542",
                f"structured `{name}` has no functional variant",
                operator.function.place("structured"),
                "no kernel can be registered",
                f"add the entry of the functional variant, with `structured_delegate: {name}` (those of "
                "PyTorch are known where it is installed), or leave `structured` out and name plain kernels",
            )


def structured_groups(operators: Sequence[Operator], namespace: str) -> list[Group]:
    """Every structured operator, in the order of the out variants."""
    groups = []
    for operator in operators:
        group = operator.facts.group
        if not operator.function.structured or group is None:
            continue
        is_torch = operator.function.namespace in TORCH_NAMESPACES
        scope = "at::meta" if is_torch else f"::{namespace}"
        meta = f"{scope}::structured_{structured.name(group)}"
        groups.append(Group(group, operator, meta, is_torch))
    return groups


def build_structured(groups: Sequence[Group], layout: Layout) -> Iterator[OutputFile]:
    """`structured.h`, which the author includes, and what registrations include."""
    if not groups:
        return
    views = [view for group in groups for view in struct_views(group, layout.namespace)]
    context = {
        "includes": list(_includes(groups)),
        "version_header": f"{layout.folder}/version.h" if any(v.guard for v in views) else None,
        "scopes": [
            {"namespace": namespace, "structs": list(own)}
            for namespace, own in groupby(views, key=lambda view: view.namespace)
        ],
    }
    yield OutputFile(layout.header("structured.h"), "cpp_torch/structured.h.j2", context)
    context = {"namespace": layout.namespace, "folder": layout.folder}
    for stem in ("structured_outputs", "structured_given"):
        yield OutputFile(layout.header(f"{stem}.h"), f"cpp_torch/{stem}.h.j2", context)


def _includes(groups: Sequence[Group]) -> Iterator[str]:
    yield "ATen/core/Tensor.h"
    yield "ATen/TensorIterator.h"
    yield "ATen/TensorMeta.h"
    names = [g.group.functional.func.base_name for g in groups if g.is_torch]
    yield from (f"ATen/ops/{name}_meta.h" for name in sorted(set(names)))


def struct_views(group: Group, namespace: str) -> Iterator[StructView]:
    """The class with the meta function, and one with the impl function for each kernel."""
    comment = f"// {group.out.function.name}"
    if not group.is_torch:
        name = f"structured_{structured.name(group.group)}"
        base = structured.base_class(group.group)
        base = f"at::{base}" if base == "TensorIteratorBase" else base
        yield StructView(
            namespace,
            group.out.guard,
            f"{comment}: shapes and dtypes",
            name,
            base,
            tuple(_precomputed(group.group)),
            place(namespace, group.out, "func"),
            _meta_returns(group.group),
            "meta",
            cpp_text.parameter_list(structured.meta_arguments(group.group)),
        )
    entries: dict[str, list[KernelEntry]] = {}
    for entry in group.kernels:
        entries.setdefault(entry.kernel, []).append(entry)
    for kernel, own in entries.items():
        scope, name = split_kernel(kernel, namespace)
        yield StructView(
            scope,
            group.out.guard,
            f"{comment}, {', '.join(entry.key for entry in own)}",
            f"structured_{name}",
            group.meta,
            (),
            place(namespace, group.out, own[0].key),
            VOID,
            "impl",
            cpp_text.parameter_list(structured.impl_arguments(group.group)),
        )


def _meta_returns(group: VariantGroup) -> CType:
    return CType("meta_return_ty") if structured.precomputed_members(group) else VOID


def _precomputed(group: VariantGroup) -> Iterator[str]:
    """The struct that meta returns, where it computes something for impl."""
    members = structured.precomputed_members(group)
    if not members:
        return
    yield "struct precompute_out {"
    for member in members:
        yield f"  {member.type} {cpp_text.identifier(member.name)};"
    yield "};"
    yield "using meta_return_ty = precompute_out;"


def structured_registrations(
    groups: Sequence[Group],
    operators: Sequence[Operator],
    registered: Iterable[Registered],
    layout: Layout,
) -> Iterator[Registration]:
    """The kernels of every variant for each backend, and those for Meta, which have no impl function."""
    by_name = {operator.function.name: operator for operator in operators}
    by_out = {group.out.function.name: group for group in groups}
    for one in registered:
        if one.origin in STRUCTURED and one.source is not None:
            group, operator = by_out[one.source.name], by_name[one.operator.name]
            yield _registration(group, operator, one.key, one.kernel, layout)


def _registration(
    group: Group, member: Operator, key: str, kernel: KernelEntry | None, layout: Layout
) -> Registration:
    """The kernel of one variant under one key; without an impl function for `kernel` None."""
    struct = None
    if kernel is not None:
        scope, name = split_kernel(kernel.kernel, layout.namespace)
        struct = f"::{scope}::structured_{name}"
    name = f"structured_{key}_{member.flat}"
    signature = types.signature(member.function, symint=False)
    lines = list(device_lines(member.function, key, name))
    more = tuple(device_headers(lines))
    lines += _body(group, member, struct, layout.namespace)
    guard = condition(member.function, group.out.function)
    headers = [f"{layout.folder}/{stem}.h" for stem in ("structured", "structured_given")]
    wrapper = Wrapper(name, guard, signature, tuple(lines), (*headers, *more))
    return Registration(member, key, f"TORCH_FN({name})", wrapper, calls_kernel=False)


def _body(group: Group, member: Operator, struct: str | None, namespace: str) -> Iterator[str]:
    kind = member.schema.kind()
    outs = [cpp_text.identifier(a.name) for a in group.out.schema.out]
    names = ["self"] if kind is SchemaKind.inplace else outs
    style = {SchemaKind.functional: "Functional", SchemaKind.inplace: "Inplace"}.get(kind, "Out")
    type_ = f"::{namespace}::structured::{style}"
    kernel = struct or group.meta
    yield f"using Kernel = {kernel};"
    if kind is SchemaKind.functional:
        yield f"{type_}<Kernel, {len(outs)}> _op;"
    else:
        yield f"{type_}<Kernel, {len(outs)}> _op({{{', '.join(names)}}});"
    computed = structured.precomputed(group.group.out)
    head = "const auto _computed = " if computed.elements and struct else ""
    inputs = [_passed(p, group, namespace) for p in structured.meta_arguments(group.group)]
    yield f"{head}_op.meta({', '.join(inputs)});"
    if struct is not None:
        elements = {a.name for a in computed.elements}
        items = [
            (
                f"_computed.{cpp_text.identifier(p.name)}"
                if p.name in elements
                else _passed(p, group, namespace)
            )
            for p in structured.impl_arguments(group.group)[: -len(outs)]
        ]
        items += [f"_op.maybe_get_output({index})" for index in range(len(outs))]
        yield f"_op.impl({', '.join(items)});"
    yield from _returned(kind, names)


def _returned(kind: SchemaKind, names: Sequence[str]) -> Iterator[str]:
    if kind is SchemaKind.functional:
        items = ", ".join([f"std::move(_op.outputs[{index}])" for index in range(len(names))])
        yield f"return {items};" if len(names) == 1 else f"return {{{items}}};"
        return
    yield "_op.finish();"
    one = names[0] if len(names) == 1 else f"std::forward_as_tuple({', '.join(names)})"
    yield f"return {one};"


def _passed(parameter: CppParameter, group: Group, namespace: str) -> str:
    """An argument of meta or impl, from what the dispatcher gives."""
    name = cpp_text.identifier(parameter.name)
    schema = group.out.schema
    type_ = next((bare_type(a.type) for a in schema.arguments if a.name == parameter.name), "")
    if type_ in ("Tensor?", "Scalar?"):
        return f"::{namespace}::structured::reference({name})"
    return name
