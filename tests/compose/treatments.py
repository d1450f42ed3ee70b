"""What is done to the calls of each kind of input: the second axis of the matrix.

Each treatment makes something of a function of tensors. It is done to the operator and, `of` the same, to PyTorch's
functions in its place, and both have to give the same numbers, dtypes and strides. What PyTorch's functions refuse, an
operator need not do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

from tests.compose.inputs import OPERATORS, Call, Function, Given, Kind, Operator
from tests.compose.probe import Refused, Wrong, first_line

Results = list[Tensor]
Treatment = Callable[[Given], Results]


class Done(NamedTuple):
    """A row of the second axis. `of` is what is compared: the same treatment if None, and of the operator itself if `is_own`."""

    name: str
    treatment: Treatment
    of: Treatment | None = None
    is_own: bool = False
    # Whether results have the strides of those that they are compared with.
    has_strides: bool = True
    # One call of all the operators in one function; if that fails, of each half of them, down to each alone.
    is_together: bool = False
    # Whether tensors that are written are copied first.
    keeps: bool = True
    # The operators, and the kinds of input, if not all of them.
    only: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    # Whether it is about what operators are differentiated in, and nothing else.
    is_derived: bool = False
    # Whether each call computes a number from its results, too.
    is_read: bool = False


DONE: list[Done] = []


def done(name: str, **options: Any) -> Callable[[Treatment], Treatment]:
    """The function is the row of this name."""

    def register(treatment: Treatment) -> Treatment:
        DONE.append(Done(name, treatment, **options))
        return treatment

    return register


def plain(given: Given) -> Results:
    """The call, and what it has written."""
    return given.function(*given.tensors)


def done_to(row: Done, kind: Kind, operators: Sequence[Operator] = OPERATORS) -> None:
    """Do this to the calls of a kind; an exception names the operators with which it does not work, and what they do."""
    calls = [
        call for call in kind.calls(operators) if not row.only or call.operator.name in row.only
    ]
    calls = [call for call in calls if _is_possible(row, call)]
    wrong: dict[str, list[str]] = {}
    refused: dict[str, list[str]] = {}
    for call in _suspects(row, calls) if row.is_together else calls:
        torch._dynamo.reset()
        try:
            check(row, [call])
        except Wrong as error:
            wrong.setdefault(str(error), []).append(call.operator.name)
        except Exception as error:
            if _is_possible(row._replace(of=None), call):
                refused.setdefault(first_line(error), []).append(call.operator.name)
    if wrong:
        raise Wrong(_listed(wrong))
    if refused:
        raise Refused(_listed(refused))


def _listed(said: Mapping[str, Sequence[str]]) -> str:
    """What is said of which operators."""
    return "; ".join(f"{', '.join(dict.fromkeys(names))}: {text}" for text, names in said.items())


def _suspects(row: Done, calls: Sequence[Call]) -> list[Call]:
    """The calls that have to be looked at alone: of all others, several together are right."""
    if len(calls) < 2:
        return list(calls)
    if _is_right(row, calls):
        return []
    half = len(calls) // 2
    return [*_suspects(row, calls[:half]), *_suspects(row, calls[half:])]


def _is_right(row: Done, calls: Sequence[Call]) -> bool:
    torch._dynamo.reset()
    try:
        check(row, calls)
    except Exception:
        return False
    return True


def _is_possible(row: Done, call: Call) -> bool:
    """Whether PyTorch's functions can be compared with, or can do that themselves."""
    given = _given(row, call, call.twin)
    if row.is_derived and not given.tensors:
        return False
    try:
        (row.of or row.treatment)(given)
    except Exception:
        return False
    return True


def _given(row: Done, call: Call, function: Function) -> Given:
    given = call.given(function, keeps=row.keeps)
    if row.is_read:
        return read(given)
    return differentiated(given) if row.is_derived else given


