"""The script that looks in what `import` says for the names that a search for text finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance import named

FILES = {
    "ops.cpp": """\
#include <torch/library.h>
at::Tensor read(at::Tensor x);
TORCH_LIBRARY(l, m) {
  m.def("read(Tensor x) -> Tensor", &read);
  m.def(
      TORCH_SELECTIVE_SCHEMA("spelled.out(Tensor x) -> Tensor"));
  // m.def("gone(Tensor x) -> Tensor");
  for (const auto& name : {"a", "b"}) m.def(name);
}
TORCH_LIBRARY_IMPL(l, CPU, m) {
  m.impl(R"(raw)", [](at::Tensor x) { return x; });
}
static auto r = torch::RegisterOperators().op("l::old(Tensor x) -> Tensor", &read);
""",
    "ops.py": """\
import torch
LIB = torch.library.Library("l", "FRAGMENT")
LIB.define("declared(Tensor x) -> Tensor")  # LIB.define("no(Tensor x) -> Tensor")
@torch.library.custom_op(
    "l::decorated", mutates_args=())
def decorated(x: torch.Tensor) -> torch.Tensor:
    return x.clone()
""",
    "other.cpp": 'void f(Table t) { t.def("nothing"); }\n',
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_what_the_search_finds(folder: Path) -> None:
    found = [(one.path.name, one.line, one.name) for one in named.search(folder)]
    assert found == [
        ("ops.cpp", 4, "read"),
        ("ops.cpp", 6, "spelled"),
        ("ops.cpp", 11, "raw"),
        ("ops.cpp", 13, "old"),
        ("ops.py", 3, "declared"),
        ("ops.py", 5, "decorated"),
    ]


def test_where_a_name_is() -> None:
    entries = "- func: l::f.out(Tensor x) -> Tensor\n# ? `g` is bound in a submodule: which name?\n"
    messages = "a/h.cpp:3:1: error[TG614] 'h' was not read\na.cpp:7:2: error[TG601] a loop\n"
    places = {"f": "entries", "g": "entries", "h": "messages", "x": "silent", "a": "silent"}
    for name, word in places.items():
        assert named.accounted(named.Found(Path("a.cpp"), 1, name), entries, messages) == word
    assert named.accounted(named.Found(Path("a.cpp"), 7, "x"), entries, messages) == "lines"


def test_the_table(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert named.main([str(folder), "--verbose"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "| all | 2 | 4 | 2 | 5 | 1 | 0 | 0 |"
    monkeypatch.setattr(named, "report", lambda given: ("", "'raw' was not read\n"))
    assert named.main([str(folder), "--verbose"]) == 1
    assert f"silent: {folder / 'ops.cpp'}:4: read" in capsys.readouterr().out
