"""The answers that an editor gets for unsaved text."""

from __future__ import annotations

import asyncio

import pytest

from tests.unit.tools.lsp.conftest import KERNELS, Editor
from torchgen_lite.loader.formats.fmt import format_text

RELU = """\
- func: mylib::relu(Tensor self) -> Tensor
  doc: What is above zero.
  tags: pointwise
  dispatch:
    CPU: relu_cpu
    Meta: relu_meta
"""
LERP = "- func: mylib::lerp(Tensor start, Tensor end, *, float weight) -> Tensor\n"
STRUCTURED = """\
- func: mylib::add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: add_out
- func: mylib::add(Tensor self, Tensor other) -> Tensor
  structured_delegate: add.out
"""


def test_mistakes_are_shown_where_they_are_and_go_when_they_are_mended(editor: Editor) -> None:
    assert editor.said(RELU.replace("CPU:", "CPUU:")) == [
        "TG103 4:4-4:8 unknown dispatch key `CPUU`: not a dispatch key\nhelp: did you mean `CPU`?"
    ]
    assert editor.said(RELU) == []


def test_columns_are_those_of_the_editor(editor: Editor) -> None:
    """A character outside the basic plane takes two UTF-16 units."""
    text = '- func: mylib::f(str s="\U0001f600\U0001f600", Te|nsr? x=None) -> Tensor\n'
    (action,) = editor.actions(text).values()
    (said,) = editor.said(text)
    assert said.startswith("TG202 0:31-0:36 unknown type `Tensr`")
    assert action == text.replace("Te|nsr", "Tensor")


def test_yaml_of_others_is_left_alone(editor: Editor) -> None:
    """A CI workflow that is open in the same editor gets no diagnostics."""
    uri = editor.uri("ci.yaml")
    with pytest.raises(asyncio.TimeoutError):
        editor.loop.run_until_complete(_shown_within(editor, uri, "on: push\nfunc: {\n"))
    assert uri not in editor.client.diagnostics


@pytest.mark.parametrize("other", ["on: push\n", "- func: g(Tensr self) -> Tensor\n"])
def test_what_else_is_open_hides_no_mistake(editor: Editor, other: str) -> None:
    """A file that the configuration does not name is not part of the project, whatever it contains."""
    schema = "native_functions.yaml"
    editor.send("- func: f(Tensr self) -> Tensor\n", schema)
    editor.send(other, "ci.yml")
    assert [one.code for one in editor.shown(schema)] == ["TG202"]
    if "func" in other:
        assert [one.code for one in editor.shown("ci.yml")] == ["TG202"]
    assert [one.code for one in editor.shown(schema)] == ["TG202"]


async def _shown_within(editor: Editor, uri: str, text: str) -> None:
    from lsprotocol import types

    item = types.TextDocumentItem(uri, "yaml", 1, text)
    editor.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    said = editor.client.wait_for_notification("textDocument/publishDiagnostics")
    await asyncio.wait_for(said, 1)


def test_a_file_that_no_configuration_names(editor: Editor) -> None:
    (found,) = editor.show("- func: f(Tensr self) -> Tensor\n", "other.yaml")
    assert found.code == "TG202"


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        (RELU.replace("doc:", "do|c:"), "`doc`: what the operator does"),
        (RELU.replace("pointwise", "point|wise"), "`pointwise`: "),
        (RELU.replace("CPU:", "C|PU:"), "`CPU`: a dispatch key\n\n```text\nmylib::relu\n  CPU  kernel  relu_cpu\n```"),
        (RELU.replace("relu_cpu", "relu|_cpu"), "```python\ndef relu_cpu(self: Tensor) -> Tensor\n```\n\nCPU of mylib::relu, in `kernels.py:1`"),
        (RELU + "# noth|ing\n", ""),
    ],
    ids=["field", "tag", "key", "kernel", "comment"],
)  # fmt: skip
def test_hover(editor: Editor, text: str, starts: str) -> None:
    assert editor.hover(text).startswith(starts)
    assert starts or not editor.hover(text)


def test_hover_of_an_operator_has_its_signatures_and_its_table(editor: Editor) -> None:
    said = editor.hover(RELU.replace("relu(", "re|lu("))
    assert said.startswith("**mylib::relu**, functional\n\nWhat is above zero.\n\n```python\n")
    assert "```python\ndef relu(self: Tensor) -> Tensor: ...\n```" in said
    assert "kernel  relu_cpu" in said and "kernel  relu_meta" in said