def check(row: Done, calls: Sequence[Call]) -> None:
    """Refuse what is not as PyTorch's functions do it."""
    given = [_given(row, call, call.op) for call in calls]
    of = [_given(row, call, call.op if row.is_own else call.twin) for call in calls]
    wanted = [one for each in of for one in (row.of or row.treatment)(each)]
    found = row.treatment(joined(given) if len(given) != 1 else given[0])
    agree(found, wanted, has_strides=row.has_strides)


def joined(every: Sequence[Given]) -> Given:
    """Several calls as one function."""
    counts = [len(given.tensors) for given in every]
    starts = [0, *accumulate(counts)]

    def function(*tensors: Tensor) -> list[Tensor]:
        results: list[Tensor] = []
        for given, start, count in zip(every, starts, counts):
            results += given.function(*tensors[start : start + count])
        return results

    tensors = [tensor for given in every for tensor in given.tensors]
    written = [start + at for given, start in zip(every, starts) for at in given.written]
    return Given(function, tensors, [], None, written)


def agree(found: Sequence[Tensor], wanted: Sequence[Tensor], *, has_strides: bool) -> None:
    """Refuse other tensors than those that are wanted."""
    if len(found) != len(wanted):
        raise Wrong(f"{len(found)} results instead of {len(wanted)}")
    for one, other in zip(found, wanted):
        if one.dtype != other.dtype:
            raise Wrong(f"{one.dtype} instead of {other.dtype}".replace("torch.", ""))
        if one.shape != other.shape:
            raise Wrong(f"shape {[*one.shape]} instead of {[*other.shape]}")
        if has_strides and strides(one) != strides(other):
            raise Wrong(f"strides {strides(one)} instead of {strides(other)}")
        if not (one.is_meta or isinstance(one, FakeTensor)) and not _compared(one, other):
            raise Wrong("another result")


def _compared(found: Tensor, wanted: Tensor) -> bool:
    """A comparison that fails is a fault of this test. It must not look as if PyTorch refused the call."""
    try:
        return _is_close(found, wanted)
    except Exception as error:
        raise Wrong(f"not compared: {error}") from error


# PyTorch has no arithmetic in these, but converts them.
_WITHOUT_ARITHMETIC = frozenset(
    {
        torch.bool,
        torch.uint16,
        torch.uint32,
        torch.uint64,
        torch.float8_e4m3fn,
        torch.float8_e5m2,
    }
)


def _is_close(found: Tensor, wanted: Tensor) -> bool:
    """Whether they differ by rounding; what is small beside the other elements may be the difference of such."""
    if wanted.dtype in _WITHOUT_ARITHMETIC:
        found = found.double()
        wanted = wanted.double()
    largest = wanted.abs().nan_to_num(0, 0, 0).max().item() if wanted.numel() else 0
    atol = 1e-5 * max(1, largest)
    return torch.allclose(found, wanted, rtol=1e-4, atol=atol, equal_nan=True)


def strides(tensor: Tensor) -> tuple[int, ...]:
    """The strides of dimensions that have several elements; the others say nothing."""
    if tensor.numel() == 0:
        return ()
    return tuple(step for step, size in zip(tensor.stride(), tensor.shape) if size > 1)


def total(results: Sequence[Tensor]) -> Tensor:
    """A number that depends on every element."""
    return torch.stack([one.sin().sum().double() for one in results]).sum()


def read(given: Given) -> Given:
    """The call, and a number that is computed from its results: compiled code reads memory as the fakes say that it is."""

    def function(*tensors: Tensor) -> Results:
        results = given.function(*tensors)
        return [*results, torch.stack([one.double().sum() for one in results]).sum()]

    return given._replace(function=function)


def differentiated(given: Given) -> Given:
    """The call as a function of what it is differentiated in, whose results are those that depend on it."""

    def function(*leaves: Tensor) -> Results:
        tensors = list(given.tensors)
        for place, leaf in zip(given.leaves, leaves):
            tensors[place] = leaf
        return given.function(*tensors)[: given.used]

    tensors = [given.tensors[place] for place in given.leaves]
    return Given(function, tensors, [*range(len(tensors))], None, [])


@done("a call", keeps=False)
def called(given: Given) -> Results:
    return plain(given)


