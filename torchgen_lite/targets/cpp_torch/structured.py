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

from collections.abc import Iterator, Sequence
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

from torchgen_lite.analysis.derive.model import VariantGroup
from torchgen_lite.analysis.policy import STRUCTURED
from torchgen_lite.languages.cpp import structured
from torchgen_lite.languages.cpp import text as cpp_text
from torchgen_lite.languages.cpp.kernels import global_name, split_kernel
from torchgen_lite.languages.cpp.reserved import LIBRARIES
from torchgen_lite.languages.cpp.signature import CppParameter
from torchgen_lite.loader.entry.entry import DispatchEntry
from torchgen_lite.schema import SchemaKind
from torchgen_lite.schema.grouped import by_name, grouped, names_of
from torchgen_lite.schema.model import bare_type
from torchgen_lite.targets.cpp.conditions import condition
from torchgen_lite.targets.cpp.layout import Layout, copied_files, version_header
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp.registrations import guarded
from torchgen_lite.targets.cpp_torch import types
from torchgen_lite.targets.cpp_torch.model import Library
from torchgen_lite.targets.cpp_torch.registrations import TorchImplCall, wrapped
from torchgen_lite.targets.cpp_torch.wrappers import Structured, Wrapper, devices
from torchgen_lite.targets.output import AuthorFunction, Files, Header, OutputFile


class Group(NamedTuple):
    """A structured operator: its variants, and the out variant as the library `namespace` has it."""

    group: VariantGroup
    out: CppOperator
    namespace: str

    @property
    def is_torch(self) -> bool:
        return self.out.function.is_pytorchs

    @property
    def meta(self) -> str:
        """The class with the meta function."""
        scope = "at::meta"
        if not self.is_torch:
            scope = f"::{self.namespace}"
        return f"{scope}::structured_{structured.name(self.group)}"

    def argument(self, parameter: CppParameter) -> str:
        """An argument of meta or impl, from what the dispatcher gives."""
        name = cpp_text.identifier(parameter.name)
        # What is computed for impl is no argument of the schema.
        argument = by_name(self.out.schema.arguments).get(parameter.name)
        if argument is not None and bare_type(argument.type) in ("Tensor?", "Scalar?"):
            return f"::{self.namespace}::structured::reference({name})"
        return name


class Struct(NamedTuple):
    """One class: with an impl function for these `keys`, or with the meta function. `precomputed` is what meta
    computes for impl."""

    namespace: str
    operator: CppOperator
    name: str
    base: str
    parameters: Sequence[CppParameter]
    keys: Sequence[str] = ()
    precomputed: Sequence[CppParameter] = ()


def structured_groups(operators: Sequence[CppOperator], namespace: str) -> list[Group]:
    """Every structured operator, in the order of the out variants."""
    return [
        Group(operator.facts.group, operator, namespace)
        for operator in operators
        if operator.function.structured and operator.facts.group is not None
    ]


def build_structured(groups: Sequence[Group], layout: Layout) -> Files:
    """`structured.h`, which the author includes, and what registrations include."""
    if not groups:
        return
    shown = list(chain.from_iterable(map(structs, groups)))
    version = version_header([struct.operator for struct in shown], layout)
    context = {
        "includes": list(filter(None, [list(map(Header, _headers(groups))), version])),
        "scopes": guarded(shown, attrgetter("namespace")),
    }
    yield OutputFile(layout.header("structured.h"), "cpp_torch/structured.h.j2", context)
    yield from copied_files(layout, "cpp_torch", "structured_outputs.h", "structured_given.h")


def _headers(groups: Sequence[Group]) -> list[str]:
    metas = set[str]()
    natives = set[str]()
    for group in groups:
        if group.is_torch:
            metas.add(group.group.functional.func.base_name)
        if any(map(_is_pytorchs, _implementations(group))):
            natives.add(group.out.schema.base_name)
    headers = ["ATen/core/Tensor.h", "ATen/TensorIterator.h", "ATen/TensorMeta.h"]
    headers += map("ATen/ops/{}_meta.h".format, sorted(metas))
    headers += map("ATen/ops/{}_native.h".format, sorted(natives))
    return headers


