"""What compilers and counters of torch know of the operators of a package."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from torch._subclasses import FakeTensor
from torch.utils import _pytree as pytree

from ._apart import apart
from ._later import when_imported
from ._library import Function, Operator, Registering, current, handle, known


class Later(NamedTuple):
    """What is registered of an operator in a module of torch once that is imported."""

    op: Any
    function: Function
    fake: Function | None


def register_effects(registering: Registering) -> None:
    """Let compilers keep the calls, in their order."""
    if registering.has("effects"):
        effects: Any = importlib.import_module("torch._higher_order_ops.effects")
        effects._register_effectful_op(registering.op, effects._EffectType.ORDERED)


def register_later(package: str, operators: Sequence[Operator]) -> None:
    """What modules of torch know that the package does not import; a reload needs nothing more."""
    package_known = known("packages", {})[package]
    if "later" in package_known:
        return
    package_known["later"] = True
    table = package_known["table"]
    for operator in operators:
        fake = None
        if "fake" in operator.rules:
            fake = current(table, operator.name, "fake")
        for rule, (module, act) in _LATER.items():
            if rule not in operator.rules:
                continue
            function = current(table, operator.name, rule)
            later = Later(handle(operator.name), function, fake)
            when_imported(module, act, [later])


def _decompose_in_inductor(later: Later) -> None:
    from torch._inductor import decomposition

    decomposition.decompositions.setdefault(later.op, apart(later.function))
    # It keeps a copy of the table.
    decomposition.fast_random_decomps.cache_clear()


def _decompose_elsewhere(later: Later) -> None:
    """In the table that `torch.onnx.export` and `get_decompositions` read.

    Fake tensors with symbolic sizes read it too, before they ask for the fake.
    """
    from torch import _decomp
    from torch.fx.experimental import proxy_tensor

    function = apart(later.function)
    fake = later.fake

    def call(*args: Any, **kwargs: Any) -> Any:
        leaves = pytree.tree_leaves((args, kwargs))
        is_fake = any(isinstance(leaf, FakeTensor) for leaf in leaves)
        if is_fake and fake is not None and proxy_tensor.get_proxy_mode() is None:
            return fake(*args, **kwargs)
        return function(*args, **kwargs)

    _decomp.decomposition_table.setdefault(later.op, call)


def _count_flops(later: Later) -> None:
    from torch.utils import flop_counter

    packet = later.op.overloadpacket
    function = later.function
    if packet not in flop_counter.flop_registry:
        wrapped = flop_counter.register_flop_formula(packet, get_raw=True)
        wrapped(lambda *args, out_val=None, **kwargs: function(*args, **kwargs))


_LATER: Mapping[str, tuple[str, Callable[[Later], None]]] = {
    "inductor": ("torch._inductor.decomposition", _decompose_in_inductor),
    "onnx": ("torch._decomp", _decompose_elsewhere),
    "flops": ("torch.utils.flop_counter", _count_flops),
}
