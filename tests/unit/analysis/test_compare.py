"""The findings of `breaking`: two small files and the exact result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from torchgen_lite.analysis.comparison.compare import Level, compare_operators
from torchgen_lite.analysis.comparison.sides import Side
from torchgen_lite.analysis.program import build_program
from torchgen_lite.diagnostics import Diagnostic, Source, render_full
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.formats.native_functions import load_native_functions
from torchgen_lite.targets.generation import generation_of
from torchgen_lite.targets.registered import side_of


def side(path: str, text: str, *targets: str) -> Side:
    """What these targets serve of the operators; PyTorch itself without any."""
    functions, found = load_native_functions([Source(path, text)])
    assert [d for d in found if d.severity == "error"] == []
    options: dict[str, Mapping[str, object]] = {"cpp-runtime": {"tensor": "toy::Tensor"}}
    program = build_program(functions, Config(Path("."), target_options=options))
    return side_of(program, [generation_of(program).asked(one) for one in targets or [None]])


def compare(
    old: str, new: str, level: Level = "source", targets: Sequence[str] = ()
) -> tuple[Diagnostic, ...]:
    sides = side("main:ops.yaml", old, *targets), side("ops.yaml", new, *targets)
    return compare_operators(*sides, level=level)


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
  |
  = help: keep the default, or accept the change: `breaking --accept "reason"`
  = witness: `torch.ops.aten.f(torch.ones(2, 2))`
  = effect: changes results
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
  |
  = help: keep the operator, or accept the change: `breaking --accept "reason"`
  = witness: `torch.ops.aten.g(torch.ones(2, 2))`
  = effect: breaks callers
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


SERVED = "nothing serves `{}` any more"
REMOVED = "dispatch key `{}` was removed"
RECORDS = "no gradient is recorded at `{}` any more"
ANOTHER = "`{}` runs `f_out`, and used to run `f`"
FALLBACK = "only a fallback is left for `{}`"


@pytest.mark.parametrize(
    ("old", "new", "messages"),
    [
        (dispatched("CPU, CUDA: f"), dispatched("CPU: f"), [("TG364", REMOVED, "CUDA")]),
        (dispatched("CPU, SparseCPU: f"), dispatched("CompositeExplicitAutograd: f"), []),
        (
            dispatched("AutogradCPU: f"),
            dispatched("CompositeExplicitAutograd: f"),
            [("TG368", RECORDS, "AutogradCPU")],
        ),
        (dispatched("AutogradCPU: f"), dispatched("Autograd: f"), []),
        (dispatched("CPU, Meta: f"), DELEGATES, [("TG382", ANOTHER, "CPU")]),
        (dispatched("CPU, CUDA: f"), DELEGATES, [("TG382", ANOTHER, "CPU")]),
        (
            dispatched("CPU, SparseCUDA: f"),
            DELEGATES,
            [("TG364", REMOVED, "SparseCUDA"), ("TG382", ANOTHER, "CPU")],
        ),
        (
            STRUCTURED + F,
            dispatched("CPU: f"),
            [
                ("TG364", REMOVED, "CompositeImplicitAutograd"),
                ("TG368", RECORDS, "AutogradCPU"),
            ],
        ),
        (dispatched("CompositeExplicitAutograd: f"), STRUCTURED + F, []),
        (dispatched("Tracer: f"), STRUCTURED + F, [("TG369", FALLBACK, "Tracer")]),
        (dispatched("CPU, Meta: f"), dispatched("CPU: f"), [("TG364", REMOVED, "Meta")]),
        # Which kernel serves AutogradOther is ambiguous now.
        (
            dispatched("CompositeImplicitAutograd: f"),
            dispatched("SparseCPU, CompositeImplicitAutograd: f"),
            [("TG368", RECORDS, "AutogradOther")],
        ),
        (
            dispatched("CompositeImplicitAutograd: f").replace("-> Tensor\n", "-> int\n"),
            dispatched("SparseCPU, CompositeImplicitAutograd: f").replace(
                "-> Tensor\n", "-> int\n"
            ),
            [("TG364", SERVED, "AutogradOther")],
        ),
    ],
)
def test_dispatch_keys(old: str, new: str, messages: list[tuple[str, str, str]]) -> None:
    """As PyTorch serves the calls: it has fallbacks at autograd keys and at Tracer; that at Meta only raises."""
    found = {(one.code, one.message) for one in compare(old, new, "call")}
    assert found == {(code, f"`f`: {message.format(key)}") for code, message, key in messages}


LIB = "- func: lib::f(Tensor self) -> Tensor\n  dispatch:\n    {}\n"
IN_PLACE = "- func: lib::f_(Tensor(a!) self) -> Tensor(a!)\n  dispatch:\n    CPU: f_\n"
SWAP = "- func: lib::{0}(Tensor{1} x, Tensor{2} y) -> (Tensor{1}, Tensor{2})\n  dispatch: {{CPU: {0}}}\n"
FORMULA = "  derivatives:\n    self: grad\n"


@pytest.mark.parametrize(
    ("old", "new", "by_target"),
    [
        # The rule of vmap replaces PyTorch's slow fallback, in the only target that knows it.
        (
            LIB.format("CPU: f") + "  vmap: f_vmap\n",
            LIB.format("CPU: f"),
            {"torch-python": ["TG369"], "cpp-torch": []},
        ),
        (
            LIB.format("CPU: f") + "  autocast: float32\n",
            LIB.format("CPU: f"),
            {"torch-python": ["TG379"], "cpp-torch": ["TG379"]},
        ),
        # The same tensors are cast, under new names; the one that is new casts nothing of old calls.
        (
            "- func: lib::f(Tensor x, Tensor w) -> Tensor\n  autocast: {dtype: float32, only: [w, x]}\n",
            "- func: lib::f(Tensor a, Tensor w, Tensor? b=None) -> Tensor\n  autocast: float32\n",
            {"torch-python": [], "cpp-torch": []},
        ),
        (
            "- func: lib::f(Tensor x, Tensor w) -> Tensor\n  autocast: {dtype: float32, only: [w]}\n",
            "- func: lib::f(Tensor x, Tensor w) -> Tensor\n  autocast: {dtype: float32, only: [x]}\n",
            {"torch-python": ["TG379"], "cpp-torch": ["TG379"]},
        ),
        # The functional variant takes more than the other one, and is no longer the same operator.
        (
            LIB.format("CPU: f") + IN_PLACE,
            LIB.format("CPU: f").replace("self", "self, int n=1") + IN_PLACE,
            {"cpp-torch": ["TG367"], "cpp-torch-stable": [], "torch-python": []},
        ),
        # The package traces it on copies, which C++ alone does not.
        (
            SWAP.format("swap", "", "") + SWAP.format("swap_", "(a!)", "(b!)"),
            SWAP.format("swap_", "(a!)", "(b!)"),
            {"torch-python": ["TG350"], "cpp-torch": ["TG350", "TG367"]},
        ),
        (
            LIB.format("CPU: f") + FORMULA,
            LIB.format("CPU: f"),
            {"torch-python": ["TG368"], "cpp-torch": ["TG368"], "cpp-torch-stable": []},
        ),
        # A composed kernel needs neither formulas nor fakes.
        (
            LIB.format("CPU, Meta: f") + FORMULA,
            LIB.format("CompositeImplicitAutograd: f"),
            {"torch-python": [], "cpp-torch": []},
        ),
        # PyTorch decomposes what is composed, and refuses what returns the tensor that it writes to.
        (
            IN_PLACE.replace("CPU", "CompositeImplicitAutograd"),
            IN_PLACE.replace("CPU", "CompositeExplicitAutograd") + FORMULA,
            {
                "torch-python": [],
                "cpp-torch": ["TG367"],
                "cpp-torch-stable": ["TG367", "TG368"],
            },
        ),
        # The runtime has no fallbacks.
        (LIB.format("CPU, Meta: f"), LIB.format("CPU: f"), {"cpp-runtime": ["TG364"]}),
    ],
)
def test_what_targets_register(old: str, new: str, by_target: dict[str, list[str]]) -> None:
    found = {name: [one.code for one in compare(old, new, "call", [name])] for name in by_target}
    assert found == by_target


def test_what_several_targets_lose_is_said_once() -> None:
    old, new = LIB.format("CPU: f") + FORMULA, LIB.format("CPU: f")
    (found,) = compare(old, new, targets=["torch-python", "cpp-torch"])
    assert render_full([found]) == """\
