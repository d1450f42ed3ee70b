"""The output of target `cpp-torch` for a few operators; tests/cases/cpp_torch has whole files."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

import torchgen_lite
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.torch import releases
from torchgen_lite.loader.torch.files import TorchFiles
from torchgen_lite.pipeline import generate_all
from torchgen_lite.targets import TARGETS, file_names


def load(folder: Path, yaml: str, **options: object) -> torchgen_lite.Program:
    (folder / "ops.yaml").write_text(yaml)
    given = {name.replace("_", "-"): value for name, value in options.items()}
    config = Config(root=folder, target_options={"cpp-torch": given})
    return torchgen_lite.load("ops.yaml", config=config, root=folder)


def with_options(folder: Path, yaml: str, **options: object) -> torchgen_lite.Program:
    (folder / "torchgen_lite.toml").write_text("")
    (folder / "ops.yaml").write_text(yaml)
    given = {name.replace("_", "-"): value for name, value in options.items()}
    config = Config(root=folder, schema=("ops.yaml",), target_options={"cpp-torch": given})
    return torchgen_lite.load(config=config)


def generate(folder: Path, yaml: str, **options: object) -> dict[str, str]:
    program = with_options(folder, yaml, **options)
    files = torchgen_lite.generate(program, targets=["cpp-torch"])
    return {path.removeprefix("cpp-torch/"): text for path, text in files.items()}


def diagnostics(folder: Path, yaml: str, **options: object) -> list[str]:
    program = with_options(folder, yaml, **options) if options else load(folder, yaml)
    generated = generate_all(program, targets=["cpp-torch"])
    return [f"{d.severity}[{d.code}]: {d.message}" for d in generated.diagnostics]


SCALE = "- func: demo::scale(Tensor self, float s) -> Tensor\n"
TWO_KEYS = SCALE + "  dispatch:\n    CPU, PrivateUse1: scale_it\n"


def test_cpu_kernels_are_registered_as_they_are(tmp_path: Path) -> None:
    text = generate(tmp_path, TWO_KEYS)["src/register.cpp"]
    assert "\n#include <torch/library.h>\n\n#include <demo/kernels.h>\n" in text
    assert """
TORCH_LIBRARY_IMPL(demo, CPU, m) {
  m.impl("scale", TORCH_FN(::demo::scale_it));
}
""" in text


def test_registrations_include_nothing_of_autograd(tmp_path: Path) -> None:
    """Libtorch's headers of autograd take a compiler as long as all registrations."""
    files = generate(tmp_path, TWO_KEYS)
    included = set()
    unread = ["src/register.cpp"]
    while unread:
        found = set(re.findall(r'#include [<"](.*)[>"]', files[unread.pop()])) - included
        included |= found
        unread += [f"include/{name}" for name in found if f"include/{name}" in files]
    assert "demo/underived.h" in included
    assert not [name for name in included if "autograd" in name]


PYTORCH = """\
- func: mul(Tensor self, Tensor other)
    -> Tensor
- func: add.Tensor(Tensor self, Tensor other) -> Tensor
  structured_delegate: add.out
- func: add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
"""
NAMED = """\
- func: mul
  dispatch: {PrivateUse1: mul}
- func: add.out
  dispatch: {PrivateUse1: add_out}
- func: demo::own(Tensor self) -> Tensor
  dispatch: {PrivateUse1: own}
"""


def test_entries_by_name_alone(tmp_path: Path) -> None:
    (tmp_path / "pytorch.yaml").write_text(PYTORCH)
    (tmp_path / "ops.yaml").write_text(NAMED)
    (tmp_path / "torchgen_lite.toml").write_text(
        'schema = ["ops.yaml"]\nnative = "pytorch.yaml"\n[target.cpp-torch]\nnamespace = "demo"\n'
    )
    program = torchgen_lite.load(root=tmp_path)
    files = torchgen_lite.generate(program, targets=["cpp-torch"])
    # PyTorch itself has typed calls for its operators.
    structs = re.findall(r"^struct (\w+)", files["cpp-torch/include/demo/operators.h"], re.M)
    assert structs == ["demo__own"]
    assert not any("pytorch.yaml" in text for text in files.values())
    # The entry is only a name, so a message about an argument points at it.
    named = program.functions[0].func
    assert named.name_span is not None and named.name_span.source.path == "ops.yaml"
    assert all(part.span is None for part in (*named.arguments, *named.returns))


