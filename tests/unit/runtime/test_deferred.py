"""Kernels of modules that are imported when they are needed."""

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
    OperatorHandle,
    local_state,
)
from torchgen_lite.runtime import library as library_module

CPU = DispatchKeySet(DispatchKey.CPU)
TENSOR = SimpleNamespace(_dispatch_keyset=CPU)
CODE = """
def double(self):
    return "double", self

def with_keyset(keyset, self):
    return keyset, self
"""


class Loader:
    """Makes the module, and remembers the excluded keys of each import."""

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
    assert str(op.computed_table()["CPU"]) == "registered at kernels.py:5 [kernel]"


def test_it_is_overridden_and_comes_back(
    libraries: tuple[Library, Library], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library_module._OverrideWarning, "given", False)
    op = defined(libraries, Loader())
    mine = Library("ns", "IMPL", "CPU", dispatcher=libraries[0].dispatcher)
    with pytest.warns(UserWarning, match="previous kernel: registered at kernels.py:2"):
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
