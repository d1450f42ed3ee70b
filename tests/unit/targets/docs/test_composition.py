"""What a page says of composition: it is what the matrix of `tests/compose` has found."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.compose.build import BY_HAND, COLUMNS, LIBRARY
from tests.compose.page import recorded
from torchgen_lite import generate, load

WORDS = {"works": "works", "works, by a loop": "by a loop", "refused": "refused"}
# Rows of the matrix: the operator, and the row of its page.
SAME = {
    "Gradients: gradients": ("muladd", "Gradients"),
    "Gradients: gradients of the tensors of a list": ("weighted_sum", "Gradients"),
    "Gradients: gradients through an in-place call": ("scale_", "Gradients"),
    "Gradients: forward mode: dual numbers": ("muladd", "Forward mode"),
    "Gradients: forward mode: lists": ("weighted_sum", "Forward mode"),
    "Gradients: forward mode: in place": ("scale_", "Forward mode"),
    "torch.func: `grad`": ("muladd", "Gradients"),
    "torch.func: `jvp`": ("muladd", "Forward mode"),
    "torch.func: `functionalize`": ("muladd", "torch.func.functionalize"),
    "torch.func: `functionalize` of an in-place call": ("scale_", "torch.func.functionalize"),
    "torch.func: `functionalize` of `out=`": ("scale.out", "torch.func.functionalize"),
    "torch.func: `functionalize` of a call that returns nothing": (
        "axpy",
        "torch.func.functionalize",
    ),
    "vmap: pointwise": ("muladd", "torch.vmap"),
    "vmap: a normalization": ("row_norm", "torch.vmap"),
    "vmap: a matrix product": ("mm", "torch.vmap"),
    "vmap: a list of tensors": ("weighted_sum", "torch.vmap"),
    "vmap: in place, returns its argument": ("scale_", "torch.vmap"),
    "vmap: in place, returns nothing": ("axpy", "torch.vmap"),
    "vmap: in place, a tensor by keyword": ("collect", "torch.vmap"),
    "vmap: `out=`": ("scale.out", "torch.vmap"),
    "vmap: tensors by keyword": ("gate", "torch.vmap"),
    "vmap: a list of results": ("halves", "torch.vmap"),
    "vmap: only an effect": ("log", "torch.vmap"),
    "vmap: random numbers, `randomness='different'`": ("drawn", "torch.vmap"),
    "torch.compile: one graph": ("muladd", "torch.compile"),
    "torch.compile: in place, returns its argument": ("scale_", "Writes and views, compiled"),
    "torch.compile: in place, returns nothing": ("axpy", "Writes and views, compiled"),
    "torch.compile: `out=`": ("scale.out", "Writes and views, compiled"),
    "torch.compile: a size that depends on data": ("rows", "torch.compile"),
    "torch.compile: random numbers": ("drawn", "torch.compile"),
    "torch.compile: an effect": ("log", "torch.compile"),
    "Calls: autocast": ("muladd", "torch.autocast"),
    "Other tensors: NestedTensor, jagged, pointwise": ("muladd", "Jagged NestedTensor"),
    "Other tensors: NestedTensor, jagged, a normalization": ("row_norm", "Jagged NestedTensor"),
    "Other tensors: NestedTensor, jagged, in place": ("scale_", "Jagged NestedTensor"),
    "Other tensors: NestedTensor, jagged, gradients": ("row_norm", "Jagged NestedTensor"),
    "Distributed: DTensor, pointwise": ("muladd", "DTensor"),
    "Distributed: DTensor, a normalization": ("row_norm", "DTensor"),
    "Distributed: DTensor, a matrix product with partial sums": ("mm", "DTensor"),
    "Distributed: DTensor, a list of tensors": ("weighted_sum", "DTensor"),
    "Distributed: DTensor, in place, returns its argument": ("scale_", "DTensor"),
    "Distributed: DTensor, in place, returns nothing": ("axpy", "DTensor"),
    "Tools: flops of a matrix product": ("mm", "Flop counter"),
}
# What is written by hand has no axes; of derivatives and writes it says other things, has no loop of the package, and
# PyTorch does not ask it what it draws.
_OTHERS = {"axpy", "collect", "drawn", "gate", "halves", "log", "scale.out"}
BY_AXES = [
    name
    for name, (operator, subject) in SAME.items()
    if subject in ("DTensor", "Jagged NestedTensor")
    or (subject == "torch.vmap" and operator not in _OTHERS)
]


def rows_of(folder: Path, entries: str, *targets: str) -> dict[tuple[str, str], str]:
    """The words on the pages, by operator and row."""
    names = ", ".join(f'"{name}"' for name in (*targets, "docs"))
    (folder / "torchgen_lite.toml").write_text(f'schema = ["ops.yaml"]\ntargets = [{names}]\n')
    (folder / "ops.yaml").write_text(entries)
    found = {}
    for path, text in generate(load(root=folder), targets=["docs"]).items():
        for subject, word in re.findall(
            r"^\| ([^|`]+) \| (works|by a loop|refused|no rule) \|", text, re.M
        ):
            found[Path(path).stem, subject] = word
    return found


@pytest.mark.parametrize("column", COLUMNS)
def test_pages_say_what_the_matrix_has(tmp_path: Path, column: str) -> None:
    entries, names, targets = (LIBRARY / "ops.yaml").read_text(), [*SAME], [column, "torch-python"]
    if column == BY_HAND:
        entries = re.sub(r"^  (tags: pointwise|axes: .*)\n", "", entries, flags=re.M)
        # A rule for a dtype alone stands beside axes.
        entries = re.sub(r"^  fake:\n(    .*dtype.*\n)+", "", entries, flags=re.M)
        names, targets = BY_AXES, ["torch-python"]
    found, matrix = rows_of(tmp_path, entries, *dict.fromkeys(targets)), recorded()[column]["rows"]
    said = {name: found[SAME[name]] for name in names}
    assert said == {name: WORDS[matrix[name].partition(": ")[0]] for name in names}


ENTRIES = """\
- func: lib::curved(Tensor x) -> Tensor
  dispatch: {CPU: curved}
  fake: {like: x}
  derivatives: {x: grad + 1}
  flops: x.numel()
  checkpoint: save
  samples: {calls: [(randn(3))], reference: x * 2}
  decompose: [inductor, onnx]