AUTOCAST = """\
- func: demo::exact(Tensor x, *, Tensor y) -> Tensor
  autocast: {dtype: float32, result: y}
- func: demo::rough(Tensor x) -> Tensor
  guard: "#ifdef ROUGH"
  dispatch:
    AutocastCPU: rough_cpu
  autocast: lower_precision
- func: demo::part(Tensor x, float s, *, Tensor?[] ys, Tensor w) -> Tensor
  autocast: {dtype: lower_precision, only: [w, ys]}
- func: demo::back(Tensor x, Tensor w) -> Tensor
  autocast: {dtype: float32, only: [w], result: x}
"""


def test_autocast_casts_and_calls_again(tmp_path: Path) -> None:
    text = generate(tmp_path, AUTOCAST)["src/register.cpp"]
    assert text.count("TORCH_LIBRARY_IMPL(demo, Autocast") == 5
    assert """
TORCH_LIBRARY_IMPL(demo, AutocastCPU, m) {
#if defined(ROUGH)
  m.impl("rough", TORCH_FN(::demo::rough_cpu));
#endif
  m.impl("exact", demo::fallback::autocast(c10::DeviceType::CPU, at::kFloat, /*result=*/1));
  m.impl("part", demo::fallback::autocast(c10::DeviceType::CPU, std::nullopt, /*result=*/std::nullopt, /*only=*/{3, 2}));
  m.impl("back", demo::fallback::autocast(c10::DeviceType::CPU, at::kFloat, /*result=*/0, /*only=*/{1}));
}

TORCH_LIBRARY_IMPL(demo, AutocastCUDA, m) {
  m.impl("exact", demo::fallback::autocast(c10::DeviceType::CUDA, at::kFloat, /*result=*/1));
#if defined(ROUGH)
  m.impl("rough", demo::fallback::autocast(c10::DeviceType::CUDA, std::nullopt));
#endif
  m.impl("part", demo::fallback::autocast(c10::DeviceType::CUDA, std::nullopt, /*result=*/std::nullopt, /*only=*/{3, 2}));
  m.impl("back", demo::fallback::autocast(c10::DeviceType::CUDA, at::kFloat, /*result=*/0, /*only=*/{1}));
}
""" in text


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("(Tensor x) -> Tensor\n  autocast: {result: x}", "no dtype to cast to"),
        ("(Tensor x) -> Tensor\n  autocast: {dtype: int8}", "unknown autocast rule `int8`"),
        ("(Tensor x) -> Tensor\n  autocast: {dtyp: int8}", "unknown autocast field `dtyp`"),
        (
            "(Tensor x) -> Tensor\n  autocast: {dtype: float32, result: y}",
            "`demo::f` has no tensor `y`",
        ),
        (
            "(Tensor x, float s) -> Tensor\n  autocast: {dtype: float32, only: [x, s]}",
            "`s` is no tensor of `demo::f`",
        ),
        (
            "(Tensor x) -> Tensor\n  autocast: {dtype: float32, only: [x, x]}",
            "`x` is named twice",
        ),
        (
            "(Tensor x) -> Tensor\n  autocast: {dtype: float32, only: []}",
            "`only` names no tensor",
        ),
        ("(Tensor x) -> Tensor\n  autocast: {only: [x]}", "no dtype to cast to"),
        (
            "(Tensor(a!) x) -> ()\n  autocast: float32",
            "`demo::f` writes to its arguments, which can't be cast",
        ),
    ],
)
def test_autocast_is_held_against_the_schema(tmp_path: Path, entry: str, message: str) -> None:
    assert diagnostics(tmp_path, f"- func: demo::f{entry}\n")[-1] == f"error[TG337]: {message}"