@pytest.mark.torch
def test_hover_of_an_operator_of_pytorch_has_its_kernels_too(editor: Editor) -> None:
    pytest.importorskip("torch")
    config = editor.folder / "torchgen_lite.toml"
    before = config.read_text()
    config.write_text('schema = ["ops.yaml"]\nnative = "torch"\ntargets = ["cpp-torch"]\n')
    try:
        said = editor.hover("- func: re|lu\n  dispatch: {PrivateUse1: relu_mine}\n")
    finally:
        config.write_text(before)
    yours, theirs = (part.split() for part in said.partition("  PyTorch's\n")[::2])
    assert yours[-4:] == ["yours", "PrivateUse1", "kernel", "relu_mine"]
    assert any("VariableType_" in word for word in theirs)


def test_hover_of_a_delegate_is_that_of_its_operator(editor: Editor) -> None:
    said = editor.hover(STRUCTURED.replace("delegate: add.out", "delegate: add|.out"))
    assert said.startswith("**mylib::add.out**, out")


@pytest.mark.parametrize(
    ("text", "some", "none"),
    [
        ("- func: mylib::f(Tensor self) -> Tensor\n  |", ["doc", "dispatch", "tags"], ["func"]),
        ("- |\n", ["func"], []),
        (RELU + "    |", ["CUDA", "CompositeImplicitAutograd"], ["doc"]),
        (RELU + "    CUDA: |", ["relu_cpu", "relu_meta"], ["CPU"]),
        ("- func: mylib::f(Tensor self) -> Tensor\n  dispatch: {CPU: relu|", ["relu_cpu"], ["CPU"]),
        ("- func: mylib::f(Tensor self) -> Tensor\n  dispatch: {CP|", ["CPU"], ["relu_cpu"]),
        (RELU.replace("pointwise", "|"), ["pointwise", "core"], []),
        ("- func: mylib::f(Tensor self, |", ["Tensor", "SymInt"], ["doc"]),
        ("- func: mylib::f(Tensor self) -> T|", ["Tensor"], []),
        ("- func: mylib::f(Tensor self) -> Tensor\n  variants: |", ["method"], []),
        ("- func: mylib::f(Tensor self) -> Tensor\n  device_guard: |", ["True", "False"], []),
        (STRUCTURED.replace("delegate: add.out", "delegate: |"), ["add.out"], ["add"]),
        (LERP + "  derivatives:\n    |", ["start", "end", "weight"], ["mylib::lerp", "grad"]),
        (LERP + "  derivatives:\n    start: |", ["grad", "start", "weight", "result"], ["doc"]),
        (LERP + "  derivatives:\n    start: grad * |", ["weight"], ["doc"]),
        (LERP.replace("-> Tensor", "-> (Tensor y, Tensor z)") + "  derivatives:\n    end: |", ["grad_y", "grad_z", "y"], ["grad"]),
        (LERP + "  fake: {|}", ["like", "shape", "dtype"], ["start"]),
        (LERP + "  fake: {like: |}", ["start", "end"], ["like"]),
        (LERP + "  samples:\n    - (randn(3), randn(3), |)", ["weight"], ["doc"]),
        (LERP + "  samples:\n    |", [], ["weight"]),
    ],
)  # fmt: skip
def test_completion(editor: Editor, text: str, some: list[str], none: list[str]) -> None:
    editor.show(STRUCTURED if "delegate" in text else RELU)
    found = editor.complete(text)
    assert [word for word in some if word not in found] == []
    assert [word for word in none if word in found] == []


def test_completion_writes_the_colon(editor: Editor) -> None:
    found = editor.complete(RELU + "  autog|")
    assert found["autogen"].insert_text == "autogen: "


def test_go_to_a_kernel(editor: Editor) -> None:
    assert editor.definitions(RELU.replace("relu_meta", "relu_m|eta")) == ["kernels.py 4:0-4:20"]


def test_go_to_a_kernel_in_cpp(editor: Editor) -> None:
    source = editor.folder / "src" / "kernels.cpp"
    source.parent.mkdir()
    source.with_suffix(".h").write_text("at::Tensor mul(at::Tensor a);\n")
    source.write_text('#include "kernels.h"\n\nat::Tensor mul(at::Tensor a) {\n}\n')
    text = "- func: mylib::mul(Tensor self) -> Tensor\n  dispatch:\n    CPU: mylib::m|ul\n"
    assert editor.definitions(text) == ["src/kernels.cpp 2:0-2:30"]


def test_go_to_a_delegate(editor: Editor) -> None:
    text = STRUCTURED.replace("delegate: add.out", "delegate: ad|d.out")
    assert editor.definitions(text) == ["ops.yaml 0:8-0:22"]


