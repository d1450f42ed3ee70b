"""Code that lint accepts; its findings are in tests/errors/lint.yaml."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite import load
from torchgen_lite.analysis.lint import KERNEL_RULES, SCHEMA_RULES, lint_program
from torchgen_lite.analysis.program import build_program
from torchgen_lite.diagnostics import Source
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.formats.native_functions import load_native_functions
from torchgen_lite.pipeline import lint

FINE = [
    # An operator may change lists, class types and tensors.
    "- func: append(t[](a!) self, t el) -> t[](a!)",
    "- func: f(Dict(str, t)(a!) self, __torch__.x.Y(b!) y) -> ()",
    # In-place operators over lists return nothing.
    "- func: _foreach_abs_(Tensor(a!)[] self) -> ()",
    "- func: relu_(Tensor(a!) self) -> Tensor(a!)",
    # A dunder name is an in-place name only if Python defines it as one.
    "- func: __and__.Tensor(Tensor self, Tensor other) -> Tensor",
    # `self` is written, but not returned.
    "- func: resize(Tensor(a!) self, int[] size) -> ()",
    "- func: f(Tensor(a) self) -> Tensor(a)",
    "- func: f(Tensor(a -> *) self) -> Tensor(a)[]",
    "- func: f(t(*) self) -> t(*)",
    # A device argument lets BackendSelect choose the kernel.
    "- func: f(int n, *, Device? device=None) -> Tensor\n  dispatch:\n    CPU, Meta: f",
    # A generator has a dispatch key.
    "- func: f(int n, Generator? generator=None) -> int\n  dispatch:\n    CPU: f\n"
    "  tags: nondeterministic_seeded",
    # Structured operators have a Meta kernel by themselves.
    "- func: f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
    "  dispatch:\n    CPU: f\n- func: f(Tensor x) -> Tensor\n  structured_delegate: f.out",
    # Without a tensor in the result, there is no shape to infer.
    "- func: f(Tensor x) -> int\n  dispatch:\n    CPU: f",
    "- func: f(Tensor x) -> Tensor\n  dispatch:\n    CPU: f\n    CompositeExplicitAutograd: g",
    # An explicit kernel resolves the ambiguity; so does one for AutogradOther.
    "- func: f(Tensor x) -> Tensor\n  dispatch:\n    CompositeExplicitAutograd: f\n    SparseCPU: g",
    # Nested tensors have a separate autograd key.
    "- func: f(Tensor x) -> Tensor\n  dispatch:\n    CompositeImplicitAutograd: f\n"
    "    NestedTensorCPU: g",
    # Overloads may differ in the number of required arguments, their types, or an out argument.
    "- func: f.a(Tensor x) -> Tensor\n- func: f.b(Tensor x, int n) -> Tensor\n"
    "- func: f.c(Tensor x, float n) -> Tensor\n"
    "- func: f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
    # Two operators with the same arguments may share a kernel.
    "- func: f.a(Tensor x, int n) -> int\n  dispatch:\n    CPU: k\n"
    "- func: g(Tensor x, SymInt n) -> int\n  dispatch:\n    CPU: k",
    '- func: f(Tensor x) -> Tensor\n  torch: ">=2.6,<2.9"',
]


@pytest.mark.parametrize("text", FINE)
def test_left_alone(text: str) -> None:
    source = Source("ops.yaml", text)
    functions, found = load_native_functions([source])
    program = lint_program(
        build_program(functions, Config(Path(".")), diagnostics=found, sources=[source])
    )
    assert [f"{d.code}: {d.message}" for d in program.diagnostics] == []


def test_every_rule_says_what_it_finds() -> None:
    assert all((rule.__doc__ or "").startswith("TG4") for rule in (*KERNEL_RULES, *SCHEMA_RULES))


SAMPLED = """\
- func: exp
  dispatch: {PrivateUse1: exp}
  samples: [(randn(3))]
- func: sin
  dispatch: {PrivateUse1: sin}
  samples: {calls: [(randn(3))], reference: sine}
- func: chip::f(Tensor x) -> Tensor
  dispatch: {PrivateUse1: f}
  samples: {calls: [(randn(3))], reference: of_f}
- func: cos
  dispatch: {CPU: cos}
  samples: [(randn(3))]
"""


@pytest.mark.parametrize(
    ("targets", "untested"),
    [
        ("cpp-torch", [(3, "device-tests"), (6, "device-tests"), (12, "device-tests")]),
        (
            "cpp-torch, torch-python",
            [(3, "device-tests"), (6, "device-tests"), (12, "device-tests")],
        ),
        ("device-tests", [(6, "an expression"), (9, "an expression"), (12, "no kernel")]),
        ("device-tests, torch-python", [(6, "an expression"), (12, "no kernel")]),
    ],
)
def test_samples_that_no_target_tests(
    tmp_path: Path, targets: str, untested: list[tuple[int, str]]
) -> None:
    theirs = "- func: exp(Tensor self) -> Tensor\n- func: sin(Tensor self) -> Tensor\n"
    theirs += "- func: cos(Tensor self) -> Tensor\n"
    (tmp_path / "pytorch.yaml").write_text(theirs)
    (tmp_path / "ops.yaml").write_text(SAMPLED)
    configuration = (
        f'schema = "ops.yaml"\nnative = "pytorch.yaml"\ntargets = {targets.split(", ")}\n'
    )
    (tmp_path / "torchgen_lite.toml").write_text(configuration)
    said = [d for d in lint(load(root=tmp_path)).diagnostics if d.code == "TG420"]
    assert [d.start()[0] for d in said] == [line for line, _ in untested]
    assert all(hint in str(d.help) for d, (_, hint) in zip(said, untested))


@pytest.mark.parametrize(
    ("namespaces", "slips"),
    [
        (("lib", "lib", "lbi"), ["lbi"]),
        (("mylib", "mylib", "mylib", "mylb"), ["mylb"]),
        # Neither is that of most operators.
        (("lib", "lbi"), []),
        (("lib", "lib", "lbi", "lbi"), []),
        # Digits are meant.
        (("attention2", "attention2", "attention3"), []),
        (("lib", "lib", "other"), []),
    ],
)
def test_a_slip_in_a_namespace(
    tmp_path: Path, namespaces: tuple[str, ...], slips: list[str]
) -> None:
    schemas = [f"- func: {name}::f{i}(Tensor x) -> Tensor\n" for i, name in enumerate(namespaces)]
    (tmp_path / "ops.yaml").write_text("".join(schemas))
    found = lint(load("ops.yaml", root=tmp_path)).diagnostics
    named = [one.message.split("`")[1] for one in found if one.code == "TG430"]
    assert named == slips
