"""How operators that write are traced, as operators that do not, and a copy."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ._library import Function, Registering, current, handle, library_function
from ._writes import values_at, written_arguments

# Parts of torch have no annotations.
_C: Any = torch._C


def register(registering: Registering) -> None:
    """A kernel for Functionalize, and what `torch.func.functionalize` needs, of operators that write and of composed views."""
    name, op = registering.name, registering.op
    # A kernel for Functionalize that is not made here.
    is_functionalized = registering.has_kernel("Functionalize")
    compute: Function | None = None
    if registering.has("functionalize"):
        compute = current(registering.table, name, "functionalize")
        _register_functionalize(registering, compute)
    if registering.operator.is_torchs:
        return
    if _returns_what_it_writes(op) and not _is_traced(registering):
        _register_functionalize(registering, _define_copying(registering))
    is_composed = registering.has_kernel("CompositeImplicitAutograd")
    is_view = is_composed and any(value.alias_info for value in op._schema.returns)
    is_traced_view = is_view and not registering.has_kernel("Functionalize")
    if is_traced_view or (op._schema.is_mutable and not is_functionalized):
        _serve_transform(registering, is_composed, compute)


def functional(operator: str) -> Function:
    """The operator that computes what another one writes. It takes no `out`."""

    def compute(*args: Any, **kwargs: Any) -> Any:
        op = handle(operator)
        taken = {argument.name for argument in op._schema.arguments}
        return op(*args, **{n: v for n, v in kwargs.items() if n in taken})

    return compute


def _is_traced(registering: Registering) -> bool:
    """Whether tracing supports an operator that returns what it writes: from 2.13 on, with the tag `inplace` or `out`."""
    tags = [getattr(torch.Tag, tag, None) for tag in ("inplace", "out")]
    keys = ("Functionalize", "CompositeImplicitAutograd")
    known = any(tag in registering.op.tags for tag in tags)
    return known or any(registering.has_kernel(key) for key in keys)


def _register_functionalize(registering: Registering, compute: Function) -> None:
    """An operator that returns what it writes: traced as the functional one and a copy."""
    if _is_traced(registering):
        return
    places = written_arguments(registering.op)

    def kernel(*args: Any, **kwargs: Any) -> Any:
        written = values_at(places, args, kwargs)
        result = compute(*args, **kwargs)
        for target, value in zip(written, result if len(written) > 1 else [result]):
            target.copy_(value)
        return tuple(written) if len(written) > 1 else written[0]

    registering.impl("Functionalize", kernel)


def _returns_what_it_writes(op: Any) -> bool:
    """Whether it writes to tensors, and returns those and nothing else."""
    written = []
    for argument in op._schema.arguments:
        alias = argument.alias_info
        if alias is not None and alias.is_write:
            if not isinstance(argument.type, _C.TensorType):
                return False
            written.append(alias.before_set)
    returned = [value.alias_info and value.alias_info.before_set for value in op._schema.returns]
    return bool(written) and written == returned


def _define_copying(registering: Registering) -> Function:
    """`_copying_scale_(Tensor self) -> Tensor`, if there is no functional `scale`: it runs `scale_` on a copy."""
    namespace, op = registering.operator.namespace, registering.op
    local = f"_copying_{registering.operator.local_name}"
    places = written_arguments(op)
    aliases = re.compile(r"(?<=Tensor)\([^()]*\)")

    def kernel(*args: Any, **kwargs: Any) -> Any:
        given: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        given.update({place: given[place].clone() for place in places})
        return op(*[given.pop(i) for i in range(len(args))], **given)

    def fake(*args: Any, **kwargs: Any) -> Any:
        results = [torch.empty_like(value) for value in values_at(places, args, kwargs)]
        return tuple(results) if len(results) > 1 else results[0]

    make: Any = torch.library.Library
    library = registering.libraries[f"{namespace}::{local}"] = make(namespace, "FRAGMENT")
    schema = aliases.sub("", str(op._schema)).partition("(")
    library.define(local + "(" + schema[2])
    library.impl(local, kernel, "CompositeExplicitAutograd")
    library_function("register_fake")(f"{namespace}::{local}", fake, lib=library)
    return functional(f"{namespace}::{local}")


# `torch.func.functionalize`.


def _serve_transform(registering: Registering, is_composed: bool, compute: Function | None) -> None:
    """Serve `torch.func.functionalize`, by new values or on copies, since PyTorch 2.9; older releases refuse the calls.

    With a kernel for Functionalize, compilers would no longer functionalize by themselves. So this one stands where
    functorch begins, and leaves other transforms to what was there.
    """
    op, key = registering.op, "FuncTorchDynamicLayerFrontMode"
    get_kernel: Any = getattr(torch.library, "get_kernel", None)
    if get_kernel is None:
        return
    others = get_kernel(op, key)

    def kernel(keyset: Any, /, *args: Any, **kwargs: Any) -> Any:
        from torch._functorch import pyfunctorch

        layer: Any = pyfunctorch.retrieve_current_functorch_interpreter()
        if layer.key() != _C._functorch.TransformType.Functionalize:
            return others.call_boxed(keyset, *args, **kwargs)
        if is_composed:
            return op.decompose(*args, **kwargs)
        return _functionalized(layer, op, compute, args, kwargs)

    registering.impl(key, kernel, with_keyset=True)


def _functionalized(layer: Any, op: Any, compute: Any, args: Any, kwargs: Any) -> Any:
    """The results of a call in which the tensors that are written get new values."""
    from torch._subclasses.functional_tensor import FunctorchFunctionalizeAPI

    api: Any = FunctorchFunctionalizeAPI(layer)
    places = written_arguments(op)
    given = {**dict(enumerate(args)), **kwargs}
    leaves = pytree.tree_leaves([given.get(place) for place in places])
    written = {id(leaf): leaf for leaf in leaves if isinstance(leaf, torch.Tensor)}
    storages = {value.untyped_storage()._cdata for value in written.values()}
    # Each has its own copy, and the layouts of two views do not say whether they overlap.
    if 1 < len(written) != len(storages):
        raise RuntimeError(f"functionalize: {op.name()} writes to tensors that share memory")
    # Tensors that come from outside of the function are written to.
    inner = {key: value for key, value in written.items() if torch._is_functional_tensor(value)}
    if compute:
        found = compute(*args, **kwargs)
        targets = [given[place] for place in places]
        values = found if len(targets) > 1 else [found]
        result = tuple(targets) if len(targets) > 1 else targets[0]
        new = _assigned(api, targets, values, inner)
    else:
        result, new = _on_copies(api, op, written, inner, args, kwargs)
    for key, value in inner.items():
        api.replace(value, new[key])
        api.commit_update(value)
        api.sync(value)
    return result


def _assigned(api: Any, targets: Any, values: Any, inner: Mapping[int, Any]) -> dict[int, Any]:
    """The new values below the layer of those that are `inner`; others are written to."""
    new: dict[int, Any] = {}
    for target, value in zip(targets, values):
        if id(target) in inner:
            new[id(target)] = api.unwrap_tensors(value)
        else:
            target.copy_(value)
    return new


def _on_copies(
    api: Any, op: Any, written: Mapping[int, Any], inner: Mapping[int, Any], args: Any, kwargs: Any
) -> tuple[Any, dict[int, Any]]:
    """The result of the operator on copies of those that are `inner`, and the copies."""
    leaves = pytree.tree_leaves((args, kwargs))
    below = {id(leaf): api.unwrap_tensors(leaf) for leaf in leaves}
    with api.redispatch_to_next():
        copies = {key: below[key].clone() for key in inner}
        below.update(copies)
        given, named = pytree.tree_map(lambda leaf: below[id(leaf)], (args, kwargs))
        found = op(*given, **named)
    own = {id(below[key]): value for key, value in written.items()}

    def returned(value: Any) -> Any:
        """A written argument as it was given."""
        return own[id(value)] if id(value) in own else api.wrap_tensors(value)

    return pytree.tree_map(returned, found), copies
