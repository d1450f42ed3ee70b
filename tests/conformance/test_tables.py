"""Every dispatch table of the installed torch, cell for cell."""

from __future__ import annotations

import warnings

import pytest

from tests.conformance.torch_replay import (
    computed,
    dispatcher_with_torch_fallbacks,
    replay,
    torch_fallbacks,
)
from tests.installed import needs_the_keys_of_the_runtime
from torchgen_lite.analysis.computed_table import is_fallthrough
from torchgen_lite.loader.torch.stock_fallbacks import STOCK_FALLBACKS

pytestmark = [pytest.mark.torch, needs_the_keys_of_the_runtime]


def test_every_cell_of_every_operator() -> None:
    import torch

    dispatcher, fallbacks = dispatcher_with_torch_fallbacks()
    libraries: dict = {}
    every = torch._C._dispatch_get_all_op_names()
    names = sorted(name for name in every if not name.startswith("torchgen_lite_"))  # Other tests'.
    assert len(names) > 3000
    with warnings.catch_warnings():
        # torch overrides some of its own kernels, so the replay does too.
        warnings.simplefilter("ignore")
        for name in names:
            replay(dispatcher, name, torch._C._dispatch_dump(name), libraries)
    for name in names:
        qualified, _, overload = name.partition(".")
        ours = {
            key: str(cell) for key, cell in dispatcher.computed_table(qualified, overload).items()
        }
        assert ours == computed(torch._C._dispatch_dump_table(name)), name
    dispatcher.check_invariants()
    del fallbacks


def test_the_fallbacks_of_stock_torch() -> None:
    ours = {key: is_fallthrough(label) for key, label in STOCK_FALLBACKS.items()}
    assert ours == {key: passes for key, (passes, _) in torch_fallbacks().items()}
