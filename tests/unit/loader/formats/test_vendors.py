"""Files as authors of backends write them, and what the loader reads from them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from torchgen_lite.analysis.program import Program
from torchgen_lite.loader.entry.entry import Backend, NativeFunction
from torchgen_lite.pipeline import generate, lint, load

PYTORCH = """\
- func: abs(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutograd: abs
- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  structured_delegate: add.out
  tags: [core, pointwise]
- func: add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)
  structured_delegate: add.out
- func: add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: add_out_cpu
- func: isnan(Tensor self) -> Tensor
  dispatch:
    CPU: isnan
  autogen: isnan.out
- func: roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor
  dispatch:
    CPU: roll_cpu
- func: clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor
  dispatch:
    CPU: clamp
- func: clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor
  dispatch:
    CPU: clamp_tensor
- func: resize_(Tensor(a!) self, SymInt[] size) -> Tensor(a!)
  use_const_ref_for_mutable_tensors: True
  dispatch:
    CPU: resize_
"""


def read(
    folder: Path, text: str, *more: str, settings: str = "", native: str = "pytorch.yaml"
) -> Program:
    (folder / "pytorch.yaml").write_text(PYTORCH)
    names = [f"ops{i}.yaml" for i in range(1 + len(more))]
    for name, one in zip(names, (text, *more)):
        (folder / name).write_text(one)
    listed = ", ".join(f'"{name}"' for name in names)
    config = f'schema = [{listed}]\nnative = "{native}"\ntargets = ["cpp-torch"]\n{settings}'
    (folder / "torchgen_lite.toml").write_text(config)
    return lint(load(root=folder))


def said(program: Program) -> list[str]:
    return [f"{d.code} {d.message}" for d in program.diagnostics]


def kernels(program: Program) -> dict[str, list[str]]:
    return {
        function.name: [f"{entry.key}: {entry.kernel}" for entry in function.dispatch]
        for function in program.functions
    }


def test_names_alone_take_the_rest_from_pytorch(tmp_path: Path) -> None:
    program = read(
        tmp_path,
        """\
- func: add.Tensor
- func: add.out
  dispatch:
    PrivateUse1: AddOut
- func: isnan.out
  dispatch:
    PrivateUse1: IsnanOut
- func: abs
  device_guard: False
  dispatch:
    PrivateUse1: Abs
""",
    )
    assert said(program) == []
    assert kernels(program) == {
        "aten::add.Tensor": [],
        "aten::add.out": ["PrivateUse1: AddOut"],
        "aten::isnan.out": ["PrivateUse1: IsnanOut"],
        "aten::abs": ["PrivateUse1: Abs"],
    }
    add, out, _, absolute = program.functions
    assert (add.delegate, add.tags, out.structured) == (
        "aten::add.out",
        ("core", "pointwise"),
        True,
    )
    assert not absolute.device_guard and absolute.autogen == ()
    assert [o.name for o in program.resolved.operators] == list(kernels(program))


def test_how_a_kernel_takes_what_it_writes_comes_from_pytorch(tmp_path: Path) -> None:
    text = "- func: resize_\n  dispatch:\n    PrivateUse1: resize_\n"
    [header] = [
        text for path, text in generate(read(tmp_path, text)).items() if path.endswith("/kernels.h")
    ]
    assert "const at::Tensor& resize_(const at::Tensor& self, at::IntArrayRef size);" in header


def test_a_kernel_of_its_own_is_no_part_of_a_structured_one(tmp_path: Path) -> None:
    program = read(
        tmp_path,
        """\
- func: add.Tensor
  dispatch:
    PrivateUse1: Add
- func: add.out
  structured: false
  dispatch:
    PrivateUse1: AddOut
""",
    )
    assert said(program) == []
    assert [(f.structured, f.structured_delegate) for f in program.functions] == [(False, None)] * 2


def test_kernels_of_a_class(tmp_path: Path) -> None:
    program = read(
        tmp_path,
        """\
backend: XLA
cpp_namespace: torch_xla
use_out_as_primary: true
supported:
  - add.out
  - clamp
  - clamp.Tensor
  - roll
  - xla_op
symint:
  - roll
ir_gen:
  - abs
