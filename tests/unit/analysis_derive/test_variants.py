"""The derived variants, with their names, kernels and tags."""

from __future__ import annotations

import pytest

from tests.unit.analysis_derive import derived, found, schemas
from torchgen_lite.analysis.derive.variants import functional_schema, out_schema
from torchgen_lite.loader.entry.entry import DispatchEntry
from torchgen_lite.schema import FunctionSchema


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (
            "foo(Tensor self, int n=1) -> Tensor",
            "foo.out(Tensor self, int n=1, *, Tensor(a!) out) -> Tensor(a!)",
        ),
        (
            "foo.dim(Tensor self, *, int dim) -> (Tensor values, Tensor indices)",
            "foo.dim_out(Tensor self, *, int dim, Tensor(a!) out0, Tensor(b!) out1)"
            " -> (Tensor(a!), Tensor(b!))",
        ),
        (
            "foo(Tensor self) -> (Tensor, int)",
            "foo.out(Tensor self, *, Tensor(a!) out0) -> int",
        ),
        (
            "foo(Tensor[] self) -> Tensor[]",
            "foo.out(Tensor[] self, *, Tensor(a!)[] out) -> ()",
        ),
        (
            "zeros_of(int[] size, *, ScalarType? dtype=None, Layout? layout=None,"
            " Device? device=None, bool? pin_memory=None, int k=1) -> Tensor",
            "zeros_of.out(int[] size, *, int k=1, Tensor(a!) out) -> Tensor(a!)",
        ),
        (
            "foo_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)",
            "foo.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)",
        ),
        (
            "_foreach_foo_(Tensor(a!)[] self) -> ()",
            "_foreach_foo.out(Tensor[] self, *, Tensor(a!)[] out) -> ()",
        ),
        (
            "foo(Tensor self, Tensor(a!) state) -> (Tensor, Tensor)",
            "foo.out(Tensor self, Tensor(a!) state, *, Tensor(b!) out0, Tensor(c!) out1)"
            " -> (Tensor(b!), Tensor(c!))",
        ),
        (
            "lib::foo_(Tensor(a!) self) -> Tensor(a!)",
            "lib::foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
        ),
    ],
)
def test_out(schema: str, expected: str) -> None:
    assert str(out_schema(FunctionSchema.parse(schema))) == expected


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ("foo_.int(Tensor(a!) self, int n) -> Tensor(a!)", "foo.int(Tensor self, int n) -> Tensor"),
        ("__iand__(Tensor(a!) self) -> Tensor(a!)", "__and__(Tensor self) -> Tensor"),
        (
            "foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
            "foo.out(Tensor self) -> Tensor",
        ),
        (
            "_foreach_foo_(Tensor(a!)[] self) -> ()",
            "_foreach_foo(Tensor[] self) -> Tensor[] self_out",
        ),
        (
            "norm(Tensor x, Tensor(a!) mean, Tensor(b!)? var) -> Tensor y",
            "norm_functional(Tensor x, Tensor mean, Tensor? var)"
            " -> (Tensor y, Tensor mean_out, Tensor? var_out)",
        ),
    ],
)
def test_functional(schema: str, expected: str) -> None:
    assert str(functional_schema(FunctionSchema.parse(schema))) == expected


def test_autogen_asks_for_out() -> None:
    facts = derived("""\
- func: foo(Tensor self, SymInt n) -> Tensor
  dispatch:
    CPU: foo_cpu
  tags: [nondeterministic_seeded, pointwise]
  autogen: foo.out
- func: bar(Tensor self) -> Tensor
  dispatch:
    CPU: bar_cpu
""")
    assert schemas(facts) == [
        "foo.out(Tensor self, SymInt n, *, Tensor(a!) out) -> Tensor(a!)",
    ]
    out = found(facts, "aten::foo.out").function
    assert out.dispatch == (DispatchEntry("CompositeExplicitAutograd", "foo_out_symint"),)
    assert found(facts, "foo.out").tags == ("generated", "nondeterministic_seeded", "out")
    assert out.variants == ("function",)
    assert (out.device_guard, out.device_check) == (False, "NoCheck")


def test_inplace_asks_for_both() -> None:
    facts = derived("""\
- func: foo_(Tensor(a!) self) -> Tensor(a!)
  dispatch:
    CPU: foo_
  autogen: foo, foo.out
""")
    assert schemas(facts) == [
        "foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
        "foo(Tensor self) -> Tensor",
    ]
    assert [o.kernels[0].kernel for o in facts.operators[1:]] == ["foo_out", "foo"]


def test_const_references_are_handed_on() -> None:
    """As in torchgen, everything derived from an entry has its convention."""
    facts = derived("""\
- func: foo_(Tensor(a!) self) -> Tensor(a!)
  use_const_ref_for_mutable_tensors: True
  dispatch:
    CPU: foo_
  autogen: foo, foo.out
""")
    conventions = [o.function.use_const_ref_for_mutable_tensors for o in facts.operators]
    assert conventions == [True, True, True]


def test_functional_follows_without_being_asked_for() -> None:
    facts = derived("""\
- func: foo_(Tensor(a!) self) -> Tensor(a!)
  dispatch:
    CPU: foo_
- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  dispatch:
    CPU: foo_out
""")
    assert schemas(facts) == ["foo(Tensor self) -> Tensor"]


@pytest.mark.parametrize(
    "entry",
    [
        # A composite operator: a transformation sees the operators that it calls.
        "- func: foo(Tensor self) -> Tensor\n  autogen: foo.out\n",
        # A view has a copying variant instead.
        "- func: foo(Tensor(a) self) -> Tensor(a)\n  dispatch:\n    CPU: f\n  autogen: foo.out\n",
        # The result is not a tensor, so there is nothing to write to.
        "- func: foo(Tensor self) -> int\n  dispatch:\n    CPU: f\n  autogen: foo.out\n",
        # No argument is called `self`.
        "- func: foo_(Tensor(a!) x) -> Tensor(a!)\n  dispatch:\n    CPU: f\n  autogen: foo.out\n",
        # An out variant alone.
        "- func: foo.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)\n  dispatch:\n    CPU: f\n",
    ],
)
def test_nothing_is_derived(entry: str) -> None:
    assert schemas(derived(entry)) == []


def test_core_operators_get_variants_though_composed() -> None:
    facts = derived("- func: foo(Tensor self) -> Tensor\n  tags: core\n  autogen: foo.out\n")
    assert schemas(facts) == ["foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"]


def test_a_name_that_is_taken() -> None:
    facts = derived("""\
- func: foo_(Tensor(a!) self) -> Tensor(a!)
  dispatch:
    CPU: foo_
- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  dispatch:
    CPU: foo_out
- func: foo(int n) -> int
""")
    assert schemas(facts) == []
    assert facts.groups == ()


def test_more_results_than_letters() -> None:
    schema = FunctionSchema.parse(f"f(Tensor x) -> ({', '.join(['Tensor'] * 28)})")
    out = out_schema(schema).out
    assert [str(a) for a in out[24:]] == [
        "Tensor(y!) out24",
        "Tensor(z!) out25",
        "Tensor(a1!) out26",
        "Tensor(b1!) out27",
    ]
