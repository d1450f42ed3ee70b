"""How operators that write are traced, as operators that do not, and a copy."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ._library import (
    Function,
    Registering,
    current,
    handle,
    tensors_of,
)
from ._writes import returned, values_at, written_arguments

# Parts of torch have no annotations.
_C: Any = torch._C


def register(registering: Registering) -> None:
    """A kernel for Functionalize, and what `torch.func.functionalize` needs, of operators that write and of composed views."""
    name = registering.name
    op = registering.op
    # A kernel for Functionalize that is not made here.
    is_functionalized = registering.has_kernel("Functionalize")
    compute: Function | None = None
    if registering.has("functionalize"):
        compute = current(registering.table, name, "functionalize")
        _register_functionalize(registering, compute)
    if registering.operator.is_torchs:
        return
    if _returns_what_it_writes(op) and not _is_traced(registering):
        copying = _define_copying(registering)
        _register_functionalize(registering, copying)
    is_composed = registering.has_kernel("CompositeImplicitAutograd")
    returns_view = any(declared.alias_info for declared in op._schema.returns)
    is_traced_view = is_composed and returns_view and not registering.has_kernel("Functionalize")
    is_traced_write = op._schema.is_mutable and not is_functionalized
    if is_traced_view or is_traced_write:
        _serve_transform(registering, is_composed, compute)


def functional(operator: str) -> Function:
    """The operator that computes what another one writes. It takes no `out`."""

    def compute(*args: Any, **kwargs: Any) -> Any:
        op = handle(operator)
        taken = [argument.name for argument in op._schema.arguments]
        kept = {name: kwargs[name] for name in taken if name in kwargs}
        return op(*args, **kept)

    return compute


def _is_traced(registering: Registering) -> bool:
    """Whether tracing supports an operator that returns what it writes: from 2.13 on, with the tag `inplace` or `out`."""
    for name in ("inplace", "out"):
        if getattr(torch.Tag, name, None) in registering.op.tags:
            return True
    keys = ("Functionalize", "CompositeImplicitAutograd")
    return any(map(registering.has_kernel, keys))


def _register_functionalize(registering: Registering, compute: Function) -> None:
    """An operator that returns what it writes: traced as the functional one and a copy."""
    if _is_traced(registering):
        return
    places = written_arguments(registering.op)

    def kernel(*args: Any, **kwargs: Any) -> Any:
        written = values_at(places, args, kwargs)
        result = compute(*args, **kwargs)
        values = result if len(written) > 1 else [result]
        for target, value in zip(written, values):
            target.copy_(value)
        return returned(written)

    registering.impl("Functionalize", kernel)


def _returns_what_it_writes(op: Any) -> bool:
    """Whether it writes to tensors, and returns those and nothing else."""
    written = []
    for argument in op._schema.arguments:
        alias = argument.alias_info
        if alias is None or not alias.is_write:
            continue
        if not isinstance(argument.type, _C.TensorType):
            return False
        written.append(alias.before_set)
    aliases = [result.alias_info for result in op._schema.returns]
    return bool(written) and written == [alias and alias.before_set for alias in aliases]


def _define_copying(registering: Registering) -> Function:
    """`_copying_scale_(Tensor self) -> Tensor`, if there is no functional `scale`: it runs `scale_` on a copy."""
    namespace = registering.operator.namespace
    op = registering.op
    local_name = f"_copying_{registering.operator.local_name}"
    name = f"{namespace}::{local_name}"
    places = written_arguments(op)
    aliases = re.compile(r"(?<=Tensor)\([^()]*\)")

    def kernel(*args: Any, **kwargs: Any) -> Any:
        copied_args = [*args]
        copied_kwargs = {**kwargs}
        for place in places:
            arguments: Any = copied_args if isinstance(place, int) else copied_kwargs
            arguments[place] = arguments[place].clone()
        return op(*copied_args, **copied_kwargs)

    def fake(*args: Any, **kwargs: Any) -> Any:
        written = values_at(places, args, kwargs)
        return returned([torch.empty_like(value) for value in written])

    make: Any = torch.library.Library
    library = make(namespace, "FRAGMENT")
    registering.libraries[name] = library
    without_aliases = aliases.sub("", str(op._schema))
    _, _, rest_of_schema = without_aliases.partition("(")
    library.define(f"{local_name}({rest_of_schema}")
    library.impl(local_name, kernel, "CompositeExplicitAutograd")
    register_fake: Any = torch.library.register_fake
    register_fake(name, fake, lib=library)
    return functional(name)


# `torch.func.functionalize`.


def _serve_transform(registering: Registering, is_composed: bool, compute: Function | None) -> None:
    """Serve `torch.func.functionalize`, by new values or on copies, since PyTorch 2.9; older releases refuse the calls.

    With a kernel for Functionalize, compilers would no longer functionalize by themselves. So this one stands where
    functorch begins, and leaves other transforms to what was there.
    """
    op = registering.op
    key = "FuncTorchDynamicLayerFrontMode"
    get_kernel: Any = getattr(torch.library, "get_kernel", None)
    if get_kernel is None:
        return
    for_other_transforms = get_kernel(op, key)

    def kernel(keyset: Any, /, *args: Any, **kwargs: Any) -> Any:
        from torch._functorch import pyfunctorch

        layer: Any = pyfunctorch.retrieve_current_functorch_interpreter()
        if layer.key() != _C._functorch.TransformType.Functionalize:
            return for_other_transforms.call_boxed(keyset, *args, **kwargs)
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
    values_written = [given.get(place) for place in places]
    written = {id(tensor): tensor for tensor in tensors_of(values_written)}
    storages = {tensor.untyped_storage()._cdata for tensor in written.values()}
    # Each has its own copy, and the layouts of two views do not say whether they overlap.
    share_storages = len(storages) != len(written)
    if len(written) > 1 and share_storages:
        raise RuntimeError(f"functionalize: {op.name()} writes to tensors that share memory")
    # Tensors that come from outside of the function are written to.
    inner = {k: tensor for k, tensor in written.items() if torch._is_functional_tensor(tensor)}
    if compute:
        computed = compute(*args, **kwargs)
        targets = [given[place] for place in places]
        values = computed if len(targets) > 1 else [computed]
        result = returned(targets)
        new_values = _assigned(api, targets, values, inner)
    else:
        result, new_values = _on_copies(api, op, written, inner, args, kwargs)
    for key, tensor in inner.items():
        api.replace(tensor, new_values[key])
        api.commit_update(tensor)
        api.sync(tensor)
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

    def below_of(leaf: Any) -> Any:
        return below[id(leaf)]

    with api.redispatch_to_next():
        copies = {key: below[key].clone() for key in inner}
        below.update(copies)
        args_below, kwargs_below = pytree.tree_map(below_of, (args, kwargs))
        results = op(*args_below, **kwargs_below)
    # The arguments that were written, by what they are below the layer.
    given_of = {id(below[key]): tensor for key, tensor in written.items()}

    def above(value: Any) -> Any:
        """A result for the caller; a written argument as it was given."""
        if id(value) in given_of:
            return given_of[id(value)]
        return api.wrap_tensors(value)

    return pytree.tree_map(above, results), copies