custom:
  - func: xla_op(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
    dispatch: {XLA: own, Meta: meta}
""",
    )
    assert said(program) == []
    path = "XLA: torch_xla::XLANativeFunctions::"
    assert kernels(program) == {
        "xla::xla_op": ["XLA: own", "Meta: meta"],
        "aten::add.out": [f"{path}add_out"],
        "aten::clamp": [f"{path}clamp"],
        "aten::clamp.Tensor": [f"{path}clamp"],
        "aten::roll": [f"{path}roll_symint"],
    }
    own, out = program.functions[:2]
    backend = out.dispatch[0].backend
    assert backend == Backend("XLA", "torch_xla", "XLANativeFunctions", use_out_as_primary=True)
    assert not out.structured and [entry.backend for entry in own.dispatch] == [None, None]


def test_parts_of_a_schema_have_no_place_in_the_file_that_names_it(tmp_path: Path) -> None:
    text = (
        "backend: XLA\ncpp_namespace: x\nsupported:\n- abs\n- func: isnan(Tensor self) -> Tensor\n"
    )
    absolute, isnan = [f.func for f in read(tmp_path, text).functions]
    assert (absolute.arguments[0].span, absolute.returns[0].span) == (None, None)
    assert isnan.arguments[0].span is not None and isnan.arguments[0].span.line == 5
    assert absolute.name_span is not None and absolute.name_span.line == 4


def test_types_of_kernels_are_those_of_pytorch(tmp_path: Path) -> None:
    """c10 compares types, so PyTorch's file decides on `ITensorListRef` and on `const` for written tensors."""
    lists = """\
- func: cat(Tensor[] tensors) -> Tensor
  structured_delegate: cat.out
- func: cat.out(Tensor[] tensors, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch: {CPU: cat_out}
- func: resize_(Tensor(a!) self) -> Tensor(a!)
  use_const_ref_for_mutable_tensors: True
  dispatch: {CPU: resize_}
"""
    own = """\
- func: cat(Tensor[] tensors) -> Tensor
  dispatch: {PrivateUse1: cat}
- func: resize_(Tensor(a!) self) -> Tensor(a!)
  dispatch: {PrivateUse1: resize_}
"""
    for text in (own, "backend: PrivateUse1\ncpp_namespace: x\nsupported: [cat, resize_]\n"):
        (tmp_path / "lists.yaml").write_text(lists)
        program = read(tmp_path, text, settings='lint.ignore = ["TG409"]\n', native="lists.yaml")
        assert said(program) == []
        cat, resize = program.functions
        assert (cat.shares_structured, cat.structured, cat.delegate) == (True, False, None)
        assert (
            resize.use_const_ref_for_mutable_tensors and not cat.use_const_ref_for_mutable_tensors
        )


def test_variants_in_two_lists(tmp_path: Path) -> None:
    text = "backend: XLA\ncpp_namespace: x\nsupported: [add.Tensor]\nautograd: [add.out]\n"
    assert said(read(tmp_path, text)) == [
        "TG318 `add.out` is under `autograd`, and its variant `add.Tensor` under `supported`"
    ]


@pytest.mark.parametrize(
    "item", ["- add.out:\n      structured: true", "- add.out:\n    structured: true"]
)
def test_items_that_are_mappings(tmp_path: Path, item: str) -> None:
    program = read(
        tmp_path, f"backend: PrivateUse1\ncpp_namespace: at::mine\nsupported:\n  {item}\n"
    )
    assert said(program) == []
    assert program.functions[0].structured
    assert kernels(program) == {"aten::add.out": ["PrivateUse1: at::mine::add_out"]}


@pytest.mark.parametrize("field", ["class_name", "cpp_namespace"])
@pytest.mark.parametrize("name", ["a b", "a.b", "::a"])
def test_names_that_are_none_in_cpp(tmp_path: Path, field: str, name: str) -> None:
    names = {"class_name": "XLAFunctions", "cpp_namespace": "x", field: name}
    written = "".join(f'{field}: "{name}"\n' for field, name in names.items())
    program = read(tmp_path, f"backend: XLA\n{written}supported: [abs]\n")
    assert said(program) == [f"TG108 `{name}` is not a name in C++"]


PLUG_IN = """\
all_version: [v2.1, v2.2, v2.13]
official:
  - func: abs(Tensor self) -> Tensor
    acl_op: all_version
  - func: isnan(Tensor self) -> Tensor
    acl_op: [v2.1, v2.2]
    op_api: v2.1, v2.2
  - func: clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor
    op_api: [v2.2, newest]
    dvm: all_version
custom:
  - func: npu_op(Tensor self) -> Tensor
    op_api: [v2.1, v2.2]
  - func: npu_op(Tensor self, int more) -> Tensor
    op_api: [v2.13, newest]
    dvm: all_version
"""


@pytest.mark.parametrize(
    ("release", "names"),
    [
        ("2.1", ["abs", "isnan", "npu_op(Tensor self) -> Tensor"]),
        ("2.2", ["abs", "isnan", "clamp", "npu_op(Tensor self) -> Tensor"]),
        ("2.13", ["abs", "clamp", "npu_op(Tensor self, int more) -> Tensor"]),
        ("", ["abs", "clamp", "npu_op(Tensor self, int more) -> Tensor"]),
    ],
)
def test_version_ranges(tmp_path: Path, release: str, names: list[str]) -> None:
    settings = 'namespace = "npu"\nlint.ignore = ["TG409"]\n'
    settings += f'for-torch = "{release}"\n' if release else ""
    program = read(tmp_path, PLUG_IN, settings=settings)
    assert said(program) == []
    own, *aten = [f.func for f in program.functions]
    assert [*[f.local_name for f in aten], own.local_text] == names


# Each operator has another reason for having several entries.
RELEASES = """\
all_version: [v2.1, v2.2, v2.3, v2.4]
official:
  - func: abs(Tensor self) -> Tensor
    op_api: all_version
  - func: isnan(Tensor self) -> Tensor
    op_api: v2.1, v2.3
  - func: roll(Tensor self, int[1] shifts, int[1] dims=[]) -> Tensor
    op_api: [v2.1, v2.2]
  - func: roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor
    op_api: [v2.3, newest]
  - func: retired(Tensor self) -> Tensor
    acl_op: [v2.1, v2.2]
custom:
  - func: npu_op(Tensor self, int size) -> Tensor
    op_api: [v2.2, newest]
autograd:
  - func: abs(Tensor self) -> Tensor
    op_api: [v2.3, newest]
symint:
  - func: npu_op(Tensor self, int size) -> Tensor
    op_api: [v2.3, newest]
"""


def entries(functions: Sequence[NativeFunction]) -> list[str]:
    return [
        f"{f.func.local_name} {f.torch} {' '.join(f'{e.key}:{e.kernel}' for e in f.dispatch)}"
        for f in functions
    ]


def test_ranges_of_a_vendor_are_ranges_of_entries(tmp_path: Path) -> None:
    program = read(
        tmp_path,
        RELEASES,
        settings='namespace = "npu"\nfor-torch = "2.3"\nlint.ignore = ["TG409"]\n',
    )
    assert said(program) == []
    assert entries(program.functions) == [
        "npu_op >=2.3 PrivateUse1:npu_op_symint",
        "abs >=2.3 PrivateUse1:abs AutogradPrivateUse1:abs",
        "isnan <2.4,!=2.2.* PrivateUse1:isnan",
        "roll >=2.3 PrivateUse1:roll",
    ]
    assert entries(program.elsewhere) == [
        "npu_op >=2.2,<2.3 PrivateUse1:npu_op",
        "abs <2.3 PrivateUse1:abs",
        "roll <2.3 PrivateUse1:roll",
        "retired <2.3 PrivateUse1:retired",
    ]


@pytest.mark.parametrize("minor", range(1, 5))
def test_a_file_read_once_serves_every_release(tmp_path: Path, minor: int) -> None:
    settings = 'namespace = "npu"\nfor-torch = "{}"\n'
    once = read(tmp_path, RELEASES, settings=settings.format("2.4"))
    alone = read(tmp_path, RELEASES, settings=settings.format(f"2.{minor}"))
    every = [f for f in (*once.functions, *once.elsewhere) if f.is_for((2, minor))]
    # Where the release that is read should have the operator, but does not, that is an error.
    assert [d.code for d in alone.diagnostics if d.severity == "error"] == ["TG312"] * (minor < 3)
    known = [f for f in every if f.func.local_name != "retired"]
    assert sorted(entries(known)) == sorted(entries(alone.functions))
    assert len(known) == {1: 3, 2: 3, 3: 4, 4: 3}[minor]


def test_a_delegate_for_what_is_structured_in_pytorch(tmp_path: Path) -> None:
    """Only PyTorch's file says that `add.out` is structured."""
    program = read(tmp_path, "- func: add.out\n  structured_delegate: add.Tensor\n")
    assert said(program)[:1] == ["TG116 `structured` and `structured_delegate` exclude each other"]


def test_a_file_for_one_release(tmp_path: Path) -> None:
    text = (
        "backend: NPU\ncpp_namespace: x\nsupported:\n  - func: abs\n    op_api: True\n  - isnan\n"
    )
    text += "  - {func: roll, op_api: False}\n"
    program = read(tmp_path, text)
    assert said(program) == []
    assert [f.func.local_name for f in program.functions] == ["abs", "isnan"]


def test_a_range_that_is_none(tmp_path: Path) -> None:
    text = "all_version: [v2.1, v2.2]\nofficial:\n- {func: abs, op_api: [v2.1, later]}\n"
    assert said(read(tmp_path, text)) == [
        "TG106 `later` is not a release, such as `v2.13`, `newest` or `all_version`"
    ]


@pytest.mark.parametrize(
    ("signature", "code", "at_fault"),
    [
        ("roll(Tensor self, int[1] shifts, int[1] dims=[]) -> Tensor", "TG317", "shifts"),
        ("roll(Tensor self, SymInt[1] by, int[1] dims=[]) -> Tensor", "TG317", "by"),
        ("roll(Tensor self, SymInt[1] shifts, int[1] dims=0) -> Tensor", "TG317", "dims"),
        ("roll(Tensor self, SymInt[1] shifts, float dims) -> Tensor", "TG316", "dims"),
        ("roll(Tensor self, SymInt[1] shifts, int[1] dims, int x) -> Tensor", "TG316", "x"),
        ("roll(Tensor self, SymInt[1] shifts) -> Tensor", "TG316", "roll"),
        ("roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor[]", "TG316", "Tensor[]"),
        ("rol(Tensor self) -> Tensor", "TG315", "rol"),
    ],
)
def test_signatures_are_compared_with_those_of_pytorch(
    tmp_path: Path, signature: str, code: str, at_fault: str
) -> None:
    entry = f"- func: {signature}\n  dispatch: {{PrivateUse1: f}}\n"
    found = read(tmp_path, entry, settings='lint.ignore = ["TG409"]\n').diagnostics
    assert [d.code for d in found] == [code]
    label = found[0].label
    assert label is not None and at_fault in label.span.text


def test_entries_under_namespaces(tmp_path: Path) -> None:
    program = read(
        tmp_path,
        """\
aten:
  - func: add.Tensor
    structured_delegate: add.out
  - func: add.out
    structured: True
  - func: abs
    custom_autograd: True
vision:
  - func: nms(Tensor dets) -> Tensor
custom:
  - func: dump(Tensor input) -> bool
    derived_type: bang
""",
        settings='lint.ignore = ["TG409"]\n',
    )
    assert said(program) == []
    assert kernels(program) == {
        "aten::add.Tensor": [],
        "aten::add.out": ["PrivateUse1: add_out"],
        "aten::abs": ["PrivateUse1: abs", "AutogradPrivateUse1: abs"],
        "torchvision::nms": ["PrivateUse1: nms"],
        "custom::dump": ["PrivateUse1: dump"],
    }


BACKEND = "backend: PrivateUse1\ncpp_namespace: x\nsupported:\n"
PLUGIN = "all_version: [v2.1]\nofficial:\n"

# A misspelled word in each place that takes names of fields, and the name that is meant.
MISSPELLED = [
    ("aten:\n- func: abs\n  custom_autogard: True\n", "custom_autograd"),
    ("aten:\n- func: add.out\n  structred: True\n", "structured"),
    (f"{BACKEND}- add.out:\n    structred: true\n", "structured"),
    (f"{BACKEND}- add.out:\n  structred: true\n", "structured"),
    (f"{BACKEND}- func: add.out\n  device_gaurd: false\n", "device_guard"),
    (f"{BACKEND}- op: add.out\n  define_mta: false\n", "define_meta"),
    (f"{BACKEND}- abs\nautogard: [abs]\n", "autograd"),
    (f"{PLUGIN}- func: abs\n  op_apii: all_version\n", "op_api"),
    (f"{PLUGIN}- func: abs\n  gen_opapy: {{}}\n", "gen_opapi"),
    (
        "all_version: [v2.1]\ncustom:\n- func: m::f(Tensor x) -> Tensor\n  op_appi: v2.1\nofficial:\n",
        "op_api",
    ),
    ("- op: add.out\n  kernells: []\n", "kernels"),
    ("- op: add.out\n  type_alais: {}\n", "type_alias"),
    ("- op: add.out\n  kernels: [{arg_mta: null, kernel_name: f}]\n", "arg_meta"),
    ("- op: add.out\n  kernels: [{arg_meta: {slef: [T0, D0]}, kernel_name: f}]\n", "self"),
    ("all_verson: [v2.1]\nbackward: []\n", "all_version"),
    ("all_version: [v2.1]\nbackward: []\nbackwards: []\n", "backward"),
    ("backward:\n- nmae: abs(Tensor self) -> Tensor\n  self: grad\n", "name"),
]


@pytest.mark.parametrize(("text", "meant"), MISSPELLED)
def test_misspelled_fields_are_named(tmp_path: Path, text: str, meant: str) -> None:
    found = read(tmp_path, text, settings='lint.ignore = ["TG374", "TG409"]\n').diagnostics
    assert {one.code for one in found} <= {"TG102", "TG104"}
    assert len(found) == 1 and f"did you mean `{meant}`?" in str(found[0].help)


@pytest.mark.parametrize("value", ["True", "False"])
def test_a_kernel_for_autograd_is_asked_for(tmp_path: Path, value: str) -> None:
    program = read(tmp_path, f"aten:\n- func: abs\n  custom_autograd: {value}\n")
    keys = [entry.key for entry in program.functions[0].dispatch]
    assert keys == ["PrivateUse1", "AutogradPrivateUse1"][: 1 + (value == "True")]


# How each format names an operator: a head, and an item.
FORMATS = {
    "entries": ("", "- func: {}\n"),
    "executorch": ("", "- op: {}\n"),
    "namespaces": ("aten:\n", "- func: {}\n"),
    "backend, names": ("backend: XLA\ncpp_namespace: x\nsupported:\n", "- {}\n"),
    "backend, items": ("backend: XLA\ncpp_namespace: x\nsupported:\n", "- func: {}\n"),
    "backend, options": ("backend: XLA\ncpp_namespace: x\nsupported:\n", "- {}:\n"),
    "plug-in": (
        "all_version: [v2.1]\nofficial:\n",
        "- func: {}\n  op_api: all_version\n",
    ),
}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "names",
    [
        ["add.out"],
        ["add.Tensor"],
        ["add.Tensor", "add_.Tensor", "add.out"],
        ["abs", "add.out", "isnan.out", "roll", "resize_"],
    ],
    ids=" ".join,
)
def test_names_without_kernels(tmp_path: Path, form: str, names: list[str]) -> None:
    """An operator that is only named has what PyTorch's file says of it, which is no mistake of this one."""
    head, item = FORMATS[form]
    program = read(tmp_path, head + "".join(item.format(name) for name in names))
    assert [found.code for found in program.diagnostics if found.severity == "error"] == []
    assert [f.func.local_name for f in program.functions] == names
    assert generate(program)


