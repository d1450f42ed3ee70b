"""The findings of `breaking`: two small files and the exact result."""

from __future__ import annotations

import pytest

from torchgen_lite.analysis.compare import Level, compare_operators
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.resolve import resolve
from torchgen_lite.analysis.served_keys import serves
from torchgen_lite.diagnostics import Diagnostic, Source, render_full
from torchgen_lite.loader import load_native_functions


def operators(path: str, text: str) -> tuple[Operator, ...]:
    found, diagnostics = load_native_functions([Source(path, text)])
    assert [d for d in diagnostics if d.severity == "error"] == []
    return resolve(found).operators


def compare(old: str, new: str, level: Level = "source") -> tuple[Diagnostic, ...]:
    return compare_operators(
        operators("main:ops.yaml", old), operators("ops.yaml", new), level=level
    )


def compare_schemas(old: str, new: str, level: Level = "source") -> list[str]:
    return [d.code for d in compare(f"- func: {old}\n", f"- func: {new}\n", level)]


def test_a_finding_points_at_both_versions() -> None:
    found = compare(
        "- func: f(Tensor self, int dim=0) -> Tensor\n",
        "# A comment.\n- func: f(Tensor self, int dim=1) -> Tensor\n",
    )
    assert render_full(found) == """\
error[TG357]: `f`: the default of argument `dim` changed from `0` to `1`
 --> ops.yaml:2:32
  |
2 | - func: f(Tensor self, int dim=1) -> Tensor
  |                                ^ changed
 ::: main:ops.yaml:1:32
  |
1 | - func: f(Tensor self, int dim=0) -> Tensor
  |                                - was this
"""


def test_a_removed_operator_is_shown_where_it_was() -> None:
    found = compare(
        "- func: f(Tensor self) -> Tensor\n- func: g(Tensor self) -> Tensor\n",
        "- func: f(Tensor self) -> Tensor\n",
    )
    assert render_full(found) == """\
error[TG350]: operator `g` was removed
 --> main:ops.yaml:2:9
  |
2 | - func: g(Tensor self) -> Tensor
  |         ^ was declared here
"""


def test_nothing_is_left() -> None:
    (found,) = compare("- func: f(Tensor self) -> Tensor\n", "")
    assert (found.code, found.path) == ("TG350", "main:ops.yaml")


@pytest.mark.parametrize(
    ("old", "new", "codes"),
    [
        ("f(int a) -> ()", "f(int a, int b=1, *, int c=2) -> ()", []),
        ("f(Tensor a) -> ()", "f(Tensor? a) -> ()", []),
        ("f(int a, *, int k) -> ()", "f(int a, int b=1, *, int k) -> ()", ["TG354"]),
        ("f(int a, int b) -> ()", "f(int b, int a) -> ()", ["TG354"]),
        ("f(int a, int b) -> ()", "f(int b) -> ()", ["TG352"]),
        ("f(int a=1) -> ()", "f(str x) -> ()", ["TG353", "TG358", "TG359"]),
        ("f(Tensor x) -> ()", "f(Tensor x, *, Tensor(a!) out) -> ()", []),
        (
            "f(Tensor x, *, Tensor(a!) y) -> ()",
            "f(Tensor x, Tensor(a!) y) -> ()",
            ["TG354", "TG356"],
        ),
    ],
)
def test_schemas(old: str, new: str, codes: list[str]) -> None:
    assert sorted(compare_schemas(old, new)) == codes


@pytest.mark.parametrize(
    ("old", "new", "source", "call"),
    [
        ("f(int a) -> ()", "f(int b) -> ()", ["TG353"], []),
        ("f(*, int a) -> ()", "f(*, int b) -> ()", ["TG353"], ["TG353"]),
        ("f() -> (int a, int b)", "f() -> (int a, int c)", ["TG362"], []),
        ("f(int a=1) -> ()", "f(int a=2) -> ()", ["TG357"], ["TG357"]),
    ],
)
def test_levels(old: str, new: str, source: list[str], call: list[str]) -> None:
    assert (compare_schemas(old, new), compare_schemas(old, new, "call")) == (source, call)


STRUCTURED = """\
- func: f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: f_out
"""
F = "- func: f(Tensor x) -> Tensor\n"
DELEGATES = f"{STRUCTURED}{F}  structured_delegate: f.out\n"


def dispatched(table: str) -> str:
    return f"{STRUCTURED}{F}  dispatch:\n    {table}\n"


@pytest.mark.parametrize(
    ("old", "new", "keys"),
    [
        (dispatched("CPU, CUDA: f"), dispatched("CPU: f"), ["CUDA"]),
        (dispatched("CPU, SparseCPU: f"), dispatched("CompositeExplicitAutograd: f"), []),
        (dispatched("AutogradCPU: f"), dispatched("CompositeExplicitAutograd: f"), ["AutogradCPU"]),
        (dispatched("AutogradCPU: f"), dispatched("Autograd: f"), []),
        (dispatched("CPU, Meta: f"), DELEGATES, []),
        (dispatched("CPU, CUDA: f"), DELEGATES, []),
        (dispatched("CPU, SparseCUDA: f"), DELEGATES, ["SparseCUDA"]),
        (STRUCTURED + F, dispatched("CPU: f"), ["CompositeImplicitAutograd"]),
        (dispatched("CompositeExplicitAutograd: f"), STRUCTURED + F, []),
        (dispatched("Tracer: f"), STRUCTURED + F, ["Tracer"]),
    ],
)
def test_dispatch_keys(old: str, new: str, keys: list[str]) -> None:
    found = compare(old, new, "call")
    messages = [f"`f`: dispatch key `{key}` was removed" for key in keys]
    assert [(d.code, d.message) for d in found] == [("TG364", m) for m in messages]


def test_which_aliases_serve_a_key_is_said_by_c10() -> None:
    """CompositeExplicitAutogradNonFunctional serves SparseCsr keys, but no other sparse keys."""
    non_functional = {"CompositeExplicitAutogradNonFunctional"}
    served = {k: serves(k, non_functional) for k in ("CPU", "SparseCPU", "SparseCsrCPU", "XLA")}
    assert served == {"CPU": True, "SparseCPU": False, "SparseCsrCPU": True, "XLA": False}
