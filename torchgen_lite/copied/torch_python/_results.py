"""Whether the results of a call are those that the schema promises.

Note [Results are compared]
Compilers believe the schema: a result that is an argument, or a view of one, is another tensor for them, and programs
give other numbers than they do eagerly. So every result of a kernel is compared with the arguments, by its storage; in
the first calls also by its memory, since NumPy gives a tensor back under another storage. A composed kernel is called
with what a transform of `torch.func` wraps, too, which has no memory: then it is not compared. Nor are kernels that are
`final`, and none is if the environment says `TORCHGEN_LITE_CHECK=0` when the package is imported.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import count
from typing import Any

import torch

from ._library import Function, Table, current, is_backend, named, only_notes, resolving, tensors_of

# Parts of torch have no annotations.
_C: Any = torch._C
_UNDECLARED = "which the schema does not say: return a copy (`clone`), or declare it (`Tensor(a)`)"

# The calls of a kernel whose results are compared by memory.
_FIRST = 8
_PLAIN = (torch.Tensor, torch.nn.Parameter)
# The storage of a tensor as a number, and how many hold a storage.
_has_storage: Callable[[torch.Tensor], bool] = _C._has_storage
_storage: Callable[[torch.Tensor], int] = _C._storage_address
_holders: Callable[[int], int] = _C._storage_Use_Count
# A torch without this function compares in Python.
_shares: Any = getattr(_C, "_any_output_is_alias_to_input_or_output", lambda *given: True)


def checked(op: Any, place: str, key: str, table: Table) -> Function:
    """The kernel of a table, looked up at each call; its results are compared with the schema, if it is one that computes."""
    which = op.name(), key
    is_composed = key == "CompositeImplicitAutograd"
    computes = is_composed or (is_backend(key) and "Meta" not in key)
    if os.environ.get("TORCHGEN_LITE_CHECK") == "0" or not computes:
        return current(table, *which)
    returns_new = not any(value.alias_info for value in op._schema.returns)
    returns_self = _returns_self(op._schema)
    calls = count()

    def checked_kernel(*args: Any, **kwargs: Any) -> Any:
        if only_notes():
            result = resolving(table[which], args, kwargs)
        else:
            result = table[which](*args, **kwargs)
        if returns_self and args and result is args[0]:
            return result
        if is_composed and _C._are_functorch_transforms_active():
            return result
        if returns_new and next(calls) >= _FIRST:
            if _is_alone(result):
                return result
            results = result if type(result) is tuple else (result,)
            if not _shares(args, kwargs, results):
                return result
        problem = broken_promise(op._schema, args, kwargs, result)
        if problem:
            raise RuntimeError(f"{place}: {op.name()}: {problem}")
        return result

    return checked_kernel


def _is_alone(result: Any) -> bool:
    """Whether the result is one tensor, and nothing else holds its storage: this is quicker than to compare."""
    is_stored = type(result) is torch.Tensor and _has_storage(result)
    return is_stored and _holders(_storage(result)) == 1


def _returns_self(schema: Any) -> bool:
    """Whether the only result is the first argument."""
    aliases = [value.alias_info for value in (*schema.arguments[:1], *schema.returns)]
    if len(aliases) != 2 or not all(alias and alias.is_write for alias in aliases):
        return False
    return bool(aliases[0].before_set == aliases[1].before_set != set())


def broken_promise(schema: Any, args: Any, kwargs: Any, result: Any) -> str:
    """What results are not as the schema says, and what to do; empty if there is nothing."""
    given = named(schema, args, kwargs)
    # What a tensor of the call is called, the tensor, and how the schema aliases it.
    known: list[tuple[str, torch.Tensor, Any]] = []
    for argument in schema.arguments:
        for tensor in tensors_of(given.get(argument.name)):
            known.append((f"argument `{argument.name}`", tensor, argument.alias_info))
    results = [result] if len(schema.returns) == 1 else list(result or ())
    for index, (declared, value) in enumerate(zip(schema.returns, results)):
        alias = declared.alias_info
        what = "the result" if len(results) == 1 else f"result {declared.name or index}"
        if alias and alias.is_write:
            name = _other_than_written(schema, given, alias, value)
            if name:
                return f"{what} is not argument `{name}`: write to `{name}`, and return it"
            continue
        for tensor in tensors_of(value):
            for other, before, info in known:
                if not _may_share(alias, info) and _share(tensor, before):
                    if other == what:
                        return f"{what} has items that share memory, {_UNDECLARED}"
                    return f"{what} shares memory with {other}, {_UNDECLARED}"
            known.append((what, tensor, alias))
    return ""


def _other_than_written(schema: Any, given: dict[str, Any], alias: Any, value: Any) -> str:
    """The argument that a result has to be, if it is another value; a list has no letters."""
    for argument in schema.arguments:
        info = argument.alias_info
        is_same = info and info.is_write and info.before_set & alias.before_set
        if is_same and value is not given.get(argument.name):
            return str(argument.name)
    return ""


def _may_share(result: Any, other: Any) -> bool:
    """Whether the schema says that a result may share memory with a value; `*` is every letter, and lists have none."""
    if result is None:
        return False
    letters = result.before_set | result.after_set
    others = other.before_set | other.after_set if other else set()
    is_any = "*" in letters or (other and not (letters and others))
    return bool(is_any or "*" in others or letters & others)


def _share(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors have a storage in common, or two storages memory, as what NumPy gives back."""
    if a is b or _C._is_alias_of(a, b):
        return True
    are_plain = all(type(t) in _PLAIN and t.layout is torch.strided for t in (a, b))
    if not are_plain or a.device != b.device or a.is_meta:
        return False
    memory, other = a.untyped_storage(), b.untyped_storage()
    start, other_start = memory.data_ptr(), other.data_ptr()
    return start < other_start + other.nbytes() and other_start < start + memory.nbytes()