def test_backends_with_devices_get_a_check_and_a_guard(tmp_path: Path) -> None:
    assert """
at::Tensor wrapper_PrivateUse1_scale(const at::Tensor& self, double s) {
  ::std::optional<c10::Device> common_device;
  c10::impl::check_and_update_common_device(
      common_device,
      self,
      "wrapper_PrivateUse1_scale",
      "self");
  const c10::OptionalDeviceGuard device_guard(at::device_of(self));
  return ::demo::scale_it(self, s);
}
""" in generate(tmp_path, TWO_KEYS)["src/register_privateuse1.cpp"]


def test_what_copies_between_devices_has_no_check(tmp_path: Path) -> None:
    yaml = "- func: _copy_from(Tensor self, Tensor dst, bool non_blocking=False) -> Tensor\n"
    text = generate(tmp_path, yaml + "  dispatch:\n    PrivateUse1: demo::copy\n")
    register = text["src/register_privateuse1.cpp"]
    assert "check_and_update_common_device" not in register
    assert "device_guard(at::device_of(self));" in register


def test_a_list_that_may_be_absent_has_no_device(tmp_path: Path) -> None:
    yaml = "- func: demo::f(Tensor[]? y, Tensor x) -> Tensor\n  dispatch:\n    CUDA: f_cuda\n"
    text = generate(tmp_path, yaml)["src/register_cuda.cpp"]
    assert text.count("check_and_update_common_device") == 1
    assert "device_guard(at::device_of(x));" in text
    alone = generate(tmp_path, yaml.replace(", Tensor x", ""))["src/register_cuda.cpp"]
    assert "wrapper" not in alone


def test_a_namespace_of_pytorchs_is_not_defined_again(tmp_path: Path) -> None:
    yaml = "- func: _quantized::f(Tensor x) -> Tensor\n  dispatch:\n    PrivateUse1: demo::f\n"
    files = generate(tmp_path, yaml + SCALE)
    assert not any("TORCH_LIBRARY(_quantized" in text for text in files.values())
    assert "TORCH_LIBRARY_IMPL(_quantized, PrivateUse1, m)" in files["src/register_privateuse1.cpp"]


def test_without_check_and_guard_there_is_no_wrapper(tmp_path: Path) -> None:
    yaml = TWO_KEYS + "  device_check: NoCheck\n  device_guard: False\n"
    text = generate(tmp_path, yaml)["src/register_privateuse1.cpp"]
    assert "wrapper" not in text
    assert '  m.impl("scale", TORCH_FN(::demo::scale_it));\n' in text


def test_a_factory_is_guarded_by_its_device(tmp_path: Path) -> None:
    options = (
        "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
    )
    yaml = f"- func: demo::ones(int n, *, {options}) -> Tensor\n  dispatch:\n    CUDA: ones_cuda\n"
    files = generate(tmp_path, yaml)
    guard = "  const c10::DeviceGuard device_guard(c10::device_or_default(device));\n"
    assert guard in files["src/register_cuda.cpp"]
    assert '  m.impl("ones", TORCH_FN(select_ones));\n' in files["src/register.cpp"]


def test_overloaded_kernels_are_told_apart_by_a_call(tmp_path: Path) -> None:
    yaml = SCALE + "- func: demo::scale.int(Tensor self, int s) -> Tensor\n"
    yaml = yaml.replace("-> Tensor\n", "-> Tensor\n  dispatch:\n    CPU: scale\n")
    text = generate(tmp_path, yaml)["src/register.cpp"]
    assert """
at::Tensor wrapper_CPU_scale_int(const at::Tensor& self, int64_t s) {
  return ::demo::scale(self, s);
}
""" in text
    assert '  m.impl("scale.int", TORCH_FN(wrapper_CPU_scale_int));\n' in text


