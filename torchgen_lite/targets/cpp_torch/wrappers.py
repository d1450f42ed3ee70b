"""Functions around kernels: what checks that tensors are on one device, and makes that the current one.

at::Tensor wrapper_CUDA_scale(const at::Tensor& self, double s) {
  std::optional<c10::Device> common_device;
  c10::impl::check_and_update_common_device(
      common_device,
      self,
      "wrapper_CUDA_scale",
      "self");
  const c10::OptionalDeviceGuard device_guard(at::device_of(self));
  return ::mylib::scale_cuda(self, s);
}

Note [Device guards]
PyTorch's generator wraps the kernels of CUDA and XPU so. Here every backend with devices is treated alike,
PrivateUse1 too. CPU and Meta have one device each, and kernels made of operators leave devices to those.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from torchgen_lite.analysis.derive.layout import argument_layout, is_tensor_like
from torchgen_lite.dialects import cpp_text
from torchgen_lite.dialects.cpp.signature import CppSignature
from torchgen_lite.key_tables import CURRENT
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.schema import Argument
from torchgen_lite.schema.dispatch_kind import dispatch_kind
from torchgen_lite.schema.model import bare_type
from torchgen_lite.targets.cpp.kernels import qualified
from torchgen_lite.targets.cpp.required import Kernel

_GUARD_HEADERS = ("ATen/DeviceGuard.h", "c10/core/DeviceGuard.h")
_CHECK_HEADER = "ATen/core/op_registration/adaption.h"


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A function of a registration file, with the statements of its body."""

    name: str
    guard: str
    signature: CppSignature
    lines: tuple[str, ...]
    headers: tuple[str, ...] = ()

    @property
    def parameters(self) -> str:
        """The parameters, as the function declares them."""
        return cpp_text.parameter_list(self.signature.parameters)


@cache
def device_keys() -> frozenset[str]:
    """The keys of backends that have several devices."""
    return frozenset(
        prefix + backend
        for functionality, prefix in CURRENT.per_backend
        if not functionality.startswith("Autograd")
        for backend in CURRENT.backends
        if backend not in ("CPU", "Meta")
    )


def wants_wrapper(function: NativeFunction, key: str) -> bool:
    """Whether something is to be done before the kernel runs."""
    return any(device_lines(function, key, ""))


def build_wrapper(kernel: Kernel, name: str, namespace: str) -> Wrapper:
    """The function that is registered instead of a kernel."""
    names = ", ".join([cpp_text.identifier(p.name) for p in kernel.signature.parameters])
    lines = list(device_lines(kernel.operator.function, kernel.key, name))
    return Wrapper(
        name,
        kernel.operator.guard,
        kernel.signature,
        (*lines, f"return {qualified(kernel.name, namespace)}({names});"),
        tuple(device_headers(lines)),
    )


def device_headers(lines: Sequence[str]) -> Iterator[str]:
    """What the lines of `device_lines` need."""
    if any("check_and_update" in line for line in lines):
        yield _CHECK_HEADER
    if any("device_guard" in line for line in lines):
        yield from _GUARD_HEADERS


def device_lines(function: NativeFunction, key: str, name: str) -> Iterator[str]:
    """The statements that check and set the device, for a function that is called `name`."""
    if key not in device_keys():
        return
    layout = argument_layout(function.func)
    # A `Tensor[]?` has no device by PyTorch's functions, as it carries no keys.
    tensors = [
        a
        for a in (*layout.out, *layout.positional)
        if is_tensor_like(a.type) and dispatch_kind(a.type) != "-"
    ]
    if tensors and function.device_check != "NoCheck":
        yield "::std::optional<c10::Device> common_device;"
        for argument in tensors:
            named = f"{cpp_text.quote(name)}, {cpp_text.quote(argument.name)}"
            tensor = cpp_text.identifier(argument.name)
            yield f"c10::impl::check_and_update_common_device(common_device, {tensor}, {named});"
    if not function.device_guard:
        return
    if layout.options is not None:
        yield "const c10::DeviceGuard device_guard(c10::device_or_default(device));"
        return
    chosen = _guarded(tensors)
    if chosen is not None:
        name = cpp_text.identifier(chosen.name)
        yield f"const c10::OptionalDeviceGuard device_guard(at::device_of({name}));"


def _guarded(tensors: Sequence[Argument]) -> Argument | None:
    """The argument whose device becomes the current one: self, an out argument, or the first one.

    A list of optional tensors has no device by PyTorch's `device_of`.
    """
    eligible = [a for a in tensors if bare_type(a.type) != "Tensor?[]"]
    own = [a for a in eligible if a.name == "self"]
    return next(iter([*own, *eligible]), None)
