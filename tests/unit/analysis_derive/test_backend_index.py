"""Which key of which function has which kernel."""

from __future__ import annotations

from tests.unit.analysis_derive import derived, found
from tests.unit.analysis_derive.test_groups import ADD
from torchgen_lite.analysis.registrations import Registration, registrations
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.dialects.cpp import native

Kernel = tuple[str, str, str, bool]


def kernels(facts: Resolved, name: str) -> list[Kernel]:
    """Key, namespace, name, and whether it is an impl function, of each kernel."""
    operator = found(facts, name)
    return [(k.key, *native.kernel(operator, k), k.is_structured) for k in operator.kernels]


def test_implicit_kernels_have_the_name_of_the_function() -> None:
    facts = derived("""\
- func: foo.x(Tensor self) -> Tensor
- func: foo.x_out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
- func: bar(Tensor self) -> Tensor
  dispatch: {}
""")
    implicit = "CompositeImplicitAutograd"
    assert kernels(facts, "foo.x") == [(implicit, "at::native", "foo", False)]
    assert kernels(facts, "foo.x_out") == [(implicit, "at::native", "foo_out", False)]
    assert kernels(facts, "bar") == []
    (kernel,) = found(facts, "foo.x").kernels
    # PyTorch's name is that of the C++ function; everybody else's says which overload it is.
    assert (kernel.kernel, kernel.is_implied) == ("foo_x", True)


def test_namespaces_and_symint() -> None:
    facts = derived("""\
- func: foo(Tensor self, SymInt n) -> Tensor
  dispatch:
    CPU: mine::foo_symint
    CUDA: foo
""")
    assert kernels(facts, "foo") == [
        ("CPU", "mine::native", "foo_symint", False),
        ("CUDA", "at::native", "foo", False),
    ]
    assert [native.takes_symint(kernel) for kernel in found(facts, "foo").kernels] == [True, False]


def test_structured() -> None:
    facts = derived(ADD)
    assert kernels(facts, "add.out") == [("CPU", "at::native", "add_out", True)]
    structured = Registration("CPU", "add_out", "structured")
    meta = Registration("Meta", "structured_add_Tensor", "meta")
    default = Registration("CompositeExplicitAutogradNonFunctional", meta.kernel, "default")
    assert registrations(found(facts, "aten::add.out")) == (structured, meta)
    assert registrations(found(facts, "aten::add.Tensor")) == (structured, meta, default)
    assert registrations(found(facts, "aten::add_.Tensor")) == (structured, meta, default)
    assert registrations(found(facts, "aten::add.Scalar")) == (
        Registration("CompositeImplicitAutograd", "add_Scalar", "declared"),
    )


def test_what_follows_elsewhere() -> None:
    facts = derived("""\
- func: relu_(Tensor(a!) self) -> Tensor(a!)
  dispatch:
    CPU: relu_
  autogen: relu.out
- func: zeros(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
  dispatch:
    CPU: zeros
- func: by_hand(Tensor self) -> Tensor
  manual_kernel_registration: True
""")
    assert registrations(found(facts, "aten::relu_")) == (
        Registration("CPU", "relu_", "declared"),
        Registration("Meta", "", "self"),
    )
    assert registrations(found(facts, "aten::relu.out")) == (
        Registration("CompositeExplicitAutograd", "relu_out", "derived"),
    )
    assert registrations(found(facts, "aten::zeros")) == (
        Registration("CPU", "zeros", "declared"),
        Registration("BackendSelect", "", "select"),
    )
    assert registrations(found(facts, "aten::by_hand")) == ()


def test_tags_that_follow() -> None:
    facts = derived(ADD, "pt2_compliant_tag", "out", "inplace")
    assert {operator.name: operator.tags for operator in facts.operators} == {
        "aten::add.Tensor": ("pt2_compliant_tag",),
        "aten::add_.Tensor": ("pt2_compliant_tag", "inplace"),
        "aten::add.out": ("pt2_compliant_tag", "out"),
        "aten::add.Scalar": ("pt2_compliant_tag",),
    }
    assert {operator.tags for operator in derived(ADD).operators} == {()}


def test_inner_loops_give_kernels() -> None:
    facts = derived("""\
- func: add(Tensor self) -> Tensor
  structured_delegate: add.out
- func: add.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  ufunc_inner_loop:
    Generic: add (Floating, Half, Double)
    ScalarOnly: add (Bool)
""")
    assert kernels(facts, "add.out")[0] == ("CUDA", "at::native", "ufunc_add_CUDA", True)
