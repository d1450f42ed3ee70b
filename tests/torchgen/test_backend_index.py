"""The kernel of each function for each key: as declared, as registered, and in the installed torch."""

from __future__ import annotations

import re

import pytest

from tests.torchgen.conftest import Theirs
from torchgen_lite.analysis.policy import PYTORCH
from torchgen_lite.analysis.program import Program
from torchgen_lite.analysis.registrations import BACKEND_SELECT, registrations
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.languages.cpp import native

pytestmark = pytest.mark.torch


def registered(program: Program) -> set[tuple[str, str]]:
    return {(r.key, r.operator.name) for r in registrations(program, PYTORCH)}


def test_backend_index(ours: Resolved, theirs: Theirs) -> None:
    expected = {
        str(key): {
            f"aten::{name}": (kernel.kernel, kernel.structured, kernel.cpp_namespace)
            for name, kernel in index.index.items()
        }
        for key, index in theirs.indices.items()
    }
    mine: dict[str, dict[str, object]] = {}
    for operator in ours.operators:
        for entry in operator.kernels:
            scope, kernel = native.kernel(operator, entry)
            found = (kernel, entry.is_structured, scope)
            mine.setdefault(entry.key, {})[operator.name] = found
    assert mine == expected


def test_what_torchgen_registers(program: Program, theirs: Theirs) -> None:
    from torchgen.dest import RegisterDispatchKey
    from torchgen.gen import SelectiveBuilder, Target, needs_backend_select
    from torchgen.model import BackendIndex, DispatchKey, dispatch_keys

    selector = SelectiveBuilder.get_nop_selector()
    expected = {
        (BACKEND_SELECT, name)
        for name, function in theirs.functions.items()
        if needs_backend_select(function, selector)
    }
    for key in dispatch_keys:
        index = theirs.indices.get(key) or BackendIndex(key, True, False, False, {})
        register = RegisterDispatchKey(
            index,
            Target.REGISTRATION,
            selector,
            rocm=False,
            symint=True,
            class_method_name=None,
            skip_dispatcher_op_registration=False,
        )
        text = "".join(line for group in theirs.grouped for line in register(group))
        expected |= {(str(key), f"aten::{n}") for n in re.findall(r'm\.impl\("([^"]+)"', text)}
    assert DispatchKey.Meta in dispatch_keys
    assert registered(program) == expected


_LINE = re.compile(
    r"^(\w+)(?:\[alias\])?(?: \(inactive\))?: .*registered at \S*/(Register\w+)\.cpp"
)


def test_what_the_running_torch_has(program: Program, ours: Resolved) -> None:
    """The kernels in the installed build that a generated file registers.

    Functionalization is left out: its kernels are derived from other facts.
    """
    torch = pytest.importorskip("torch")
    found = set()
    for name in ours.by_name:
        for line in torch._C._dispatch_dump(name).splitlines():
            match = _LINE.match(line)
            if match and match[1] != "debug" and "Functionalization" not in match[2]:
                found.add((match[1], name))
    keys = {key for key, _ in found}
    assert {"CPU", "Meta", "SparseCPU", "CompositeImplicitAutograd", BACKEND_SELECT} <= keys
    assert found == {pair for pair in registered(program) if pair[0] in keys}
