"""Calls held against what the entry says: what the environment asks for with `TORCHGEN_LITE_CHECK=1`.

Note [Calls are held above their kernels]
Every call of PyTorch has the key BackendSelect, just above what computes: below autograd, transforms, modes and
subclasses, in eager and in compiled programs, for kernels in Python and in C++. A kernel there compares the call with
the fake, which runs before it, and with the schema. A composed operator has no call there, and others may have a kernel
for BackendSelect: of these the functions in Python are held. What has no memory is not: programs that are traced, and
the device `meta`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, cast

import torch
from torch._subclasses import fake_tensor
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils import _pytree as pytree

from ._library import (
    Feature,
    Function,
    Registering,
    is_backend,
    named,
    tensors_of,
    through_the_dispatcher,
)
from ._results import broken_promise
from ._writes import names_written

# Parts of torch have no annotations.
_C: Any = torch._C
_PLAIN = (torch.Tensor, torch.nn.Parameter)
_AFTER = _C._dispatch_keyset_full_after(_C.DispatchKey.BackendSelect)
_COMPOSED = "CompositeImplicitAutograd"
# What says that a fake can't tell, and what it says where the entry leaves a dtype to the kernel.
_UNKNOWN = (
    fake_tensor.DataDependentOutputException,
    fake_tensor.DynamicOutputShapeException,
    fake_tensor.UnsupportedFakeTensorException,
    fake_tensor.UnsupportedOperatorException,
)
_OPEN_DTYPE = "which with `dtype` under `fake:`"


def holding(features: Sequence[Feature]) -> tuple[Any, Sequence[Feature]]:
    """What autograd calls, which is the dispatcher even in a package that is `final`, and the features with one more."""
    return through_the_dispatcher, [*features, register]


def register(registering: Registering) -> None:
    """Hold the calls of an operator."""
    if registering.operator.is_torchs:
        return
    entry = Entry(registering)
    keys = ("BackendSelect", _COMPOSED)
    if not any(registering.has_kernel(key) for key in keys):
        registering.impl("BackendSelect", _holding(entry), with_keyset=True)
        return
    for rule in registering.operator.rules:
        is_of_backend = rule[0].isupper() and is_backend(rule)
        if rule == _COMPOSED or is_of_backend:
            _hold_function(registering, entry, rule)


def _holding(entry: Entry) -> Function:
    """The kernel for BackendSelect."""
    redispatch = entry.op._handle.redispatch_boxed

    def kernel(keyset: Any, /, *args: Any, **kwargs: Any) -> Any:
        return held(entry, lambda: redispatch(keyset & _AFTER, *args, **kwargs), args, kwargs)

    return _untraced(kernel)


def _hold_function(registering: Registering, entry: Entry, rule: str) -> None:
    which = registering.name, rule
    function = registering.table[which]

    def kernel(*args: Any, **kwargs: Any) -> Any:
        return held(entry, lambda: function(*args, **kwargs), args, kwargs)

    registering.table[which] = _untraced(kernel)


def _untraced(kernel: Function) -> Function:
    """Dynamo traces what runs in Python between two of its graphs."""
    disable: Any = torch.compiler.disable
    return cast("Function", disable(kernel))


class Entry:
    """An operator, where it is declared, and what calls of it are held against."""

    def __init__(self, registering: Registering) -> None:
        self.op = registering.op
        self.place = registering.operator.place
        self.has_fake = registering.has("fake") or registering.has_kernel("Meta")
        self.compares_contents = os.environ.get("TORCHGEN_LITE_CHECK") == "2"
        self.returns = self.op._schema.returns
        self.written = names_written(self.op._schema)

    def results_of(self, value: Any) -> list[Any]:
        if len(self.returns) == 1:
            return [value]
        return list(value or ())

    def broken(self, problem: str) -> RuntimeError:
        return RuntimeError(f"{self.place}: {self.op.name()}: {problem}")


def held(entry: Entry, run: Callable[[], Any], args: Any, kwargs: Any) -> Any:
    """The result of a call, or an error that says how it is not what the entry says."""
    tensors = tensors_of((args, kwargs))
    if not all(map(_has_memory, tensors)):
        return run()
    promised = _promised(entry, args, kwargs) if entry.has_fake else []
    unwritten = list(_unwritten(entry, args, kwargs))
    result = run()
    problem = (
        next(_written(unwritten), "")
        or broken_promise(entry.op._schema, args, kwargs, result)
        or next(_differences(entry, (args, kwargs), result, promised), "")
    )
    if problem:
        raise entry.broken(problem)
    return result


def _has_memory(tensor: torch.Tensor) -> bool:
    """Whether a tensor has numbers, and does not stand for them while a program is traced or transformed."""
    stands_for_others = (
        isinstance(tensor, fake_tensor.FakeTensor)
        or torch._is_functional_tensor(tensor)
        or _C._functorch.is_functorch_wrapped_tensor(tensor)
    )
    return not (stands_for_others or tensor.is_meta or tensor.is_nested)


# What the fake says.


class Promise(NamedTuple):
    """A result of the fake, and whether each tensor in it has memory of an argument."""

    value: Any
    shares: list[bool]


def _promised(entry: Entry, args: Any, kwargs: Any) -> list[Promise]:
    """The results that the fake gives for this call; none if it can't tell."""
    if _C._dispatch_tls_is_dispatch_key_excluded(_C.DispatchKey.Python):
        return []
    mode = fake_tensor.FakeTensorMode(
        allow_fallback_kernels=False,
        shape_env=ShapeEnv(),
        static_shapes=True,
    )
    guard = _C._AutoDispatchBelowAutograd()
    try:
        with torch.no_grad(), _C.DisableTorchFunction():
            given = (args, kwargs)
            args, kwargs = pytree.tree_map_only(
                torch.Tensor, lambda value: mode.from_tensor(value.detach()), given
            )
            with mode:
                result = entry.op(*args, **kwargs)
                results = entry.results_of(result)
                return [Promise(one, _sharing(one, (args, kwargs))) for one in results]
    except _UNKNOWN:
        return []
    except Exception as error:
        if _OPEN_DTYPE in str(error):
            return []
        raise entry.broken(f"its fake refuses the call: {error}") from error
    finally:
        del guard