def test_pytorchs_operators_get_kernels_and_no_schema(tmp_path: Path) -> None:
    yaml = "- func: relu(Tensor self) -> Tensor\n  dispatch:\n    PrivateUse1: relu_npu\n"
    files = generate(tmp_path, yaml)
    assert "src/register.cpp" not in files
    assert "TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {" in files["src/register_privateuse1.cpp"]
    assert "at::Tensor relu_npu(const at::Tensor& self);" in files["include/aten_ops/kernels.h"]


def test_structured_operators_have_no_kernels_of_the_authors(tmp_path: Path) -> None:
    yaml = """\
- func: demo::neg(Tensor self) -> Tensor
  structured_delegate: neg.out
- func: demo::neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: neg_out
- func: demo::pos(Tensor self) -> Tensor
"""
    text = generate(tmp_path, yaml)["include/demo/kernels.h"]
    assert re.findall(r"(\w+)\(const at::Tensor& self", text) == ["pos"]


ADD_OUT = """\
- func: add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    PrivateUse1: add_out_mine
"""
ADD = """\
- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  structured_delegate: add.out
"""


def registered(files: dict[str, str]) -> list[str]:
    return re.findall(r'm\.impl\(\s*"([^"]+)"', files["src/register_privateuse1.cpp"])


def test_a_structured_kernel_is_registered_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(releases, "find_torch_files", lambda: (None, ()))
    refused = ["error[TG319]: structured `add.out` has no functional variant"]
    assert diagnostics(tmp_path, ADD_OUT) == refused
    assert registered(generate(tmp_path, ADD + ADD_OUT)) == ["add.Tensor", "add.out"]


def test_pytorchs_file_completes_a_structured_operator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = TorchFiles(tmp_path / "torch.yaml", tmp_path, tmp_path, "")
    inplace = (
        "- func: add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)\n"
    )
    files.native_functions.write_text(f"{inplace}  structured_delegate: add.out\n{ADD}")
    monkeypatch.setattr(releases, "find_torch_files", lambda: (files, ()))
    program = load(tmp_path, ADD_OUT)
    names = [function.name for function in program.resolved.context]
    assert names == ["aten::add_.Tensor", "aten::add.Tensor"]
    assert [operator.name for operator in program.resolved.operators] == ["aten::add.out"]
    generated = generate(tmp_path, ADD_OUT)
    assert registered(generated) == ["add.out"]
    header = generated["include/aten_ops/structured.h"]
    assert "struct structured_add_out_mine : public at::meta::structured_add_Tensor {" in header
    # A different schema is a different operator, and a library's operators are not PyTorch's.
    other = ADD_OUT.replace("Scalar alpha=1, ", "")
    refused = ["error[TG319]: structured `add.out` has no functional variant"]
    assert diagnostics(tmp_path, other) == refused
    assert diagnostics(tmp_path, ADD_OUT.replace("add.out", "demo::add.out")) == refused


@pytest.mark.torch
def test_the_installed_pytorch_completes_a_structured_operator(tmp_path: Path) -> None:
    generated = generate(tmp_path, ADD_OUT)
    assert registered(generated) == ["add.out"]
    header = generated["include/aten_ops/structured.h"]
    assert "#include <ATen/ops/add_meta.h>" in header
    assert "struct structured_add_out_mine : public at::meta::structured_add_Tensor {" in header


def test_library_options(tmp_path: Path) -> None:
    files = generate(
        tmp_path,
        SCALE,
        namespace="my::lib",
        library="fragment",
        python_module="my.fakes",
        kernel_headers=["my/kernels.h"],
        module="",
    )
    assert """
TORCH_LIBRARY_FRAGMENT(demo, m) {
  m.set_python_module("my.fakes");
  m.def("scale(Tensor self, float s) -> Tensor");
}
""" in files["src/register.cpp"]
    assert """
#include "my/kernels.h"

#include <my/lib/verify_kernels.h>
#include <my/lib/kernel_function.h>
""" in files["src/register.cpp"]
    assert """
TORCH_LIBRARY_IMPL(demo, CompositeImplicitAutograd, m) {
  m.impl("scale", TORCH_FN(wrapper_CompositeImplicitAutograd_scale));
}
""" in files["src/register.cpp"]
    assert """
  return ::my::lib::memory::checked(
      [] { return c10::OperatorName("demo::scale", ""); },
      my::lib::proof::as_declared<
          my::lib::ops::scale,
          at::Tensor (const at::Tensor&, double),
          &::my::lib::scale>::call(
          self,
          s),
      self,
      s);
""" in files["src/register.cpp"]
    assert "src/module.cpp" not in files


