"""The whole schema language, compared with PyTorch's own parser and files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torchgen.exceptions import NO_VARIABLE
from torchgen_lite.analysis.lint import lint_program
from torchgen_lite.analysis.program import build_program
from torchgen_lite.diagnostics import Source
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.entry.reader import Dialect
from torchgen_lite.loader.formats.native_functions import load_native_functions, load_schema_sources
from torchgen_lite.loader.torch.files import find_torch_files, load_tags
from torchgen_lite.schema import parse_schema

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")


def _normal(text: str) -> str:
    return " ".join(text.split())


def test_every_schema_of_the_jit_prints_back() -> None:
    every = torch._C._jit_get_all_schemas()
    texts = [str(schema) for schema in every if schema.name not in NO_VARIABLE.names]
    assert len(texts) > 4000
    assert [t for t in texts if str(parse_schema(t)[0]) != _normal(t)] == []


def test_every_schema_of_the_dispatcher_prints_back() -> None:
    wrong = []
    names = torch._C._dispatch_get_all_op_names()
    for name in names:
        base, _, overload = name.partition(".")
        text = str(torch._C._get_schema(base, overload))
        if str(parse_schema(text)[0]) != _normal(text):
            wrong.append(text)
    assert len(names) > 3000
    assert wrong == []


def test_native_functions_parse_and_print_back() -> None:
    files, _ = find_torch_files()
    assert files is not None
    sources, unread = load_schema_sources([files.native_functions], Path(files.native_functions))
    tag_sources, _ = load_schema_sources([files.tags], files.tags.parent)
    tags, wrong_tags = load_tags(tag_sources[0])
    functions, found = load_native_functions(sources, Dialect(tags))
    assert (unread, wrong_tags, found) == ((), (), ())
    written = []
    for function in functions:
        span = dict(function.field_spans)["func"]
        written.append(span.text.strip("\"'"))
    assert [str(f.func) for f in functions] == written
    assert len(functions) > 2500
    program = lint_program(build_program(functions, Config(Path.cwd()), sources=sources))
    assert [d for d in program.diagnostics if d.severity == "error"] == []


@pytest.mark.parametrize(
    "text",
    [
        "foo(Tensor x, *, *, int y) -> ()",
        "foo(int[2] x=1) -> ()",
        "foo(bool x=1) -> ()",
        "foo(ScalarType d=float) -> ()",
        "foo(Tensor x=None) -> ()",
        "foo(int x=- 3) -> ()",
        "foo(str x='a') -> ()",
        "foo(Tensor x # comment\n) -> ()",
        "foo(int!? x) -> ()",
    ],
)
def test_what_the_jit_accepts_is_accepted(text: str) -> None:
    torch._C.parse_schema(text)
    assert parse_schema(text)[0] is not None


@pytest.mark.parametrize(
    "text",
    ["foo(int a=1, int b) -> ()", "foo(Tensor?(a!) x) -> ()", "foo(Tensor?! x) -> ()"],
)
def test_what_the_jit_refuses_is_an_error(text: str) -> None:
    with pytest.raises(RuntimeError):
        torch._C.parse_schema(text)
    functions, found = load_native_functions([Source("ops.yaml", f"- func: {text}\n")])
    assert build_program(functions, Config(Path.cwd()), diagnostics=found).has_errors
