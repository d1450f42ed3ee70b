"""The languages of PyTorch: one entry, and its exact text in C++ and Python."""

from __future__ import annotations

from torchgen_lite.diagnostics import Source
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.loader.formats.native_functions import load_native_functions


def entry(schema: str, **fields: str) -> NativeFunction:
    """An entry with the schema and fields given as YAML."""
    lines = [f"- func: {schema}", *[f"  {name}: {value}" for name, value in fields.items()]]
    (function,), _ = load_native_functions([Source("x.yaml", "\n".join(lines) + "\n")])
    return function


OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
