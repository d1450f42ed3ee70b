"""No text makes the parser raise, and a schema that it accepts prints back as it was written."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from torchgen_lite.analysis.lint import lint_program
from torchgen_lite.analysis.program import build_program
from torchgen_lite.diagnostics import (
    Source,
    render_concise,
    render_full,
    render_github,
    render_json,
    render_sarif,
)
from torchgen_lite.loader.config.project import Config, parse_config
from torchgen_lite.loader.entry.reader import Dialect
from torchgen_lite.loader.formats.fmt import format_text
from torchgen_lite.loader.formats.native_functions import load_native_functions
from torchgen_lite.schema import default_value, parse_schema

PIECES = st.sampled_from(
    "Tensor int SymInt float bool str Scalar Dict( Future( ( ) [ ] , * ! ? = | : . -> ... :: a b "
    'self out 1 -2 0.5 1e5 1j "x" \'y\' "open None True inf [1, [] # @ \\ $ \n \t é'.split(" ")
)
SCHEMA_TEXTS = st.lists(PIECES, max_size=40).map(" ".join) | st.lists(PIECES, max_size=40).map(
    "".join
)

NAMES = st.sampled_from(["a", "b", "self", "x1", "_y", "out", "from_"])
BASES = st.sampled_from(["Tensor", "int", "SymInt", "float", "str", "t", "Any", "Scalar"])
ALIASES = st.sampled_from(["", "", "(a)", "(a!)", "(a|b)", "(*)", "(a -> *)", "!"])
SUFFIXES = st.sampled_from(["", "", "?", "[]", "[2]", "[]?", "?[]"])


@st.composite
def types(draw: st.DrawFn) -> str:
    """A type with at most two levels of nesting."""
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return f"Dict({draw(BASES)}, {draw(BASES)}){draw(SUFFIXES)}"
    if kind == 1:
        return f"({draw(BASES)}, {draw(BASES)}){draw(SUFFIXES)}"
    return f"{draw(BASES)}{draw(ALIASES)}{draw(SUFFIXES)}"


@st.composite
def schemas(draw: st.DrawFn) -> str:
    """A schema in which every space is a single one."""
    names = draw(st.lists(NAMES, unique=True, max_size=5))
    parts = [f"{draw(types())} {name}" for name in names]
    if parts and draw(st.booleans()):
        parts.insert(draw(st.integers(0, len(parts) - 1)), "*")
    returns = draw(st.lists(types(), max_size=3))
    one = len(returns) == 1 and not returns[0].startswith("(")
    result = returns[0] if one else f"({', '.join(returns)})"
    name = draw(st.sampled_from(["f", "ns::f", "f.x", "ns::f_.Tensor", "__and__"]))
    return f"{name}({', '.join(parts)}) -> {result}"


@given(schemas())
def test_what_is_accepted_prints_back(text: str) -> None:
    schema, diagnostics = parse_schema(text)
    assert diagnostics == ()
    assert str(schema) == text
    assert parse_schema(str(schema))[0] == schema


@given(SCHEMA_TEXTS | st.text(max_size=60))
def test_no_schema_raises_and_diagnostics_lie_inside(text: str) -> None:
    schema, diagnostics = parse_schema(text)
    assert (schema is None) == any(d.severity == "error" for d in diagnostics)
    for diagnostic in diagnostics:
        assert diagnostic.label is not None
        assert 0 <= diagnostic.label.span.start <= len(text)
    if schema is not None:
        schema.kind()
        assert parse_schema(str(schema))[0] == schema
        for argument in schema.arguments:
            if argument.default is not None:
                default_value(argument)


SCALARS = st.one_of(
    SCHEMA_TEXTS,
    st.sampled_from(
        "CPU CUDA CPUU Meta core method function True no ~ NoCheck >=2.6 #ifdef add.out k a-b "
        "f(Tensor x) f()->()".split()
    ),
    st.text(max_size=12),
)
FIELD_NAMES = st.sampled_from(
    "func dispatch variants structured structured_delegate precomputed tags autogen torch guard doc "
    "fake samples derivatives ufunc_inner_loop device_check cpp_no_default_args op kernels arg_meta "
    "kernel_name backend supported custom cpp_namespace Math CPU <<".split()
)
VALUES = st.recursive(
    SCALARS | st.none() | st.integers() | st.booleans() | st.floats(),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(FIELD_NAMES | SCALARS, inner, max_size=5),
    max_leaves=12,
)


def _read_everything(text: str) -> None:
    source = Source("ops.yaml", text)
    functions, found = load_native_functions([source], Dialect(("core",)))
    program = lint_program(
        build_program(functions, Config(Path(".")), diagnostics=found, sources=[source])
    )
    for render in (render_full, render_concise, render_json, render_github, render_sarif):
        render(program.diagnostics)
    once = format_text(text)[0]
    assert format_text(once)[0] == once


@given(
    st.lists(st.dictionaries(FIELD_NAMES, VALUES, max_size=6), max_size=3)
    | st.dictionaries(FIELD_NAMES, VALUES, max_size=5)
    | VALUES
)
def test_no_data_raises(data: object) -> None:
    import yaml

    _read_everything(yaml.safe_dump(data, allow_unicode=True, sort_keys=False))


YAML_PIECES = st.sampled_from(
    ["- func: f() -> ()", "\n", "\n  ", "- ", ": ", "&a ", "*a", "!!x ", "'", '"', "[", "]", "{"]
    + ["}", "|\n", ">-\n", "#", "---", "...", "\t", "\r\n", "dispatch:", "CPU: k", "? ", "\u2028"]
)


@given(st.lists(YAML_PIECES, max_size=30).map("".join) | st.text(max_size=80))
def test_no_yaml_raises(text: str) -> None:
    _read_everything(text)


@given(
    st.lists(
        st.sampled_from(
            [
                "[tool.torchgen_lite]\n",
                "schema",
                "lint",
                " = ",
                "1",
                '"x"',
                "[",
                "]",
                "\n",
                "{",
                "}",
            ]
            + ["target", ".", "#", "select", "'", "required-version", "true"]
        ),
        max_size=20,
    ).map("".join)
    | st.text(max_size=40)
)
def test_no_configuration_raises(text: str) -> None:
    for name in ("pyproject.toml", "torchgen_lite.toml"):
        _, found = parse_config(Source(name, text), Path(name), [])
        render_full(found)
