"""What to write for names of Python's modules and builtins, which formulas, references and samples do not have."""

from __future__ import annotations

import math
import re

from torchgen_lite.diagnostics import Span
from torchgen_lite.formulas.language import DTYPES
from torchgen_lite.loader.torch.functions import functions_of_torch

_CONSTANTS = ("pi", "e")
_MODULES = frozenset({"F", "functional", "jnp", "math", "nn", "np", "numpy", "torch"})
_PATH = re.compile(r"\w+(?:\s*\.\s*\w+)*")
BUILTINS = {
    "bool": "leave `bool` out: PyTorch takes a number for a boolean",
    "float": "leave `float` out: PyTorch takes any number",
    "int": "leave `int` out: `a / b` of two integers is an integer",
    "len": "write `x.size(0)`, or `x.dim()` for the number of sizes",
    "list": "leave `list` out: `x.sizes()` is one",
    "tuple": "leave `tuple` out: a list does",
}
"""What to write in formulas instead of calling these."""


def instead_in_a_formula(name: Span) -> str | None:
    """The help for the first name of `math.pi`, `torch.nn.functional.relu(x)` or `float64` in a formula."""
    module, last = _path_at(name)
    if last in _CONSTANTS and module in _MODULES | {""}:
        return f"write the number: `{getattr(math, last)}`"
    if last in DTYPES and module in ("", "torch"):
        return "formulas have no names of dtypes: write `x.dtype` of an argument, or `x.double()`"
    if module.partition(".")[0] not in _MODULES:
        return None
    if module == "math":
        return "numbers have `+ - * / %`: for more, define a function in a module of `formulas`"
    if last in functions_of_torch().torch and not module.endswith(("fft", "linalg")):
        return f"write `{last}(...)`"
    return "formulas call functions of `torch`, and yours: define one in a module of `formulas`"


def instead_in_a_reference(name: Span) -> str | None:
    """The help for the first name of `math.pi`, `F.relu(x)` or `np.sin(x)` in a reference."""
    module, last = _path_at(name)
    if last in _CONSTANTS and module in _MODULES | {""}:
        return f"write `torch.{last}`"
    if module in ("F", "functional", "nn.functional"):
        return f"write `torch.nn.functional.{last}`"
    if module == "math":
        return "numbers have the operators of Python, as in `n ** 0.5`"
    if module in _MODULES and last in functions_of_torch().torch:
        return f"write `torch.{last}`, of a tensor"
    return None


def _path_at(name: Span) -> tuple[str, str]:
    """The module and the last part of the dotted name that begins at a place, as it is written there."""
    path = _PATH.match(name.source.text, name.start)
    written = re.sub(r"\s", "", path[0]) if path is not None else ""
    module, _, last = written.rpartition(".")
    return module, last