def structs(group: Group) -> Iterator[Struct]:
    """The class with the meta function, and one with the impl function for each kernel of the author."""
    out = group.out
    if not group.is_torch:
        base = structured.base_class(group.group)
        yield Struct(
            group.namespace,
            out,
            f"structured_{structured.name(group.group)}",
            f"at::{base}" if base == "TensorIteratorBase" else base,
            structured.meta_arguments(group.group),
            precomputed=structured.precomputed_members(group.group),
        )
    arguments = structured.impl_arguments(group.group)
    for kernel, entries in _implementations(group).items():
        if _is_pytorchs(kernel):
            continue
        scope, name = split_kernel(kernel, group.namespace)
        keys = [entry.key for entry in entries]
        yield Struct(scope, out, f"structured_{name}", group.meta, arguments, keys)


def _is_pytorchs(kernel: str) -> bool:
    """Whether PyTorch has the class of a kernel: that of `at::native::exp_out` calls `exp_stub`."""
    return kernel.partition("::")[0] in LIBRARIES


def _implementations(group: Group) -> dict[str, list[DispatchEntry]]:
    """The entries that name each impl function."""
    structured = [entry for entry in group.out.facts.kernels if entry.is_structured]
    return grouped(structured, lambda entry: entry.kernel)


def author_members(groups: Sequence[Group], layout: Layout) -> Iterator[AuthorFunction]:
    """The meta and impl functions, members of classes that `structured.h` declares."""
    for group in groups:
        for struct in structs(group):
            operator = struct.operator.function.name
            returns = "void"
            if struct.precomputed:
                returns = f"{struct.name}::meta_return_ty"
            member = f"{struct.name}::{'impl' if struct.keys else 'meta'}"
            yield AuthorFunction(
                member,
                [f"{use} of {operator}" for use in struct.keys or ("meta",)],
                f"{returns} {member}({cpp_text.parameter_list(struct.parameters)})",
                headers=(layout.own("structured.h"),),
                namespace=struct.namespace,
                last=layout.own("verify_kernels.h").name,
                guard=struct.operator.guard,
            )


def structured_registrations(library: Library) -> Iterator[TorchImplCall]:
    """The kernels of every variant for each backend, and those for Meta, which have no impl function."""
    layout = library.layout
    groups = structured_groups(library.every, layout.namespace)
    by_out = {group.out.facts: group for group in groups}
    headers = [f"{layout.folder}/{stem}.h" for stem in ("structured", "structured_given")]
    for registration in library.registered:
        if registration.origin not in STRUCTURED or registration.source is None:
            continue
        group = by_out[registration.source]
        operator = library.by_facts[registration.operator]
        kernel = registration.kernel
        wrapper = Wrapper(
            operator,
            f"structured_{registration.key}_{operator.flat}",
            condition(operator.function, group.out.function),
            types.signature(operator.function, "int"),
            devices(operator.function, registration.key, kernel and kernel.backend),
            headers,
            structured=_called(group, operator, kernel),
        )
        yield wrapped(registration.key, wrapper)


def _called(group: Group, member: CppOperator, kernel: DispatchEntry | None) -> Structured:
    """What the kernel of one variant calls; no impl function for `kernel` None."""
    outs = cpp_text.forwarded(group.out.schema.out)
    style, given = {
        SchemaKind.functional: ("Functional", []),
        SchemaKind.inplace: ("Inplace", ["self"]),
    }.get(member.facts.kind, ("Out", outs))
    inputs = list(map(group.argument, structured.meta_arguments(group.group)))
    if kernel is None:
        return Structured(group.meta, style, given, len(outs), inputs)
    scope, name = split_kernel(kernel.kernel, group.namespace)
    elements = set(names_of(structured.precomputed(group.group.out).elements))
    impl = [
        f"_computed.{cpp_text.identifier(p.name)}" if p.name in elements else group.argument(p)
        for p in structured.impl_arguments(group.group)[: -len(outs)]
    ]
    outputs = [f"_op.maybe_get_output({index})" for index in range(len(outs))]
    struct = global_name(scope, f"structured_{name}")
    return Structured(struct, style, given, len(outs), inputs, bool(elements), [*impl, *outputs])
