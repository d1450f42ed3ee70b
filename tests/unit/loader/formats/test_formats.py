"""The backend format and ExecuTorch's."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite.analysis.lint import lint_program
from torchgen_lite.analysis.policy import PYTORCH
from torchgen_lite.analysis.program import build_program
from torchgen_lite.analysis.registrations import registrations
from torchgen_lite.analysis.resolve import derive_functions
from torchgen_lite.diagnostics import Source, render_concise
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.loader.formats.native_functions import load_native_functions

BASE = """\
- func: abs(Tensor self) -> Tensor
- func: add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
  dispatch:
    CPU: add_out
- func: expand(Tensor(a) self, SymInt[] size) -> Tensor(a)
  dispatch:
    CompositeExplicitAutograd: expand
"""


def load(*texts: str) -> tuple[dict[str, NativeFunction], str]:
    sources = [Source(f"{i}.yaml", text) for i, text in enumerate(texts)]
    functions, found = load_native_functions(sources)
    return {f.func.full_name: f for f in functions}, render_concise(found)


def kernels(function: NativeFunction) -> list[tuple[str, str]]:
    return [(entry.key, entry.kernel) for entry in function.dispatch]


def test_a_backend_adds_kernels_and_operators() -> None:
    functions, said = load(
        BASE,
        """\
backend: XLA
cpp_namespace: torch_xla
class_name: XLANativeFunctions
full_codegen:
  - abs
supported:
  - add.out
  - expand
symint:
  - expand
autograd:
  - abs
custom:
  - func: xla_op(Tensor self) -> Tensor
""",
    )
    assert (
        said.startswith("1.yaml:4:1: warning[TG130] 'full_codegen' asks for kernels")
        and said.count("\n") == 1
    )
    assert kernels(functions["abs"]) == [
        ("CompositeImplicitAutograd", "abs"),
        ("XLA", "torch_xla::XLANativeFunctions::abs"),
        ("AutogradXLA", "torch_xla::XLANativeFunctions::abs"),
    ]
    assert kernels(functions["add.out"])[1] == ("XLA", "torch_xla::XLANativeFunctions::add_out")
    assert kernels(functions["expand"])[1][1].endswith("::expand_symint")
    assert kernels(functions["xla::xla_op"]) == [("XLA", "torch_xla::XLANativeFunctions::xla_op")]


def test_mistakes_in_a_backend_file() -> None:
    _, said = load(
        BASE,
        """\
backend: XLAA
suported: [abs]
supported:
  - ads
  - 1 2
  - [x]
autograd: abs
""",
    )
    assert said == """\
1.yaml:2:1: error[TG102] unknown field 'suported': not a field (did you mean 'supported'?)
1.yaml:1:1: error[TG104] a backend file without 'cpp_namespace' (add 'cpp_namespace', the C++ namespace of the kernels)
1.yaml:1:10: error[TG103] unknown dispatch key 'XLAA': not a dispatch key (did you mean 'XLA'?)
1.yaml:5:5: error[TG123] '1 2' is not the name of an operator: not a name
1.yaml:6:5: error[TG106] 'supported' takes the name of an operator, not a list: wrong type
1.yaml:7:11: error[TG106] 'autograd' takes a list of operator names, not a single value: wrong type
1.yaml:4:5: error[TG312] operator 'ads' is not declared: no such operator (did you mean 'abs'?)
"""


def test_a_backend_file_alone_lacks_its_operators() -> None:
    """Also with operators of its own, of which none is meant: the help was to correct the name."""
    for custom in ("", "custom:\n- func: npu_cast(Tensor self) -> Tensor\n"):
        _, said = load(f"backend: NPU\ncpp_namespace: npu\nsupported:\n- abs\n{custom}")
        assert "TG312" in said and "name the file that declares it before this" in said


def test_an_operator_that_pytorch_lacks_is_declared_by_its_backend() -> None:
    declared = Source("native.yaml", "- func: abs(Tensor self) -> Tensor\n")
    native, _ = load_native_functions([declared])
    source = Source("npu.yaml", "backend: NPU\ncpp_namespace: npu\nsupported: [npu_cast_to]\n")
    _, found = load_native_functions([source], native={one.name: one for one in native})
    assert "declare the operator with its whole schema" in render_concise(found)


def test_private_use_beside_own_operators_in_one_file() -> None:
    functions, said = load("""\
- func: abs(Tensor self) -> Tensor
  dispatch:
    PrivateUse1: my_abs
- func: mylib::op(Tensor self) -> Tensor
  dispatch:
    PrivateUse1: my_op
""")
    assert said == ""
    assert functions["mylib::op"].namespace == "mylib"


def test_executorch_kernels() -> None:
    functions, said = load(
        BASE,
        """\
