"""Interpreters of one process have a dispatcher each, and a call does not reach another one's."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

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
# Before 3.13 an exception of the other interpreter is raised here; since then it is returned.
INTERPRETERS = """
import {module} as interpreters

programs = {programs!r}
made = [interpreters.create() for _ in programs]
for one, program in zip(made, programs):
    assert interpreters.run_string(one, program) is None
for one in made:
    interpreters.destroy(one)
"""


def test_each_interpreter_has_its_own_dispatcher() -> None:
    """In a process of its own: from then on PyTorch takes Python's lock for held there."""
    named = [name for name in ("_interpreters", "_xxsubinterpreters") if find_spec(name)]
    if not named:
        pytest.skip("this Python has no subinterpreters")
    path = [str(Path(torchgen_lite.__file__).parents[1]), *sys.path]
    programs = [PROGRAM.format(path=path, number=number) for number in range(2)]
    text = INTERPRETERS.format(module=named[0], programs=programs)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
