"""Which key of which function has which kernel."""

from __future__ import annotations

from tests.unit.analysis_derive import derived
from tests.unit.analysis_derive.test_groups import ADD
from torchgen_lite.analysis.derive.backend_index import BackendKernel
from torchgen_lite.analysis.derive.registrations import Registration, registrations


def test_implicit_kernels_have_the_name_of_the_function() -> None:
    facts = derived("""\
- func: foo.x(Tensor self) -> Tensor
- func: foo.x_out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
- func: bar(Tensor self) -> Tensor
  dispatch: {}
""")
    assert facts.backend_index == {
        "CompositeImplicitAutograd": {
            "aten::foo.x": BackendKernel("foo"),
            "aten::foo.x_out": BackendKernel("foo_out"),
        }
    }


def test_namespaces_and_symint() -> None:
    facts = derived("""\
- func: foo(Tensor self, SymInt n) -> Tensor
  dispatch:
    CPU: mine::foo_symint
    CUDA: foo
""")
    kernel = facts.backend_index["CPU"]["aten::foo"]
    assert kernel == BackendKernel("foo_symint", False, "mine::native")
    assert kernel.takes_symint
    assert not facts.backend_index["CUDA"]["aten::foo"].takes_symint


def test_structured() -> None:
    facts = derived(ADD)
    assert facts.backend_index["CPU"] == {"aten::add.out": BackendKernel("add_out", True)}
    structured = Registration("CPU", "add_out", "structured")
    meta = Registration("Meta", "structured_add_Tensor", "meta")
    default = Registration("CompositeExplicitAutogradNonFunctional", meta.kernel, "default")
    assert registrations(facts, "aten::add.out") == (structured, meta)
    assert registrations(facts, "aten::add.Tensor") == (structured, meta, default)
    assert registrations(facts, "aten::add_.Tensor") == (structured, meta, default)
    assert registrations(facts, "aten::add.Scalar") == (
        Registration("CompositeImplicitAutograd", "add", "declared"),
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
    assert registrations(facts, "aten::relu_") == (
        Registration("CPU", "relu_", "declared"),
        Registration("Meta", "", "self"),
    )
    assert registrations(facts, "aten::relu.out") == (
        Registration("CompositeExplicitAutograd", "relu_out", "derived"),
    )
    assert registrations(facts, "aten::zeros") == (
        Registration("CPU", "zeros", "declared"),
        Registration("BackendSelect", "", "select"),
    )
    assert registrations(facts, "aten::by_hand") == ()


def test_tags_that_follow() -> None:
    facts = derived(ADD, "pt2_compliant_tag", "out", "inplace")
    assert facts.tags == {
        "aten::add.Tensor": ("pt2_compliant_tag",),
        "aten::add_.Tensor": ("pt2_compliant_tag", "inplace"),
        "aten::add.out": ("pt2_compliant_tag", "out"),
        "aten::add.Scalar": ("pt2_compliant_tag",),
    }
    assert set(derived(ADD).tags.values()) == {()}


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
    assert facts.backend_index["CUDA"] == {"aten::add.out": BackendKernel("ufunc_add_CUDA", True)}
