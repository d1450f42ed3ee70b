"""Random calls through torch and through ours: the same kernels run, with the same keysets."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.installed import needs_the_keys_of_the_runtime
from torchgen_lite.runtime import (
    Dispatcher,
    DispatchKey,
    DispatchKeySet,
    ForceDispatchKeyGuard,
    Library,
    fallthrough_kernel,
    local_state,
)
from torchgen_lite.runtime.keys import NUM_BACKENDS

torch = pytest.importorskip("torch")
from tests.conformance.both_dispatchers import (  # noqa: E402
    BEHAVIORS,
    EXCLUDED,
    INCLUDED,
    Tensor,
    add_stock_fallbacks,
    outcome,
    torch_tensors,
)

pytestmark = [pytest.mark.torch, needs_the_keys_of_the_runtime]
C = torch._C

SCHEMA = "op(Tensor x, Tensor? y, Tensor[] zs) -> Tensor"
NAMESPACES = (f"torchgen_lite_c{number}" for number in itertools.count())
# CompositeImplicitAutograd comes last: torch's live table is canonical in this order only.
KEYS = [
    "CPU",
    "Meta",
    "SparseCPU",
    "BackendSelect",
    "ADInplaceOrView",
    "AutogradOther",
    "AutogradCPU",
    "AutogradMeta",
    "TESTING_ONLY_GenericWrapper",
    "TESTING_ONLY_GenericMode",
    "Autograd",
    "CompositeExplicitAutograd",
    "CompositeImplicitAutograd",
]
BEHAVIOR = st.sampled_from(BEHAVIORS)


TENSORS = torch_tensors()
OURS = {name: Tensor(tensor) for name, tensor in TENSORS.items()}
NAME = st.sampled_from(sorted(TENSORS))


class Side:
    """One of the two dispatchers, behind an interface that both share."""

    def __init__(self, namespace: str) -> None:
        self.log: list[tuple[str, int]] = []
        self.namespace = namespace

    def kernel(self, key: str, behavior: str) -> Callable[..., Any]:
        def run(keys: Any, x: Any, y: Any, zs: Any) -> Any:
            self.log.append((key, keys.raw_repr()))
            if behavior == "leaf" or keys.raw_repr() >> NUM_BACKENDS == 0:
                return x  # Below Undefined there is nothing to go to.
            return self.redispatch(self.below(keys), x, y, zs)

        return run

    def below(self, keys: Any) -> Any:
        raise NotImplementedError

    def redispatch(self, keys: Any, *arguments: Any) -> Any:
        raise NotImplementedError


class Theirs(Side):
    def __init__(self, namespace: str, kernels: dict[str, str]) -> None:
        super().__init__(namespace)
        self.library = torch.library.Library(namespace, "DEF")
        self.library.define(SCHEMA)
        for key, behavior in kernels.items():
            if behavior == "fallthrough":
                self.library.impl("op", torch.library.fallthrough_kernel, key)
            else:
                self.library.impl("op", self.kernel(key, behavior), key, with_keyset=True)
        self.op = getattr(torch.ops, namespace).op.default

    def below(self, keys: Any) -> Any:
        return keys & C._dispatch_keyset_full_after(keys.highestPriorityTypeId())

    def redispatch(self, keys: Any, *arguments: Any) -> Any:
        return self.op.redispatch(keys, *arguments)

    def call(self, included: int, excluded: int, names: tuple[Any, ...], keys: int | None) -> str:
        x, y, zs = names
        arguments = (TENSORS[x], y and TENSORS[y], [TENSORS[z] for z in zs])
        guard = C._ForceDispatchKeyGuard(
            C.DispatchKeySet.from_raw_repr(included), C.DispatchKeySet.from_raw_repr(excluded)
        )
        with guard:
            if keys is None:
                return outcome(lambda: self.op(*arguments))
            return outcome(
                lambda: self.op.redispatch(C.DispatchKeySet.from_raw_repr(keys), *arguments)
            )


class Ours(Side):
    def __init__(self, namespace: str, kernels: dict[str, str]) -> None:
        super().__init__(namespace)
        dispatcher = Dispatcher()
        self.wildcard = Library("_", "IMPL", dispatcher=dispatcher)
        add_stock_fallbacks(self.wildcard)
        self.library = Library(namespace, "DEF", dispatcher=dispatcher)
        self.op = self.library.define(SCHEMA)
        for key, behavior in kernels.items():
            if behavior == "fallthrough":
                self.library.impl("op", fallthrough_kernel, key)
            else:
                self.library.impl("op", self.kernel(key, behavior), key, with_keyset=True)

    def below(self, keys: Any) -> Any:
        return keys & DispatchKeySet.full_after(keys.highest_priority_type_id())

    def redispatch(self, keys: Any, *arguments: Any) -> Any:
        return self.op.redispatch(keys, *arguments)

    def call(self, included: int, excluded: int, names: tuple[Any, ...], keys: int | None) -> str:
        x, y, zs = names
        arguments = (OURS[x], y and OURS[y], [OURS[z] for z in zs])
        of = DispatchKeySet.from_raw_repr
        with ForceDispatchKeyGuard(of(included), of(excluded)):
            if keys is None:
                return outcome(lambda: self.op.call(*arguments))
            return outcome(lambda: self.op.redispatch(of(keys), *arguments))


def raw(names: set[str]) -> int:
    return DispatchKeySet(DispatchKey[name] for name in names).raw_repr()


call = st.tuples(
    st.sets(st.sampled_from(INCLUDED), max_size=2).map(raw),
    st.sets(st.sampled_from(EXCLUDED), max_size=2).map(raw),
    st.tuples(NAME, st.none() | NAME, st.lists(NAME, max_size=2)),
    st.none() | st.none() | st.sets(st.sampled_from(KEYS[:10]), max_size=4).map(raw),
)


@settings(max_examples=150)
@given(
    st.dictionaries(st.sampled_from(KEYS), BEHAVIOR, min_size=1),
    st.lists(call, min_size=1, max_size=6),
)
def test_the_same_kernels_run(kernels: dict[str, str], calls: list[tuple[Any, ...]]) -> None:
    if kernels.get("CompositeImplicitAutograd"):
        kernels.pop("Meta", None)  # torch.library refuses a Meta kernel beside it.
    kernels = dict(sorted(kernels.items(), key=lambda item: KEYS.index(item[0])))
    namespace = next(NAMESPACES)
    theirs, ours = Theirs(namespace, kernels), Ours(namespace, kernels)
    state = local_state()
    try:
        for included, excluded, names, keys in calls:
            included |= state.included.raw_repr()
            excluded |= state.excluded.raw_repr()
            for side in (theirs, ours):
                side.log.clear()
            expected = theirs.call(included, excluded, names, keys)
            assert ours.call(included, excluded, names, keys) == expected
            assert ours.log == theirs.log
    finally:
        theirs.library._destroy()
