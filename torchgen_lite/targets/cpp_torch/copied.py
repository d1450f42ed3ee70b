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
from torchgen_lite.targets.cpp_torch.wrappers import CopiedView, Wrapper, device_view


def copied_registration(
    functional: CppOperator, member: CppOperator, entry: KernelEntry, namespace: str
) -> TorchImplCall:
    """The kernel of one variant that follows from a kernel of the functional one."""
    view = _view(functional, member, entry, namespace)
    # A variant that PyTorch derives leaves device checks to the functional one, called here.
    guarded = member.function._replace(
        device_check=functional.function.device_check,
        device_guard=functional.function.device_guard,
    )
    wrapper = Wrapper(
        f"copied_{entry.key}_{member.flat}",
        condition(member.function, functional.function),
        types.signature(member.function, sizes_of(entry)),
        member.flat,
        device_view(guarded, entry.key, entry.backend),
        ("cstddef", f"ATen/ops/{view.copy}.h"),
        copied=view,
    )
    return wrapped(member, entry.key, wrapper)


def _view(
    functional: CppOperator, member: CppOperator, entry: KernelEntry, namespace: str
) -> CopiedView:
    written = [argument for argument in member.schema.arguments if argument.is_write]
    targets = [identifier(argument.name) for argument in written]
    by_alias = {argument.annotation: identifier(argument.name) for argument in written}
    given = [f"std::get<{i}>(_given)" for i in range(len(written))]
    return CopiedView(
        qualified(entry.kernel, namespace),
        _passed(functional, member, targets[0]),
        COPIES[member.facts.kind],
        tuple(
            [
                (source, target, isinstance(argument.type, ListType))
                for source, target, argument in zip(
                    given if len(given) > 1 else ["_given"], targets, written
                )
            ]
        ),
        tuple([by_alias[value.annotation] for value in member.schema.returns]),
    )


def _passed(functional: CppOperator, member: CppOperator, out: str) -> tuple[str, ...]:
    """The arguments of the functional kernel; an out variant has no tensor options but those of its out argument."""
    options = argument_layout(functional.schema).options
    own = {argument.name for argument in member.schema.arguments}
    if options is None or options.dtype.name in own:
        return tuple([identifier(a.name) for a in functional.schema.arguments])
    values = (f"{out}.scalar_type()", f"{out}.layout()", f"{out}.device()", "std::nullopt")
    of_out = {argument.name: value for argument, value in zip(options, values)}
    return tuple([of_out.get(a.name, identifier(a.name)) for a in functional.schema.arguments])
