"""What a call writes, and whether its results are those that the schema promises.

Note [What is written has a new version]
Autograd compares the version of a tensor that it has kept with the one that the tensor has in the backward pass. A
kernel that writes by NumPy, Triton or a pointer changes no version. So a call does, once for each tensor that the schema
says is written, as `torch.library.custom_op` does: in the kernel for Autograd, which goes past ADInplaceOrView to save a
call, and in one for ADInplaceOrView, which serves calls that Autograd does not see, as those in inference mode. That
mode takes ADInplaceOrView from calls whose arguments carry no keys, as a `Tensor[]?` alone: these have BackendSelect.

Note [Results are compared]
Compilers believe the schema: a result that is an argument, or a view of one, is another tensor for them, and programs
give other numbers than they do eagerly. So every result of a kernel is compared with the arguments, by its storage; in
the first calls also by its memory, since NumPy gives a tensor back under another storage. A composed kernel is called
with what a transform of `torch.func` wraps, too, which has no memory: then it is not compared. Nor are kernels that are
`final`, and none is if the environment says `TORCHGEN_LITE_CHECKS=0` when the package is imported.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

import torch
from torch.autograd.graph import increment_version as increment_version
from torch.utils import _pytree as pytree

Function = Callable[..., Any]

# Parts of torch have no annotations.
_C: Any = torch._C
AFTER: Any = _C._after_ADInplaceOrView_keyset


def written_arguments(op: Any) -> list[int | str]:
    """What an operator writes to: positions, and names of keyword-only arguments."""
    found = [(i, a) for i, a in enumerate(op._schema.arguments) if a.alias_info is not None]
    return [a.name if a.kwarg_only else i for i, a in found if a.alias_info.is_write]


def values_at(
    places: Sequence[int | str],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> list[Any]:
    return [kwargs[p] if isinstance(p, str) else args[p] for p in places]


def written_tensors(op: Any) -> Callable[[Sequence[Any], Mapping[str, Any]], list[torch.Tensor]]:
    """What finds the tensors that a call writes: those of lists, too, and none that is left out."""
    places = written_arguments(op)

    def written(args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[torch.Tensor]:
        given: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        values: list[Any] = []
        for place in places:
            value = given.get(place)
            values += value if isinstance(value, (list, tuple)) else [value]
        return [value for value in values if isinstance(value, torch.Tensor)]

    return written


def carries_keys(op: Any) -> bool:
    """Whether an argument gives calls their keys: a list of tensors that may be left out does not."""
    types = [str(argument.type) for argument in op._schema.arguments]
    return any("Tensor" in text and not text.startswith("Optional[List") for text in types)


def tensors_of(values: Any) -> Iterator[torch.Tensor]:
    return filter(torch.is_tensor, pytree.tree_leaves(values))


def raising_versions(op: Any) -> Function:
    """The kernel for ADInplaceOrView of an operator that writes."""
    written = written_tensors(op)

    def kernel(keyset: Any, /, *args: Any, **kwargs: Any) -> Any:
        increment_version(written(args, kwargs))
        return op._handle.redispatch_boxed(keyset & AFTER, *args, **kwargs)

    return kernel


def raising_in_inference(op: Any) -> Function:
    """The kernel for BackendSelect of an operator that writes, and whose arguments carry no keys."""
    written = written_tensors(op)
    after = _C._dispatch_keyset_full_after(_C.DispatchKey.BackendSelect)

    def kernel(keyset: Any, /, *args: Any, **kwargs: Any) -> Any:
        if torch.is_inference_mode_enabled():
            increment_version(written(args, kwargs))
        return op._handle.redispatch_boxed(keyset & after, *args, **kwargs)

    return kernel


def check_leaf(written: torch.Tensor) -> None:
    """Refuse to write to what has no history to write to, in PyTorch's words."""
    for what, leaf in (("a leaf", written), ("a view of a leaf", written._base)):
        if written.requires_grad and leaf is not None and leaf.is_leaf:
            raise RuntimeError(
                f"{what} Variable that requires grad is being used in an in-place operation."
            )


