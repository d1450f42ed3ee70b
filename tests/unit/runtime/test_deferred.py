"""Kernels whose modules are imported when a call needs them."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from torchgen_lite.runtime import (
    Dispatcher,
    DispatchKey,
    DispatchKeySet,
    ExcludeDispatchKeyGuard,
    Library,
    MissingKernelError,
    OperatorHandle,
    local_state,
)
from torchgen_lite.runtime import library as library_module

CPU = DispatchKeySet(DispatchKey.CPU)
TENSOR = SimpleNamespace(_dispatch_keyset=CPU)
CODE = """
from torchgen_lite.runtime import fallthrough_kernel as passes

def two(self, other):
    return "never"

def double(self):
    return "double", self

def with_keyset(keyset, self):
    return keyset, self
"""


class Loader:
    """Creates the module, and records the excluded keys at each import."""

    def __init__(self) -> None:
        self.excluded: list[DispatchKeySet] = []

    def __call__(self) -> ModuleType:
        self.excluded.append(local_state().excluded)
        module = ModuleType("kernels")
        exec(compile(CODE, "kernels.py", "exec"), module.__dict__)
        return module


@pytest.fixture
def libraries() -> tuple[Library, Library]:
    dispatcher = Dispatcher()
    definitions = Library("ns", "DEF", dispatcher=dispatcher)
    return definitions, Library("ns", "IMPL", "CPU", dispatcher=dispatcher)


def defined(
    libraries: tuple[Library, Library], load: Any, kernel: str = "double"
) -> OperatorHandle:
    definitions, kernels = libraries
    kernels.impl_deferred(load, {"op": kernel}, with_keyset=kernel == "with_keyset")
    return definitions.define("op(Tensor self) -> Tensor")


def test_the_first_call_imports_the_module_in_a_state_of_its_own(
    libraries: tuple[Library, Library],
) -> None:
    load = Loader()
    op = defined(libraries, load)
    assert op.has_computed_kernel_for_dispatch_key(DispatchKey.CPU)
    assert load.excluded == []
    outside = local_state().excluded
    with ExcludeDispatchKeyGuard(DispatchKey.AutogradFunctionality):
        assert op.call(TENSOR) == ("double", TENSOR)
    assert op.redispatch(CPU, TENSOR) == ("double", TENSOR)
    assert load.excluded == [outside]


def test_a_boxed_call(libraries: tuple[Library, Library]) -> None:
    op = defined(libraries, Loader(), "with_keyset")
    stack: list[Any] = [TENSOR]
    op.call_boxed(stack)
    assert stack == [(CPU, TENSOR)]


def test_its_site_is_where_it_stands(libraries: tuple[Library, Library]) -> None:
    op = defined(libraries, Loader(), "with_keyset")
    assert str(op.computed_table()["CPU"]) == "registered at kernels.py:10 [kernel]"


def test_it_is_overridden_and_comes_back(
    libraries: tuple[Library, Library], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library_module._OverrideWarning, "given", False)
    op = defined(libraries, Loader())
    mine = Library("ns", "IMPL", "CPU", dispatcher=libraries[0].dispatcher)
    with pytest.warns(UserWarning, match="previous kernel: registered at kernels.py:7"):
        mine.impl("op", lambda self: "mine")
    assert op.call(TENSOR) == "mine"
    mine.close()
    assert op.call(TENSOR) == ("double", TENSOR)
    libraries[1].close()
    assert not op.kernels


def test_a_module_that_cannot_be_imported_is_tried_again(
    libraries: tuple[Library, Library],
) -> None:
    failures = [ImportError("not yet")]
    load = Loader()

    def later() -> ModuleType:
        if failures:
            raise failures.pop()
        return load()

    op = defined(libraries, later)
    with pytest.raises(ImportError, match="not yet"):
        op.call(TENSOR)
    assert op.call(TENSOR) == ("double", TENSOR)


def test_a_function_that_the_module_lacks(libraries: tuple[Library, Library]) -> None:
    op = defined(libraries, Loader(), "triple")
    with pytest.raises(AttributeError, match="module 'kernels' has no attribute 'triple'"):
        op.call(TENSOR)


def written(libraries: tuple[Library, Library], load: Any, kernel: str) -> OperatorHandle:
    definitions, kernels = libraries
    kernels.impl_from(load, "op", kernel)
    return definitions.define("op(Tensor self) -> Tensor")


def test_what_somebody_wrote_loads_for_the_first_call(libraries: tuple[Library, Library]) -> None:
    load = Loader()
    op = written(libraries, load, "double")
    assert __file__ in op.dump()  # Shows where it is registered, and imports nothing.
    with pytest.raises(MissingKernelError, match=r"CPU: registered at .*test_deferred\.py"):
        op.redispatch(DispatchKeySet(DispatchKey.CUDA), TENSOR)
    assert load.excluded == []
    assert op.call(TENSOR) == ("double", TENSOR)
    assert len(load.excluded) == 1


def test_what_somebody_wrote_is_checked_for_the_first_call(
    libraries: tuple[Library, Library],
) -> None:
    op = written(libraries, Loader(), "two")
    for call in (op.call, op.call):
        with pytest.raises(TypeError, match=r"kernel of ns::op does not fit .* needs more than"):
            call(TENSOR)
    with pytest.raises(TypeError, match="does not fit its schema"):
        op.redispatch(CPU, TENSOR)


def test_what_somebody_wrote_may_fall_through(libraries: tuple[Library, Library]) -> None:
    definitions, _ = libraries
    autograd = Library("ns", "IMPL", "AutogradCPU", dispatcher=definitions.dispatcher)
    autograd.impl_from(Loader(), "op", "passes")
    op = written(libraries, Loader(), "double")
    keys = CPU | DispatchKeySet(DispatchKey.AutogradCPU)
    tensor = SimpleNamespace(_dispatch_keyset=keys)
    assert op.call(tensor) == ("double", tensor)
    assert op.computed_table()["AutogradCPU"].fallthrough
    stack = [tensor]
    op.call_boxed(stack)
    assert stack == [("double", tensor)]
