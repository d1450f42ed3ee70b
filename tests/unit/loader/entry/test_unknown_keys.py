"""The help for a dispatch key that there is not: a slip, or a device of the author's."""

from __future__ import annotations

import pytest

from torchgen_lite.diagnostics import Source, render_concise
from torchgen_lite.key_tables import CURRENT, registrable_keys
from torchgen_lite.loader.formats.native_functions import load_native_functions

OWN = "a device of your own is 'PrivateUse1'; 'privateuse1 = \"{}\"' in the configuration names it"


@pytest.mark.parametrize(
    ("key", "help_"),
    [
        ("NPU", OWN.format("NPU")),
        ("DPU", OWN.format("DPU")),
        ("AutogradNPU", OWN.format("NPU")),
        ("AutocastNPU", OWN.format("NPU")),
        ("MLU", OWN.format("MLU")),
        ("sim", OWN.format("sim")),
        ("CPUU", "did you mean 'CPU'?"),
        ("AutogradCPUU", "did you mean 'AutogradCPU'?"),
        ("XPPU", "did you mean 'XPU'?"),
    ],
)
def test_a_device_is_no_slip(key: str, help_: str) -> None:
    """`NPU` was told to be `XPU`, another vendor's device."""
    text = f"- func: relu(Tensor self) -> Tensor\n  dispatch:\n    {key}: relu_mine\n"
    _, found = load_native_functions([Source("ops.yaml", text)])
    assert f"unknown dispatch key '{key}'" in render_concise(found)
    assert help_ in render_concise(found)


def test_every_key_of_a_device_that_there_is_not_names_that_device() -> None:
    """Also one of a functionality that the next release of PyTorch has."""
    keys = [key for key in registrable_keys(CURRENT) if key.endswith("PrivateUse1")]
    assert "SparseCsrPrivateUse1" in keys
    for key in keys:
        written = key.replace("PrivateUse1", "NPU")
        text = f"- func: relu(Tensor self) -> Tensor\n  dispatch:\n    {written}: relu_mine\n"
        _, diagnostics = load_native_functions([Source("ops.yaml", text)])
        assert OWN.format("NPU") in render_concise(diagnostics), key
