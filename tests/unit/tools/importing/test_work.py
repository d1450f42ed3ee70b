"""The work of `import` grows with the text: a text of twice the length takes twice the steps."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from torchgen_lite_tools.importing import cpp_registrations, cpp_tree
from torchgen_lite_tools.importing.cpp_files import read_cpp


def lines_run(function: Callable[[], object]) -> int:
    """How many lines of Python the function runs."""
    count = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function()
    finally:
        sys.settrace(before)
    return count


def in_block(inner: str) -> str:
    return f"TORCH_LIBRARY(a, m) {{\n{inner}\n}}\n"


def numbered(text: str, count: int) -> str:
    return "".join(text.replace("@", str(number)) for number in range(count))


TEXTS: dict[str, Callable[[int], str]] = {
    "chain": lambda n: in_block("m" + numbered('\n.def("f@() -> ()", &f@)', n) + ";"),
    "objects": lambda n: "auto r = RegisterOperators()"
    + numbered('\n.op("a::f@() -> ()")', n)
    + ";",
    "statements": lambda n: in_block(numbered('// f\nm.def("f@() -> ()");\n', n)),
    "comments": lambda n: in_block(n * "// f\n" + 'm.def("f() -> ()");'),
    "elif": lambda n: in_block(
        "#if B\n" + numbered('#elif A@\nm.def("f@() -> ()");\n', n) + "#endif"
    ),
    "bindings": lambda n: "PYBIND11_MODULE(a, m) {\n"
    + numbered('m.def("f@", &f, "x"_a);\n', n)
    + "}\nvoid f(int64_t x) {}\n",
    "helpers": lambda n: numbered('void g@(torch::Library& m) { m.def("f@() -> ()"); h(m); }\n', n)
    + "void h(torch::Library& m) { g0(m); }\n"
    + in_block(numbered("g@(m);\n", n)),
    "nested": lambda n: in_block(numbered('#if A@\nm.def("f@() -> ()");\n', n) + n * "#endif\n"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_twice_the_text_takes_twice_the_steps(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Guards of up to this many conditions are repeated for every registration.
    monkeypatch.setattr("torchgen_lite_tools.importing.cpp_preprocessor._MAX_CONDITIONS", 10)
    monkeypatch.chdir(tmp_path)

    def steps(count: int) -> int:
        Path("a.cpp").write_text(TEXTS[name](count))
        return lines_run(lambda: read_cpp([Path("a.cpp")], {}))

    steps(1)  # Imports what is imported once.
    once, twice = steps(200), steps(400)
    assert once > 200
    assert twice < 2.1 * once


def test_no_reader_asks_a_node_for_what_is_around_it() -> None:
    """tree-sitter finds a parent from the root, which is as many steps as the chain is long."""
    text = Path(cpp_registrations.__file__).read_text() + Path(cpp_tree.__file__).read_text()
    assert ".parent" not in text and "_sibling" not in text


def test_a_guard_of_more_conditions_than_it_can_repeat_is_refused(tmp_path: Path) -> None:
    def messages(count: int) -> list[str]:
        (tmp_path / "a.cpp").write_text(TEXTS["nested"](count))
        return [one.message for one in read_cpp([tmp_path / "a.cpp"], {}).diagnostics]

    assert messages(200) == []
    assert messages(201) == ["this registration is below more conditions than a guard can repeat"]
