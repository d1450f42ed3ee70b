"""Interpreters of one process have a dispatcher each, and a call does not reach another one's."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import torchgen_lite

PROGRAM = """
import sys

sys.path[:] = {path!r}
from torchgen_lite.runtime import Dispatcher, DispatchKey, DispatchKeySet, Library


class T:
    _dispatch_keyset = DispatchKeySet(DispatchKey.CPU)


library = Library("sub", "DEF")
operator = library.define("f(Tensor x) -> int")
library.impl("f", lambda x: {number}, "CPU")
assert operator.call(T()) == {number}
assert Dispatcher.singleton().find_schema_or_throw("sub::f") is operator
"""


def interpreters() -> Any:
    for name in ("_interpreters", "_xxsubinterpreters"):
        try:
            return import_module(name)
        except ImportError:
            continue
    return pytest.skip("this Python has no subinterpreters")


def test_each_interpreter_has_its_own_dispatcher(tmp_path: Path) -> None:
    module = interpreters()
    path = [str(Path(torchgen_lite.__file__).parents[1]), *sys.path]
    made = [module.create() for _ in range(2)]
    try:
        for number, one in enumerate(made):
            # Before 3.13 an exception of the other interpreter is raised here; since then it is returned.
            assert module.run_string(one, PROGRAM.format(path=path, number=number)) is None
    finally:
        for one in made:
            module.destroy(one)
