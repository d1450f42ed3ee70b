"""Variants that copy the results of a backend's functional kernel.

at::Tensor& copied_XLA_add__Tensor(at::Tensor& self, const at::Tensor& other, ...) {
  const auto _given = ::torch_xla::XLANativeFunctions::add(self, other, alpha);
  at::_copy_from(_given, self);
  return self;
}

See Note [Variants that copy].
"""

from __future__ import annotations

from torchgen_lite.analysis.derive.copying import COPIES
from torchgen_lite.analysis.derive.layout import argument_layout
from torchgen_lite.analysis.kernels import KernelEntry
from torchgen_lite.languages.cpp.kernels import qualified
from torchgen_lite.languages.cpp.native import sizes_of
from torchgen_lite.languages.cpp.text import identifier
from torchgen_lite.schema import ListType
from torchgen_lite.targets.cpp.conditions import condition
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp_torch import types
from torchgen_lite.targets.cpp_torch.registrations import TorchImplCall, wrapped
from torchgen_lite.targets.cpp_torch.wrappers import Copied, Wrapper, devices


def copied_registration(
    functional: CppOperator, member: CppOperator, entry: KernelEntry, namespace: str
) -> TorchImplCall:
    """The kernel of one variant that follows from a kernel of the functional one."""
    written = [argument for argument in member.schema.arguments if argument.is_write]
    by_alias = {argument.annotation: identifier(argument.name) for argument in written}
    copy = COPIES[member.facts.kind]
    # A variant that PyTorch derives leaves device checks to the functional one, called here.
    guarded = member.function._replace(
        device_check=functional.function.device_check,
        device_guard=functional.function.device_guard,
    )
    wrapper = Wrapper(
        member,
        f"copied_{entry.key}_{member.flat}",
        condition(member.function, functional.function),
        types.signature(member.function, sizes_of(entry)),
        devices(guarded, entry.key, entry.backend),
        ("cstddef", f"ATen/ops/{copy}.h"),
        qualified(entry.kernel, namespace),
        copied=Copied(
            _passed(functional, member, identifier(written[0].name)),
            copy,
            tuple([(identifier(a.name), isinstance(a.type, ListType)) for a in written]),
            tuple([by_alias[value.annotation] for value in member.schema.returns]),
        ),
    )
    return wrapped(entry.key, wrapper)


def _passed(functional: CppOperator, member: CppOperator, out: str) -> tuple[str, ...]:
    """The arguments of the functional kernel; an out variant has no tensor options but those of its out argument."""
    options = argument_layout(functional.schema).options
    own = {argument.name for argument in member.schema.arguments}
    if options is None or options.dtype.name in own:
        return tuple([identifier(a.name) for a in functional.schema.arguments])
    values = (f"{out}.scalar_type()", f"{out}.layout()", f"{out}.device()", "std::nullopt")
    of_out = {argument.name: value for argument, value in zip(options, values)}
    return tuple([of_out.get(a.name, identifier(a.name)) for a in functional.schema.arguments])