- func: lib::constant(Tensor x) -> Tensor
  dispatch: {CPU: constant, Meta: constant_meta}
  derivatives: {x: not_differentiable}
- func: lib::composed(Tensor x) -> Tensor
- func: lib::grown_(Tensor(a!) x, Tensor y) -> Tensor(a!)
  dispatch: {CPU: grown_}
- func: lib::both(Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))
  dispatch: {CPU: both}
- func: lib::untraced(Tensor x) -> Tensor
  dispatch: {CUDA: untraced}
- func: aten::relu(Tensor self) -> Tensor
  dispatch: {CPU: relu}
"""


def test_the_section_of_a_page(tmp_path: Path) -> None:
    rows_of(tmp_path, ENTRIES, "torch-python")
    page = generate(load(root=tmp_path), targets=["docs"])["docs/lib/curved.md"]
    section = page.partition("## Composes with\n\n")[2].partition("\n\n")[0]
    assert section == """\
| In PyTorch | Is | Why |
|---|---|---|
| Gradients | works | \\`torch.library\\` records the call, with the formulas of \\`derivatives\\` |
| Forward mode | refused | the formula of \\`x\\` is not linear in the gradient |
| torch.vmap | by a loop | PyTorch's batching fallback |
| torch.compile | works | a fake: what is returned when only shapes are known |
| torch.autocast | no rule | `fallthrough` |
| torch.func.functionalize | works | PyTorch's functionalization |
| DTensor | refused | no axes |
| Jagged NestedTensor | refused | no axes |
| Flop counter | works | `flops` |
| Decompositions | works | inductor, onnx |
| Selective checkpoint | works | `save` |"""


def test_the_words_of_other_operators(tmp_path: Path) -> None:
    python, cpp = (rows_of(tmp_path, ENTRIES, one) for one in ("torch-python", "cpp-torch"))
    for found in (python, cpp):
        assert found["constant", "Gradients"] == found["constant", "Forward mode"] == "no rule"
        assert found["composed", "Gradients"] == found["composed", "Forward mode"] == "works"
        assert found["grown_", "Gradients"] == found["grown_", "Forward mode"] == "refused"
        assert found["constant", "torch.compile"] == found["composed", "torch.compile"] == "works"
        assert found["untraced", "torch.compile"] == "refused"
        assert not any(operator == "relu" for operator, _ in found)
    # The package of Python has a loop for what PyTorch refuses.
    assert (python["both", "torch.vmap"], cpp["both", "torch.vmap"]) == ("by a loop", "refused")
    # The package of Python traces what is written on copies; C++ without it has no fakes.
    for operator in ("grown_", "both"):
        subject = operator, "Writes and views, compiled"
        assert (python[subject], cpp[subject]) == ("works", "refused")
    subject = "curved", "torch.compile"
    assert (python[subject], cpp[subject]) == ("works", "refused")
    assert python["composed", "DTensor"] == "works" and ("composed", "DTensor") not in cpp
    assert rows_of(tmp_path, ENTRIES, "python") == {}


def test_the_section_in_html(tmp_path: Path) -> None:
    rows_of(tmp_path, ENTRIES, "cpp-torch")
    with (tmp_path / "torchgen_lite.toml").open("a") as file:
        file.write('[target.docs]\nformat = "html"\n')
    page = generate(load(root=tmp_path), targets=["docs"])["docs/lib/composed.html"]
    assert "<tr><td>Gradients</td><td>works</td><td><code>composed</code></td></tr>" in page
    assert page.count("<h2>Composes with</h2>") == 1
