"""What the Python runtime says, as lines of text: `python -m tests.cpp_runtime.write_vectors FILE`.

`vectors.cpp` reads the lines, does the same with the C++ runtime and compares. The first word of a line
says what it is; keysets are hexadecimal. Lines from `new` on are a script: registrations by number, what is
undone, and after each step the table and some calls with their results.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

from torchgen_lite import key_tables
from torchgen_lite.runtime import (
    AmbiguousKernelError,
    BackendComponent,
    Dispatcher,
    DispatcherError,
    DispatchKey,
    DispatchKeySet,
    Library,
    MissingKernelError,
    fallthrough_kernel,
    named_sets,
)
from torchgen_lite.runtime.keys import (
    NUM_FUNCTIONALITIES,
    SLOT_OF,
    is_alias_dispatch_key,
    is_per_backend_functionality_key,
    to_backend_component,
    to_functionality_key,
)
from torchgen_lite.runtime.local_state import (
    AutoDispatchBelowADInplaceOrView,
    AutoDispatchBelowAutograd,
    AutoDispatchSkipFunctionalize,
    ExcludeDispatchKeyGuard,
    ForceDispatchKeyGuard,
    IncludeDispatchKeyGuard,
    InferenceMode,
    local_state,
)

SCHEMA = "op(Tensor x, Tensor? y, Tensor[] z) -> ()"
SETS = 400
RANDOM_TABLES = 120
RANDOM_SCRIPTS = 60
_K = DispatchKey
_IMPLICIT, _EXPLICIT = "CompositeImplicitAutograd", "CompositeExplicitAutograd"
_NON_FUNCTIONAL = "CompositeExplicitAutogradNonFunctional"
_NESTED = "CompositeImplicitAutogradNestedTensor"

GOLDENS: tuple[tuple[str, ...], ...] = (
    (_IMPLICIT,),
    (_IMPLICIT, "CPU"),
    (_IMPLICIT, "CPU", "Autograd"),
    (_IMPLICIT, "SparseCPU"),
    (_IMPLICIT, "SparseCPU", "Autograd"),
    (_IMPLICIT, "QuantizedCPU", "AutogradOther"),
    (_IMPLICIT, _EXPLICIT, "Autograd"),
    (_IMPLICIT, "NestedTensorCPU"),
    (_NESTED, "NestedTensorCPU"),
    (_NON_FUNCTIONAL, _IMPLICIT),
    (_NON_FUNCTIONAL,),
    (_IMPLICIT, "HIP"),
    (_EXPLICIT, _NON_FUNCTIONAL),
    (_NESTED, _IMPLICIT, "Autograd"),
)
"""The cases that issue and DISPATCHER name, measured on torch 2.13."""


def hexa(keys: DispatchKeySet) -> str:
    return f"{keys.raw_repr():x}"


def key_lines() -> Iterator[str]:
    yield f"counts {len(BackendComponent) - 1} {NUM_FUNCTIONALITIES} {len(SLOT_OF)}"
    for backend in BackendComponent:
        yield f"backend {backend.name} {int(backend)} {hexa(DispatchKeySet(backend))}"
    aliases = [DispatchKey[name] for name in key_tables.CURRENT.aliases]
    for name, value in key_tables.dispatch_keys(key_tables.CURRENT).items():
        key = DispatchKey(value)
        yield (
            f"key {name} {value} {to_functionality_key(key).name} {to_backend_component(key).name} "
            f"{int(is_per_backend_functionality_key(key))} {int(is_alias_dispatch_key(key))} "
            f"{SLOT_OF.get(key, -1)} {hexa(DispatchKeySet(key))} {hexa(DispatchKeySet.full_after(key))} "
            f"{hexa(named_sets.runtime_dispatch_keyset(key))} "
            # Markers have no autograd; nothing asks for theirs.
            f"{hexa(named_sets.backend_keyset_from_autograd(key)) if key in SLOT_OF else '-'} "
            + "".join(str(int(named_sets.is_included_in_alias(key, alias))) for alias in aliases)
        )
    for former, now in key_tables.CURRENT.former_names:
        yield f"former {former} {int(DispatchKey[now])}"
    for name, keys in (
        ("autograd_dispatch_keyset", named_sets.AUTOGRAD),
        (
            "autograd_dispatch_keyset_with_ADInplaceOrView",
            named_sets.AUTOGRAD_WITH_ADINPLACEORVIEW,
        ),
        ("autocast_dispatch_keyset", named_sets.AUTOCAST),
        ("default_included_set", named_sets.DEFAULT_INCLUDED),
        ("default_excluded_set", named_sets.DEFAULT_EXCLUDED),
        ("autogradother_backends", named_sets.AUTOGRADOTHER_BACKENDS),
        ("after_autograd_keyset", named_sets.AFTER_AUTOGRAD),
        ("after_ADInplaceOrView_keyset", named_sets.AFTER_ADINPLACEORVIEW),
        ("after_func_keyset", named_sets.AFTER_FUNC),
        ("full", DispatchKeySet.full()),
    ):
        yield f"named {name} {hexa(keys)}"


def random_set(random_: random.Random) -> DispatchKeySet:
    keys = random_.choices(tuple(SLOT_OF), k=random_.randrange(6))
    found = DispatchKeySet(*keys)
    if random_.random() < 0.3:
        found &= DispatchKeySet.from_raw_repr(random_.getrandbits(62))
    return found


def keyset_lines(random_: random.Random) -> Iterator[str]:
    for _ in range(SETS):
        a, b = random_set(random_), random_set(random_)
        key = random_.choice(tuple(DispatchKey))
        backend = random_.choice(tuple(BackendComponent))
        try:
            any_ = str(int(a.has_any(b)))
        except ValueError:
            any_ = "refused"
        facts: list[Any] = [
            hexa(a | b),
            hexa(a & b),
            hexa(a ^ b),
            hexa(a - b),
            int(a.has_all(b)),
            any_,
            int(a.empty()),
            a.highest_functionality_key().name,
            a.highest_backend_key().name,
            a.highest_priority_type_id().name,
            a.dispatch_table_index(),
            a.backend_index(),
            key.name,
            int(a.has(key)),
            hexa(a.add(key)),
            hexa(a.remove(key)),
            backend.name,
            int(a.has_backend(backend)),
            hexa(a.remove_backend(backend)),
            str(a),
        ]
        yield f"set {hexa(a)} {hexa(b)} {' '.join(map(str, facts))}"


class Tensor:
    def __init__(self, keys: DispatchKeySet) -> None:
        self._dispatch_keyset = keys


def guard_of(word: str) -> AbstractContextManager[None]:
    """`+Key`, `-Key`, `=included/excluded` or the name of a guard."""
    if word[0] == "+":
        return IncludeDispatchKeyGuard(DispatchKey[word[1:]])
    if word[0] == "-":
        return ExcludeDispatchKeyGuard(DispatchKey[word[1:]])
    if word[0] == "=":
        included, _, excluded = word[1:].partition("/")
        return ForceDispatchKeyGuard(
            *(DispatchKeySet.from_raw_repr(int(text, 16)) for text in (included, excluded))
        )
    named: dict[str, Callable[[], AbstractContextManager[None]]] = {
        "below_autograd": AutoDispatchBelowAutograd,
        "below_view": AutoDispatchBelowADInplaceOrView,
        "skip_functionalize": AutoDispatchSkipFunctionalize,
        "inference": InferenceMode,
        "no_inference": lambda: InferenceMode(False),
    }
    return named[word]()


class Script:
    """One dispatcher and one operator, what is done with them, and the lines that say so."""

    def __init__(self) -> None:
        self.dispatcher = Dispatcher()
        self.log: list[str] = []
        self.live: dict[int, Library] = {}
        self.count = 0
        self.lines = ["new"]

    def _library(self, namespace: str, kind: str) -> Library:
        self.count += 1
        self.live[self.count] = library = Library(namespace, kind, dispatcher=self.dispatcher)
        return library

    def define(self) -> None:
        self._library("t", "FRAGMENT").define(SCHEMA, debug="schema")
        self.lines.append(f"def {self.count} t::{SCHEMA}")

    def _kernel(self, label: str, how: str) -> Callable[..., None]:
        """`fallthrough`, `stop`, or `below`: redispatches without the key it was called at."""
        if how == "fallthrough":
            return fallthrough_kernel

        def kernel(keys: DispatchKeySet, *arguments: Any) -> None:
            self.log.append(f"{label}@{hexa(keys)}")
            lower = keys.remove(keys.highest_functionality_key())
            if how == "below" and lower is not keys:
                operator = self.dispatcher.find_schema_or_throw("t::op")
                operator.redispatch(lower, *arguments[-3:])

        return kernel

    def impl(self, key: str, how: str) -> None:
        library = self._library("t", "FRAGMENT")
        label = f"{key}#{self.count}"
        library.impl(
            "op", self._kernel(label, how), key, with_keyset=how != "fallthrough", debug=label
        )
        self.lines.append(f"impl {self.count} {key} {how}")

    def fallback(self, key: str, how: str) -> None:
        library = self._library("_", "IMPL")
        label = f"{key}#{self.count}"
        library.fallback(
            self._kernel(label, how), key, with_keyset=how != "fallthrough", debug=label
        )
        self.lines.append(f"fallback {self.count} {key} {how}")

    def undo(self, number: int) -> None:
        self.live.pop(number).close()
        self.lines.append(f"undo {number}")

    def table(self) -> None:
        operator = self.dispatcher.find_op("t::op")
        visible, defined = operator is not None, operator is not None and operator.has_schema
        dangling = len(self.dispatcher.find_dangling_impls())
        self.lines.append(f"operator {int(visible)} {int(defined)} {dangling}")
        if operator is not None:
            table = operator.dump_table().splitlines()
            self.lines += [f"table {len(table)}", *table]
            # The rest of a line is what the language knows of the kernel.
            kernels = [line.partition(" :: ")[0] for line in operator.dump().splitlines()]
            kernels = [line for line in kernels if "#" in line]
            self.lines += [f"kernels {len(kernels)}", *kernels]

    def _outcome(self, run: Callable[[], None]) -> str:
        self.log.clear()
        try:
            run()
        except AmbiguousKernelError:
            self.log.append("ambiguous")
        except MissingKernelError:
            self.log.append("missing")
        except DispatcherError:
            self.log.append("error")
        return " ".join(self.log)

    def call(
        self, words: list[str], x: DispatchKeySet, y: DispatchKeySet | None, z: list[DispatchKeySet]
    ) -> None:
        operator = self.dispatcher.find_schema("t::op")
        if operator is None:
            return
        with ExitStack() as stack:
            for word in words:
                stack.enter_context(guard_of(word))
            outcome = self._outcome(
                lambda: operator.call(
                    Tensor(x), None if y is None else Tensor(y), [Tensor(each) for each in z]
                )
            )
        sets = [hexa(x), "-" if y is None else hexa(y), *map(hexa, z)]
        self.lines.append(
            f"call {len(words)} {' '.join([*words, str(len(sets)), *sets])} : {outcome}"
        )

    def redispatch(self, keys: DispatchKeySet) -> None:
        operator = self.dispatcher.find_schema("t::op")
        if operator is not None:
            tensor = Tensor(DispatchKeySet())
            outcome = self._outcome(lambda: operator.redispatch(keys, tensor, None, []))
            self.lines.append(f"redispatch {hexa(keys)} : {outcome}")

    def close(self) -> list[str]:
        for library in self.live.values():
            library.close()
        return self.lines


def state_lines(random_: random.Random) -> Iterator[str]:
    for _ in range(100):
        words = random_guards(random_, 4)
        with ExitStack() as stack:
            for word in words:
                stack.enter_context(guard_of(word))
            state = local_state()
            yield (
                f"state {len(words)} {' '.join([*words, hexa(state.included), hexa(state.excluded)])}"
            )


def random_guards(random_: random.Random, most: int) -> list[str]:
    words = []
    for _ in range(random_.randrange(most + 1)):
        key = random_.choice(tuple(SLOT_OF)).name
        words.append(
            random_.choice(
                (
                    f"+{key}",
                    f"-{key}",
                    f"={hexa(random_set(random_))}/{hexa(random_set(random_))}",
                    "below_autograd",
                    "below_view",
                    "skip_functionalize",
                    "inference",
                    "no_inference",
                )
            )
        )
    return words


REGISTRABLE = tuple(
    name
    for name in key_tables.registrable_keys(key_tables.CURRENT)
    if name != "EndOfFunctionalityKeys"
)
# Most programs have few keys; among all of them, sets would hardly ever meet.
USUAL = (
    _IMPLICIT,
    _EXPLICIT,
    _NON_FUNCTIONAL,
    _NESTED,
    "Autograd",
    "FuncTorchBatchedDecomposition",
    "CPU",
    "CUDA",
    "HIP",
    "Meta",
    "SparseCPU",
    "QuantizedCPU",
    "NestedTensorCPU",
    "FPGA",
    "BackendSelect",
    "ADInplaceOrView",
    "AutogradOther",
    "AutogradCPU",
    "AutogradNestedTensor",
    "FuncTorchBatched",
    "Python",
)
FALLBACKS = (
    "BackendSelect",
    "ADInplaceOrView",
    "AutogradCPU",
    "AutogradCUDA",
    "AutogradOther",
    "Python",
    "Meta",
    "SparseCPU",
)
HOWS = ("stop", "stop", "below", "below", "fallthrough")


def usual_call(script: Script, random_: random.Random, registered: Sequence[str]) -> None:
    """Tensors of the keys that have kernels, or of backends that composite kernels serve."""
    at_home = [name for name in registered if DispatchKey[name] in SLOT_OF]
    backend = random_.choice((*at_home, *at_home, "CPU", "CUDA", "HIP", "SparseCPU"))
    autograd = random_.choice(("", "", "AutogradCPU", "AutogradOther"))
    x = DispatchKeySet(*(DispatchKey[name] for name in (backend, autograd) if name))
    if random_.random() < 0.5:
        x |= DispatchKeySet(_K.ADInplaceOrView, _K.AutocastCPU)
    if random_.random() < 0.1:
        x = DispatchKeySet()
    y = random_set(random_) if random_.random() < 0.1 else None
    z = [random_set(random_) for _ in range(random_.choice((0, 0, 0, 0, 0, 1, 2)))]
    script.call(random_guards(random_, 2) if random_.random() < 0.3 else [], x, y, z)


def script_of(registered: tuple[str, ...], random_: random.Random) -> list[str]:
    """All at once, then calls."""
    script = Script()
    script.define()
    for key in registered:
        script.impl(key, random_.choice(HOWS))
    for key in random_.sample(FALLBACKS, random_.randrange(4)):
        script.fallback(key, random_.choice(HOWS))
    script.table()
    for _ in range(8):
        usual_call(script, random_, registered)
        script.redispatch(random_set(random_))
    return script.close()


def changing_script(random_: random.Random) -> list[str]:
    """Registrations and what undoes them, in any order, with the table and calls between."""
    script = Script()
    steps = ["def", *random_.choices(USUAL, k=4), *random_.sample(FALLBACKS, 2)]
    made: list[tuple[str, bool]] = [(step, i > 4) for i, step in enumerate(steps)]
    random_.shuffle(made)
    for step, is_fallback in made:
        if step == "def":
            script.define()
        elif is_fallback:
            script.fallback(step, random_.choice(HOWS))
        else:
            script.impl(step, random_.choice(HOWS))
        script.table()
        usual_call(script, random_, steps[1:])
    numbers = list(script.live)
    random_.shuffle(numbers)
    for number in numbers:
        script.undo(number)
        script.table()
        usual_call(script, random_, steps[1:])
    return script.close()


def vectors(seed: int = 2130) -> str:
    random_ = random.Random(seed)
    lines = [*key_lines(), *keyset_lines(random_), *state_lines(random_)]
    for registered in GOLDENS:
        lines += script_of(registered, random_)
    for key in REGISTRABLE:
        lines += script_of((key,), random_)
    for _ in range(RANDOM_TABLES):
        pool = random_.choice((USUAL, USUAL, REGISTRABLE))
        lines += script_of(tuple(random_.sample(pool, random_.randrange(1, 7))), random_)
    for _ in range(RANDOM_SCRIPTS):
        lines += changing_script(random_)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(vectors())
