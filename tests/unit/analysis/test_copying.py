"""Variants that are derived from the operators in a backend's file and copy their results."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result
from tests.cpp.compiling import write_files
from torchgen_lite import Program, generate, load
from torchgen_lite.targets import TARGETS

PYTORCH = """\
- func: neg(Tensor self) -> Tensor
  structured_delegate: neg.out
- func: neg_(Tensor(a!) self) -> Tensor(a!)
  structured_delegate: neg.out
- func: neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
- func: isnan(Tensor self) -> Tensor
  dispatch: {CPU: isnan}
  autogen: isnan.out
- func: alone(Tensor self) -> Tensor
- func: count_(Tensor(a!) self, Tensor(b!) seen) -> Tensor(a!)
  dispatch: {CPU: count_}
  autogen: count, count.out
- func: _copy_from(Tensor self, Tensor dst, bool non_blocking=False) -> Tensor
- func: _copy_from_and_resize(Tensor self, Tensor dst) -> Tensor
"""
SETTINGS = 'schema = ["ops.yaml"]\nnative = "pytorch.yaml"\ntargets = ["cpp-torch"]\n'
COPIES = ", _copy_from, _copy_from_and_resize]\n"


@pytest.fixture
def read(tmp_path: Path) -> Callable[[str], Program]:
    def read(text: str) -> Program:
        head = "backend: XLA\ncpp_namespace: x\n"
        files = {"pytorch.yaml": PYTORCH, "ops.yaml": head + text, "torchgen_lite.toml": SETTINGS}
        write_files(tmp_path, files)
        return load(root=tmp_path)

    return read


def registered(program: Program, target: str = "cpp-torch") -> list[str]:
    """Key, operator, origin, and the operator it is derived from, such as `XLA neg_ copied neg`."""
    return [
        " ".join(
            [one.key, one.operator.schema.local_name, one.origin.name]
            + ([one.source.schema.local_name] if one.source else [])
        )
        for one in TARGETS[target].select(program).registrations(program)
        if not one.operator.schema.local_name.startswith("_copy_from")
    ]


def said(program: Program) -> list[str]:
    return [f"{d.code} {d.message}" for d in program.diagnostics]


@pytest.mark.parametrize(
    ("lists", "expected"),
    [
        (
            "supported: [neg",
            ["XLA neg written", "XLA neg.out copied neg", "XLA neg_ copied neg"],
        ),
        ("use_out_as_primary: true\nsupported: [neg", ["XLA neg written"]),
        (
            "supported: [neg, neg.out",
            ["XLA neg written", "XLA neg.out written", "XLA neg_ copied neg"],
        ),
        ("supported: [neg_", ["XLA neg_ written"]),
        ("supported: [alone", ["XLA alone written"]),
        ("supported: [isnan", ["XLA isnan written", "XLA isnan.out copied isnan"]),
    ],
)
def test_what_follows(read: Callable[[str], Program], lists: str, expected: list[str]) -> None:
    program = read(lists + COPIES)
    assert (said(program), registered(program)) == ([], expected)
    # Other targets derive nothing from such a file.
    assert [o.name for o in TARGETS["cpp-torch-stable"].select(program).operators] == [
        o.name for o in program.resolved.declared
    ]


def test_kernels_for_autograd(read: Callable[[str], Program]) -> None:
    program = read("autograd: [neg]\nsupported: [alone" + COPIES)
    assert said(program) == []
    assert registered(program) == [
        "XLA alone written",
        "AutogradXLA neg written",
        "AutogradXLA neg.out copied neg",
        "AutogradXLA neg_ copied neg",
    ]


def test_what_cannot_be_made(read: Callable[[str], Program]) -> None:
    program = read("supported: [count, neg, _copy_from]\n")
    assert said(program) == [
        "TG373 no kernel of `count.out` can be derived from that of `count`",
        "TG374 `neg.out` is derived from `neg` and copies its result with `_copy_from_and_resize`, which has no kernel for XLA",
    ]
    assert registered(program)[2:] == [
        "XLA count_ copied count",
        "XLA neg.out copied neg",
        "XLA neg_ copied neg",
    ]


def test_two_backends(read: Callable[[str], Program], tmp_path: Path) -> None:
    settings = SETTINGS.replace('"ops.yaml"', '"ops.yaml", "more.yaml"')
    program = read(f"supported: [neg{COPIES}")
    more = f"backend: PrivateUse1\ncpp_namespace: y\nsupported: [neg{COPIES}"
    write_files(tmp_path, {"more.yaml": more, "torchgen_lite.toml": settings})
    program = load(root=tmp_path)
    assert said(program) == []
    assert registered(program)[-4:] == [
        "XLA neg.out copied neg",
        "PrivateUse1 neg.out copied neg",
        "XLA neg_ copied neg",
        "PrivateUse1 neg_ copied neg",
    ]


def test_commands_know_it(
    read: Callable[[str], Program],
    run: Callable[..., Result],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read(f"supported: [neg{COPIES}")
    monkeypatch.chdir(tmp_path)
    # What PyTorch has beneath is known of the installed release alone.
    assert [
        run(*command, "XLA").code for command in (("table", "neg_", "--key"), ("why", "neg.out"))
    ] == [2, 2]
    assert "aten::neg.out                out         XLA\n" in run("list", "ops").stdout
    exported = json.loads(run("list", "ops", "--format", "json").stdout)["ops"]
    by_name = {f"{op['name']}.{op['overload']}": op["registered"] for op in exported}
    assert (by_name["neg_."], by_name["neg.out"]) == ({"XLA": "copied"}, {"XLA": "copied"})
    covered = run("coverage", "--key", "XLA", "--show", "through").stdout
    assert "aten::neg_" in covered and "aten::neg.out" in covered
    kernels = run("kernels", "-v").stdout
    assert "XLANativeFunctions::neg(const at::Tensor& self)" in kernels


@pytest.mark.parametrize(
    "entries",
    [
        "backend: XLA\ncpp_namespace: x\nsupported: [cat]\n",
        "- func: cat\n  dispatch: {XLA: x::cat}\n",
        "- func: cat\n  structured_delegate: cat.out\n- func: cat.out\n  dispatch: {XLA: x::cat_out}\n",
    ],
)
def test_lists_of_what_pytorch_has_structured(tmp_path: Path, entries: str) -> None:
    """c10 accepts one C++ type per operator for all libraries, so kernels take PyTorch's type."""
    cat = "- func: cat(Tensor[] tensors) -> Tensor\n  structured_delegate: cat.out\n"
    cat += (
        "- func: cat.out(Tensor[] tensors, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
    )
    write_files(
        tmp_path, {"pytorch.yaml": cat, "ops.yaml": entries, "torchgen_lite.toml": SETTINGS}
    )
    program = load(root=tmp_path)
    assert not program.diagnostics
    text = "".join(generate(program, targets=["cpp-torch"]).values())
    assert "const at::ITensorListRef& tensors" in text and "at::TensorList tensors" not in text


def test_overloads_are_begun_each(
    run: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = "- func: d::f(Tensor x) -> Tensor\n  dispatch: {CPU: f}\n"
    entries += "- func: d::f.int(int x) -> Tensor\n  dispatch: {CompositeExplicitAutograd: f}\n"
    write_files(tmp_path, {"ops.yaml": entries, "torchgen_lite.toml": SETTINGS})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pytorch.yaml").write_text("")
    run("kernels", "--missing", "--output", "k.cpp")
    text = (tmp_path / "k.cpp").read_text()
    assert "f(const at::Tensor& x)" in text and "f(int64_t x)" in text
