"""The names of torch's functions that formulas may call are those of the installed release, if that is the current one."""

from __future__ import annotations

import pytest

from torchgen_lite.key_tables import CURRENT
from torchgen_lite.targets.torch_python.torch_functions import TORCH_FUNCTIONS

pytestmark = pytest.mark.torch


def test_the_names_are_those_of_the_current_release() -> None:
    torch = pytest.importorskip("torch")
    if not torch.__version__.startswith(f"{CURRENT.release}."):
        pytest.skip(f"the names are those of {CURRENT.release}")
    names = {name: getattr(torch, name) for name in dir(torch) if not name.startswith("_")}
    functions = {name for name, it in names.items() if callable(it) and not isinstance(it, type)}
    assert functions == TORCH_FUNCTIONS
