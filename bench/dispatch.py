"""What a call and a registration cost: `python bench/dispatch.py [--rounds N]`.

Kernels do nothing. Everything that is compared runs in this process, in turns, and the figures are
medians over the rounds; ratios are taken round by round. What is not installed is left out and named.
"""

from __future__ import annotations

import argparse
import functools
import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Sequence
from itertools import repeat
from types import CodeType
from typing import Any

from torchgen_lite.runtime import (
    Dispatcher,
    DispatchKey,
    DispatchKeySet,
    KeysetMask,
    Library,
    Signature,
    fallthrough_kernel,
)

CALLS = 20_000
OPERATORS = 500
Loop = Callable[[], float]
AFTER_AUTOGRAD = DispatchKeySet.full_after(DispatchKey.AutogradOther)
BELOW_AUTOGRAD = KeysetMask(AFTER_AUTOGRAD)
CPU = DispatchKeySet(DispatchKey.CPU)


class Tensor:
    """A CPU tensor of torch's keys."""

    def __init__(self) -> None:
        self._dispatch_keyset = DispatchKeySet(
            DispatchKey.CPU,
            DispatchKey.ADInplaceOrView,
            DispatchKey.AutogradCPU,
            DispatchKey.AutocastCPU,
        )


def nothing(x: Any, y: Any) -> Any:
    return x


X, Y = Tensor(), Tensor()


def loop(call: Callable[[Any, Any], Any], x: Any = X, y: Any = Y) -> Loop:
    """Nanoseconds of one call."""

    def run() -> float:
        start = time.perf_counter_ns()
        for _ in repeat(None, CALLS):
            call(x, y)
        return (time.perf_counter_ns() - start) / CALLS

    return run