def test_numbers_of_kernels_that_are_called_by_name_are_not_converted(tmp_path: Path) -> None:
    """C++ would convert them without a check of the range."""
    yaml = """\
- func: demo::f(Tensor x, int n) -> Tensor
  dispatch: {CPU: both}
- func: demo::f_(Tensor(a!) x, int n) -> Tensor(a!)
  dispatch: {CPU: both}
- func: demo::g(Tensor x, int n) -> Tensor
  dispatch: {CPU: alone}
- func: demo::h(Tensor x, int n) -> Tensor
  dispatch: {CPU: [{when: n < 8, kernel: few}, many]}
"""
    files = generate(tmp_path, yaml, kernel_headers=["k.h"])
    proofs = {name: files[f"include/demo/verify/{name}.h"] for name in ("f", "f_", "g", "h")}
    assert "&::demo::both, meant_by_libtorch, meant_by_libtorch," in proofs["f"]
    assert "&::demo::both, meant_by_libtorch, meant_by_libtorch," in proofs["f_"]
    assert "&::demo::alone, meant, meant," in proofs["g"]
    for name in ("few", "many"):
        assert f"&::demo::{name}, meant_by_libtorch, meant_by_libtorch," in proofs["h"]
    assert "return ::demo::both(x, n);" in files["src/register.cpp"]


def test_tags(tmp_path: Path) -> None:
    tags = SCALE + "  tags: [pt2_compliant_tag, pointwise, nondeterministic_seeded]\n"
    assert """
  m.def(
      "scale(Tensor self, float s) -> Tensor",
      {at::Tag::pt2_compliant_tag, at::Tag::pointwise, at::Tag::nondeterministic_seeded});
""" in generate(tmp_path, tags)["src/register.cpp"]


def test_libtorch_is_told_of_its_own_tags(tmp_path: Path) -> None:
    tags = SCALE + "  tags: core, ours\n"
    found = ["error[TG543]: libtorch has no tag `ours`", "warning[TG111]: unknown tag `ours`"]
    assert sorted(diagnostics(tmp_path, tags)) == found
    config = Config(root=tmp_path, schema=("ops.yaml",), tags=("ours",))
    generated = generate_all(torchgen_lite.load(config=config), targets=["cpp-torch"])
    assert generated.diagnostics == ()
    text = generated.files["cpp-torch/src/register.cpp"]
    assert 'm.def("scale(Tensor self, float s) -> Tensor", {at::Tag::core});' in text


def test_shards_depend_on_the_name_alone(tmp_path: Path) -> None:
    def places(yaml: str) -> dict[str, str]:
        files = generate(tmp_path, yaml, shards=4)
        return {
            name: path
            for path, text in files.items()
            if path.startswith("include/demo/operators_")
            for name in re.findall(r"^struct (\w+) :", text, flags=re.M)
        }

    names = ["add", "sub", "mul", "div", "neg", "pos"]
    one = "".join(f"- func: demo::{n}(Tensor self) -> Tensor\n" for n in names)
    before, after = places(one), places("- func: demo::new(Tensor self) -> Tensor\n" + one)
    assert len(set(before.values())) > 1
    assert {name: after[name] for name in names} == before


