"""The kernel of each function for each key."""

from __future__ import annotations

from pathlib import Path

from tests.unit.analysis_derive import derived, found
from tests.unit.analysis_derive.test_groups import ADD
from torchgen_lite.analysis.policy import PYTORCH
from torchgen_lite.analysis.program import build_program
from torchgen_lite.analysis.registrations import registrations
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import Source
from torchgen_lite.languages.cpp import native
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.formats.native_functions import load_native_functions

Kernel = tuple[str, str, str, bool]


def kernels(facts: Resolved, name: str) -> list[Kernel]:
    """Each kernel's key, namespace and name, and whether it is an impl function."""
    operator = found(facts, name)
    return [(k.key, *native.kernel(operator, k), k.is_structured) for k in operator.kernels]


def registered(text: str, name: str) -> list[tuple[str, str]]:
    """The key and the reason of each registration that PyTorch makes for an operator."""
    functions, _ = load_native_functions([Source("ops.yaml", text)])
    program = build_program(functions, Config(Path(".")))
    return [
        (one.key, one.origin.name)
        for one in registrations(program, PYTORCH)
        if one.operator.schema.local_name == name
    ]


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
    # PyTorch names a kernel after the C++ function; other projects include the name of the overload.
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
    assert [native.sizes_of(kernel) for kernel in found(facts, "foo").kernels] == ["SymInt", "int"]


def test_structured() -> None:
    facts = derived(ADD)
    assert kernels(facts, "add.out") == [("CPU", "at::native", "add_out", True)]
    both = [("CPU", "structured"), ("Meta", "meta")]
    every = [*both, ("CompositeExplicitAutogradNonFunctional", "default")]
    assert registered(ADD, "add.out") == both
    assert registered(ADD, "add.Tensor") == registered(ADD, "add_.Tensor") == every
    assert registered(ADD, "add.Scalar") == [("CompositeImplicitAutograd", "implied")]


def test_what_follows_elsewhere() -> None:
    text = """\
- func: relu_(Tensor(a!) self) -> Tensor(a!)
  dispatch:
    CPU: relu_
  autogen: relu.out
- func: zeros(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
  dispatch:
    CPU: zeros
- func: by_hand(Tensor self) -> Tensor
  manual_kernel_registration: True
"""
    assert registered(text, "relu_") == [("CPU", "written"), ("Meta", "returns_self")]
    assert registered(text, "relu.out") == [("CompositeExplicitAutograd", "derived")]
    assert registered(text, "zeros") == [("CPU", "written"), ("BackendSelect", "backend_select")]
    assert registered(text, "by_hand") == []


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
