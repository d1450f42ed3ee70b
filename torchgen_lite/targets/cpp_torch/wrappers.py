"""Functions that are registered where the author's kernel alone is not enough.

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
PyTorch's generator wraps the kernels of CUDA and XPU like this. Here every backend with devices is
treated alike, including PrivateUse1. CPU and Meta have one device each, and composite kernels leave
devices to the operators that they call. `_copy_from` and `_copy_from_and_resize` copy between
devices. PyTorch's file does not say so, since it has hardly any kernels for them, and its generator
would check their devices; here they are not checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from torchgen_lite.analysis.derive.copying import BETWEEN_DEVICES
from torchgen_lite.analysis.derive.layout import argument_layout, is_tensor_like
from torchgen_lite.key_tables import CURRENT
from torchgen_lite.languages.cpp.signature import CppSignature
from torchgen_lite.loader.entry.entry import Backend, NativeFunction
from torchgen_lite.schema.dispatch_kind import DispatchKind, dispatch_kind
from torchgen_lite.schema.model import bare_type
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.output import Named


class Devices(NamedTuple):
    """What happens before a kernel runs, by the names of arguments. The `checked` tensors have to be on one
    device; the device of the `guarded` tensor, or that of the tensor options, becomes the current one.
    """

    checked: tuple[str, ...] = ()
    guarded: str = ""
    is_guarded_by_options: bool = False

    @property
    def headers(self) -> tuple[str, ...]:
        check = ("ATen/core/op_registration/adaption.h",) if self.checked else ()
        is_guarded = self.guarded or self.is_guarded_by_options
        if is_guarded:
            return (*check, "ATen/DeviceGuard.h", "c10/core/DeviceGuard.h")
        return check


ANY_DEVICE = Devices()


class FromOut(NamedTuple):
    """A kernel that calls the one of the out variant.

    `symbolic` are the arguments of the typed call on Meta. The results are made on the device of `tensors`, one of the
    `backend`; those of an in-place variant exist already.
    """

    backend: str
    symbolic: Sequence[str]
    tensors: Sequence[str]
    results: Sequence[str]


class Copied(NamedTuple):
    """A kernel that passes `passed` to the functional variant's kernel and copies its results to the arguments
    `written`, each of which is a list or not, with PyTorch's function `copy`; it returns arguments.
    """

    passed: Sequence[str]
    copy: str
    written: Sequence[tuple[str, bool]]
    returned: Sequence[str]


@dataclass(frozen=True, slots=True)
class Structured:
    """A kernel that calls meta and, where there is one, impl, of the class `struct`. `given` are the existing
    outputs, of `count`, and `style` is the template for their variant; meta has the arguments `inputs`, and impl the
    arguments `impl`, some of which meta may have computed."""

    struct: str
    style: str
    given: Sequence[str]
    count: int
    inputs: Sequence[str]
    has_computed: bool = False
    impl: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A function of a registration file, for an operator. It calls the author's `kernel`, maybe that of
    another variant (`from_out`, `copied`), a `structured` one, or else this operator with the keys of the backend
    selected; or it computes the results that a `reference` gives, after the variables that it may `let`. What the
    kernel returns is compared with the schema if `is_compared`.
    """

    operator: CppOperator
    name: str
    guard: str
    signature: CppSignature
    device: Devices = ANY_DEVICE
    more_headers: Sequence[str] = ()
    kernel: str = ""
    is_compared: bool = False
    from_out: FromOut | None = None
    copied: Copied | None = None
    structured: Structured | None = None
    reference: Sequence[str] = ()
    let: Sequence[Named] = ()

    @property
    def headers(self) -> tuple[str, ...]:
        return (*self.more_headers, *self.device.headers)


# The keys of backends that have several devices.
_DEVICE_KEYS = frozenset(
    prefix + backend
    for functionality, prefix in CURRENT.per_backend
    if not functionality.startswith("Autograd")
    for backend in CURRENT.backends
    if backend not in ("CPU", "Meta")
)


def devices(function: NativeFunction, key: str, backend: Backend | None = None) -> Devices:
    """The device handling before a kernel of that operator runs; `ANY_DEVICE` if there is none.

    The file of a `backend` says whether its kernels need it, including those for autograd.
    """
    if not (key in _DEVICE_KEYS if backend is None else backend.device_guard):
        return ANY_DEVICE
    layout = argument_layout(function.func)
    checked = []
    eligible = []
    for argument in (*layout.out, *layout.positional):
        # PyTorch's functions find no device in a `Tensor[]?`, as it carries no dispatch keys.
        if (
            not is_tensor_like(argument.type)
            or dispatch_kind(argument.type) is DispatchKind.nothing
        ):
            continue
        checked.append(argument.name)
        # Lists of optional tensors have no device by `device_of`.
        if bare_type(argument.type) != "Tensor?[]":
            eligible.append(argument.name)
    is_between = function.namespace == "aten" and function.func.base_name in BETWEEN_DEVICES
    if is_between or function.device_check == "NoCheck":
        checked = []
    by_options = function.device_guard and layout.options is not None
    guarded = ""
    if function.device_guard and not by_options and eligible:
        # The device of self, of an out argument, or of the first one.
        guarded = "self" if "self" in eligible else eligible[0]
    return Devices(tuple(checked), guarded, is_guarded_by_options=by_options)
