"""Threads that register, undo and call at once: `python -m tests.fuzz.stress [--seconds N] [--seed N]`.

While it runs, a call may meet any kernel that was registered at some moment of the call, and no other.
When it ends, every operator must run exactly what its registrations say, and the dispatcher's
invariants must hold. Tasks and generators under guards check that they see their own guard alone.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import random
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from torchgen_lite.runtime import (
    Dispatcher,
    DispatchKey,
    DispatchKeySet,
    ExcludeDispatchKeyGuard,
    IncludeDispatchKeyGuard,
    Library,
    MissingKernelError,
    fallthrough_kernel,
    isolated_generator,
    local_state,
    tls_is_dispatch_key_included,
)

KEYS = ("CPU", "CUDA", "AutogradCPU", "Autograd", "Tracer", "CompositeExplicitAutograd")
OPERATORS = 8


class Tensor:
    def __init__(self, *names: str) -> None:
        self._dispatch_keyset = DispatchKeySet(DispatchKey[name] for name in names)


TENSORS = (Tensor("CPU"), Tensor("CUDA"), Tensor("CPU", "AutogradCPU"), Tensor("CPU", "Tracer"))


class Token:
    """One registration. `undone` is the time, by the common clock, when its undoing was complete."""

    def __init__(self, name: str, key: str) -> None:
        self.name = name
        self.key = key
        self.undone: int | None = None


class Stress:
    def __init__(self, seconds: float, seed: int) -> None:
        self.dispatcher = Dispatcher()
        self.library = Library("stress", "DEF", dispatcher=self.dispatcher)
        self.operators = [
            self.library.define(f"op{i}(Tensor x, Tensor y) -> Any") for i in range(OPERATORS)
        ]
        self.wildcard = Library("_", "IMPL", dispatcher=self.dispatcher)
        for key in ("AutogradCPU", "AutogradCUDA", "Tracer"):
            self.wildcard.fallback(fallthrough_kernel, key)
        self.end = time.monotonic() + seconds
        self.seed = seed
        self.clock = itertools.count()
        self.counts = {"calls": 0, "registrations": 0, "guards": 0}
        self.faults: list[str] = []

    def over(self) -> bool:
        return time.monotonic() >= self.end or bool(self.faults)

    def fault(self, text: str) -> None:
        self.faults.append(text)

    def registers(self, number: int) -> None:
        chance = random.Random(self.seed * 1000 + number)
        blocks: list[tuple[Library, Token]] = []
        while not self.over():
            if blocks and chance.random() < 0.5:
                library, token = blocks.pop(chance.randrange(len(blocks)))
                library.close()
                token.undone = next(self.clock)
            else:
                token = Token(f"op{chance.randrange(OPERATORS)}", chance.choice(KEYS))
                library = Library("stress", "IMPL", token.key, dispatcher=self.dispatcher)
                library.impl(token.name, kernel_of(token))
                blocks.append((library, token))
            self.counts["registrations"] += 1
        for library, _ in blocks:
            library.close()

    def calls(self, number: int) -> None:
        chance = random.Random(self.seed * 2000 + number)
        while not self.over():
            operator = chance.choice(self.operators)
            x, y = chance.choice(TENSORS), chance.choice(TENSORS)
            began = next(self.clock)
            try:
                token = operator.call(x, y)
            except MissingKernelError:
                continue
            finally:
                self.counts["calls"] += 1
            if token.undone is not None and token.undone < began:
                self.fault(f"{operator} ran a kernel that was undone before the call")
            if f"stress::{token.name}" != operator.full_name:
                self.fault(f"{operator} ran a kernel of {token.name}")

    def guards(self, number: int) -> None:
        asyncio.run(self.tasks())

    async def tasks(self) -> None:
        await asyncio.gather(*(self.task(included) for included in (True, False, True, False)))

    async def task(self, included: bool) -> None:
        guard: Callable[[DispatchKey], Any] = (
            IncludeDispatchKeyGuard if included else ExcludeDispatchKeyGuard
        )
        state = local_state()
        while not self.over():
            with guard(DispatchKey.Python):
                await asyncio.sleep(0)
                for seen in steps():
                    if not seen or tls_is_dispatch_key_included(DispatchKey.Python) != included:
                        self.fault("a guard was seen where it does not belong")
            if local_state() is not state:
                self.fault("a guard outlived its block")
            self.counts["guards"] += 1

    def run(self) -> None:
        jobs = [self.registers, self.registers, self.calls, self.calls, self.guards]
        threads = [threading.Thread(target=job, args=(i,)) for i, job in enumerate(jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.check()

    def check(self) -> None:
        """Nothing is registered any more; then each operator gets one kernel, and must run it."""
        self.dispatcher.check_invariants()
        for operator in self.operators:
            if operator.kernels:
                self.fault(f"{operator} still has kernels")
            for x in TENSORS:
                for y in TENSORS:
                    try:
                        operator.call(x, y)
                    except MissingKernelError:
                        continue
                    self.fault(f"{operator} runs a stale kernel")
        kept = []
        for operator in self.operators:
            token = Token(operator.name.partition("::")[2], "CompositeExplicitAutograd")
            library = Library("stress", "IMPL", token.key, dispatcher=self.dispatcher)
            library.impl(token.name, kernel_of(token))
            kept.append(library)
            if any(operator.call(x, y) is not token for x in TENSORS for y in TENSORS):
                self.fault(f"{operator} runs another kernel than its only one")


@isolated_generator
def steps() -> Iterator[bool]:
    with IncludeDispatchKeyGuard(DispatchKey.PreDispatch):
        for _ in range(3):
            yield tls_is_dispatch_key_included(DispatchKey.PreDispatch)


def kernel_of(token: Token) -> Callable[[Any, Any], Token]:
    def kernel(x: Any, y: Any) -> Token:
        return token

    return kernel


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sys.setswitchinterval(1e-5)
    stress = Stress(options.seconds, options.seed)
    stress.run()
    print(", ".join(f"{count} {what}" for what, count in stress.counts.items()))
    for fault in stress.faults:
        print(fault)
    return 1 if stress.faults else 0


if __name__ == "__main__":
    sys.exit(main())
