"""C++ text laid out as clang-format lays it out."""

from __future__ import annotations

import doctest
from collections.abc import Iterator

import pytest

from tests.cpp.compiling import needs_clang_format, unformatted
from torchgen_lite.dialects import cpp_text
from torchgen_lite.dialects.cpp.signature import KEYSET, CppParameter, unrooted_signature
from torchgen_lite.dialects.cpp.types import CType, Expression, const_ref, std
from torchgen_lite.emit.layout import lay_out

TENSOR = CType("at::Tensor")
SELF = CppParameter(const_ref(TENSOR), "self")
ALPHA = CppParameter(const_ref(CType("at::Scalar")), "alpha", Expression("1"))
SIZE = CppParameter(CType("at::IntArrayRef"), "size", Expression("{0, 1}"))
FORMAT = CppParameter(
    std("optional", CType("at::MemoryFormat")),
    "memory_format",
    Expression("c10::MemoryFormat::Contiguous"),
)
LONG = CppParameter(
    CType("c10::intrusive_ptr", (CType("c10d::ProcessGroup"),)),
    "the_group_of_processes_that_takes_part",
)
FIVE = std("tuple", *[TENSOR] * 5)
SIX = std("tuple", *[TENSOR] * 6)


def test_examples_in_docstrings() -> None:
    assert doctest.testmod(cpp_text).failed == 0


def declare(returns: CType, name: str, *arguments: CppParameter, head: str = "") -> str:
    items = cpp_text.parameters(arguments, defaults=True)
    return cpp_text.declaration(head, returns, name, items, ");")


DECLARATIONS = [
    (
        declare(TENSOR, "add", SELF, ALPHA),
        "at::Tensor add(const at::Tensor& self, const at::Scalar& alpha = 1);",
    ),
    (
        declare(TENSOR, "add_them", SELF, ALPHA, SIZE),
        "at::Tensor add_them(\n"
        "    const at::Tensor& self,\n"
        "    const at::Scalar& alpha = 1,\n"
        "    at::IntArrayRef size = {0, 1});",
    ),
    (
        declare(TENSOR, "clone", FORMAT, LONG),
        "at::Tensor clone(\n"
        "    ::std::optional<at::MemoryFormat> memory_format =\n"
        "        c10::MemoryFormat::Contiguous,\n"
        "    c10::intrusive_ptr<c10d::ProcessGroup>\n"
        "        the_group_of_processes_that_takes_part);",
    ),
    (
        declare(FIVE, "rnn", SELF, ALPHA, head="inline "),
        f"inline {FIVE}\n" "rnn(const at::Tensor& self, const at::Scalar& alpha = 1);",
    ),
    (
        declare(SIX, "lstm", head="static "),
        "static ::std::tuple<\n" + "    at::Tensor,\n" * 5 + "    at::Tensor>\nlstm();",
    ),
    *[
        (cpp_text.declaration("", "at::Tensor", "f", parameters, ") const;"), expected)
        for parameters, expected in (
            (["int x", "y" * 55 + " y"], f"at::Tensor f(int x, {'y' * 55} y)\n    const;"),
            (["y" * 61 + " y"], f"at::Tensor f(\n    {'y' * 61} y) const;"),
            (["int x", "y" * 59 + " y"], f"at::Tensor f(\n    int x,\n    {'y' * 59} y) const;"),
        )
    ],
    (
        lay_out("x.h", "using schema = at::Tensor(const at::Tensor&);"),
        "using schema = at::Tensor(const at::Tensor&);",
    ),
    (
        lay_out("x.h", f"using schema = {FIVE}(const at::Tensor&, bool);"),
        "using schema =\n" f"    {FIVE}(\n" "        const at::Tensor&,\n" "        bool);",
    ),
    (
        lay_out("x.h", f"using schema = {SIX}(const at::Tensor&);"),
        "using schema = ::std::tuple<\n"
        + "    at::Tensor,\n" * 5
        + "    at::Tensor>(const at::Tensor&);",
    ),
    (
        cpp_text.constant("constexpr const char* schema_str", '"' + "x" * 60 + '"'),
        'constexpr const char* schema_str =\n    "' + "x" * 60 + '";',
    ),
]