error[TG368]: `lib::f`: no gradient is recorded at `AutogradCPU` any more
 --> ops.yaml:3:5
  |
1 | - func: lib::f(Tensor self) -> Tensor
2 |   dispatch:
3 |     CPU: f
  |     ^^^^^^
 ::: main:ops.yaml:5:5
  |
5 |     self: grad
  |     ---------- was this
  |
  = help: keep `derivatives`, or write them for the new kernel, or accept the change: `breaking --accept "reason"`
  = witness: `torch.func.grad(lambda self: torch.ops.lib.f(self).sum())(torch.ones(2, 2))`
  = effect: changes results
"""


def test_a_target_that_the_old_version_could_not_have_loses_nothing() -> None:
    """Its configuration has no `tensor`, without which this target takes no operator."""
    functions, _ = load_native_functions([Source("ops.yaml", LIB.format("CPU, CUDA: f"))])
    program = build_program(functions, Config(Path(".")))
    old = side_of(program, [generation_of(program).asked("cpp-runtime")])
    new = side("ops.yaml", LIB.format("CPU: f"), "cpp-runtime")
    assert compare_operators(old, new) == ()


def test_kernels_that_are_registered_by_hand_are_unknown() -> None:
    by_hand = f"{F}  manual_kernel_registration: True\n"
    assert compare(dispatched("CPU: f"), STRUCTURED + by_hand) == ()


def test_an_alias_serves_what_c10_says() -> None:
    """CompositeExplicitAutogradNonFunctional serves SparseCsr keys, but no other sparse keys."""
    keys = ("CPU", "SparseCPU", "SparseCsrCPU", "XLA")
    new = dispatched("CompositeExplicitAutogradNonFunctional: f")
    lost = {key for key in keys if compare(dispatched(f"{key}: f"), new)}
    assert lost == {"SparseCPU", "XLA"}


def rows(*lines: str) -> str:
    text = "".join(f"      - {line}\n" for line in lines)
    return f"- func: my::f(Tensor x, int n) -> Tensor\n  dispatch:\n    CPU:\n{text}"


ONE = "- func: my::f(Tensor x, int n) -> Tensor\n  dispatch:\n    CPU: whole\n"


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        (rows("{when: n < 8, kernel: a}", "b"), rows("{when: 8 > n, kernel: a}", "b"), []),
        (
            rows("{when: n < 8, kernel: a}", "b"),
            rows("{when: n < 4, kernel: a}", "b"),
            ["TG382 `CPU` runs `b` for `4`, and used to run `a`"],
        ),
        (
            rows("{when: n < 8, kernel: a}", "b"),
            rows("{when: n < 8, kernel: a}", "{when: n != 9, kernel: b}"),
            ["TG364 `CPU` has no kernel for `9`, and used to run `b`"],
        ),
        (
            ONE,
            rows("{when: x.dtype == half, kernel: fast}", "whole"),
            ["TG382 `CPU` runs `fast` for `float16[4, 4]`, and used to run `whole`"],
        ),
        (
            rows("{when: x.dtype == half, kernel: fast}", "whole"),
            ONE,
            ["TG382 `CPU` runs `whole` for `float16[4, 4]`, and used to run `fast`"],
        ),
        (
            ONE,
            rows("{kernel: whole, language: numba, tune: [n=1, n=2]}"),
            [
                "TG382 `whole` of `CPU` is in Numba now, which needs `numba`",
                "TG382 `whole` of `CPU` gets `n=1` or `n=2`, and used to get no options",
            ],
        ),
        (
            rows("{when: n < 4, kernel: a, tune: [b=1, b=2]}", "{kernel: b, language: numba}"),
            rows("{when: n < 4, kernel: a, tune: [b=2, b=3]}", "b"),
            ["TG382 `a` of `CPU` gets `b=2` or `b=3`, and used to get `b=1` or `b=2`"],
        ),
        (
            rows("{when: n * x.size(0) < 64, kernel: a}", "b"),
            rows("{when: n * x.size(0) < 100000, kernel: a}", "b"),
            [
                "TG382 the conditions of `CPU` changed, and it is not decided which inputs run another kernel",
                "TG382 `CPU` runs `a` for `x = float32[8, 4], n = 8`, and used to run `b`",
            ],
        ),
        (
            rows("{when: n > 3, kernel: a}"),
            rows("{when: n > 3, kernel: a}", "b"),
            ["TG382 `CPU` runs `b` for `1`, and used to have none"],
        ),
    ],
)
def test_inputs_change_their_kernel(old: str, new: str, found: list[str]) -> None:
    messages = [f"{d.code} {d.message.partition(': ')[2]}" for d in compare(old, new)]
    assert messages == found
