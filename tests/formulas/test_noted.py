"""Operators that write to buffers while they are differentiated, on the runtime of this project."""

from __future__ import annotations

import json
import os
import textwrap
from typing import Any

import pytest

from tests.conftest import SOURCES
from tests.cpp.compiling import write_files
from tests.forks import run_forked
from tests.formulas.projects import with_reference
from torchgen_lite import generate, load

ENTRIES = """\
- func: noted::states(Tensor(a!) state, Tensor x, Tensor[] more, Tensor(b!)[] states, Tensor(c!)? last=None) -> Tensor
  dispatch: {CPU: states}
  derivatives:
    x: grad * x * 2
    more: '[grad * 3]'
- func: noted::composed(Tensor x, Tensor(a!) state) -> Tensor
  dispatch: {CompositeExplicitAutograd: composed}
  derivatives:
    x: grad * 5
"""
KERNELS = """\
def write(to, value):
    to.detach().numpy()[...] = value.detach().numpy()


def states(state, x, more, states, last):
    total = x * x + more[0] * 3 + state
    for one in (state, *states, *([] if last is None else [last])):
        write(one, x)
    return total


def composed(x, state):
    state.add_(x.detach())
    return x * 5
"""
PROGRAM = """
import json
import corpus_ops
import torchgen_lite_reference as tl

op = corpus_ops.ops.noted
tensor = lambda *values, **more: tl.tensor([*values], **more)


def said(call):
    try:
        call()
    except (RuntimeError, NotImplementedError) as error:
        return str(error)
    return "nothing"


found = {}
state, states, last = tensor(1.0), [tensor(2.0), tensor(3.0)], tensor(4.0)
x, more = tensor(5.0, requires_grad=True), tensor(6.0)
first = op.states(state, x, [more], states, last)
other = op.states(state, x, [more], states)
found["values"] = [one.tolist() for one in (first, other, state, *states, last)]
found["versions"] = [one._version for one in (state, *states, last)]
(first + other).sum().backward()
found["gradient"] = x.grad.tolist()
with tl.no_grad():
    op.states(state, x, [more], states, last)
with tl.inference_mode():
    op.states(state, x, [more], states, last)
found["more versions"] = [one._version for one in (state, *states, last)]

more.requires_grad_()
op.states(state, tensor(5.0), [more], states).sum().backward()
found["gradient of a list"] = more.grad.tolist()
(once,) = tl.autograd.grad(op.states(state, x, [more], states).sum(), [x], create_graph=True)
found["second"] = tl.autograd.grad(once.sum(), [x])[0].tolist()

product = (x * state).sum()
op.states(state, x, [more], states)
found["stale"] = said(product.backward)
y = x * 1
found["shared"] = said(op.states(y.detach(), y, [more], states).sum().backward)
for name, given in (("state", (tensor(1.0), [], None)), ("states", (tensor(1.0), [tensor(1.0)], None)), ("last", (tensor(1.0), [], tensor(1.0)))):
    one = {"state": given[0], "states": (given[1] or [None])[0], "last": given[2]}[name]
    one.requires_grad_()
    found[name] = said(lambda: op.states(given[0], x, [more], given[1], given[2]))
    found[name + " is as it was"] = one.tolist()
    tangent = lambda value: op.states(
        value if name == "state" else given[0], x, [more],
        [value] if name == "states" else [], value if name == "last" else None,
    )
    found[name + " in forward mode"] = said(lambda: tl.func.jvp(tangent, (one.detach(),), (one.detach(),)))
found["jvp"] = tl.func.jvp(lambda x: op.states(state, x, [more], states), (tensor(5.0),), (tensor(1.0),))[1].tolist()
state = tensor(1.0)
op.composed(x, state).sum().backward()
found["composed"] = [x.grad.tolist(), state.tolist(), state._version]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("noted")
    config = with_reference(folder)
    files = {"torchgen_lite.toml": config, "corpus.yaml": ENTRIES, "corpus_kernels.py": KERNELS}
    write_files(folder, files)
    write_files(folder, generate(load(root=folder)))
    paths = [folder, folder / "python", *SOURCES]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    done = run_forked(["-c", textwrap.dedent(PROGRAM)], folder, environment, imported=())
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def test_the_kernel_writes_and_each_version_moves_once_a_call(found: dict[str, Any]) -> None:
    assert found["values"] == [[44.0], [48.0], *[[5.0]] * 4]
    assert found["versions"] == [2, 2, 2, 1]
    assert found["more versions"] == [4, 4, 4, 3]


def test_what_is_not_written_has_its_gradient(found: dict[str, Any]) -> None:
    assert found["gradient"] == [20.0]
    assert found["gradient of a list"] == [3.0]
    assert found["second"] == [2.0]
    assert found["jvp"] == [10.0]
    assert found["composed"] == [[25.0], [6.0], 1]


def test_what_is_written_has_none(found: dict[str, Any]) -> None:
    for name in ("state", "states", "last"):
        said = f"noted::states has no derivative with respect to {name}"
        assert found[name] == found[f"{name} in forward mode"] == said
        assert found[f"{name} is as it was"] == [1.0]


def test_what_was_saved_and_is_written_is_not_used(found: dict[str, Any]) -> None:
    for case in ("stale", "shared"):
        assert "has been modified by an inplace operation" in found[case]
