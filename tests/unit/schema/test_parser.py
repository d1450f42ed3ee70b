"""The schema parser: schemas that print back as written, and messages about those that are invalid."""

from __future__ import annotations

import pytest

from torchgen_lite.diagnostics import Source, Span, render_concise
from torchgen_lite.schema import (
    BaseType,
    FunctionSchema,
    GenericType,
    ListType,
    OptionalType,
    SchemaError,
    TupleType,
    parse_schema,
)

ROUND_TRIPS = """
add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)
f() -> ()
f(...) -> ...
f(Tensor x, ...) -> (int, ...)
split(Tensor(a -> *) self) -> Tensor(a)[]
f(Tensor(a|b) x) -> Tensor(a|b)
f(t(*) x) -> t(*)[]
f(Tensor! x, Tensor!? y, Tensor[]! z) -> ()
f(Tensor(dq!) x, Tensor(a0!)[] y) -> Tensor(dq!)
f(Dict(str, Tensor) d) -> Dict(str, t)[]
f(Future(t) x, RRef(t) y, Await(t) z, Union(int, float) u) -> t
f((int, Tensor)[] x) -> ((int, t))
f(__torch__.torch.classes.c10d.Work w) -> __torch__.torch.classes.rnn.CellParamsBase[] p
f(int[2]? a=None, bool[3] b=[True, False, True], float[] c=[0.5, 1e-05]) -> (Tensor a, Tensor b)
f(str s="a\\"b, c)", str t=' x ', float x=float("inf"), float y=-inf) -> ()
f(complex z=1j, int n=-1, ScalarType t=long, MemoryFormat m=contiguous_format) -> ()
f(int[] x=[], int[2] y=1, Scalar? s=None, Device d="cpu") -> ()
f(Tensor x, *, Tensor(a!) out) -> ()
aten::__and__.bool(bool a, bool b) -> bool
f(int(b -> *) key, t(c -> *) default_value) -> t(*)?
""".strip().splitlines()

MISTAKES = [
    ("", "1:1: error[TG209] empty schema"),
    ("f(Tensor x)", "1:12: error[TG206] missing '->' and return type"),
    ("f(Tensor x -> Tensor", "1:12: error[TG205] the argument list is not closed"),
    ("f(Tensor x", "1:11: error[TG205] the argument list is not closed"),
    ("f(Tensor) -> ()", "1:9: error[TG214] expected an argument name, found ')'"),
    ("f(Tensor x,) -> ()", "1:12: error[TG201] expected a type, found ')'"),
    ("f(Tensor x, , int y) -> ()", "1:13: error[TG201] expected a type, found ','"),
    ("f(Flaot x) -> ()", "1:3: error[TG202] unknown type 'Flaot'"),
    (
        "f(flaot x) -> ()",
        "1:3: error[TG202] unknown type 'flaot': not a type (did you mean 'float'?)",
    ),
    ("f(Tensor(a!b) x) -> ()", "1:12: error[TG208] expected ')', found 'b'"),
    ("f(int[x] n) -> ()", "1:7: error[TG217] 'x' is not a list size"),
    ("f(int[1.5] n) -> ()", "1:7: error[TG217] '1.5' is not a list size"),
    ("f(int n=bar) -> ()", "1:9: error[TG218] default 'bar' does not fit type 'int'"),
    ("f(int n=1.0) -> ()", "1:9: error[TG218] default '1.0' does not fit type 'int'"),
    ('f(int n="1") -> ()', "1:9: error[TG218] default '\"1\"' does not fit type 'int'"),
    # What PyTorch refuses, too, and no compiler takes.
    *[
        (
            f"f({type_} n={value}) -> ()",
            f"1:{len(type_) + 6}: error[TG218] default '{value}' does not fit type '{type_}'",
        )
        for type_, value in (
            ("int", 1 << 63),
            ("SymInt", -(1 << 63) - 1),
            ("int[]", f"[{1 << 63}]"),
            ("Scalar", 1 << 63),
            ("int[]", "[[1]]"),
            ("complex", "[1]"),
            ("complex", "None"),
        )
    ],
    ("f(Tensor t=0) -> ()", "1:12: error[TG218] default '0' does not fit type 'Tensor'"),
    ('f(str s="x) -> ()', "1:9: error[TG204] the string is not closed"),
    ("f(int[] x=[1 2]) -> ()", "1:14: error[TG204] expected ',' or ']' in a default"),
    ("f(..., int x) -> ()", "1:8: error[TG211] argument after '...'"),
    ("f() -> (..., int)", "1:14: error[TG211] return after '...'"),
    ("f.default() -> ()", "1:3: error[TG215] 'default' cannot be an overload name"),
    ("a.b::f() -> ()", "1:4: error[TG201] expected '(' after the operator name"),
    ("f() -> () x", "1:11: error[TG210] text after the end of the schema"),
    ("f() -> Tensor x=1", "1:16: error[TG216] a return value cannot have a default"),
    ("f(Tensor @x) -> ()", "1:10: error[TG200] expected an argument name, found '@'"),
]


@pytest.mark.parametrize("text", ROUND_TRIPS)
def test_prints_back_what_was_written(text: str) -> None:
    schema = FunctionSchema.parse(text)
    assert str(schema) == text
    assert FunctionSchema.parse(str(schema)) == schema


