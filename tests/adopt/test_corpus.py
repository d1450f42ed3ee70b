"""The facts about libraries that exist, and the script that compares checkouts with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.libraries import CORPUS, check_corpus, compared
from torchgen_lite.loader.config.project import tomllib
from torchgen_lite_tools.importing.cpp_files import read_cpp

FACTS = sorted(CORPUS.glob("*.toml"))
LIBRARY = """\
at::Tensor f(at::Tensor x);
void g(at::Tensor x);
TORCH_LIBRARY(l, m) {
  m.def("right(Tensor x) -> Tensor", &f);
  m.def("refused(Tensor x) -> Tensor");
  m.impl("refused", torch::kCPU, [](at::Tensor x) { return x; });
  m.def("wrong(Tensor x) -> Tensor");
  m.def("more(Tensor x) -> Tensor");
}
PYBIND11_MODULE(bound, m) {
  m.def("g", &g);
  m.def("lambda", [] { return 3; });
  m.def("typed", [](at::Tensor x) {});
}
"""


def test_there_are_twenty_libraries() -> None:
    assert len(FACTS) >= 20


@pytest.mark.parametrize("path", FACTS, ids=lambda path: path.stem)
def test_facts(path: Path) -> None:
    facts = tomllib.loads(path.read_text("utf-8"))
    assert facts.keys() <= {"source", "revision", "paths", "conversions", "operators", "bound"}
    assert facts["source"].endswith(f"/{path.stem}") and facts["paths"]
    assert facts.get("operators") or facts.get("bound")
    assert all(isinstance(keys, list) for keys in facts.get("operators", {}).values())


def test_what_import_makes_of_a_library(tmp_path: Path) -> None:
    (tmp_path / "ops.cpp").write_text(LIBRARY)
    there = {
        "l::right": ["CompositeImplicitAutograd"],
        "l::refused": ["CPU"],
        "l::wrong": ["CPU"],
        "l::silent": [],
    }
    facts = {"operators": there, "bound": {"ops.cpp": ["g", "lambda", "typed", "nothing"]}}
    verdicts = compared(facts, read_cpp([tmp_path], {}))
    assert {(one.name, one.word) for one in verdicts} == {
        ("l::right", "right"),
        ("l::refused", "refused"),
        ("l::wrong", "wrong"),
        ("l::silent", "silent"),
        ("l::more", "wrong"),
        ("g", "right"),
        ("typed", "right"),
        ("lambda", "refused"),
        ("nothing", "silent"),
    }


def test_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = 'revision = "1"\npaths = ["src"]\nconversions = 1\n[operators]\n"l::f" = ["CPU"]\n'
    (tmp_path / "lib.toml").write_text(facts)
    (tmp_path / "lib/src").mkdir(parents=True)
    text = 'at::Tensor f(at::Tensor x);\nTORCH_LIBRARY(l, m) { m.def("f(Tensor x) -> Tensor"); }\n'
    block = 'TORCH_LIBRARY_IMPL(l, CPU, m) { m.impl("f", &f); }\n'
    (tmp_path / "lib/src/ops.cpp").write_text(text + block)
    monkeypatch.setattr("tests.conformance.libraries.CORPUS", tmp_path)
    assert check_corpus([tmp_path / "lib"], verbose=True) == 0
    assert "| lib | 1 | 1 | 0 | 1 of 1 | 1 | 0 | 0 | 0 |\n" in capsys.readouterr().out
    (tmp_path / "lib/src/ops.cpp").write_text(text)
    assert check_corpus([tmp_path / "lib"], verbose=True) == 1
    assert "wrong: l::f\n" in capsys.readouterr().out
