"""Random registrations and undoing, driven through torch and through ours side by side.

torch's live tables depend on the order of registration (docs/differences.md); `_dispatch_dump_table`
recomputes and is what ours are compared with.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conformance.torch_replay import dispatcher_with_torch_fallbacks, kernel
from tests.installed import needs_the_keys_of_the_runtime
from torchgen_lite.key_tables import CURRENT
from torchgen_lite.runtime import DispatchKey, Library, fallthrough_kernel
from torchgen_lite.runtime.keys import RUNTIME_KEYS

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, needs_the_keys_of_the_runtime]
C = torch._C


def torch_reads(key: DispatchKey) -> bool:
    try:
        return int(C._dispatch_key_parse(key.name)) == key
    except RuntimeError:
        return False


ALIAS_KEYS = [DispatchKey[name] for name in CURRENT.aliases]
KEYS = [key.name for key in (*RUNTIME_KEYS, *ALIAS_KEYS) if torch_reads(key)]
# Those where the rules meet, so that they meet often.
BUSY = [
    "CPU",
    "CUDA",
    "SparseCPU",
    "QuantizedCPU",
    "NestedTensorCPU",
    "AutogradCPU",
    "AutogradOther",
    "AutogradNestedTensor",
    "Autograd",
    "CompositeImplicitAutograd",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
    "CompositeImplicitAutogradNestedTensor",
]
NAMESPACES = (f"torchgen_lite_r{number}" for number in itertools.count())

impl = st.tuples(st.just("impl"), st.sampled_from(BUSY) | st.sampled_from(KEYS), st.booleans())
step = impl | st.just(("def",)) | st.tuples(st.just("undo"), st.integers(0, 50))


class Pair:
    """The same registrations in torch and in ours."""

    def __init__(self) -> None:
        self.namespace = next(NAMESPACES)
        self.dispatcher, self.fallbacks = dispatcher_with_torch_fallbacks()
        self.blocks: list[tuple[Any, Library, str]] = []

    def run(self, line: int, step: tuple[Any, ...]) -> None:
        if step[0] == "undo":
            if self.blocks:
                theirs, ours, _ = self.blocks.pop(step[1] % len(self.blocks))
                theirs.reset()
                ours.close()
            return
        if step[0] == "def" and any(what == "def" for _, _, what in self.blocks):
            return
        debug = f"registered at steps:{line}"
        kind = "FRAGMENT" if step[0] == "def" else "IMPL"
        theirs = C._dispatch_library(kind, self.namespace, "", "steps", line)
        ours = Library(self.namespace, kind, dispatcher=self.dispatcher)
        if step[0] == "def":
            theirs.define("op(Tensor x) -> Tensor")
            ours.define("op(Tensor x) -> Tensor", debug=debug)
        else:
            _, key, falls_through = step
            function = torch.library.fallthrough_kernel if falls_through else kernel
            theirs.impl("op", key, function)
            ours.impl("op", fallthrough_kernel if falls_through else kernel, key, debug=debug)
        self.blocks.append((theirs, ours, step[0]))

    def check(self) -> None:
        name = f"{self.namespace}::op"
        operator = self.dispatcher.find_op(name)
        if operator is None:
            assert C._dispatch_dump(name) == ""
            return
        assert operator.dump() == C._dispatch_dump(name)
        assert operator.dump_table() == C._dispatch_dump_table(name)
        self.dispatcher.check_invariants()

    def close(self) -> None:
        for theirs, ours, _ in self.blocks:
            theirs.reset()
            ours.close()


@pytest.mark.filterwarnings("ignore:Warning only once")
@settings(max_examples=150)
@given(st.lists(step, min_size=1, max_size=12))
def test_tables_and_dumps(steps: list[tuple[Any, ...]]) -> None:
    pair = Pair()
    try:
        for line, step in enumerate(steps, 1):
            pair.run(line, step)
            pair.check()
    finally:
        pair.close()


def test_dangling_implementations() -> None:
    before = set(C._dispatch_find_dangling_impls())
    pair = Pair()
    pair.run(1, ("impl", "CPU", False))
    (theirs,) = set(C._dispatch_find_dangling_impls()) - before
    (ours,) = pair.dispatcher.find_dangling_impls()
    assert ours.dump() == theirs
    assert f"{pair.namespace}::op" in C._dispatch_get_registrations_for_dispatch_key("CPU")
    assert pair.dispatcher.registrations_for_dispatch_key("CPU") == (f"{pair.namespace}::op",)
    pair.close()