# Results.

_UNDECLARED = "which the schema does not say: return a copy (`clone`), or declare it (`Tensor(a)`)"

# The calls of a kernel whose results are compared by memory.
_FIRST = 8
_PLAIN = (torch.Tensor, torch.nn.Parameter)


def _unknown(*given: Any) -> bool:
    """A torch without the function below compares in Python."""
    return True


_shares: Callable[..., bool] = getattr(_C, "_any_output_is_alias_to_input_or_output", _unknown)


def is_backend(key: str) -> bool:
    """Whether kernels for a key compute, and do not only pass calls on."""
    is_explicit = key.startswith("CompositeExplicit")
    return is_explicit or _C._dispatch_is_included_in_alias(key, "CompositeExplicitAutograd")


def checked(op: Any, place: str, key: str, table: Mapping[tuple[str, str], Function]) -> Function:
    """The kernel of a table, looked up at each call; its results are compared with the schema, if it is one that computes."""
    which = op.name(), key
    is_wanted = os.environ.get("TORCHGEN_LITE_CHECKS") != "0"
    is_composed = key == "CompositeImplicitAutograd"
    computes = is_composed or (is_backend(key) and "Meta" not in key)
    if not (is_wanted and computes):
        return lambda *args, **kwargs: table[which](*args, **kwargs)
    returns_new = not any(value.alias_info for value in op._schema.returns)
    returns_self, calls = _returns_self(op._schema), count()

    def kernel(*args: Any, **kwargs: Any) -> Any:
        result = table[which](*args, **kwargs)
        if returns_self and args and result is args[0]:
            return result
        if is_composed and _C._are_functorch_transforms_active():
            return result
        results = result if type(result) is tuple else (result,)
        if not returns_new or next(calls) < _FIRST or _shares(args, kwargs, results):
            problem = broken_promise(op._schema, args, kwargs, result)
            if problem:
                raise RuntimeError(f"{place}: {op.name()}: {problem}")
        return result

    return kernel


def _returns_self(schema: Any) -> bool:
    """Whether the only result is the first argument."""
    values = [value.alias_info for value in (*schema.arguments[:1], *schema.returns)]
    if len(values) != 2 or not all(alias and alias.is_write for alias in values):
        return False
    return bool(values[0].before_set == values[1].before_set != set())


def broken_promise(schema: Any, args: Any, kwargs: Any, result: Any) -> str:
    """What results are not as the schema says, and what to do; empty if there is nothing."""
    positional = [argument.name for argument in schema.arguments if not argument.kwarg_only]
    named = dict(zip(positional, args)) | kwargs
    known, owners = [], {}
    for argument in schema.arguments:
        alias, value = argument.alias_info, named.get(argument.name)
        known += [(f"argument `{argument.name}`", tensor, alias) for tensor in tensors_of(value)]
        # A list has no letters.
        for letter in alias.before_set if alias and alias.is_write else ():
            owners[letter] = argument.name
    results = [result] if len(schema.returns) == 1 else list(result or ())
    for index, (declared, value) in enumerate(zip(schema.returns, results)):
        alias = declared.alias_info
        what = "the result" if len(results) == 1 else f"result {declared.name or index}"
        if alias and alias.is_write:
            for name in [owners[letter] for letter in alias.before_set if letter in owners]:
                if value is not named.get(name):
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
    is_plain = all(type(t) in _PLAIN and t.layout is torch.strided for t in (a, b))
    if not is_plain or a.device != b.device or a.is_meta:
        return False
    one, two = a.untyped_storage(), b.untyped_storage()
    start, other_start = one.data_ptr(), two.data_ptr()
    return start < other_start + two.nbytes() and other_start < start + one.nbytes()