def test_executorch_takes_any_field(tmp_path: Path) -> None:
    program = read(
        tmp_path,
        """\
- op: add.out
  tags: core
  kernels:
    - arg_meta: null
      kernel_name: torch::executor::add_out
- op: isnan.out
  cpp_no_default_args: []
  kernels:
    - arg_meta: null
      kernel_name: torch::executor::isnan_out
- func: llama::op.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)
  kernels:
    - arg_meta: null
      kernel_name: op_out
""",
    )
    assert said(program) == []
    assert kernels(program) == {
        "aten::add.out": ["CPU: torch::executor::add_out"],
        "aten::isnan.out": ["CPU: torch::executor::isnan_out"],
        "llama::op.out": ["CPU: op_out"],
    }


def test_kernels_for_a_key_that_has_one_are_refused(tmp_path: Path) -> None:
    """If PyTorch's file is an earlier schema file, its kernels count as declared."""
    text = "- op: isnan\n  kernels: [{arg_meta: null, kernel_name: mine}]\n"
    (tmp_path / "nf.yaml").write_text(PYTORCH)
    (tmp_path / "et.yaml").write_text(text)
    program = load(["nf.yaml", "et.yaml"], root=tmp_path)
    assert [d.code for d in program.diagnostics] == ["TG307"]


