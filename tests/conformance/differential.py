"""Random registrations and calls through torch and through this dispatcher: `python -m tests.conformance.differential`.

    python -m tests.conformance.differential [--rounds N] [--seed N]

A round makes operators in both, then registers kernels and fallbacks and undoes them in any order, and calls in
between: with tensors of several kinds, missing ones and lists, under guards, by typed and by boxed calls, and by
redispatch on any keyset. Kernels end the call, pass it on to the keys below, or fall through. Both must run the same
kernels with the same keysets and end in the same way, and have the same computed table at the end. A round depends
on nothing but its number; the first that differs is printed, with what was done in it.
"""

from __future__ import annotations

import argparse
import random
import sys
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import _C as C

from tests.conformance.both_dispatchers import (
    BEHAVIORS,
    EXCLUDED,
    INCLUDED,
    Tensor,
    add_stock_fallbacks,
    outcome,
    torch_tensors,
)
from torchgen_lite.runtime import (
    BoxedKernel,
    Dispatcher,
    DispatchKey,
    DispatchKeySet,
    ForceDispatchKeyGuard,
    Library,
    fallthrough_kernel,
    local_state,
)
from torchgen_lite.runtime.keys import NUM_BACKENDS

SCHEMAS = (
    "f(Tensor x, Tensor? y, Tensor[] zs) -> Tensor",
    "g(Tensor? y, Tensor?[] zs, *, Tensor? x=None) -> Tensor",
)
KEYS = (
    "CPU Meta SparseCPU QuantizedCPU BackendSelect ADInplaceOrView AutogradOther AutogradCPU AutogradMeta "
    "TESTING_ONLY_GenericWrapper TESTING_ONLY_GenericMode Autograd CompositeExplicitAutograd "
    "CompositeExplicitAutogradNonFunctional CompositeImplicitAutograd"
).split()
FALLBACKS = ("TESTING_ONLY_GenericWrapper", "TESTING_ONLY_GenericMode", "AutogradPrivateUse1")
KINDS = ("cpu", "meta", "sparse", "inference")

THEIRS = torch_tensors()
OURS = {kind: Tensor(tensor) for kind, tensor in THEIRS.items()}


class Side:
    """One of the two dispatchers. `log` has what ran: a number of the registration, and the raw keyset."""

    tensors: dict[str, Any]

    def __init__(self) -> None:
        self.log: list[tuple[int, int]] = []

    def kernel(self, token: int, behavior: str, redispatch: Callable[..., Any]) -> Any:
        def run(keys: Any, *arguments: Any, **keywords: Any) -> Any:
            self.log.append((token, keys.raw_repr()))
            if behavior == "leaf" or keys.raw_repr() >> NUM_BACKENDS == 0:
                return self.tensors["cpu"]  # Below Undefined there is nothing to go to.
            return redispatch(self.below(keys), *arguments, **keywords)

        return run

    def fallback_kernel(self, token: int, behavior: str) -> Any:
        def run(keys: Any, operator: Any, *arguments: Any, **keywords: Any) -> Any:
            return self.kernel(token, behavior, operator.redispatch)(keys, *arguments, **keywords)

        return run

    def below(self, keys: Any) -> Any:
        raise NotImplementedError


