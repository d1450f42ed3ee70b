"""Finding kernels without importing anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite.diagnostics import render_concise
from torchgen_lite.loader.python.kernel_modules import index_kernel_modules

MODULE = """\
import os
from math import sin

raise SystemExit("never runs")

def add(x): ...
relu = lift(max)
a, (b, c) = 1, (2, 3)
typed: int = 1
class Kernel: ...
if True:
    def conditional(): ...
try:
    def guarded(): ...
except ImportError:
    def fallback(): ...
def outer():
    def inner(): ...
"""


def test_top_level_names_and_their_lines(tmp_path: Path) -> None:
    package = tmp_path / "mylib" / "sub"
    package.mkdir(parents=True)
    (package / "kernels.py").write_text(MODULE)
    index, found = index_kernel_modules(["mylib.sub.kernels"], tmp_path)
    assert found == ()
    assert index.find("add") == ("mylib.sub.kernels", 6)
    assert index.find("mylib.sub.kernels.relu") == ("mylib.sub.kernels", 7)
    assert set(index.names()) == {
        *("add", "relu", "a", "b", "c", "typed", "Kernel"),
        *("conditional", "guarded", "fallback", "outer"),
    }
    assert index.find("sin") is None and index.find("inner") is None


def test_a_name_in_two_modules(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("def k(): ...\n")
    (tmp_path / "two.py").write_text("\ndef k(): ...\n")
    index, _ = index_kernel_modules(["one", "two"], tmp_path)
    assert index.find_all("k") == (("one", 1), ("two", 2))


def test_modules_are_looked_for_in_source_roots_and_named_as_they_are_imported(
    tmp_path: Path,
) -> None:
    (tmp_path / "src" / "tiny").mkdir(parents=True)
    (tmp_path / "src" / "tiny" / "kernels.py").write_text("def neg(x): ...\n")
    index, found = index_kernel_modules(["tiny.kernels"], tmp_path)
    assert index.find("neg") == ("tiny.kernels", 1) and found == ()
    _, (wrong,) = index_kernel_modules(["src.tiny.kernels"], tmp_path)
    assert wrong.message == "module `src.tiny.kernels` is imported as `tiny.kernels`"
    _, (absent,) = index_kernel_modules(["tiny.kernels"], tmp_path, ["lib/python", "."])
    assert absent.help == (
        "looked for `lib/python/tiny/kernels.py`, `tiny/kernels.py` and an installed package; "
        "`source-roots` names other folders"
    )
    # If `src` is a package, the name of the module is correct.
    (tmp_path / "src" / "__init__.py").touch()
    assert index_kernel_modules(["src.tiny.kernels"], tmp_path)[1] == ()


def test_modules_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("x = 1\ndef (:\n")
    (tmp_path / "nul.py").write_text("x = '\0'\n")
    _, found = index_kernel_modules(["no_such_module_here", "broken", "a b"], tmp_path)
    lines = render_concise(found).splitlines()
    assert lines[0].startswith("error[TG311] module 'no_such_module_here' was not found")
    assert lines[1] == (
        "broken.py:2:1: error[TG311] module 'broken.py' is not Python: invalid syntax (correct the Python there)"
    )
    assert lines[2] == (
        "error[TG311] 'a b' is not the name of a module (write it as in 'import mylib.kernels')"
    )
    assert [d.code for d in index_kernel_modules(["nul"], tmp_path)[1]] == ["TG311"]


@pytest.mark.parametrize("name", ["", ".kernels", "..etc.passwd", "a..b", "a.", "1a"])
def test_a_name_of_no_module_is_looked_for_nowhere(tmp_path: Path, name: str) -> None:
    """`.kernels` was looked for in the root of the disk."""
    (found,) = index_kernel_modules([name], tmp_path)[1]
    assert found.message == f"`{name}` is not the name of a module"


@pytest.mark.parametrize(
    ("text", "is_defined"),
    [
        ("def f(a): ...", True),
        ("f = g", True),
        ("f: object = g", True),
        ("f: object", False),
        ("with g():\n    def f(a): ...", True),
        ("for _ in g:\n    def f(a): ...", True),
        ("while g:\n    def f(a): ...", True),
        ("match g:\n    case 1:\n        def f(a): ...", True),
        ("try: ...\nfinally:\n    def f(a): ...", True),
        ("try: ...\nexcept g:\n    with g: f = g", True),
        ("if g: ...\nelse:\n    def f(a): ...", True),
        ("class A:\n    def f(a): ...", False),
        ("def h():\n    def f(a): ...", False),
        ("async def h():\n    if g:\n        f = 1", False),
    ],
)
def test_what_defines_a_name(tmp_path: Path, text: str, is_defined: bool) -> None:
    (tmp_path / "kernels.py").write_text(text + "\n", encoding="utf-8")
    index, found = index_kernel_modules(["kernels"], tmp_path)
    assert found == ()
    assert (index.find("f") is not None) == is_defined


def test_a_byte_order_mark_is_named(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text("\ufeffdef f(a): ...\n", encoding="utf-8")
    (problem,) = index_kernel_modules(["kernels"], tmp_path)[1]
    assert problem.message == "module `kernels.py` begins with a byte order mark"


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "try:\n    {}\nexcept g: ...",
        "if g:\n    {}",
        "with g:\n    {}",
        "for _ in g:\n    {}",
    ],
)
def test_what_is_no_function_is_found_wherever_it_stands(tmp_path: Path, text: str) -> None:
    (tmp_path / "kernels.py").write_text(text.format("class f: ...") + "\n")
    index, _ = index_kernel_modules(["kernels"], tmp_path)
    assert index.other("f") == "a class"