@pytest.mark.parametrize(("text", "said"), MISTAKES)
def test_a_mistake_is_one_diagnostic_on_its_place(text: str, said: str) -> None:
    schema, diagnostics = parse_schema(text)
    assert schema is None
    lines = render_concise(diagnostics).splitlines()
    assert [line.removeprefix("<schema>:")[: len(said)] for line in lines] == [said]


def test_classes_of_python_are_types_by_their_whole_names() -> None:
    text = "f(my.Table[] a, tX.Y? b, __torch__.torch.classes.a.B c, my.Tabel d) -> my.Table"
    known = ("my.Table", "tX.Y")
    schema, diagnostics = parse_schema(text, opaque=known)
    assert schema is None
    assert [(d.message, str(d.help)) for d in diagnostics] == [
        ("unknown type `my.Tabel`", "did you mean `my.Table`?")
    ]
    assert [d.message for d in parse_schema(text)[1]] == [
        *("unknown type `my.Table`", "unknown type `tX.Y`"),
        *("unknown type `my.Tabel`", "unknown type `my.Table`"),
    ]
    schema, _ = parse_schema(text.replace("Tabel", "Table"), opaque=known)
    assert schema is not None and schema.opaque_types == [
        "my.Table",
        "tX.Y",
        "my.Table",
        "my.Table",
    ]


def test_three_mistakes_in_one_schema_are_three_diagnostics() -> None:
    _, diagnostics = parse_schema("f(Tesnor a, Tensor, int c=) -> Tensro")
    assert [d.code for d in diagnostics] == ["TG202", "TG214", "TG204", "TG202"]


def test_white_space_and_comments_are_normalized() -> None:
    schema = FunctionSchema.parse("f(Tensor  x,  # the input\n  int y = 1,*,int z)->( Tensor,int )")
    assert str(schema) == "f(Tensor x, int y=1, *, int z) -> (Tensor, int)"


def test_parts_of_a_schema() -> None:
    schema = FunctionSchema.parse(
        "lib::add.out(Tensor self, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)"
    )
    assert (schema.namespace, schema.base_name, schema.overload_name) == ("lib", "add", "out")
    assert [a.name for a in schema.positional] == ["self"]
    assert [a.name for a in schema.kwarg_only] == ["alpha"]
    assert [a.name for a in schema.out] == ["out"]


def test_nesting_of_types() -> None:
    first, second, third = FunctionSchema.parse(
        "f(Tensor?[] a, int[2]? b, Dict(str, (int, t)) c) -> ()"
    ).arguments
    assert first.type == ListType(OptionalType(BaseType("Tensor")))
    assert second.type == OptionalType(ListType(BaseType("int"), 2))
    pair = TupleType((BaseType("int"), BaseType("t")))
    assert third.type == GenericType("Dict", (BaseType("str"), pair))


def test_spans_cover_what_was_written() -> None:
    text = "ns::f.x(Tensor(a!)? a, int[2] b=[1, 2]) -> Tensor r"
    source = Source("a.yaml", "func: " + text)
    schema, _ = parse_schema(text, locate=lambda i, j: Span(source, i + 6, j + 6))
    assert schema is not None and schema.span is not None and schema.name_span is not None
    assert schema.span.text == text
    assert schema.name_span.text == "ns::f.x"
    second = schema.arguments[1]
    assert second.span is not None and second.span.text == "int[2] b=[1, 2]"
    assert second.name_span is not None and second.name_span.text == "b"
    assert second.default_span is not None and second.default_span.text == "[1, 2]"
    assert second.type_span is not None and second.type_span.text == "int[2]"
    assert schema.returns[0].span is not None and schema.returns[0].span.text == "Tensor r"


def test_a_lone_star_is_a_warning_as_pytorch_accepts_it() -> None:
    schema, diagnostics = parse_schema("f(Tensor x, *) -> ()")
    assert str(schema) == "f(Tensor x) -> ()"
    assert [(d.code, d.severity) for d in diagnostics] == [("TG207", "warning")]


def test_parse_raises_with_its_diagnostics() -> None:
    with pytest.raises(SchemaError, match="TG206") as raised:
        FunctionSchema.parse("f()")
    assert raised.value.diagnostics[0].code == "TG206"


@pytest.mark.parametrize(
    "text",
    [
        "f(" + "(" * 100_000,
        "f(" + "(" * 5000 + ")" * 5000 + " x) -> ()",
        "f(int" + "[]?" * 5000 + " x) -> ()",
        "f(" + "," * 50_000,
        "f(int x=" + "[" * 20_000,
        "x" * 1_000_000,
        "f(" + "Tensor x, " * 6000,
    ],
)
def test_monstrous_schemas_end_in_a_few_diagnostics(text: str) -> None:
    schema, diagnostics = parse_schema(text)
    assert schema is None
    assert 1 <= len(diagnostics) <= 21


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("[ 0,\n  1 ]", "[0, 1]"),
        ("[0,1]", "[0,1]"),
        ("- 3", "- 3"),
        ("-\n3", "-3"),
        ('"a  b"', '"a  b"'),
        ('float(  "inf" )', 'float("inf")'),
    ],
)
def test_defaults_keep_their_text_on_one_line(written: str, kept: str) -> None:
    kind = {"[": "int[2]", '"': "str", "f": "float"}.get(written[0], "int")
    (argument,) = FunctionSchema.parse(f"f({kind} x={written}) -> ()").arguments
    assert argument.default == kept
