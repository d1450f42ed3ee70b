"""Which of PyTorch's operators run on a device: the calls of its `op_db` on the CPU, made on the device one by one.

    python -m tests.conformance.happened sim            # where the module `sim` can be imported: after it has been built

Every operator that a sample reaches, in its forward or backward pass, is called by itself with the arguments that it
had there, and so are those of `made_calls`, which no sample reaches: results that are sparse, quantized or nested, and
kernels that only raise. The answer is JSON, how each operator ends by its name:

    ran        at least one of its calls that the CPU takes runs on the device
    raised     none of them
    crashed    the process ended
    refused    the CPU takes none of its calls, or none has dense tensors alone
"""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

import torch
from torch.overrides import TorchFunctionMode
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

from tests.conformance.made_calls import made_calls
from tests.conformance.samples import samples as inputs

DTYPES = ("float32", "int64", "complex64", "bool")
# Calls of one operator that are tried. More of them tell little more, and take long.
CALLS = 4
_FORKED = multiprocessing.get_context("fork")


class Call(NamedTuple):
    """A call of an operator on the CPU."""

    operator: Any
    arguments: tuple[Any, ...]
    options: Mapping[str, Any] = {}


Calls = dict[str, list[Call]]


class Below(TorchDispatchMode):  # type: ignore[misc]
    """Keeps the calls of operators that are not composed of others."""

    def __init__(self, calls: Calls) -> None:
        super().__init__()
        self.calls = calls

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        keep(self.calls, Call(func, args, kwargs or {}))
        return func(*args, **kwargs or {})


class Above(TorchFunctionMode):  # type: ignore[misc]
    """Keeps those of composed operators, which `Below` never sees: functions of Python that are called as they are."""

    def __init__(self, calls: Calls) -> None:
        super().__init__()
        self.calls = calls

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        options = kwargs or {}
        # A function may have other arguments than the operator of that name.
        with suppress(RuntimeError, AttributeError):
            overload = torch._C._jit_resolve_packet(f"aten::{name}", *args, **options)
            operator = getattr(getattr(torch.ops.aten, name), overload or "default")
            keep(self.calls, Call(operator, args, options))
        return func(*args, **options)


def keep(calls: Calls, call: Call) -> None:
    """Keep a call with copies of its tensors, which it may write."""
    kept = calls[call.operator.name()]
    if len(kept) < CALLS:
        kept.append(call._replace(arguments=copied(call.arguments), options=copied(call.options)))


def copied(arguments: Any) -> Any:
    return tree_map(lambda value: value.detach().clone() if is_tensor(value) else value, arguments)


def is_tensor(value: object) -> bool:
    return isinstance(value, torch.Tensor)


def recorded(only: Sequence[str], dtypes: Sequence[str], samples: int) -> Calls:
    """The calls of the samples, forward and backward, by the name of the operator."""
    calls: Calls = defaultdict(list)
    for info in op_db:
        if not info.name.startswith(tuple(only)):
            continue
        for dtype in dtypes:
            # What the CPU refuses says nothing of the device.
            with suppress(Exception), Above(calls), Below(calls):
                run_samples(info, getattr(torch, dtype), samples)
    return calls


def run_samples(info: Any, dtype: torch.dtype, samples: int) -> None:
    is_real = dtype.is_floating_point
    for sample in islice(inputs(info, dtype, is_real), samples):
        result = info.op(sample.input, *sample.args, **sample.kwargs)
        tensors = filter(is_tensor, tree_flatten(result)[0])
        sums = [tensor.abs().sum() for tensor in tensors if tensor.requires_grad]
        if sums:
            sum(sums[1:], sums[0]).backward()


def happened(calls: Calls, device: str) -> Iterator[tuple[str, str]]:
    """How each operator ends. They run in a process beside this one, and after a crash in another."""
    waiting = sorted(calls)
    while waiting:
        receiver, sender = _FORKED.Pipe(duplex=False)
        child = _FORKED.Process(target=_report, args=(calls, waiting, device, sender))
        child.start()
        sender.close()
        with suppress(EOFError):
            while waiting:
                end = receiver.recv() if receiver.poll(120) else "crashed"
                yield waiting.pop(0), end
        child.kill()
        child.join()
        if waiting:
            yield waiting.pop(0), "crashed"


def _report(calls: Calls, names: Sequence[str], device: str, sender: Any) -> None:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for name in names:
        sender.send(end_of(calls[name], device))


def end_of(calls: Sequence[Call], device: str) -> str:
    end = "refused"
    for call in calls:
        # What is not dense has another key.
        if not is_dense(call) or fails(call):
            continue
        if not fails(moved(call, device)):
            return "ran"
        end = "raised"
    return end


def is_dense(call: Call) -> bool:
    tensors = filter(is_tensor, tree_flatten((call.arguments, call.options))[0])
    return all(tensor.layout == torch.strided for tensor in tensors)


def fails(call: Call) -> bool:
    torch.manual_seed(0)
    try:
        call.operator(*copied(call.arguments), **copied(call.options))
    except Exception:
        return True
    return False


def moved(call: Call, device: str) -> Call:
    """The same with tensors of the device, which is named where the operator takes a device."""
    where = torch.device(device)

    def move(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return value.to(where)
        return where if isinstance(value, torch.device) else value

    options = {name: tree_map(move, value) for name, value in call.options.items()}
    if any(argument.name == "device" for argument in call.operator._schema.arguments):
        options["device"] = where
    return Call(call.operator, tree_map(move, call.arguments), options)


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("module", help="the module that registers the device, and its name")
    parser.add_argument("--dtype", action="append", choices=DTYPES)
    parser.add_argument("--only", action="append", help="samples whose names start like this")
    parser.add_argument("--samples", type=int, default=2)
    options = parser.parse_args(arguments)
    importlib.import_module(options.module)
    warnings.simplefilter("ignore")
    calls = recorded(options.only or ("",), options.dtype or DTYPES, options.samples)
    for call in made_calls():
        made = Call(*call)
        calls[made.operator.name()].append(made)
    print(json.dumps(dict(happened(calls, options.module))))


if __name__ == "__main__":
    main(sys.argv[1:])
