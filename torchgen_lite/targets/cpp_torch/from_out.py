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

from torchgen_lite.analysis.kernels import KernelEntry
from torchgen_lite.languages.cpp.kernels import qualified
from torchgen_lite.languages.cpp.native import sizes_of
from torchgen_lite.languages.cpp.text import identifier
from torchgen_lite.languages.cpp.torch_types import INT_LIST, INT_LIST_OPTION
from torchgen_lite.languages.cpp.types import CType
from torchgen_lite.schema.dispatch_kind import DispatchKind, dispatch_kind
from torchgen_lite.targets.cpp.conditions import condition
from torchgen_lite.targets.cpp.layout import Layout, stem
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp_torch import types
from torchgen_lite.targets.cpp_torch.registrations import TorchImplCall, wrapped
from torchgen_lite.targets.cpp_torch.wrappers import FromOut, Wrapper, devices


def from_out_registration(
    out: CppOperator, member: CppOperator, entry: KernelEntry, layout: Layout
) -> TorchImplCall:
    """The kernel of one variant that follows from a kernel of the out variant."""
    signature = types.signature(member.function, sizes_of(entry))
    pairs = zip(signature.parameters, member.signature.parameters)
    count = len(out.schema.out)
    made = [f"_out{index}" for index in range(count)] if count > 1 else ["_out"]
    tensors = [
        identifier(argument.name)
        for argument in member.schema.arguments
        if dispatch_kind(argument.type) in (DispatchKind.tensor, DispatchKind.tensor_list)
    ]
    headers = ("from_out", stem("operators", member.shard))
    wrapper = Wrapper(
        member,
        f"from_out_{entry.key}_{member.flat}",
        condition(member.function, out.function),
        signature,
        devices(member.function, entry.key, entry.backend),
        tuple([f"{layout.folder}/{header}.h" for header in headers]),
        qualified(entry.kernel, layout.namespace),
        from_out=FromOut(
            entry.key,
            tuple([_symbolic(given.type, wanted.type, given.name) for given, wanted in pairs]),
            tuple(tensors),
            ("self",) if member.is_inplace else tuple(made),
        ),
    )
    return wrapped(entry.key, wrapper)


def _symbolic(given: CType, wanted: CType, name: str) -> str:
    """An argument of the typed call; of plain numbers symbolic ones are made, but not of lists of them."""
    name = identifier(name)
    if given == wanted or given not in (INT_LIST, INT_LIST_OPTION):
        return name
    if given == INT_LIST:
        return f"c10::fromIntArrayRefSlow({name})"
    some = f"std::make_optional(c10::fromIntArrayRefSlow(*{name}))"
    return f"{name}.has_value() ? {some} : std::nullopt"
