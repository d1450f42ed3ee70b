"""Which functions form a group."""

from __future__ import annotations

from tests.unit.analysis_derive import derived, found
from torchgen_lite.analysis.derive.views import copy_name, needs_copy
from torchgen_lite.analysis.resolve import Resolved

ADD = """\
- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  structured_delegate: add.out
- func: add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)
  structured_delegate: add.out
- func: add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: add_out
- func: add.Scalar(Tensor self, Scalar other) -> Tensor
"""


def groups(facts: Resolved) -> list[list[str]]:
    return [[f.name for f in group.functions()] for group in facts.groups]


def test_variants_of_one_signature() -> None:
    facts = derived(ADD)
    assert groups(facts) == [["aten::add.Tensor", "aten::add.out", "aten::add_.Tensor"]]
    assert facts.groups[0].structured
    assert found(facts, "aten::add_.Tensor").group is facts.groups[0]
    assert found(facts, "aten::add.Scalar").group is None


def test_tensor_options_do_not_count() -> None:
    facts = derived("""\
- func: full(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
- func: full.out(int[] size, *, Tensor(a!) out) -> Tensor(a!)
""")
    assert groups(facts) == [["aten::full", "aten::full.out"]]


def test_what_is_mutated_counts_as_returned() -> None:
    facts = derived("""\
- func: norm(Tensor x, Tensor(a!) mean) -> Tensor
  dispatch:
    CPU: norm_cpu
- func: norm_functional(Tensor x, Tensor mean) -> (Tensor, Tensor mean_out)
  dispatch:
    CPU: norm_functional_cpu
- func: norm.out(Tensor x, Tensor(a!) mean, *, Tensor(b!) out) -> Tensor(b!)
  dispatch:
    CPU: norm_out
""")
    assert groups(facts) == [["aten::norm_functional", "aten::norm.out", "aten::norm"]]


def test_namespaces_are_apart() -> None:
    facts = derived("""\
- func: a::foo(Tensor self) -> Tensor
- func: b::foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
""")
    assert groups(facts) == []


def test_functional_variant_with_another_default() -> None:
    facts = derived("""\
- func: draw_.float(Tensor(a!) self, float p=0.5) -> Tensor(a!)
  dispatch:
    CPU: draw_
  autogen: draw.float_out
- func: draw.p(Tensor self, float p) -> Tensor
  dispatch:
    CPU: draw
""")
    assert groups(facts) == [["aten::draw.p", "aten::draw.float_out", "aten::draw_.float"]]


def test_views() -> None:
    facts = derived("""\
- func: t(Tensor(a) self) -> Tensor(a)
  dispatch:
    CompositeExplicitAutograd: t
- func: t_(Tensor(a!) self) -> Tensor(a!)
  dispatch:
    CompositeExplicitAutograd: t_
  tags: inplace_view
- func: t_copy(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutogradNonFunctional: t_copy
  tags: view_copy
- func: resize_(Tensor(a!) self, int[] size) -> Tensor(a!)
  dispatch:
    CPU: resize_
  tags: inplace_view
- func: chunk(Tensor(a -> *) self, int n) -> Tensor(a)[]
""")
    views = [operator.name for operator in facts.operators if operator.is_view]
    assert views == ["aten::t", "aten::t_", "aten::chunk"]
    assert [[f.name for f in group.functions()] for group in facts.views] == [
        ["aten::t", "aten::t_", "aten::t_copy"],
        ["aten::chunk"],
    ]
    view, chunk = found(facts, "t").function, found(facts, "chunk").function
    assert (needs_copy(view), copy_name(view)) == (True, "t_copy")
    assert not needs_copy(chunk)


def test_the_copy_of_an_inverse_scatters() -> None:
    facts = derived("""\
- func: slice_inverse(Tensor(a) self, Tensor src) -> Tensor(a)
  dispatch:
    CompositeExplicitAutograd: slice_inverse
- func: slice_scatter(Tensor self, Tensor src) -> Tensor
  dispatch:
    CompositeExplicitAutograd: slice_scatter
""")
    (group,) = facts.views
    assert group.view_copy is found(facts, "slice_scatter").function
    assert not needs_copy(group.view)


def test_the_functional_variant_takes_the_same() -> None:
    facts = derived("""\
- func: scale(Tensor self, float s) -> Tensor
- func: scale_(Tensor(a!) self, float s=1.0) -> Tensor(a!)
- func: scale.out(Tensor self, float s, *, Tensor(a!) out) -> Tensor(a!)
- func: other.out(Tensor self, int s, *, Tensor(a!) out) -> Tensor(a!)
- func: full(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
- func: full.out(int[] size, *, Tensor(a!) out) -> Tensor(a!)
""")
    functional = {o.schema.local_name: facts.functional_of(o) for o in facts.operators}
    scale = found(facts, "scale")
    assert functional["scale_"] is functional["scale.out"] is scale
    assert functional["other.out"] is functional["full.out"] is None