def test_types_that_libtorch_takes(tmp_path: Path) -> None:
    yaml = """\
- func: demo::f(Tensor(a!)? x, bool[] flags, int[][] pairs, Dict(str, Tensor) named) -> str
- func: demo::g(Tensor x, Dimname name) -> Tensor
- func: demo::h(Tensor x) -> Scalar[]
- func: demo::i(Tensor x, ...) -> Tensor
- func: demo::j(Tensor x, *, Tensor(a!) total, float s=1.0) -> ()
"""
    assert """
std::string f(
    const std::optional<at::Tensor>& x,
    c10::List<bool> flags,
    std::vector<std::vector<int64_t>> pairs,
    c10::Dict<std::string, at::Tensor> named);
""" in generate(tmp_path, yaml)["include/demo/kernels.h"]
    assert diagnostics(tmp_path, yaml) == [
        "warning[TG511]: `demo::g` has a type that libtorch cannot pass to a kernel: "
        "argument `name` is `Dimname`",
        "warning[TG511]: `demo::h` has a type that libtorch cannot pass to a kernel: "
        "the result is `Scalar[]`",
        "warning[TG511]: `demo::i` takes or returns any number of values, which a typed call cannot",
        "warning[TG511]: `demo::j` has an argument behind an out argument, which a kernel takes last: "
        "write it before that",
    ]


CLASS = "__torch__.torch.classes.demo.Table"
HELD = {CLASS: "const c10::intrusive_ptr<tables::Table>&"}


def test_custom_classes(tmp_path: Path) -> None:
    yaml = f"- func: demo::f(Tensor x, {CLASS} a, {CLASS}? b) -> {CLASS}[]\n"
    yaml += "  dispatch:\n    CPU: f_cpu\n- func: demo::g(Tensor x) -> Tensor\n"
    files = generate(tmp_path, yaml, types=HELD, headers=["tables.h"])
    assert """
std::vector<c10::intrusive_ptr<tables::Table>> f_cpu(
    const at::Tensor& x,
    const c10::intrusive_ptr<tables::Table>& a,
    std::optional<c10::intrusive_ptr<tables::Table>> b);
""" in files["include/demo/kernels.h"]
    for name in ("kernels", "operators", "verify/f"):
        assert '#include "tables.h"\n' in files[f"include/demo/{name}.h"]
    by_value = {CLASS: "c10::intrusive_ptr<tables::Table>"}
    text = generate(tmp_path, yaml, types=by_value)["include/demo/kernels.h"]
    assert "    c10::intrusive_ptr<tables::Table> a,\n" in text


def test_a_struct_hides_no_class(tmp_path: Path) -> None:
    yaml = f"- func: demo::tables({CLASS} a) -> Tensor\n"
    text = generate(tmp_path, yaml, types=HELD)["include/demo/operators.h"]
    assert "struct tables_ :" in text


def test_custom_classes_without_a_type(tmp_path: Path) -> None:
    yaml = f"- func: demo::f(Tensor x, {CLASS} a) -> Tensor\n"
    assert diagnostics(tmp_path, yaml) == [
        "warning[TG511]: `demo::f` has a class without a C++ type under `types` of the target: "
        f"argument `a` is `{CLASS}`"
    ]
    structured = f"""\
- func: demo::f.out({CLASS} a, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: f_out
- func: demo::f({CLASS} a) -> Tensor
  structured_delegate: f.out
"""
    warning = "has a type that libtorch cannot pass to a kernel: argument `a`"
    assert warning in "".join(diagnostics(tmp_path, structured, types=HELD))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"Device": "c10::intrusive_ptr<D>"}, "is not a custom class"),
        ({CLASS: "tables::Table"}, "is not of the form `c10::intrusive_ptr<C>`"),
        ({CLASS: "const c10::intrusive_ptr<C>"}, "is not of the form `c10::intrusive_ptr<C>`"),
    ],
)
def test_types_that_are_no_custom_classes(tmp_path: Path, given: dict[str, str], said: str) -> None:
    (error,) = diagnostics(tmp_path, SCALE, types=given)
    assert error.startswith("error[TG510]: `types`: ") and said in error


