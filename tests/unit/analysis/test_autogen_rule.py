"""TG415: `autogen` names exactly the operators that are derived."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite.analysis.lint import lint_program
from torchgen_lite.analysis.program import build_program
from torchgen_lite.diagnostics import Source, render_concise
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.formats.native_functions import load_native_functions

FOO = "- func: foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo\n"
COMPOSED = "- func: foo(Tensor self) -> Tensor\n  autogen: foo.out\n"
INPLACE = "- func: foo_(Tensor(a!) self) -> Tensor(a!)\n  dispatch:\n    CPU: foo_\n"
OUT = (
    "- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  dispatch:\n    CPU: foo_out\n"
)


def lines(text: str) -> list[str]:
    source = Source("ops.yaml", text)
    functions, found = load_native_functions([source])
    config = Config(Path("."), lint_ignore=("TG409",))
    program = lint_program(build_program(functions, config, diagnostics=found, sources=[source]))
    return render_concise(program.diagnostics).splitlines()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            INPLACE + "  autogen: foo.out\n",
            "ops.yaml:4:12: warning[TG415] variants of 'foo_' are not those that 'autogen' names: "
            "not named: foo (write 'autogen: foo, foo.out')",
        ),
        (
            FOO + "  autogen: foo.outt_out\n",
            "ops.yaml:4:12: warning[TG415] variants of 'foo' are not those that 'autogen' names: not "
            "derived: foo.outt_out; not named: foo.out (write 'autogen: foo.out')",
        ),
        (
            INPLACE + OUT,
            "ops.yaml:1:9: warning[TG415] variants of 'foo_' are not those that 'autogen' names: not "
            "named: foo (write 'autogen: foo')",
        ),
        (
            FOO + OUT + "  autogen: foo.other_out\n",
            "ops.yaml:7:12: warning[TG415] variants of 'foo.out' are not those that 'autogen' names: "
            "not derived: foo.other_out (leave 'autogen' out: the group is complete)",
        ),
        (
            COMPOSED,
            "ops.yaml:2:12: warning[TG418] nothing is derived from 'foo', which is composed of other "
            "operators: not derived (leave 'autogen' out, or give it a CompositeExplicitAutograd "
            "kernel)",
        ),
    ],
)
def test_what_disagrees(text: str, expected: str) -> None:
    assert lines(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        FOO + "  autogen: foo.out\n",
        FOO + INPLACE + "  autogen: foo.out\n",
        INPLACE + "  autogen: foo, foo.out\n",
        INPLACE + OUT + "  autogen: foo\n",
        FOO.replace("foo(", "foo.A(") + "  autogen: foo.A_out\n",
        # A composite operator gets variants if one of its variants has a kernel, or if it is in the core set.
        COMPOSED + INPLACE,
        COMPOSED + "  tags: core\n",
    ],
)
def test_what_agrees(text: str) -> None:
    assert lines(text) == []
