"""Operators that another library defines: one in C++, another package, or PyTorch itself."""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from ._library import Feature, Operator, Registering, at, known

# Parts of torch have no annotations.
_C: Any = torch._C


def load(module: str, operators: Sequence[Operator]) -> None:
    """Import the module that loads the library, unless it is loaded."""
    if not all(map(_is_defined, operators)):
        with at(operators[0].place, f"`{module}`"):
            importlib.import_module(module)


def check_defined(operators: Sequence[Operator], *, defines: bool) -> None:
    """Check that each operator exists that the package does not define, with the schema that it was made from."""
    for operator in operators:
        if operator.is_torchs or not defines:
            with at(operator.place, f"`{operator.name}`"):
                _check(operator)


def _check(operator: Operator) -> None:
    if not _is_defined(operator):
        raise RuntimeError("no library that is loaded defines it")
    if operator.is_torchs:
        return
    name, _, overload = operator.local_name.partition(".")
    declared = _C._get_schema(f"{operator.namespace}::{name}", overload)
    expected = _C.parse_schema(f"{operator.namespace}::{operator.schema}")
    if declared != expected:
        raise RuntimeError(f"the library that is loaded declares it as {declared}")


def _is_defined(operator: Operator) -> bool:
    return bool(_C._dispatch_has_kernel(operator.name))


# Derivatives that another library has registered.


def unless_taken(register: Feature, rule: str, load: str = "") -> Feature:
    """What registers derivatives, which are made from a `rule`, unless another kernel for Autograd has them; one that only
    refuses derivatives is replaced.

    The derivative of a view is known, and those of the library that `load` has loaded are from the same formulas: they
    take its place without a word.
    """

    def register_derivatives(registering: Registering) -> None:
        name = registering.name
        if not (registering.has(rule) and registering.has_kernel("Autograd")):
            register(registering)
        elif _only_refuses(name):
            with warnings.catch_warnings():
                # PyTorch warns of the refusal that is replaced.
                warnings.filterwarnings("ignore", "(?s).*Overriding a previously registered kernel")
                register(registering)
            known("refusing", set()).discard(name)
        elif rule == "backward" and not (load and _is_of_its_library(name)):
            message = "its formulas are not used: another library has a kernel for Autograd"
            warnings.warn(f"{registering.operator.place}: `{name}`: {message}", stacklevel=2)

    return register_derivatives


def _only_refuses(operator: str) -> bool:
    """Whether the kernel for Autograd only refuses gradients: that of a package, or of a library in C++, which says so."""
    is_of_a_package = operator in known("refusing", set())
    return is_of_a_package or "refuses derivatives" in _said_of(operator, "Autograd[alias]")


def _is_of_its_library(operator: str) -> bool:
    """Whether the sources in C++ that define an operator, which have its formulas, register its kernel for Autograd."""
    folders = []
    for what in ("debug", "Autograd[alias]"):
        place = re.search(r"registered at (.*?):\d", _said_of(operator, what))
        if place is None or place[1].endswith(".py"):
            return False
        folders.append(Path(place[1]).parent)
    return folders[0] == folders[1]


def _said_of(operator: str, what: str) -> str:
    """What PyTorch says of an operator, or of its kernel for a key."""
    lines = _C._dispatch_dump(operator).splitlines()
    return "".join(line for line in lines if line.startswith(what))
