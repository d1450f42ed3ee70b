"""What compilers and counters of torch know of the operators of a package, in modules that the package does not import."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import torch
from torch.utils import _pytree as pytree

# Parts of torch have no annotations.
_C: Any = torch._C


def when_imported(module: str, act: Callable[[Any], None], operators: Sequence[Any]) -> None:
    """Act now if the module is there, or at the end of its import."""

    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        if name != module:
            return None
        place = sys.meta_path.index(finder)
        sys.meta_path.remove(finder)
        try:
            spec: Any = importlib.util.find_spec(name)
        finally:
            # Who looks need not import.
            sys.meta_path.insert(place, finder)
        if spec is not None:
            run = spec.loader.exec_module

            def exec_module(made: ModuleType) -> None:
                run(made)
                if finder in sys.meta_path:
                    sys.meta_path.remove(finder)
                    for operator in operators:
                        act(operator)

            spec.loader.exec_module = exec_module
        return spec

    finder: Any = SimpleNamespace(find_spec=find_spec)
    if module not in sys.modules:
        sys.meta_path.insert(0, finder)
        return
    for operator in operators:
        act(operator)


def apart(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose results share no memory with its arguments, nor with each other: those of an operator do not."""

    def call(*args: Any, **kwargs: Any) -> Any:
        found = function(*args, **kwargs)
        known = [v for v in pytree.tree_leaves((args, kwargs)) if isinstance(v, torch.Tensor)]

        def own(value: torch.Tensor) -> torch.Tensor:
            value = value.clone() if any(_C._is_alias_of(value, v) for v in known) else value
            known.append(value)
            return value

        return pytree.tree_map_only(torch.Tensor, own, found)

    return call


def functionalize(
    library: Any, op: Any, places: Sequence[Any], is_composed: bool, new: Any
) -> None:
    """Serve `torch.func.functionalize`, by `new` values or on copies, since PyTorch 2.9; older releases refuse the calls.

    With a kernel for Functionalize, compilers would no longer functionalize by themselves. So this one stands where
    functorch begins, and leaves other transforms to what was there.
    """
    get, key = getattr(torch.library, "get_kernel", None), "FuncTorchDynamicLayerFrontMode"
    if get is None:
        return
    others: Any = get(op, key)

    def kernel(keyset: Any, /, *args: Any, **kwargs: Any) -> Any:
        from torch._functorch import pyfunctorch

        layer: Any = pyfunctorch.retrieve_current_functorch_interpreter()
        if layer.key() != _C._functorch.TransformType.Functionalize:
            return others.call_boxed(keyset, *args, **kwargs)
        if is_composed:
            return op.decompose(*args, **kwargs)
        return _written(layer, op, places, new, args, kwargs)

    library.impl(op.name().partition("::")[2], kernel, key, with_keyset=True)


def _written(layer: Any, op: Any, places: Sequence[Any], new: Any, args: Any, kwargs: Any) -> Any:
    from torch._subclasses.functional_tensor import FunctorchFunctionalizeAPI

    api: Any = FunctorchFunctionalizeAPI(layer)
    given = {**dict(enumerate(args)), **kwargs}
    written = {id(v): v for v in pytree.tree_leaves([given.get(place) for place in places])}
    tensors = [v for v in written.values() if isinstance(v, torch.Tensor)]
    # Tensors that come from outside of the function are written to.
    copied = [id(v) for v in tensors if torch._is_functional_tensor(v)]
    # Each has its own copy, and the layouts of two views do not say whether they overlap.
    if 1 < len(tensors) != len({v.untyped_storage()._cdata for v in tensors}):
        raise RuntimeError(f"functionalize: {op.name()} writes to tensors that share memory")
    if new:
        targets, found = [given[place] for place in places], new(*args, **kwargs)
        values = dict(zip(map(id, targets), found if len(places) > 1 else [found]))
        for i in written.keys() - set(copied):
            written[i].copy_(values[i])
        below = {i: api.unwrap_tensors(values[i]) for i in copied}
        result = tuple(targets) if len(targets) > 1 else targets[0]
    else:
        below = {id(v): api.unwrap_tensors(v) for v in pytree.tree_leaves((args, kwargs))}
        with api.redispatch_to_next():
            below.update({i: below[i].clone() for i in copied})
            inner = pytree.tree_map(lambda v: below[id(v)], (args, kwargs))
            found = op(*inner[0], **inner[1])
        own = {id(below.get(i)): v for i, v in written.items()}
        result = pytree.tree_map(
            lambda v: own[id(v)] if id(v) in own else api.wrap_tensors(v), found
        )
    for i in copied:
        api.replace(written[i], below[i])
        api.commit_update(written[i])
        api.sync(written[i])
    return result


def _decompose_in_inductor(given: Any) -> None:
    from torch._inductor import decomposition

    decomposition.decompositions.setdefault(given[0], apart(given[1]))
    # It keeps a copy of the table.
    decomposition.fast_random_decomps.cache_clear()


def _decompose_elsewhere(given: Any) -> None:
    """In the table that `torch.onnx.export` and `get_decompositions` read.

    Fake tensors with symbolic sizes read it too, before they ask for the fake.
    """
    from torch import _decomp
    from torch._subclasses.fake_tensor import FakeTensor
    from torch.fx.experimental import proxy_tensor

    op, function, fake = given[0], apart(given[1]), given[2]

    def call(*args: Any, **kwargs: Any) -> Any:
        is_fake = any(isinstance(v, FakeTensor) for v in pytree.tree_leaves((args, kwargs)))
        asks = is_fake and fake is not None and proxy_tensor.get_proxy_mode() is None
        return (fake if asks else function)(*args, **kwargs)

    _decomp.decomposition_table.setdefault(op, call)


def _count_flops(given: Any) -> None:
    from torch.utils import flop_counter

    packet, function = given[0].overloadpacket, given[1]
    if packet not in flop_counter.flop_registry:
        wrapped = flop_counter.register_flop_formula(packet, get_raw=True)
        wrapped(lambda *args, out_val=None, **kwargs: function(*args, **kwargs))


# What is registered in modules of torch that the package does not import, given the operator, the function and its fake.
LATER: Mapping[str, tuple[str, Callable[[Any], None]]] = {
    "inductor": ("torch._inductor.decomposition", _decompose_in_inductor),
    "onnx": ("torch._decomp", _decompose_elsewhere),
    "flops": ("torch.utils.flop_counter", _count_flops),
}
