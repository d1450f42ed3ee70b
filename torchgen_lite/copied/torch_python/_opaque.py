"""Classes of Python that schemas name."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import torch

from ._library import Operator, at

# Parts of torch have no annotations.
_C: Any = torch._C


def register_classes(operators: Sequence[Operator]) -> None:
    """Let schemas name the classes, unless PyTorch or another package did."""
    for operator in operators:
        for name, kind in operator.rules.get("classes", {}).items():
            with at(operator.place, f"`{operator.name}`"):
                _register_class(name, kind)


def _register_class(name: str, kind: str) -> None:
    if find_spec("torch._library.opaque_object") is None:
        raise TypeError(f"`{name}`: torch {torch.__version__} takes no objects of Python")
    module, _, attribute = name.rpartition(".")
    # The module may register it, too.
    class_ = getattr(importlib.import_module(module), attribute)
    if not _C._is_opaque_type_registered(name):
        opaque: Any = importlib.import_module("torch._library.opaque_object")
        if hasattr(opaque, "register_custom_class"):
            kind = {"reference": "symbolic", "value": "constant"}[kind]
            opaque.register_custom_class(class_, typ=kind)
        else:
            opaque.register_opaque_type(class_, typ=kind)