def rotation(calls: Sequence[Callable[[Any, Any], Any]]) -> Loop:
    """Nanoseconds of one call when each of many operators is called in turn."""
    rounds = max(CALLS // len(calls), 1)

    def run() -> float:
        start = time.perf_counter_ns()
        for _ in repeat(None, rounds):
            for call in calls:
                call(X, Y)
        return (time.perf_counter_ns() - start) / (rounds * len(calls))

    return run


def plain_functions(count: int) -> list[Callable[[Any, Any], Any]]:
    text = "\n".join(f"def f{i}(x, y): return x" for i in range(count))
    scope: dict[str, Any] = {}
    exec(text, scope)
    return [scope[f"f{i}"] for i in range(count)]


def ours(dispatcher: Dispatcher, keep: list[Library]) -> dict[str, Loop]:
    """One step, 500 operators in rotation, and Autograd redispatching to CPU in two ways."""
    wildcard = Library("_", "IMPL", dispatcher=dispatcher)
    for key in ("ADInplaceOrView", "AutogradCPU", "AutocastCPU"):
        wildcard.fallback(fallthrough_kernel, key)
    library = Library("bench", "DEF", dispatcher=dispatcher)
    keep += [wildcard, library]
    names = ["once", "twice", "masked", "remembered", *(f"op{i}" for i in range(OPERATORS))]
    operators = {name: library.define(f"{name}(Tensor x, Tensor y) -> Tensor") for name in names}
    for name in names:
        library.impl(name, nothing, "CPU")

    redispatch_twice = operators["twice"].redispatch
    redispatch_remembered = operators["remembered"].redispatch
    redispatch_masked = operators["masked"].redispatch

    def autograd(x: Any, y: Any) -> Any:
        return redispatch_twice(CPU, x, y)

    def autograd_with_mask(keys: DispatchKeySet, x: Any, y: Any) -> Any:
        return redispatch_remembered(BELOW_AUTOGRAD[keys], x, y)

    def autograd_with_keyset(keys: DispatchKeySet, x: Any, y: Any) -> Any:
        return redispatch_masked(keys & AFTER_AUTOGRAD, x, y)

    library.impl("twice", autograd, "AutogradCPU")
    library.impl("masked", autograd_with_keyset, "AutogradCPU", with_keyset=True)
    library.impl("remembered", autograd_with_mask, "AutogradCPU", with_keyset=True)
    return {
        "stub, two tensors": loop(operators["once"].call),
        "two steps, keyset precomputed": loop(operators["twice"].call),
        "two steps, KeysetMask": loop(operators["remembered"].call),
        "two steps, keys & mask": loop(operators["masked"].call),
        "stubs of 500 operators": rotation([operators[f"op{i}"].call for i in range(OPERATORS)]),
    }


def singledispatch() -> Loop:
    function = functools.singledispatch(nothing)
    function.register(Tensor, nothing)
    return loop(function)


def plum() -> Loop:
    import plum as library

    dispatch = library.Dispatcher()

    @dispatch
    def function(x: Tensor, y: Tensor) -> Any:
        return x

    @dispatch
    def function(x: int, y: int) -> Any:  # noqa: F811
        return x

    return loop(function)


def ovld() -> Loop:
    import ovld as library

    @library.ovld
    def function(x: Tensor, y: Tensor) -> Any:
        return x

    @library.ovld
    def function(x: int, y: int) -> Any:  # noqa: F811
        return x

    return loop(function)


def torch(keep: list[Any]) -> Loop:
    import torch as library

    definitions = library.library.Library("torchgen_lite_bench", "DEF")
    definitions.define("op(Tensor x, Tensor y) -> Tensor")
    definitions.impl("op", nothing, "CPU")
    keep.append(definitions)
    tensor = library.ones(1)
    return loop(library.ops.torchgen_lite_bench.op.default, tensor, tensor)


def calls(rounds: int) -> None:
    keep: list[Any] = []
    loops = {
        "plain call": loop(nothing),
        "plain, 500 functions": rotation(plain_functions(OPERATORS)),
    }
    loops.update(ours(Dispatcher(), keep))
    loops["functools.singledispatch"] = singledispatch()
    for name, make in (
        ("plum", plum),
        ("ovld", ovld),
        ("torch.library", lambda: torch(keep)),
    ):
        try:
            loops[name] = make()
        except ImportError:
            print(f"{name}: not installed, left out")
    samples: dict[str, list[float]] = {name: [] for name in loops}
    for run in loops.values():
        run()
    for _ in range(rounds):
        for name, run in loops.items():
            samples[name].append(run())

    def ratio(name: str, base: str) -> float:
        return statistics.median(a / b for a, b in zip(samples[name], samples[base]))

    for name, values in samples.items():
        base = "plain, 500 functions" if "500" in name else "plain call"
        print(
            f"{name:32} {statistics.median(values):8.1f} ns {ratio(name, base):7.2f} x a plain call"
        )
    for name in ("functools.singledispatch", "plum", "ovld", "torch.library"):
        if name in samples:
            print(f"stub beside {name:26} {ratio('stub, two tensors', name):6.3f}")


KEYS = (
    "CPU",
    "CUDA",
    "Meta",
    "SparseCPU",
    "QuantizedCPU",
    "ADInplaceOrView",
    "AutogradCPU",
    "AutogradCUDA",
    "Autograd",
    "CompositeExplicitAutograd",
)


Code = list[tuple[str, CodeType]]


def registration_files(signatures: list[Signature]) -> Code:
    """One file for each key with a line for each operator, as the generator writes them."""
    names = [signature.name.partition("::")[2] for signature in signatures]
    text = "".join(f'impl("{name}", kernel)\n' for name in names)
    return [(key, compile(text, f"register_{key.lower()}.py", "exec")) for key in KEYS]


Register = Callable[[Library, str], None]


def from_files(signatures: list[Signature]) -> Register:
    """Register like a generated package: each kernel on its own line in a long module."""
    files = dict(registration_files(signatures))

    def register(block: Library, key: str) -> None:
        exec(files[key], {"impl": block.impl, "kernel": nothing})

    return register


def from_a_loop(signatures: list[Signature]) -> Register:
    def register(block: Library, key: str) -> None:
        impl = block.impl
        for signature in signatures:
            impl(signature.name, nothing)

    return register


def define(signatures: list[Signature], register: Register) -> list[Any]:
    """Every operator with a kernel at each of ten keys, and its table."""
    dispatcher = Dispatcher()
    library = Library("bench", "DEF", dispatcher=dispatcher)
    kept: list[Any] = [dispatcher, library]
    for signature in signatures:
        library.define_stubs(signature.schema, signature.kinds, nothing, nothing)
    for key in KEYS:
        block = Library("bench", "IMPL", key, dispatcher=dispatcher)
        kept.append(block)
        register(block, key)
    for operator in dispatcher.operators():
        operator.entry.plan  # noqa: B018 - computes the table
    return kept


def definitions(rounds: int, count: int = 3000) -> None:
    signatures = [
        Signature(f"bench::op{i}(Tensor x, Tensor y) -> Tensor", ("x", "y"), "TT", 2)
        for i in range(count)
    ]
    print(f"define {count} operators x {len(KEYS)} kernels, all tables:")
    for name, make in (("in a loop", from_a_loop), ("in long modules", from_files)):
        register = make(signatures)
        times = []
        for _ in range(rounds):
            gc.collect()
            start = time.process_time()
            kept = define(signatures, register)
            times.append((time.process_time() - start) * 1000)
            del kept
        median = statistics.median(times)
        print(f"  {name:18} {median:6.1f} ms of processor time, at best {min(times):.1f} ms")
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept = define(signatures, register)
    size = (tracemalloc.get_traced_memory()[0] - before) / count
    tracemalloc.stop()
    del kept
    print(f"  bytes an operator with its kernels, signature apart: {size:.0f}")


def import_time(rounds: int) -> None:
    """Whole processes, bytecode cached, beside a bare interpreter."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {
            **os.environ,
            "PYTHONPYCACHEPREFIX": cache,
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)

        def process(code: str) -> float:
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], env=environment, check=True)
            return (time.perf_counter() - start) * 1000

        process("import torchgen_lite.runtime")
        differences = [
            process("import torchgen_lite.runtime") - process("pass") for _ in range(rounds)
        ]
    print(
        f"import torchgen_lite.runtime, over a bare interpreter: {statistics.median(differences):.1f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=31)
    rounds = parser.parse_args().rounds
    print(f"CPython {sys.version.split()[0]}, {rounds} rounds")
    calls(rounds)
    definitions(max(rounds // 4, 3))
    import_time(max(rounds // 2, 5))


if __name__ == "__main__":
    main()