def test_go_to_generated_code(editor: Editor) -> None:
    made = editor.folder / "generated" / "ops" / "operators.py"
    made.parent.mkdir(parents=True, exist_ok=True)
    marker = "# @generated by torchgen_lite from ops.yaml. Do not edit.\n"
    made.write_text(f'{marker}define("relu(Tensor self) -> Tensor")\n')
    (made.parent / "notes.py").write_text("# relu(Tensor self) -> Tensor\n")
    assert editor.definitions(RELU.replace("relu(", "re|lu(")) == [
        "generated/ops/operators.py 1:8-1:35"
    ]


def test_rename_a_kernel(editor: Editor) -> None:
    text = RELU.replace("    Meta: relu_meta", "    CUDA, Meta: relu_cpu")
    assert editor.rename(text.replace("CPU: relu", "CPU: re|lu"), "relu_host") == {
        "ops.yaml": text.replace("relu_cpu", "relu_host"),
        "kernels.py": KERNELS.replace("relu_cpu", "relu_host"),
    }


@pytest.mark.parametrize("new", ["relu_meta", "not a name", "def"])
def test_rename_refuses(editor: Editor, new: str) -> None:
    with pytest.raises(Exception, match="relu_meta|not a name|def"):
        editor.rename(RELU.replace("relu_cpu", "re|lu_cpu"), new)


def test_a_type_is_not_renamed(editor: Editor) -> None:
    with pytest.raises(Exception, match="only arguments, kernels and other functions"):
        editor.rename(RELU.replace("Tensor self", "Ten|sor self"), "x")


def test_rename_an_argument(editor: Editor) -> None:
    text = RELU.replace("doc:", "fake: {like: self}\n  doc:")
    assert editor.rename(text.replace("Tensor self", "Tensor se|lf"), "x") == {
        "ops.yaml": text.replace("self", "x"),
        "kernels.py": KERNELS.replace("self", "x"),
    }


def test_references(editor: Editor) -> None:
    assert editor.references(RELU.replace("relu_cpu", "relu_|cpu")) == [
        "ops.yaml 4:9-4:17",
        "kernels.py 0:4-0:12",
        "kernels.py 5:11-5:19",
    ]


def test_formatting_is_that_of_fmt(editor: Editor) -> None:
    text = RELU.replace("    CPU: ", "        CPU:   ").replace("    Meta", "        Meta")
    assert editor.formatted(text + "\n") == format_text(text)[0]
    assert editor.formatted(format_text(text)[0]) is None
    # With a mistake, `fmt` writes nothing.
    assert editor.formatted(text.replace("Tensor self", "Tensr self")) is None


def test_formatting_reads_a_file_as_its_project_does(editor: Editor) -> None:
    config = editor.folder / "torchgen_lite.toml"
    before = config.read_text()
    named = 'schema = ["first.yaml", "ops.yaml"]\nprivateuse1 = "SIM"\n'
    config.write_text(before.replace('schema = ["ops.yaml"]\n', named))
    (editor.folder / "first.yaml").write_text("- func: mylib::f(Tensor x) -> Tensor\n")
    text = "- func: mylib::f\n  dispatch:\n    {}SIM: relu_cpu\n"
    try:
        assert editor.formatted(text.format("  ")) == text.format("")
    finally:
        config.write_text(before)


def test_the_outline_has_operators_and_their_fields(editor: Editor) -> None:
    assert editor.outline(f"{RELU}\n{STRUCTURED}- func") == [
        "mylib::relu 0:0-5:19 0:8-0:19",
        "  func 0:2-0:42",
        "  doc 1:2-1:26",
        "  tags 2:2-2:17",
        "  dispatch 3:2-3:11",
        "mylib::add.out 7:0-10:16 7:8-7:22",
        "  func 7:2-7:82",
        "  structured 8:2-8:18",
        "  dispatch 9:2-9:11",
        "mylib::add 11:0-12:30 11:8-11:18",
        "  func 11:2-11:55",
        "  structured_delegate 12:2-12:30",
        "- func 13:0-13:6 13:0-13:6",
    ]


def test_code_actions_are_the_fixes_of_lint(editor: Editor) -> None:
    text = RELU.replace("CPU:", "CP|UU:").replace("(Tensor", "(Optional[Tensor]")
    right = RELU.replace("(Tensor", "(Tensor?")
    assert editor.actions(text) == {
        "TG103: did you mean `CPU`": RELU.replace("(Tensor", "(Optional[Tensor]"),
        "torchgen-lite: apply every safe suggestion": right.replace("CPU:", "CPUU:"),
    }


def test_broken_yaml_gives_diagnostics(editor: Editor) -> None:
    for text in ('- func: "f(', "- func: f(Tensor x) -> Tensor\n  dispatch: {", "- {", "\t", "-"):
        assert all(word.startswith("TG") for word in editor.said(text)), text
    assert editor.said(RELU) == []
    assert editor.client.log_messages == []
