"""Variants of PyTorch's operators that are derived from a kernel of the out variant.

at::Tensor from_out_PrivateUse1_add_Tensor(const at::Tensor& self, ...) {
  const auto _meta = ::mylib::from_out::on_meta<::mylib::ops::add_Tensor>(self, other, alpha);
  const auto _device = ::mylib::from_out::device(c10::DeviceType::PrivateUse1, self, other);
  auto _out = ::mylib::from_out::make(_meta, _device);
  ::mylib::add_out_device(self, other, alpha, _out);
  return _out;
}

See Note [What a backend leaves out].
"""

from __future__ import annotations

from collections.abc import Iterator

from torchgen_lite.analysis.kernels import KernelEntry
from torchgen_lite.dialects import cpp_text
from torchgen_lite.dialects.cpp.signature import CppSignature
from torchgen_lite.dialects.cpp.torch_types import INT_LIST, INT_LIST_OPTION
from torchgen_lite.dialects.cpp.types import CType
from torchgen_lite.schema import SchemaKind
from torchgen_lite.schema.dispatch_kind import dispatch_kind
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
)
from torchgen_lite.targets.output import OutputFile


def from_out_header(layout: Layout) -> OutputFile:
    """What the kernels call."""
    context = {"namespace": layout.namespace}
    return OutputFile(layout.header("from_out.h"), "cpp_torch/from_out.h.j2", context)


def from_out_registration(
    out: Operator, member: Operator, entry: KernelEntry, layout: Layout
) -> Registration:
    """The kernel of one variant that follows from a kernel of the out variant."""
    name = f"from_out_{entry.key}_{member.flat}"
    signature = types.signature(member.function, symint=types.takes_symint(entry.kernel))
    lines = list(device_lines(member.function, entry.key, name))
    headers = [f"{layout.folder}/from_out.h", f"{layout.folder}/{_calls(member)}.h"]
    headers += device_headers(lines)
    lines += _body(out, member, entry, layout.namespace, signature)
    wrapper = Wrapper(
        name,
        condition(member.function, out.function),
        signature,
        tuple(lines),
        tuple(headers),
    )
    return Registration(member, entry.key, f"TORCH_FN({name})", wrapper)


def _calls(operator: Operator) -> str:
    return "operators" if operator.shard is None else f"operators_{operator.shard}"


def _body(
    out: Operator, member: Operator, entry: KernelEntry, namespace: str, signature: CppSignature
) -> Iterator[str]:
    names = [cpp_text.identifier(p.name) for p in signature.parameters]
    pairs = zip(signature.parameters, member.signature.parameters)
    symbolic = ", ".join(
        [_symbolic(given.type, wanted.type, given.name) for given, wanted in pairs]
    )
    scope = f"::{namespace}::from_out"
    kernel = qualified(entry.kernel, namespace)
    yield f"using Operator = ::{namespace}::ops::{member.flat};"
    if member.schema.kind() is SchemaKind.inplace:
        yield f"{scope}::on_meta<Operator>({symbolic});"
        yield f"{kernel}({', '.join([*names, 'self'])});"
        yield "return self;"
        return
    yield f"const auto _meta = {scope}::on_meta<Operator>({symbolic});"
    tensors = [
        cpp_text.identifier(a.name)
        for a in member.schema.arguments
        if dispatch_kind(a.type) in ("T", "L")
    ]
    items = [f"c10::DeviceType::{entry.key}", *tensors]
    yield f"const auto _device = {scope}::device({', '.join(items)});"
    count = len(out.schema.out)
    results = [f"_out{index}" if count > 1 else "_out" for index in range(count)]
    for index, result in enumerate(results):
        meta = f"std::get<{index}>(_meta)" if count > 1 else "_meta"
        yield f"auto {result} = {scope}::make({meta}, _device);"
    yield f"{kernel}({', '.join([*names, *results])});"
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