class Theirs(Side):
    tensors = THEIRS

    def __init__(self, namespace: str) -> None:
        super().__init__()
        self.namespace = namespace
        self.blocks: list[Any] = []
        self.definitions = C._dispatch_library("DEF", namespace, "", __file__, 0)
        for schema in SCHEMAS:
            self.definitions.define(schema, "", ())
        self.operators = [getattr(getattr(torch.ops, namespace), name).default for name in "fg"]

    def below(self, keys: Any) -> Any:
        return keys & C._dispatch_keyset_full_after(keys.highestPriorityTypeId())

    def register(self, token: int, number: int, key: str, behavior: str, boxed: bool) -> None:
        kernel = torch.library.fallthrough_kernel
        if behavior != "fallthrough":
            kernel = self.kernel(token, behavior, self.operators[number].redispatch)
        block = C._dispatch_library("IMPL", self.namespace, "", __file__, 0)
        block.impl("fg"[number], key, kernel, True)
        self.blocks.append(block)

    def fallback(self, token: int, key: str, behavior: str) -> None:
        kernel = torch.library.fallthrough_kernel
        if behavior != "fallthrough":
            kernel = self.fallback_kernel(token, behavior)
        block = C._dispatch_library("IMPL", "_", "", __file__, 0)
        block.fallback(key, kernel, True)
        self.blocks.append(block)

    def undo(self, index: int) -> None:
        self.blocks.pop(index).reset()

    def refresh(self) -> None:
        """Update the slots that some orders of registration leave stale; see docs/differences.md."""
        for name in "fg":
            block = C._dispatch_library("IMPL", self.namespace, "", __file__, 0)
            block.impl(name, "CompositeImplicitAutograd", self.kernel, True)
            block.reset()

    def call(
        self, number: int, arguments: Any, keywords: Any, state: Any, keys: Any, _: Any
    ) -> str:
        operator = self.operators[number]
        of = C.DispatchKeySet.from_raw_repr
        with C._ForceDispatchKeyGuard(of(state[0]), of(state[1])):
            if keys is None:
                return outcome(lambda: operator(*arguments, **keywords))
            return outcome(lambda: operator.redispatch(of(keys), *arguments, **keywords))

    def table(self, number: int) -> dict[str, str]:
        lines = C._dispatch_dump_table(f"{self.namespace}::{'fg'[number]}").splitlines()
        cells = (line.split(": ", 1) for line in lines)
        return {key: cell.rpartition(" [")[2][:-1] for key, cell in cells}

    def close(self) -> None:
        while self.blocks:
            self.undo(-1)
        self.definitions.reset()


DISPATCHER = Dispatcher()  # For all rounds, because torch has only one.
STOCK = Library("_", "IMPL", dispatcher=DISPATCHER)
add_stock_fallbacks(STOCK)


class Ours(Side):
    tensors = OURS

    def __init__(self, namespace: str) -> None:
        super().__init__()
        self.namespace = namespace
        self.blocks: list[Library] = []
        self.definitions = Library(namespace, "DEF", dispatcher=DISPATCHER)
        self.operators = [self.definitions.define(schema) for schema in SCHEMAS]

    def below(self, keys: Any) -> Any:
        return keys & DispatchKeySet.full_after(keys.highest_priority_type_id())

    def register(self, token: int, number: int, key: str, behavior: str, boxed: bool) -> None:
        kernel: Any = fallthrough_kernel
        if behavior != "fallthrough":
            kernel = self.kernel(token, behavior, self.operators[number].redispatch)
            kernel = BoxedKernel(_boxed(kernel)) if boxed else kernel
        block = Library(self.namespace, "IMPL", dispatcher=DISPATCHER)
        block.impl("fg"[number], kernel, key, with_keyset=not boxed)
        self.blocks.append(block)

    def fallback(self, token: int, key: str, behavior: str) -> None:
        kernel: Any = fallthrough_kernel
        if behavior != "fallthrough":
            kernel = self.fallback_kernel(token, behavior)
        block = Library("_", "IMPL", dispatcher=DISPATCHER)
        block.fallback(kernel, key, with_keyset=True)
        self.blocks.append(block)

    def undo(self, index: int) -> None:
        self.blocks.pop(index).close()

    def call(
        self, number: int, arguments: Any, keywords: Any, state: Any, keys: Any, boxed: bool
    ) -> str:
        operator = self.operators[number]
        of = DispatchKeySet.from_raw_repr
        stack = [*arguments, keywords.get("x")] if number else list(arguments)
        with ForceDispatchKeyGuard(of(state[0]), of(state[1])):
            if keys is None and boxed:
                return outcome(lambda: operator.call_boxed(stack))
            if keys is None:
                return outcome(lambda: operator.call(*arguments, **keywords))
            if boxed:
                return outcome(lambda: operator.redispatch_boxed(of(keys), stack))
            return outcome(lambda: operator.redispatch(of(keys), *arguments, **keywords))

    def table(self, number: int) -> dict[str, str]:
        cells = self.operators[number].computed_table()
        return {key: cell.origin for key, cell in cells.items()}

    def close(self) -> None:
        while self.blocks:
            self.undo(-1)
        self.definitions.close()


def _boxed(kernel: Callable[..., Any]) -> Callable[..., None]:
    def run(operator: Any, keys: DispatchKeySet, stack: list[Any]) -> None:
        positional = operator.signature.positional
        keywords = dict(zip(operator.signature.keywords, stack[positional:]))
        stack[:] = [kernel(keys, *stack[:positional], **keywords)]

    return run


def raw(names: list[str]) -> int:
    return DispatchKeySet(DispatchKey[name] for name in names).raw_repr()


