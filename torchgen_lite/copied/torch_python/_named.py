"""Functions that rules and formulas name, in modules that are imported at the first call."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import resolve_name
from typing import Any

from ._library import Function, resolve, text_of

# The modules that rules, formulas and kernels of Triton are in.
modules: set[str] = set()


def _plainly(function: Function, /, *args: Any, **kwargs: Any) -> Any:
    return function(*args, **kwargs)


def named(place: str, module: str, name: str, calling: Function = _plainly) -> Function:
    """The function of that name. `calling` gives it the arguments that PyTorch leaves out."""
    modules.add(module)

    def call(*args: Any, **kwargs: Any) -> Any:
        return calling(resolve(place, module, name), *args, **kwargs)

    return call


def sources() -> Iterator[bytes]:
    """The texts of these modules, found where imports look, and not imported; a library in C++ has none."""
    for module in sorted(modules):
        spec = _spec_of(module)
        if spec is not None and (spec.origin or "").endswith((".py", ".pyc")):
            yield text_of(spec)


def _spec_of(module: str) -> ModuleSpec | None:
    """A package that is imported knows where its modules are: one that was loaded by its path is nowhere else found."""
    folders: Any = None
    spec = None
    name = ""
    for part in resolve_name(module, __package__).split("."):
        name = f"{name}.{part}".lstrip(".")
        spec = getattr(sys.modules.get(name), "__spec__", None)
        if spec is None:
            spec = PathFinder.find_spec(name, folders)
        folders = spec.submodule_search_locations if spec is not None else None
    return spec