def _sharing(value: Any, given: Any) -> list[bool]:
    """Whether each tensor in a result has memory of an argument."""
    known = set(map(_storage, tensors_of(given))) - {None}
    return [storage in known for storage in map(_storage, tensors_of(value))]


def _storage(tensor: torch.Tensor) -> int | None:
    """What is the same for tensors that share memory; None for those that have none of their own."""
    if tensor.layout is not torch.strided:
        return None
    storage: Any = tensor.untyped_storage()
    address: int = storage._cdata
    return address


def _differences(
    entry: Entry, given: Any, result: Any, promised: Sequence[Promise]
) -> Iterator[str]:
    """How results are not what the fake says; those that are written are arguments."""
    results = entry.results_of(result)
    both = zip(entry.returns, results, promised)
    for index, (declared, value, (fake, shares)) in enumerate(both):
        alias = declared.alias_info
        if alias and alias.is_write:
            continue
        what = "the result"
        if len(results) > 1:
            what = f"result `{declared.name or index}`"
        for problem in _other_values(value, fake):
            yield f"{what} is {problem}"
        tensors = tensors_of(value)
        expected = tensors_of(fake)
        if len(tensors) != len(expected):
            yield f"{what} has {len(tensors)} tensors, and its fake says {len(expected)}"
        each = zip(tensors, expected, _sharing(value, given), shares)
        for number, (tensor, its_fake, is_shared, is_said) in enumerate(each):
            is_item = not isinstance(value, torch.Tensor)
            item = f"item {number} of {what}" if is_item else what
            if is_shared and not is_said:
                yield f"{item} has {_GIVEN}, and its fake says {_OWN}"
            if is_said and not is_shared:
                yield f"{item} has {_OWN}, and its fake says {_GIVEN}"
            for fact, (is_so, promise) in _facts(tensor, its_fake).items():
                if is_so != promise:
                    yield f"{item} has {fact} {is_so}, and its fake says {promise}"


