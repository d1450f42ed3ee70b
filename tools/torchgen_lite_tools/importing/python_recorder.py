"""Records Python registrations during an import: PyTorch keeps kernels without their names.

Note [Wrappers are not kernels]
`custom_op`, `register_fake`, `register_autograd` and their like register PyTorch functions around the author's. What is
defined in PyTorch's own files is such a wrapper; the author's function is found through it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from types import FunctionType
from typing import Any


@dataclass(slots=True)
class Recorded:
    """The author's functions: kernels by operator and key, `register_<kind>` ones by operator."""

    kernels: dict[tuple[str, str], Any] = field(default_factory=dict)
    given: dict[tuple[str, str], Any] = field(default_factory=dict)
    # The dtype for each type of device.
    autocast: dict[str, dict[str, Any]] = field(default_factory=dict)
    # Operators and keys that PyTorch functions serve.
    wrapped: set[tuple[str, str]] = field(default_factory=set)


@contextmanager
def recording(torch: Any) -> Iterator[Recorded]:
    """A context that records what is registered through `torch.library`."""
    recorded = Recorded()
    library = torch.library
    home = str(Path(torch.__file__).parent)
    register = library.Library.impl
    saved = {name: getattr(library, name) for name in _NOTED}

    @wraps(register)
    def impl(self: Any, op_name: Any, fn: Any, dispatch_key: str = "", **more: Any) -> Any:
        result = register(self, op_name, fn, dispatch_key, **more)
        local = _name(op_name)
        full = local if "::" in local else f"{self.ns}::{local}"
        key = dispatch_key or self.dispatch_key or "CompositeImplicitAutograd"
        # The `apply` of an author's `autograd.Function` is PyTorch's, bound to the author's class.
        if hasattr(fn, "__code__") and is_within(fn, home) and not hasattr(fn, "__self__"):
            recorded.wrapped.add((full, key))
        else:
            recorded.kernels[full, key] = fn
        return result

    library.Library.impl = impl
    for name, function in saved.items():
        setattr(library, name, _noting(recorded, name.removeprefix("register_"), function))
    try:
        yield recorded
    finally:
        library.Library.impl = register
        vars(library).update(saved)
    _ask_custom_ops(torch, recorded)


_ATTRIBUTES = {"autograd": "_backward_fn", "fake": "_abstract_fn", "vmap": "_vmap_fn"}
_NOTED = ("register_autograd", "register_autocast", "register_vmap")


def is_within(function: Any, home: str) -> bool:
    """Whether a function is defined in a file below a folder."""
    return Path(function.__code__.co_filename).is_relative_to(home)


def author_of(function: Any, home: str) -> Any:
    """The first function not of PyTorch that a PyTorch wrapper refers to, or None."""
    waiting = [function]
    seen = set[int]()
    while waiting:
        candidate = waiting.pop(0)
        if not isinstance(candidate, FunctionType) or id(candidate) in seen:
            continue
        if not is_within(candidate, home):
            return candidate
        seen.add(id(candidate))
        waiting.append(getattr(candidate, "__wrapped__", None))
        waiting += [cell.cell_contents for cell in candidate.__closure__ or ()]
    return None


def _noting(recorded: Recorded, kind: str, function: Any) -> Any:
    @wraps(function)
    def noted(op: Any, *given: Any, **more: Any) -> Any:
        result = function(op, *given, **more)
        name = _name(op)
        if kind == "vmap" and not (given and given[0]) and callable(result):
            return _noting_decorator(recorded, name, result)
        if kind == "autocast":
            device, dtype = (*given, more.get("cast_inputs"))[:2]
            recorded.autocast.setdefault(name, {})[device] = dtype
        else:
            recorded.given[name, kind] = given[0]
        return result

    return noted


def _noting_decorator(recorded: Recorded, name: str, register: Callable[[Any], Any]) -> Any:
    def noted(function: Any) -> Any:
        recorded.given[name, "vmap"] = function
        return register(function)

    return noted


def _name(operator: Any) -> str:
    """`mylib::f` of its name, of an overload, or of a custom operator."""
    if isinstance(operator, str):
        name = operator
    else:
        name = getattr(operator, "_qualname", "")
    return (name or str(getattr(operator, "_name", operator))).removesuffix(".default")


def _ask_custom_ops(torch: Any, recorded: Recorded) -> None:
    """Read the functions that `torch.library.custom_op` objects hold."""
    operators = getattr(torch._library.custom_ops, "OPDEFS", {})
    for name, operator in list(operators.items()):
        for device, function in operator._backend_fns.items():
            if device:
                key = torch._C._dispatch_key_for_device(device)
            else:
                key = "CompositeExplicitAutograd"
            recorded.kernels[name, key] = function
        for kind, attribute in _ATTRIBUTES.items():
            function = getattr(operator, attribute, None)
            if function is not None:
                recorded.given.setdefault((name, kind), function)
        for device, dtype in (getattr(operator, "_autocast_dtype", None) or {}).items():
            recorded.autocast.setdefault(name, {})[device] = dtype
