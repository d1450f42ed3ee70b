"""Unfinished texts: whatever the editor contains, the server answers with positions inside the text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from torchgen_lite.diagnostics import Source, apply_edits, pick_edits
from torchgen_lite_tools.lsp import diagnostics
from torchgen_lite_tools.lsp.analysis import Analysis, analyze
from torchgen_lite_tools.lsp.completion import complete
from torchgen_lite_tools.lsp.definition import definitions
from torchgen_lite_tools.lsp.hover import hover
from torchgen_lite_tools.lsp.outline import outline
from torchgen_lite_tools.lsp.places import find_place, offset_of, position_of
from torchgen_lite_tools.lsp.references import references
from torchgen_lite_tools.lsp.rename import CannotRename, rename

WHOLE = """\
# Operators.
- func: mylib::muladd(Tensor a, Tensor b, float s=1.0) -> Tensor
  doc: "a * b + s \U0001f600"
  tags: [pointwise]
  dispatch:
    CPU, CUDA: muladd_cpu
    Meta: "muladd_meta"
  fake: {like: a}
  derivatives:
    a: grad * b
    b: grad * a
  samples:
    - (randn(3), randn(3), 0.5)

- func: mylib::add.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch: {CPU: add_out}
- func: mylib::add(Tensor self) -> Tensor
  structured_delegate: add.out
  autogen: add_
"""
CUTS = st.integers(0, len(WHOLE))
TYPED = st.text(st.sampled_from(" -:{}[](),\"'#&*!|>%@`\t\n~aT\u2028\U0001f600\ud800"), max_size=5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project").resolve()
    (folder / "torchgen_lite.toml").write_text(
        'schema = ["ops.yaml"]\ntargets = ["torch-python"]\n[target.torch-python]\npackage = "ops"\n'
    )
    return folder


def analyzed(folder: Path, text: str) -> Analysis:
    texts: Mapping[Path, str] = {folder / "ops.yaml": text}
    analysis = analyze(folder / "ops.yaml", texts)
    assert analysis is not None
    return analysis


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(begin=CUTS, end=CUTS, typed=TYPED, at=CUTS)
@example(0, len(WHOLE), "", 40)
def test_there_is_always_an_answer(folder: Path, begin: int, end: int, typed: str, at: int) -> None:
    """A text in which a part has been deleted or replaced."""
    text = WHOLE[: min(begin, end)] + typed + WHOLE[max(begin, end) :]
    analysis = analyzed(folder, text)
    lines = text.count("\n") + 1
    for found in diagnostics.publish(analysis, folder / "ops.yaml", len).values():
        assert all(0 <= one.range.start.line <= one.range.end.line < lines for one in found)
    apply_edits(text, pick_edits([one.fix for one in analysis.diagnostics], "ops.yaml"))
    source = Source("ops.yaml", text)
    outline(source, len)
    for offset in {0, min(at, len(text)), min(begin, end), len(text)}:
        place = find_place(source, offset)
        hover(analysis, place)
        complete(analysis, place)
        definitions(analysis, place)
        references(analysis, place, True)
        try:
            rename(analysis, place, "other", {})
        except CannotRename:
            pass


@pytest.mark.parametrize("cut", range(0, len(WHOLE), 7))
def test_what_is_typed_from_the_beginning(folder: Path, cut: int) -> None:
    analysis = analyzed(folder, WHOLE[:cut])
    assert all(d.code != "TG900" for d in analysis.diagnostics)


@given(st.text(), st.data())
def test_positions_lead_back(text: str, data: st.DataObject) -> None:
    source = Source("a.yaml", text.replace("\r", ""))
    offset = data.draw(st.integers(0, len(source.text)))
    for units in (len, lambda part: len(part.encode("utf-16-le", "surrogatepass")) // 2):
        assert offset_of(source, position_of(source, offset, units), units) == offset
