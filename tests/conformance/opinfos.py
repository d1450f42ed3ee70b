"""Every operator of PyTorch's `op_db` on a device, beside the CPU, with the inputs that PyTorch tests it with.

    python -m tests.conformance.opinfos sim            # where the module `sim` can be imported: after it has been built
    python -m tests.conformance.opinfos sim --only fft. --dtype complex64

Each operator runs in a process of its own, since a device that is wrong may end it. What is counted:

    ok         results, and what was written to inputs, are those of the CPU
    empty      shapes and types are, where memory is not initialized
    refused    an error that names the operator, or the CPU raises, too
    raised     any other error
    different  a result or a write that is not the CPU's: a silent loss
    crashed    the process ended
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import torch
from torch.testing import assert_close
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_flatten, tree_map

from tests.conformance.samples import samples as inputs

DTYPES = ("float32", "complex64")
GOOD = ("ok", "empty", "refused")
_FORKED = multiprocessing.get_context("fork")


class Found(NamedTuple):
    """What one operator does, and in which words if it is not what the CPU does."""

    name: str
    verdict: str
    said: str = ""


def run(device: str, dtype: str, only: Sequence[str], samples: int) -> Iterator[Found]:
    """The verdicts of all operators that have this dtype and whose names start like one of `only`."""
    for info in op_db:
        name = f"{info.name}.{info.variant_test_name}".rstrip(".")
        if not name.startswith(tuple(only)) or getattr(torch, dtype) not in info.supported_dtypes(
            "cpu"
        ):
            continue
        receiver, sender = _FORKED.Pipe(duplex=False)
        child = _FORKED.Process(target=_report, args=(info, device, dtype, samples, sender))
        child.start()
        sender.close()
        try:
            verdict, said = receiver.recv() if receiver.poll(300) else ("crashed", "it did not end")
        except EOFError:
            verdict, said = "crashed", ""
        child.kill()
        child.join()
        yield Found(name, verdict, said)


def _report(info: Any, device: str, dtype: str, samples: int, sender: Any) -> None:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    try:
        verdict, said = _judge(info, device, getattr(torch, dtype), samples)
    except AssertionError as error:
        verdict, said = "different", str(error)
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        named = info.name.rpartition(".")[2] in said or isinstance(error, NotImplementedError)
        verdict = "refused" if named else "raised"
    sender.send((verdict, said))


def _judge(info: Any, device: str, dtype: torch.dtype, samples: int) -> tuple[str, str]:
    """Run the samples on both, the function and its variant that writes in place."""
    is_empty = "empty" in info.name
    verdict = "refused", "the CPU refuses it, too"
    for sample in islice(inputs(info, dtype), samples):
        for call in filter(None, (info.op, info.inplace_variant)):
            try:
                expected = _called(call, sample, "cpu")
            except Exception:
                continue
            _compare(expected, _called(call, sample, device), device, is_empty)
            verdict = "empty" if is_empty else "ok", ""
    return verdict


def _called(call: Any, sample: Any, device: str) -> list[Any]:
    """The results and then the arguments, which the call may have written."""
    arguments = (sample.input, sample.args, sample.kwargs)
    moved = tree_map(lambda value: _moved(value, device), arguments)
    torch.manual_seed(0)
    result = call(moved[0], *moved[1], **moved[2])
    return tree_flatten((result, moved))[0]


def _moved(value: Any, device: str) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone().to(device)
    if value == torch.device("cpu") or value == "cpu":
        return torch.device(device)
    return value


def _compare(expected: Sequence[Any], found: Sequence[Any], device: str, is_empty: bool) -> None:
    for theirs, ours in zip(expected, found, strict=True):
        if not isinstance(theirs, torch.Tensor):
            assert theirs in (ours, torch.device("cpu")) or theirs != theirs, (theirs, ours)
            continue
        assert ours.device.type in (device, "cpu"), ours.device
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype), (ours.shape, ours.dtype)
        if not is_empty:
            assert_close(ours.cpu(), theirs, equal_nan=True, rtol=1e-4, atol=1e-4)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("module", help="the module that registers the device, and its name")
    parser.add_argument("--dtype", action="append", choices=DTYPES)
    parser.add_argument("--only", action="append", help="operators whose names start like this")
    parser.add_argument("--samples", type=int, default=2)
    options = parser.parse_args(arguments)
    importlib.import_module(options.module)
    is_bad = False
    for dtype in options.dtype or DTYPES:
        counts: Counter[str] = Counter()
        for one in run(options.module, dtype, options.only or ("",), options.samples):
            counts[one.verdict] += 1
            if one.verdict not in ("ok", "empty"):
                print(one.verdict, one.name, one.said.partition("\n")[0], sep="  ", flush=True)
        counted = ", ".join(f"{number} {verdict}" for verdict, number in sorted(counts.items()))
        print(f"{dtype}: {counts.total()} operators, {counted}", flush=True)
        is_bad = is_bad or not counts.keys() <= {*GOOD}
    return int(is_bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