@done("inference mode", keeps=False)
def inference(given: Given) -> Results:
    with torch.inference_mode():
        return plain(given)


@done("the version of what is written", keeps=False)
def versions(given: Given) -> Results:
    written = [given.tensors[place] for place in given.written]
    before = [tensor._version for tensor in written]
    plain(given)
    # A kernel of PyTorch's functions moves it, too.
    return [torch.tensor(one._version > old) for one, old in zip(written, before)]


def lowered(given: Given) -> Results:
    is_cast = [one.dtype == torch.float32 for one in given.tensors]
    return given.function(
        *(one.bfloat16() if cast else one for one, cast in zip(given.tensors, is_cast))
    )


@done("autocast", of=lowered, only=("muladd",))
def autocast(given: Given) -> Results:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return plain(given)


def requiring(given: Given) -> Results:
    return [one.detach().requires_grad_() for one in given.tensors]


@done("gradients", is_derived=True, has_strides=False)
def gradients(given: Given) -> Results:
    leaves = requiring(given)
    return list(torch.autograd.grad(total(given.function(*leaves)), leaves))


@done("gradients of gradients", is_derived=True, has_strides=False)
def second(given: Given) -> Results:
    leaves = requiring(given)
    once = torch.autograd.grad(total(given.function(*leaves)), leaves, create_graph=True)
    return list(torch.autograd.grad(total(once), leaves, materialize_grads=True))


@done("checkpoint", is_derived=True, has_strides=False)
def checkpointed(given: Given) -> Results:
    from torch.utils.checkpoint import checkpoint

    leaves = requiring(given)
    results = checkpoint(given.function, *leaves, use_reentrant=False)
    return list(torch.autograd.grad(total(results), leaves))


@done("`torch.func.grad`", is_derived=True, has_strides=False)
def func_grad(given: Given) -> Results:
    places = tuple(range(len(given.tensors)))
    return list(torch.func.grad(lambda *some: total(given.function(*some)), places)(*given.tensors))


def tangents(given: Given) -> Results:
    """Those of PyTorch's functions, which have another dtype than the results where a number meets no dimensions."""
    results, found = torch.func.jvp(given.function, tuple(given.tensors), _directions(given))
    return [tangent.to(result.dtype) for tangent, result in zip(found, results)]


def _directions(given: Given) -> tuple[Tensor, ...]:
    return tuple(one.cos() for one in given.tensors)


@done("forward mode", of=tangents, is_derived=True, has_strides=False)
def forward(given: Given) -> Results:
    return list(torch.func.jvp(given.function, tuple(given.tensors), _directions(given))[1])


@done("forward mode of the pull of `vjp`", is_derived=True, has_strides=False)
def pulled(given: Given) -> Results:
    """A pull computes with PyTorch's functions, whose tangents have another dtype than the results where a number meets no
    dimensions. So they are compared in the dtype of what is pulled to."""
    results, pull = torch.func.vjp(given.function, *given.tensors)
    passed = tuple(one.cos() for one in results)
    tangents = torch.func.jvp(lambda *some: pull(list(some)), passed, passed)[1]
    return [tangent.to(tensor.dtype) for tangent, tensor in zip(tangents, given.tensors)]


def stacked(tensor: Tensor) -> Tensor:
    """Two such tensors, with the strides of one."""
    if 0 in tensor.stride():
        return tensor.unsqueeze(0).expand(2, *tensor.shape)
    order = sorted(range(tensor.dim()), key=lambda dim: -tensor.stride(dim))
    dense = tensor.permute(order)
    back = [order.index(dim) + 1 for dim in range(tensor.dim())]
    return torch.stack([dense, dense * 2]).permute(0, *back)


@done("`vmap`", has_strides=False)
def mapped(given: Given) -> Results:
    return list(torch.vmap(given.function)(*map(stacked, given.tensors)))


@done("`vmap` over the last dimension", has_strides=False)
def mapped_last(given: Given) -> Results:
    tensors = [stacked(one).movedim(0, -1) for one in given.tensors]
    return list(torch.vmap(given.function, in_dims=-1)(*tensors))