FORMULAS = """\
all_version: [v2.1, v2.2]
backward:
- name: abs(Tensor self) -> Tensor
  self: grad * self
  version: [v2.1, newest]
- name: mylib::op(Tensor x) -> Tensor
  x: grad
  version: v2.1
"""


def test_formulas_of_a_vendor(tmp_path: Path) -> None:
    own = "- func: mylib::op(Tensor x) -> Tensor\n  dispatch: {CPU: f, Meta: f}\n"
    program = read(tmp_path, own, FORMULAS)
    assert said(program) == []
    found = {f.name: f.derivatives for f in program.functions}
    assert found["mylib::op"] is None
    absolute = found["aten::abs"]
    assert absolute is not None and [key for key, _ in absolute.variants] == ["AutogradPrivateUse1"]
    program = read(tmp_path, own, FORMULAS, settings='for-torch = "2.1"\n')
    written = program.functions[0].derivatives
    assert written is not None and [key for key, _ in written.variants] == ["Default"]


def test_formulas_for_other_arguments(tmp_path: Path) -> None:
    assert said(read(tmp_path, "- name: abs(Tensor x) -> Tensor\n  x: grad\n")) == [
        "TG307 the arguments of `abs` are named differently where it is declared"
    ]


def test_operators_of_paddle(tmp_path: Path) -> None:
    text = "- op: abs\n  args: (Tensor x)\n  kernel: {func: abs}\n- op: acos\n  args: (Tensor x)\n"
    assert said(read(tmp_path, text)) == [
        "TG101 these are operators of Paddle, which have another schema language"
    ]


