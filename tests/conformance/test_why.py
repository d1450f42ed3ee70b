"""What `why` says that a call runs is what PyTorch runs, whatever the local state is.

PyTorch has the sets of the thread, and the arithmetic of sets; the oracle looks the highest key up in its table, and goes
on below each key that falls through.
"""

from __future__ import annotations

import random
from contextlib import ExitStack
from typing import Any

import pytest

from torchgen_lite.cli.tables.commands import _local_sets, _State
from torchgen_lite.cli.tables.explain import render_why, why
from torchgen_lite.cli.tables.registrations import registrations_of_torch

pytestmark = pytest.mark.torch

# Keys of tensors, and those that modes, guards and transforms add.
KEYS = """CPU AutogradCPU AutocastCPU CUDA AutogradCUDA AutocastCUDA Meta AutogradMeta SparseCPU SparseCsrCPU QuantizedCPU
    NestedTensorCPU AutogradNestedTensor MkldnnCPU AutogradOther PrivateUse1 AutogradPrivateUse1 AutocastPrivateUse1
    Conjugate Negative ZeroTensor Functionalize Python Batched FuncTorchBatched ADInplaceOrView BackendSelect XLA AutogradXLA
    FuncTorchGradWrapper Tracer""".split()
GUARDED = """AutogradCPU AutogradCUDA ADInplaceOrView BackendSelect Functionalize Conjugate AutocastCPU SparseCPU Python
    FuncTorchBatched ZeroTensor AutogradNestedTensor CPU""".split()
DEVICES = ("cpu", "cuda", "xpu")


def _some(chooser: random.Random, names: list[str], most: int) -> tuple[str, ...]:
    return tuple(chooser.sample(names, chooser.randint(0, most)))


def _entered(stack: ExitStack, state: _State) -> None:
    """PyTorch in the state that the options describe."""
    import torch

    if state.inference:
        stack.enter_context(torch.inference_mode())
    for device in state.devices:
        key = torch._C._parse_dispatch_key(f"Autocast{device.upper()}")
        sets = torch._C._dispatch_tls_local_exclude_set()
        # `torch.autocast` warns of a device that this build does not have.
        forced = sets - torch._C.DispatchKeySet(key)
        now = torch._C._dispatch_tls_local_include_set()
        stack.enter_context(torch._C._ForceDispatchKeyGuard(now, forced))
    for name in state.include:
        stack.enter_context(torch._C._IncludeDispatchKeyGuard(torch._C._parse_dispatch_key(name)))
    for name in state.exclude:
        keys = torch._C.DispatchKeySet(torch._C._parse_dispatch_key(name))
        stack.enter_context(torch._C._ExcludeDispatchKeyGuard(keys))


def _runs(name: str, keys: tuple[str, ...]) -> str:
    """The key whose kernel PyTorch runs now for arguments with these keys."""
    import torch

    asked: Any = torch._C.DispatchKeySet.from_raw_repr(0)
    for key in keys:
        asked = asked | torch._C.DispatchKeySet(torch._C._parse_dispatch_key(key))
    left = asked | torch._C._dispatch_tls_local_include_set()
    left = left - torch._C._dispatch_tls_local_exclude_set()
    cells = dict(line.split(": ", 1) for line in torch._C._dispatch_dump_table(name).splitlines())
    while True:
        key = left.highestPriorityTypeId()
        found = torch._C._dispatch_key_name(key)
        if "fallthrough" not in cells.get(found, ""):
            return found
        left = left & torch._C._dispatch_keyset_full_after(key)


def test_random_calls_under_random_guards() -> None:
    chooser = random.Random(0)
    every = {one.name: one for one in registrations_of_torch()}
    names = sorted(name for name in every if name.startswith("aten::"))
    wrong = []
    for _ in range(400):
        name = chooser.choice(names)
        keys = _some(chooser, KEYS, 4) or ("CPU",)
        devices = _some(chooser, list(DEVICES), 2)
        state = _State(
            _some(chooser, GUARDED, 2), _some(chooser, GUARDED, 3), devices, chooser.random() < 0.3
        )
        answer = why(every[name], keys, _local_sets(every[name], state))
        with ExitStack() as stack:
            _entered(stack, state)
            expected = _runs(name, keys)
        if answer.steps[0].cell.key != expected:
            wrong.append((name, keys, state, answer.steps[0].cell.key, expected))
        # No key of an argument is dropped without a word.
        said = {*answer.steps[0].keys, *answer.excluded, *answer.skipped}
        assert {*answer.keys} <= said, render_why(every[name], answer)
    assert wrong == []
