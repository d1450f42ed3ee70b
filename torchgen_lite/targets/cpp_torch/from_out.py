"""Variants of PyTorch's operators that are derived from a kernel of the out variant.

at::Tensor from_out_PrivateUse1_add_Tensor(const at::Tensor& self, ...) {
  const auto _meta = ::mylib::from_out::on_meta<::mylib::ops::add_Tensor>(self, other, alpha);
  const auto _device = ::mylib::from_out::device(c10::DeviceType::PrivateUse1, self, other);
  auto _out = ::mylib::from_out::make(_meta, _device);
  ::mylib::add_out_device(self, other, alpha, _out);
  return _out;
}

Note [What a backend leaves out]
The author of a backend writes `add.out`, and the entries of `add.Tensor` and `add_.Tensor` say `dispatch: {}`.
Which shape and dtype the result has, PyTorch's kernel for Meta knows, and it refuses what can't be done in
place. PyTorch does the like by itself for operators that are structured in its own file, and only for these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchgen_lite.analysis.derive.model import VariantGroup
from torchgen_lite.analysis.namespaces import TORCH_NAMESPACES
from torchgen_lite.dialects import cpp_text
from torchgen_lite.dialects.cpp.signature import CppSignature
from torchgen_lite.dialects.cpp.torch_types import INT_LIST, INT_LIST_OPTION
from torchgen_lite.dialects.cpp.types import CType
from torchgen_lite.loader.entry import DispatchEntry, NativeFunction
from torchgen_lite.schema import SchemaKind
from torchgen_lite.schema.dispatch_kind import dispatch_kind
from torchgen_lite.schema.model import bare_type
from torchgen_lite.targets.cpp.conditions import condition
from torchgen_lite.targets.cpp.kernels import qualified
from torchgen_lite.targets.cpp.layout import Layout
from torchgen_lite.targets.cpp.model import Operator
from torchgen_lite.targets.cpp_torch import types
from torchgen_lite.targets.cpp_torch.registrations import Registration
from torchgen_lite.targets.cpp_torch.wrappers import (
    Wrapper,
    device_headers,
    device_lines,
    wrapper_opening,
)
from torchgen_lite.targets.output import OutputFile

# The backends that PyTorch has no kernels for.
_BACKENDS = frozenset({"PrivateUse1", "PrivateUse2", "PrivateUse3"})


def from_out_registrations(
    operators: Sequence[Operator], layout: Layout
) -> tuple[list[Registration], list[OutputFile]]:
    """The kernels that follow from those of out variants, and the header that they need."""
    found = list(_registrations(operators, layout))
    if not found:
        return [], []
    context = {"namespace": layout.namespace}
    path = layout.header("from_out.h")
    return found, [OutputFile(path, "cpp_torch/from_out.h.j2", context)]


def _registrations(operators: Sequence[Operator], layout: Layout) -> Iterator[Registration]:
    by_name = {operator.function.name: operator for operator in operators}
    for out in operators:
        group = out.facts.group
        if group is None:
            continue
        for entry in _kernels(out.function):
            for member in _members(group, by_name):
                if _is_left_out(member.function, entry.key):
                    yield _registration(out, member, entry, layout)


def _kernels(function: NativeFunction) -> list[DispatchEntry]:
    """The kernels of an out variant of PyTorch's that are for a backend of the author's."""
    if function.namespace not in TORCH_NAMESPACES or function.structured or not function.func.out:
        return []
    return [entry for entry in function.dispatch if entry.key in _BACKENDS]


def _members(group: VariantGroup, by_name: dict[str, Operator]) -> Iterator[Operator]:
    for function in (group.functional, group.inplace):
        operator = by_name.get(function.name) if function is not None else None
        if operator is not None:
            yield operator


def _is_left_out(function: NativeFunction, key: str) -> bool:
    """Whether the entry has no kernel for the key, nor one for all keys, and results are tensors."""
    keys = {entry.key for entry in function.dispatch}
    if key in keys or any(k.startswith("Composite") for k in keys):
        return False
    if not keys and function.place("dispatch") is None:
        return False
    return all(bare_type(value.type) == "Tensor" for value in function.func.returns)


def _registration(
    out: Operator, member: Operator, entry: DispatchEntry, layout: Layout
) -> Registration:
    name = f"from_out_{entry.key}_{member.flat}"
    signature = types.signature(member.function, symint=types.takes_symint(entry.kernel))
    lines = list(device_lines(member.function, entry.key, name))
    headers = [f"{layout.folder}/from_out.h", f"{layout.folder}/{_calls(member)}.h"]
    headers += device_headers(lines)
    lines += _body(out, member, entry, layout.namespace, signature)
    wrapper = Wrapper(
        name,
        condition(member.function, out.function),
        wrapper_opening(signature, name),
        tuple(lines),
        tuple(headers),
    )
    return Registration(member, entry.key, f"TORCH_FN({name})", wrapper)


def _calls(operator: Operator) -> str:
    return "operators" if operator.shard is None else f"operators_{operator.shard}"


def _body(
    out: Operator, member: Operator, entry: DispatchEntry, namespace: str, signature: CppSignature
) -> Iterator[str]:
    names = [cpp_text.identifier(p.name) for p in signature.parameters]
    pairs = zip(signature.parameters, member.signature.parameters)
    symbolic = [_symbolic(given.type, wanted.type, given.name) for given, wanted in pairs]
    scope = f"::{namespace}::from_out"
    kernel = f"{qualified(entry.kernel, namespace)}("
    yield cpp_text.constant("using Operator", f"::{namespace}::ops::{member.flat}", indent=2)
    if member.schema.kind() is SchemaKind.inplace:
        yield cpp_text.call(f"{scope}::on_meta<Operator>(", symbolic, ");", indent=2)
        yield cpp_text.call(kernel, [*names, "self"], ");", indent=2)
        yield "return self;"
        return
    yield cpp_text.assignment(
        "const auto _meta", f"{scope}::on_meta<Operator>(", symbolic, indent=2
    )
    tensors = [
        cpp_text.identifier(a.name)
        for a in member.schema.arguments
        if dispatch_kind(a.type) in ("T", "L")
    ]
    items = [f"c10::DeviceType::{entry.key}", *tensors]
    yield cpp_text.assignment("const auto _device", f"{scope}::device(", items, indent=2)
    count = len(out.schema.out)
    results = [f"_out{index}" if count > 1 else "_out" for index in range(count)]
    for index, result in enumerate(results):
        meta = f"std::get<{index}>(_meta)" if count > 1 else "_meta"
        yield cpp_text.assignment(f"auto {result}", f"{scope}::make(", [meta, "_device"], indent=2)
    yield cpp_text.call(kernel, [*names, *results], ");", indent=2)
    yield f"return {results[0]};" if count == 1 else f"return {{{', '.join(results)}}};"


def _symbolic(given: CType, wanted: CType, name: str) -> str:
    """An argument of the typed call; of plain numbers symbolic ones are made, but not of lists of them."""
    name = cpp_text.identifier(name)
    if given == wanted or given not in (INT_LIST, INT_LIST_OPTION):
        return name
    if given == INT_LIST:
        return f"c10::fromIntArrayRefSlow({name})"
    some = f"std::make_optional(c10::fromIntArrayRefSlow(*{name}))"
    return f"{name}.has_value() ? {some} : std::nullopt"