- op: add.out
  type_alias:
    T0: [Float, Int]
  dim_order_alias:
    D0: [0, 1]
  kernels:
    - arg_meta: {self: [T0, D0]}
      kernel_name: torch::executor::add_fast
    - arg_meta: null
      kernel_name: torch::executor::add_slow
- op: abs
  kernels:
    - arg_meta: null
      kernel_name: torch::executor::abs
- func: custom::op.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)
  kernels:
    - arg_meta: null
      kernel_name: custom::op_out
""",
    )
    assert said == ""
    assert kernels(functions["abs"]) == [("CPU", "torch::executor::abs")]
    assert kernels(functions["custom::op.out"]) == [("CPU", "custom::op_out")]
    assert dict(functions["add.out"].extra)["type_alias"] == "T0: [Float, Int]"


def test_mistakes_in_executorch_entries() -> None:
    _, said = load(
        BASE,
        """\
- op: abss
  kernel: x
- op: abs
  kernels:
    - arg_mata: null
      kernel_name: a-b
    - arg_meta: null
- kernels: x
""",
    )
    assert said == """\
1.yaml:1:7: error[TG312] operator 'abss' is not declared: no such operator (did you mean 'abs'?)
1.yaml:2:3: error[TG102] unknown field 'kernel': not a field (did you mean 'kernels'?)
1.yaml:5:7: error[TG102] unknown field 'arg_mata': not a field (did you mean 'arg_meta'?)
1.yaml:6:20: error[TG108] 'a-b' is not the name of a kernel: not an identifier
1.yaml:7:7: error[TG104] a kernel without 'kernel_name' (add 'kernel_name:' to it)
1.yaml:8:3: error[TG104] an entry without 'func'
1.yaml:8:12: error[TG106] 'kernels' takes a list of kernels, not a single value: wrong type
"""


def test_a_plug_in_that_names_no_backend() -> None:
    functions, said = load(
        BASE,
        """\
all_version: [v2.1, v2.7]
official:
  - func: abs(Tensor self) -> Tensor
    op_api: all_version
custom:
  - func: npu_op(Tensor self) -> Tensor
    op_api: [v2.1, newest]
""",
    )
    assert said == ""
    assert ("PrivateUse1", "abs") in kernels(functions["abs"])
    assert kernels(functions["privateuse1::npu_op"]) == [("PrivateUse1", "npu_op")]


ISNAN = """\
- func: isnan(Tensor self) -> Tensor
  dispatch:
    CPU, Meta: isnan
  autogen: isnan.out
"""


@pytest.mark.parametrize(
    "overlay",
    [
        "backend: XLA\ncpp_namespace: x\nsupported: [isnan.out]\n",
        """\
- op: isnan.out
  kernels:
  - arg_meta: null
    kernel_name: isnan_out
""",
    ],
    ids=["backend", "executorch"],
)
def test_kernels_for_an_operator_that_is_derived(overlay: str) -> None:
    sources = [Source("ops.yaml", ISNAN), Source("more.yaml", overlay)]
    functions, found = load_native_functions(sources, derive=derive_functions)
    program = lint_program(
        build_program(functions, Config(Path(".")), diagnostics=found, sources=sources)
    )
    assert render_concise(program.diagnostics) == ""
    key = "XLA" if "XLA" in overlay else "CPU"
    operator = program.resolved.by_name["aten::isnan.out"]
    schema = "isnan.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"
    kernel = "x::XLANativeFunctions::isnan_out" if key == "XLA" else "isnan_out"
    assert str(operator.schema) == schema and kernels(operator.function) == [(key, kernel)]
    assert [
        (r.key, r.origin.name) for r in registrations(program, PYTORCH) if r.operator is operator
    ] == [
        (key, "written"),
        ("CompositeExplicitAutograd", "derived"),
    ]


def test_a_kernel_that_is_not_the_default_declares_no_other() -> None:
    overlay = """\
- op: isnan.out
  kernels:
  - arg_meta: {self: [Float, D0]}
    kernel_name: fast
"""
    sources = [Source("ops.yaml", ISNAN), Source("more.yaml", overlay)]
    functions, _ = load_native_functions(sources, derive=derive_functions)
    program = build_program(functions, Config(Path(".")))
    assert program.resolved.by_name["aten::isnan.out"].kernels == ()


def test_what_nobody_derives_is_not_declared() -> None:
    sources = [
        Source("ops.yaml", ISNAN),
        Source("more.yaml", "backend: XLA\ncpp_namespace: x\nsupported: [isnan.ou]\n"),
    ]
    _, found = load_native_functions(sources, derive=derive_functions)
    assert render_concise(found) == (
        "more.yaml:3:13: error[TG312] operator 'isnan.ou' is not declared: no such operator (did "
        "you mean 'isnan.out'?)\n"
    )