_GIVEN = "memory of an argument"
_OWN = "memory of its own"
_VALUES = (bool, int, float, complex, str)


def _other_values(value: Any, fake: Any) -> Iterator[str]:
    """The numbers and texts in a result that are others than those of the fake, with which compiled programs compute."""
    both = zip(_values_in(value), _values_in(fake))
    for found, said in both:
        # What depends on data is no number in a fake.
        is_known = isinstance(said, _VALUES)
        if is_known and repr(found) != repr(said):
            yield f"{found!r}, and its fake says {said!r}"


def _values_in(value: Any) -> list[Any]:
    return [leaf for leaf in pytree.tree_leaves(value) if not isinstance(leaf, torch.Tensor)]


def _facts(tensor: torch.Tensor, fake: torch.Tensor) -> dict[str, tuple[Any, Any]]:
    """What two tensors have in common if one is the fake of the other: what is found, and what is said."""
    facts: dict[str, tuple[Any, Any]] = {
        "device": (_device(tensor), _device(fake)),
        "dtype": (tensor.dtype, fake.dtype),
        "layout": (tensor.layout, fake.layout),
    }
    # A size that depends on data is not known.
    if not all(isinstance(size, int) for size in fake.shape):
        facts["dimensions"] = tensor.dim(), fake.dim()
        return facts
    facts["shape"] = tuple(tensor.shape), tuple(fake.shape)
    are_strided = tensor.layout is fake.layout is torch.strided
    if are_strided and tensor.shape == fake.shape:
        facts["strides"] = _strides(tensor), _strides(fake)
    return facts


def _device(tensor: torch.Tensor) -> str:
    """Without a number, which `cuda` may lack."""
    return tensor.device.type


def _strides(tensor: torch.Tensor) -> tuple[int, ...]:
    """Those that count: in a dimension of size 1 there is no step, and in an empty tensor none at all."""
    if not tensor.numel():
        return (0,) * tensor.dim()
    sizes = zip(tensor.shape, tensor.stride())
    return tuple(0 if size == 1 else step for size, step in sizes)


# What the schema says is not written.


class _Unwritten(NamedTuple):
    """A tensor that a call may not write: its version, and its contents if they are compared."""

    name: str
    tensor: torch.Tensor
    version: int | None
    contents: torch.Tensor | None


def _unwritten(entry: Entry, args: Any, kwargs: Any) -> Iterator[_Unwritten]:
    given = named(entry.op._schema, args, kwargs)
    written = tensors_of([given.get(name) for name in entry.written])
    for name, value in given.items():
        if name in entry.written:
            continue
        for tensor in tensors_of(value):
            # What shares memory with what is written is written, too.
            if any(_C._is_alias_of(tensor, other) for other in written):
                continue
            contents = _contents(tensor) if entry.compares_contents else None
            yield _Unwritten(name, tensor, _version(tensor), contents)


def _written(unwritten: Sequence[_Unwritten]) -> Iterator[str]:
    for name, tensor, version, contents in unwritten:
        is_same = contents is None or torch.equal(contents, _bits(tensor))
        if not is_same or _version(tensor) != version:
            yield (
                f"argument `{name}` is written, which the schema does not say: write to a copy (`clone`), "
                "or declare it (`Tensor(a!)`)"
            )


def _version(tensor: torch.Tensor) -> int | None:
    """It counts writes; a tensor of inference mode has none."""
    return None if tensor.is_inference() else tensor._version


def _contents(tensor: torch.Tensor) -> torch.Tensor | None:
    """A copy of the bits of a tensor that has them in its own memory."""
    is_plain = type(tensor) in _PLAIN and tensor.layout is torch.strided
    if not is_plain or tensor.is_quantized:
        return None
    return _bits(tensor).clone()


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().contiguous().flatten().view(torch.uint8)