@pytest.mark.parametrize(("text", "expected"), DECLARATIONS)
def test_declarations(text: str, expected: str) -> None:
    assert text == expected


STATEMENTS = [
    (cpp_text.call("f(", ["a", "b"], ");", indent=2), "f(a, b);"),
    (
        cpp_text.call("return ops::add_Tensor::call(", ["a" * 30, "b" * 30], ");", indent=2),
        f"return ops::add_Tensor::call(\n      {'a' * 30},\n      {'b' * 30});",
    ),
    (
        cpp_text.call(f"return ops::{'x' * 62}::call(", ["a", "b"], ");", indent=2),
        f"return ops::{'x' * 62}::\n      call(a, b);",
    ),
    (
        cpp_text.call(
            "m.def(",
            ['"x"', cpp_text.braced([f"at::Tag::{'t' * 30}"] * 2, indent=6, tail=2)],
            ");",
            indent=2,
        ),
        f'm.def(\n      "x",\n      {{at::Tag::{"t" * 30},\n       at::Tag::{"t" * 30}}});',
    ),
]


@pytest.mark.parametrize(("text", "expected"), STATEMENTS)
def test_statements(text: str, expected: str) -> None:
    assert text == expected


@needs_clang_format
def test_clang_format_leaves_these_as_they_are() -> None:
    lines = [text for text, _ in DECLARATIONS]
    lines += ["void statements() {", *(f"  {text}" for text, _ in STATEMENTS), "}", ""]
    assert unformatted(["\n".join(lines)]) == ""


@pytest.mark.parametrize(
    "text",
    [
        "#if defined(USE_CUDA)",
        "#if A >= 2 && B",
        "#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 9)",
    ],
)
@needs_clang_format
def test_conditions(text: str) -> None:
    assert unformatted([lay_out("x.h", f"{text}\nint x;\n#endif\n")]) == ""


def every_signature() -> Iterator[str]:
    """Declarations, aliases and calls of everything in PyTorch's file, in every style."""
    import torchgen_lite
    from torchgen_lite.dialects.cpp import dispatcher, native, public

    for function in [o.function for o in torchgen_lite.load(torch=True).resolved.operators]:
        name, signature = function.func.flat_name, dispatcher.signature(function)
        returns = signature.returns
        types = [p.type for p in signature.parameters]
        items = cpp_text.parameters([KEYSET, *signature.parameters], indent=2)
        schema = cpp_text.quote(str(function.func))
        yield f"struct {name} {{"
        yield lay_out("x.h", f"  using schema = {returns}({', '.join(map(str, types))});")
        yield f"  {cpp_text.constant('static constexpr const char* schema_str', schema, indent=2)}"
        yield f"  {cpp_text.declaration('static ', returns, 'redispatch', items, ');', indent=2)}"
        yield "};"
        for style in public.signatures(function):
            returns = style.returns
            items = cpp_text.parameters(style.parameters, defaults=True)
            names = [cpp_text.identifier(p.name) for p in style.parameters]
            yield cpp_text.declaration("inline ", returns, style.name, items, ") {")
            yield f"  {cpp_text.call(f'return ops::{name}::call(', names, ');', indent=2)}"
            yield "}"
        kernel = unrooted_signature(native.signature(function))
        yield cpp_text.declaration(
            "", kernel.returns, kernel.name, cpp_text.parameters(kernel.parameters), ");"
        )


@pytest.mark.torch
@needs_clang_format
def test_every_signature_of_pytorch() -> None:
    text = "\n".join(every_signature()) + "\n"
    assert len(text.splitlines()) > 90_000
    assert unformatted([text]) == ""