def test_types_of_the_edge_dialect(tmp_path: Path) -> None:
    entry = "- func: aten::abs\n  namespace: edge\n  inherits: aten::abs\n  type_constraint:\n  - self: T0\n"
    assert said(read(tmp_path, entry * 2)) == [
        "TG101 these are types that operators of the edge dialect take, not operators"
    ]


def test_warnings_are_about_the_author(tmp_path: Path) -> None:
    """PyTorch's `clamp` and `clamp.Tensor` would get the same warnings, but only the author's operators do."""
    text = """\
- func: clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor
  dispatch: {PrivateUse1: clamp}
- func: clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor
  dispatch: {PrivateUse1: clamp}
- func: mine::clamp(Tensor self, Scalar? min=None) -> Tensor
  dispatch: {PrivateUse1: clamp}
- func: mine::clamp.Tensor(Tensor self, Tensor? min=None) -> Tensor
  dispatch: {PrivateUse1: clamp}
"""
    assert [d.code for d in read(tmp_path, text).diagnostics] == ["TG409", "TG411", "TG409"]


def test_the_script_that_reads_files_of_vendors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It also counts kernels with PyYAML, and reports files from which some are lost."""
    from tests.conformance import vendors

    (tmp_path / "pytorch.yaml").write_text(PYTORCH)
    folder = tmp_path / "vendors"
    folder.mkdir()
    (folder / "a.yaml").write_text(PLUG_IN.replace("npu_op", "npu::op"))
    (folder / "b.yaml").write_text("- func: nothing\n  dispatch: {PrivateUse1: nothing}\n")
    (folder / "c.yaml").write_text("- name: abs(Tensor self) -> Tensor\n  self: grad\n")
    command = ["vendors.py", "--native", str(tmp_path / "pytorch.yaml"), str(folder)]
    monkeypatch.setattr("sys.argv", command)
    assert vendors.main() == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert [row[:7] for row in rows] == [
        ["a.yaml", "backend", "3", "3", "3", "0", "1"],
        ["b.yaml", "entries", "0", "0", "1", "1", "0"],
        ["c.yaml", "formulas", "1", "0", "0", "0", "0"],
    ]
    monkeypatch.setattr(vendors, "entry_items", lambda entry: 5)
    assert vendors.main() == 1
    assert "lost: 4" in capsys.readouterr().out


SOME_FORMULAS = """\
all_version: [v2.1, v2.2, v2.3, v2.4]
backward:
- name: npu_op(Tensor self, int size) -> Tensor
  self: grad * size
  version: [v2.3, newest]
- name: abs(Tensor self) -> Tensor
  self: grad * 2
  version: [v2.1, v2.2]
"""


def test_ranges_of_formulas(tmp_path: Path) -> None:
    """An operator has an entry with the formulas for some releases, and one without for the others."""
    settings = 'namespace = "npu"\nfor-torch = "2.4"\nlint.ignore = ["TG409"]\n'
    program = read(
        tmp_path, RELEASES.replace("v2.2, newest", "v2.1, newest"), SOME_FORMULAS, settings=settings
    )
    assert said(program) == []
    found = [(f.func.local_name, f.torch) for f in program.functions if f.derivatives]
    assert found == [("npu_op", ">=2.3")]
    others = [(f.func.local_name, f.torch) for f in program.elsewhere if f.derivatives]
    assert others == [("abs", "<2.3")]
    without = [(f.func.local_name, f.torch) for f in program.elsewhere if not f.derivatives]
    assert ("npu_op", "<2.3") in without