@done("gradients of samples, `vmap(grad(f))`", is_derived=True, has_strides=False)
def samples(given: Given) -> Results:
    places = tuple(range(len(given.tensors)))
    of_one = torch.func.grad(lambda *some: total(given.function(*some)), places)
    return list(torch.vmap(of_one)(*map(stacked, given.tensors)))


@done("`functionalize`")
def functionalized(given: Given) -> Results:
    return list(torch.func.functionalize(given.function)(*given.tensors))


_whole: Any = partial(torch.compile, fullgraph=True)


# What compiles takes some seconds for each kind of input, so it is done with those that could go wrong there: what a fake
# could be wrong about, what is guarded, and what is written into a graph.
@done(
    "compiled by inductor",
    of=plain,
    is_read=True,
    is_together=True,
    keeps=False,
    kinds=("transposed", "channels_last", "expanded", "integers"),
)
def compiled(given: Given) -> Results:
    return list(_whole(given.function)(*given.tensors))


@done(
    "gradients, compiled with dynamic shapes",
    of=gradients,
    is_derived=True,
    is_together=True,
    has_strides=False,
    kinds=("transposed", "sizes that are broadcast", "zero sizes", "defaults left out"),
)
def compiled_gradients(given: Given) -> Results:
    leaves = requiring(given)
    results = _whole(given.function, backend="aot_eager", dynamic=True)(*leaves)
    return list(torch.autograd.grad(total(results), leaves))


class _Module(torch.nn.Module):
    def __init__(self, function: Callable[..., Results]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *tensors: Tensor) -> Results:
        return self.function(*tensors)


@done(
    "`export`",
    of=plain,
    is_together=True,
    kinds=("expanded", "no dimensions", "integers", "defaults left out", "keywords"),
)
def exported(given: Given) -> Results:
    tensors = tuple(given.tensors)
    program = torch.export.export(_Module(given.function), tensors, strict=False)
    return list(program.run_decompositions().module()(*tensors))


@done("fake tensors", of=plain, is_own=True)
def fake(given: Given) -> Results:
    with FakeTensorMode() as mode:
        return given.function(*(mode.from_tensor(one) for one in given.tensors))


@done("device `meta`", of=plain, is_own=True)
def meta(given: Given) -> Results:
    return given.function(*(_on_meta(one) for one in given.tensors))


def _on_meta(tensor: Tensor) -> Tensor:
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")


@done("a subclass with `__torch_dispatch__`", of=plain, has_strides=False)
def subclass(given: Given) -> Results:
    from torch.testing._internal.two_tensor import TwoTensor

    results = given.function(*(TwoTensor(one, one) for one in given.tensors))
    return [one.b for one in results]


def _placed(given: Given, others: Any) -> Results:
    """The call of DTensors: the first is in two pieces, as are those of its shape, unless `others` says otherwise."""
    from torch.distributed._local_tensor import LocalTensorMode
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    pieces = Shard(0) if given.tensors[0].dim() else Replicate()
    with LocalTensorMode(2):
        mesh = init_device_mesh("cpu", (2,))
        tensors = []
        for place, one in enumerate(given.tensors):
            is_like = one.shape == given.tensors[0].shape and (not others or place in given.written)
            placement = pieces if place == 0 or is_like else Replicate()
            tensors.append(distribute_tensor(one, mesh, [placement]))
        return [one.full_tensor().reconcile() for one in given.function(*tensors)]


_PLACED = ("contiguous", "sizes that are broadcast", "integers", "defaults left out", "keywords")


@done("DTensor", of=plain, has_strides=False, kinds=_PLACED)
def placed(given: Given) -> Results:
    _fake_group()
    return _placed(given, False)


@done("DTensor, the first in pieces, the others whole", of=plain, has_strides=False, kinds=_PLACED)
def placed_apart(given: Given) -> Results:
    _fake_group()
    return _placed(given, True)


def _fake_group() -> None:
    import torch.distributed as dist
    from torch.testing._internal.distributed.fake_pg import FakeStore

    if not dist.is_initialized():
        dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