def test_files_of_names_that_differ_in_case(tmp_path: Path) -> None:
    assert doctest.testmod(file_names).failed == 0
    entry = "- func: demo::add.{0}(Tensor x) -> Tensor\n  dispatch:\n    CPU: add_{0}\n"
    files = generate(tmp_path, "".join(map(entry.format, ["t", "T", "Out"])))
    names = ["add_t", "add_T-1", "add_Out"]
    assert [p for p in files if "/verify/" in p] == [f"include/demo/verify/{n}.h" for n in names]
    for name in names:
        assert f"#include <demo/verify/{name}.h>\n" in files["include/demo/verify_kernels.h"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"kernel_headers": ["k.h"]}, []),
        ({}, ["nothing declares `demo::Kernels`"]),
        ({"kernel_classes": ["demo::Kernel"]}, ["no kernel is a member of `demo::Kernel`"]),
    ],
)
def test_classes_of_kernels(tmp_path: Path, options: dict[str, object], said: list[str]) -> None:
    yaml = SCALE + "  dispatch:\n    CPU: demo::Kernels::scale\n"
    found = diagnostics(tmp_path, yaml, **{"kernel_classes": ["demo::Kernels"], **options})
    assert found == [f"error[TG510]: `kernel-classes`: {one}" for one in said]


def test_a_kernel_that_no_call_reaches(tmp_path: Path) -> None:
    yaml = "- func: demo::seed(int n) -> int\n  dispatch:\n    CPU: seed_cpu\n"
    assert diagnostics(tmp_path, yaml) == [
        "warning[TG406]: kernel for `CPU` is unreachable: no argument carries a key"
    ]


def test_names_that_cpp_keeps_for_itself(tmp_path: Path) -> None:
    yaml = "- func: demo::f(Tensor op, int default=1) -> Tensor\n"
    files = generate(tmp_path, yaml)
    assert "(const at::Tensor& op, int64_t default_ = 1)" in files["include/demo/functions.h"]


def test_calls_only(tmp_path: Path) -> None:
    yaml = SCALE + "  variants: function, method\n  dispatch:\n    CPU: scale_cpu\n"
    assert sorted(generate(tmp_path, yaml, calls_only=True)) == [
        "include/demo/call_operator.h",
        "include/demo/functions.h",
        "include/demo/methods.h",
        "include/demo/operators.h",
        "include/demo/redispatch_functions.h",
        "include/demo/version.h",
    ]


def test_who_converts_arguments_includes_what_converts(tmp_path: Path) -> None:
    line = "#include <demo/arguments.h>\n"
    files = generate(tmp_path, "- func: demo::f(Tensor x, SymInt[] size) -> Tensor\n")
    assert line in files["include/demo/functions.h"] and "include/demo/arguments.h" in files
    assert "include/demo/arguments.h" not in generate(tmp_path, SCALE)


def test_who_makes_no_typed_call_includes_none(tmp_path: Path) -> None:
    recorded = "- func: demo::twice(Tensor x) -> Tensor\n  dispatch:\n    CPU: twice_cpu\n"
    recorded += "  derivatives:\n    x: 2 * scale(grad, 1)\n"
    files = generate(tmp_path, SCALE + recorded)
    sources = {path for path, text in files.items() if "/operators.h>" in text}
    # The functions use the structs, and the formula calls such a function.
    headers = ("functions", "redispatch_functions")
    expected = {f"include/demo/{name}.h" for name in headers} | {"src/register_autograd.cpp"}
    assert sources == expected
    assert "::demo::functions::scale(grad, 1)" in files["src/register_autograd.cpp"]


def test_a_struct_does_not_depend_on_defaults(tmp_path: Path) -> None:
    yaml = "- func: demo::f(Tensor x, *, float? y={}) -> float?\n"
    one, other = (
        generate(tmp_path, yaml.format(default))["include/demo/operators.h"]
        for default in ("None", "1.5")
    )
    assert one == other
    assert """
// demo::f(Tensor x, *, float? y) -> float?
struct f : detail::Calls<f, ::std::optional<double>(const at::Tensor&, ::std::optional<double>)> {
  static constexpr const char* name = "demo::f";
  static constexpr const char* overload_name = "";
};
""" in one


