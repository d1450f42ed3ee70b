"""The stub has one text, `templates/python/operators.py.j2`: `runtime/stub_text.py` is what that prints.

`UPDATE_EXPECT=1 pytest tests/unit/runtime/test_stub.py` writes it again.
"""

from __future__ import annotations

from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

import torchgen_lite.runtime
from tests.expected import expect
from torchgen_lite import generate, load
from torchgen_lite.emit.render import build_environment
from torchgen_lite.runtime import Dispatcher, Library
from torchgen_lite.runtime.stub import TAKEN
from torchgen_lite.targets.python.stubs import StubView

STUB_TEXT = Path(torchgen_lite.runtime.__file__).with_name("stub_text.py")
HOLES = StubView(
    name="stub",
    parameters="{parameters}",
    result="Any",
    doc="",
    sized=[("{position}", "{name}", "{test}")],  # type: ignore[list-item]
    kernel="_kernel",
    keyset="_keyset",
    path="",
    rows=(),
    dispatching="{dispatching}",
    passed="{passed}",
    library="",
    schema="",
    kinds="",
    tags="",
    returns="",
    types="",
)


def printed() -> str:
    context = {
        "runtime": "",
        "libraries": [],
        "types": [],
        "constants": [],
        "has_sized": False,
        "operators": [],
    }
    template = build_environment().get_template("python/operators.py.j2")
    macros: Any = template.make_module(context)
    texts = {
        "STUB": macros.call(HOLES, "{path}", "{tuples}"),
        "REDISPATCH_STUB": macros.redispatch(HOLES, "{tuples}"),
        "TUPLE": macros.tuples(HOLES),
    }
    head = '"""The stubs of an operator `stub`, with holes: tests/unit/runtime/test_stub.py writes this file."""\n'
    return head + "".join(f'\n{name} = """\\\n{text}"""\n' for name, text in texts.items())


def test_the_text_of_the_runtime_is_that_of_the_template() -> None:
    expect(STUB_TEXT, printed())


SCHEMAS = [
    "f() -> Tensor",
    "f(Tensor self) -> Tensor",
    "f(Tensor self, Tensor? other=None, *, Scalar alpha=1) -> Tensor",
    "f(Tensor[] tensors, Tensor?[] indices, int dim=0) -> Tensor[]",
    "f(Tensor self, int[2] size, *, float[1]? scale=None, Generator? generator=None) -> ()",
]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_the_generator_writes_the_stub_that_the_runtime_compiles(
    schema: str, tmp_path: Path
) -> None:
    """The same instructions, on the same names but for those that have the operator's in them."""
    entry = f"- func: {schema}\n  dispatch:\n    CPU: f_cpu\n"
    (tmp_path / "native_functions.yaml").write_text(entry)
    (text,) = [
        text
        for path, text in generate(load(root=tmp_path), targets=["python"]).items()
        if path.endswith("/operators.py")
    ]
    library = Library("ns", "DEF", dispatcher=Dispatcher())
    operator = library.define(schema)
    made = {"f": operator.call, "redispatch_f": operator.redispatch}
    generated = {code.co_name: code for code in functions_of(text)}
    for name, function in made.items():
        assert isinstance(function, FunctionType)
        ours, theirs = function.__code__, generated[name]
        assert ours.co_code == theirs.co_code
        assert ours.co_consts == theirs.co_consts
        assert [n.replace("_stub", "_f") for n in ours.co_names] == list(theirs.co_names)
        assert [n.lstrip("_") for n in ours.co_varnames] == list(theirs.co_varnames)


def test_arguments_hide_nothing_that_the_text_uses() -> None:
    library = Library("ns", "DEF", dispatcher=Dispatcher())
    operator = library.define("f(Tensor a, Tensor? b, Tensor[] c, int[2] d) -> ()")
    codes = [operator.call.__code__, operator.redispatch.__code__]
    assert {name for code in codes for name in (*code.co_names, *code.co_varnames)} - {
        *("a", "b", "c", "d", "KeyError", "AttributeError", "TypeError", "_dispatch_keyset"),
        *("as_tuple", "resolve", "resolve_redispatch"),
    } == TAKEN


def functions_of(text: str) -> list[Any]:
    module = compile(text, "operators.py", "exec", dont_inherit=True)
    return [constant for constant in module.co_consts if hasattr(constant, "co_code")]