class Round:
    """One sequence of steps, done by both sides."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        namespace = f"torchgen_lite_d{seed}"
        self.theirs, self.ours = Theirs(namespace), Ours(namespace)
        self.sides: tuple[Theirs, Ours] = (self.theirs, self.ours)
        self.steps: list[str] = []
        self.placed: list[str] = []  # For each registration the key of the fallback, or nothing.
        self.made: list[tuple[Any, ...]] = []
        self.stale = False

    def run(self) -> str:
        """What differed, or an empty string."""
        try:
            for token in range(self.chance.randint(6, 16)):
                choice = self.chance.random()
                if choice < 0.4:
                    self.register(token)
                elif choice < 0.5 and self.placed:
                    index = self.chance.randrange(len(self.placed))
                    self.placed.pop(index)
                    self.both("undo", index)
                else:
                    fault = self.call()
                    if fault:
                        return fault
            return self.compare_tables()
        finally:
            for side in self.sides:
                side.close()

    def both(self, method: str, *arguments: Any) -> None:
        self.steps.append(f"{method}{arguments}")
        self.stale = True
        for side in self.sides:
            getattr(side, method)(*arguments)

    def register(self, token: int) -> None:
        behavior = self.chance.choice(BEHAVIORS)
        if self.chance.random() < 0.04:
            key = self.chance.choice(FALLBACKS)
            if key in self.placed and key != "AutogradPrivateUse1":
                return
            self.placed.append(key)
            self.both("fallback", token, key, behavior)
        else:
            number, key = self.chance.randrange(2), self.chance.choice(KEYS)
            self.placed.append("")
            boxed = self.chance.random() < 0.3
            self.both("register", token, number, key, behavior, boxed)

    def refresh(self) -> None:
        if self.stale:
            self.stale = False
            self.theirs.refresh()

    def call(self) -> str:
        """Half of the calls have been made before, so that a stale memo gives a wrong result."""
        self.refresh()
        if not self.made or self.chance.random() < 0.5:
            self.made.append(self.new_call())
        return self.compare_calls(*self.chance.choice(self.made))

    def new_call(self) -> tuple[Any, ...]:
        chance = self.chance
        number, boxed = chance.randrange(2), chance.random() < 0.3
        x, y = chance.choice(KINDS), chance.choice((*KINDS, None))
        zs = chance.choices((*KINDS, None) if number else KINDS, k=chance.randrange(3))
        state = local_state()
        included = state.included.raw_repr() | raw(chance.sample(INCLUDED, chance.randrange(3)))
        excluded = state.excluded.raw_repr() | raw(chance.sample(EXCLUDED, chance.randrange(3)))
        keys = raw(chance.sample(KEYS[:11], chance.randrange(5))) if chance.random() < 0.3 else None
        return number, x, y, zs, included, excluded, keys, boxed

    def compare_calls(
        self,
        number: int,
        x: str,
        y: str | None,
        zs: list[str | None],
        included: int,
        excluded: int,
        keys: int | None,
        boxed: bool,
    ) -> str:
        self.steps.append(f"call{(number, x, y, zs, included, excluded, keys, boxed)}")
        ends = []
        for side in self.sides:
            of = {None: None, **side.tensors}
            arguments: tuple[Any, ...] = (of[y], [of[z] for z in zs])
            keywords = {"x": of[x]} if number else {}
            arguments = arguments if number else (of[x], *arguments)
            side.log.clear()
            end = side.call(number, arguments, keywords, (included, excluded), keys, boxed)
            ends.append((end, tuple(side.log)))
        return "" if ends[0] == ends[1] else f"torch: {ends[0]}\nhere: {ends[1]}"

    def compare_tables(self) -> str:
        self.refresh()
        for number in range(2):
            # The fallbacks of torch's own keys are not all here.
            tables = [
                {key: origin for key, origin in side.table(number).items() if "fallb" not in origin}
                for side in self.sides
            ]
            if tables[0] != tables[1]:
                return f"tables of {'fg'[number]}\ntorch: {tables[0]}\nhere: {tables[1]}"
        return ""


def run(seed: int, rounds: int) -> str:
    """The first difference in this many rounds, with what led to it; an empty string if they agree."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(seed, seed + rounds):
            one = Round(number)
            fault = one.run()
            if fault:
                return "\n".join((f"round {number}", *one.steps, fault))
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0, help="the number of the first round")
    options = parser.parse_args()
    fault = run(options.seed, options.rounds)
    print(fault or f"{options.rounds} rounds, no difference")
    return 1 if fault else 0


if __name__ == "__main__":
    sys.exit(main())