def test_functions_that_would_be_the_same_are_there_once(tmp_path: Path) -> None:
    yaml = "- func: demo::f(Tensor x, int n) -> Tensor\n- func: demo::f.sym(Tensor x, SymInt n) -> Tensor\n"
    text = generate(tmp_path, yaml)["include/demo/functions.h"]
    assert text.count(" f(const at::Tensor& x, int64_t n) {") == 1
    assert text.count(" f_symint(const at::Tensor& x, c10::SymInt n) {") == 1


def configured(values: dict[str, object]) -> Config:
    return Config(Path("."), target_options={"cpp-torch": values})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"namespaces": "x"}, "unknown option `namespaces` of target `cpp-torch`"),
        ({"namespace": "a::class"}, "`namespace`: `a::class` is not a C++ namespace"),
        ({"library": "own"}, "`library` takes `def` or `fragment`"),
        ({"shards": 300}, "`shards` takes a number from 0 to 256"),
        ({"folder": "../x"}, "`folder`: `../x` is not a path below the output folder"),
        ({"folder": "a::b"}, "`folder`: `a::b` is not a path below the output folder"),
        ({"folder": "."}, "`folder`: `.` is not a path below the output folder"),
        ({"kernel-headers": "x.h"}, "`kernel-headers` takes a list of strings"),
        ({"calls-only": 1}, "`calls-only` takes true or false"),
    ],
)
def test_wrong_options(values: dict[str, object], message: str) -> None:
    _, found = TARGETS["cpp-torch"].read_options(configured(values))
    assert [(d.code, d.message) for d in found] == [("TG510", message)]


def test_a_folder_has_one_spelling() -> None:
    options, _ = TARGETS["cpp-torch"].read_options(configured({"folder": "a//b/./c/"}))
    assert options.folder == "a/b/c"


CASE = Path(__file__).parents[3] / "cases" / "cpp_torch"


@pytest.mark.torch
def test_no_file_for_pytorch_is_huge() -> None:
    files = torchgen_lite.generate(torchgen_lite.load(torch=True), targets=["cpp-torch"])
    assert len(files) == 55
    for path, text in files.items():
        assert len(text.splitlines()) < 10_000, path


def test_conditions_of_neighbors_are_merged(tmp_path: Path) -> None:
    yaml = "".join(
        f"- func: demo::{name}(Tensor x) -> Tensor\n  dispatch: {{CPU: k}}\n{guard}"
        for name, guard in {
            "a": "",
            "b": "  guard: ['#ifdef A', '#if B > 1']\n",
            "c": "  guard: ['#ifdef A', '#if B > 1']\n",
            "d": "  guard: '#ifdef A'\n",
        }.items()
    )
    assert """
  m.impl("a", TORCH_FN(::demo::k));
#if defined(A) && B > 1
  m.impl("b", TORCH_FN(::demo::k));
  m.impl("c", TORCH_FN(::demo::k));
#endif
#if defined(A)
  m.impl("d", TORCH_FN(::demo::k));
#endif
}
""" in generate(tmp_path, yaml)["src/register.cpp"]


def test_a_kernel_of_the_global_namespace(tmp_path: Path) -> None:
    files = generate(tmp_path, SCALE + "  dispatch:\n    CPU: ::scale_it\n    Meta: a::scale_it\n")
    assert """
at::Tensor scale_it(const at::Tensor& self, double s);

namespace a {
""" in files["include/demo/kernels.h"]
    assert 'm.impl("scale", TORCH_FN(::scale_it));' in files["src/register.cpp"]


def test_a_template_is_named_by_a_function_that_calls_it(tmp_path: Path) -> None:
    program = load(tmp_path, SCALE + "  dispatch:\n    CPU: scale<float, 4>\n")
    assert [d.help and str(d.help) for d in program.diagnostics] == [
        "a template has no name of its own: name a function that calls `scale<float, 4>`"
    ]
