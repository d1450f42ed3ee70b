"""The output of target `cpp-runtime` for a few operators; tests/cases/cpp_runtime has whole files."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

import torchgen_lite
from torchgen_lite.loader.config.project import Config
from torchgen_lite.pipeline import generate_all
from torchgen_lite.targets.cpp import layout

TARGET = "cpp-runtime"
NEG = "- func: my::neg(Tensor self) -> Tensor\n"


def load(
    folder: Path, yaml: str, options: str = "", *, tensor: bool = True
) -> torchgen_lite.Program:
    """Load a project whose tensor type is `my::Tensor`."""
    (folder / "ops.yaml").write_text(yaml)
    first = 'tensor = "my::Tensor"\n' if tensor else ""
    (folder / "torchgen_lite.toml").write_text(
        f'schema = "ops.yaml"\ntargets = ["{TARGET}"]\n[target.{TARGET}]\n{first}{options}\n'
    )
    return torchgen_lite.load(root=folder)


def generate(folder: Path, yaml: str, options: str = "") -> dict[str, str]:
    generated = generate_all(load(folder, yaml, options))
    assert not generated.diagnostics
    return {path.removeprefix(f"{TARGET}/"): text for path, text in generated.files.items()}


def messages(folder: Path, yaml: str, options: str = "", *, tensor: bool = True) -> list[str]:
    """All diagnostics, with their places."""
    found = generate_all(load(folder, yaml, options, tensor=tensor)).diagnostics
    return [f"{d.path}:{d.start()[0]}:{d.start()[1]}: {d.code} {d.message}" for d in found]


def test_examples_in_docstrings() -> None:
    assert doctest.testmod(layout).failed == 0


def test_the_files_are_these(tmp_path: Path) -> None:
    files = generate(tmp_path, NEG + "  variants: function, method\n")
    headers = (
        "functions kernel_check kernels method_bodies methods operators verify/neg verify_kernels"
    )
    sources = "operators register"
    assert sorted(files) == [
        *(f"include/my/{name}.h" for name in headers.split()),
        *(f"src/{name}.cpp" for name in sources.split()),
    ]


def test_without_methods_there_is_no_mixin(tmp_path: Path) -> None:
    files = generate(tmp_path, NEG)
    assert not [path for path in files if "method" in path]
    assert not [text for text in files.values() if "method" in text]


def test_kernels_above_the_backends_take_the_keys(tmp_path: Path) -> None:
    keys = [
        "CPU",
        "CompositeExplicitAutograd",
        "BackendSelect",
        "AutogradCPU",
        "Autograd",
        "Python",
    ]
    yaml = NEG + "  dispatch:\n" + "".join(f"    {key}: neg_{key.lower()}\n" for key in keys)
    text = generate(tmp_path, yaml)["include/my/kernels.h"]
    taking = re.findall(r"(\w+)\(torchgen_lite::DispatchKeySet dispatchKeySet,", text)
    assert taking == ["neg_autogradcpu", "neg_autograd", "neg_python"]
    assert text.count(" neg_") == len(keys)


def test_kernels_with_one_name_are_told_apart_by_a_call(tmp_path: Path) -> None:
    yaml = NEG + "- func: my::neg.n(Tensor self, int n) -> Tensor\n"
    yaml = yaml.replace("-> Tensor\n", "-> Tensor\n  dispatch:\n    CPU: neg\n")
    text = generate(tmp_path, yaml)["src/register.cpp"]
    assert "\n#include <my/kernels.h>\n#include <my/operators.h>\n" in text
    assert text.endswith("""
TORCHGEN_LITE_LIBRARY_IMPL(my, CPU, m) {
  m.impl("neg", TORCHGEN_LITE_FN(static_cast<decltype(::my::ops::neg::call)*>(&::my::neg)));
  m.impl("neg.n", TORCHGEN_LITE_FN(static_cast<decltype(::my::ops::neg_n::call)*>(&::my::neg)));
}
""")


def test_options(tmp_path: Path) -> None:
    options = """
namespace = "a::b"
folder = "made"
library = "fragment"
headers = ["my/tensor.h"]
kernel-headers = ["my/kernels.h"]
shards = 2
skip = ["my::abs"]
"""
    yaml = "".join(NEG.replace("neg", name) for name in ("neg", "abs", "exp", "sin"))
    files = generate(tmp_path, yaml, options)
    assert all(path.startswith("made/") for path in files)
    assert "made/include/a/b/kernels.h" not in files
    assert files["made/include/a/b/operators.h"].endswith(
        '\n#include "my/tensor.h"\n\n'
        "#include <a/b/operators_0.h>\n#include <a/b/operators_1.h>\n"
    )
    schema = files["made/src/register.cpp"]
    assert "TORCHGEN_LITE_LIBRARY_FRAGMENT(my, m) {" in schema and "abs" not in schema
    kernels = "".join(text for path, text in files.items() if "src/register_" in path)
    assert kernels.count('#include "my/kernels.h"\n\n#include <a/b/verify_kernels.h>\n') == 2
    registered = (
        'TORCHGEN_LITE_KERNEL(a::b, "my::neg(self)", &::a::b::neg, my::Tensor (const my::Tensor&))'
    )
    assert registered in kernels


def test_a_tag_is_text(tmp_path: Path) -> None:
    yaml = (
        NEG + "  tags: [core, pointwise, nondeterministic_seeded, pt2_compliant_tag, view_copy]\n"
    )
    assert """
  m.def(
      "neg(Tensor self) -> Tensor",
      {"core", "pointwise", "nondeterministic_seeded", "pt2_compliant_tag", "view_copy"});
""" in generate(tmp_path, yaml)["src/register.cpp"]


def test_calls_only(tmp_path: Path) -> None:
    """No files for kernels are written, but the variants that PyTorch derives get calls, too."""
    yaml = f"{NEG}  autogen: neg.out\n  dispatch:\n    CPU: neg\n"
    files = generate(tmp_path, yaml, "calls-only = true")
    assert sorted(files) == [
        "include/my/functions.h",
        "include/my/operators.h",
        "src/operators.cpp",
    ]
    assert re.findall(r"^struct (\w+)", files["include/my/operators.h"], flags=re.M) == [
        "neg",
        "neg_out",
    ]


@pytest.mark.parametrize("count", [1000, 1001])
def test_many_operators_are_split(tmp_path: Path, count: int) -> None:
    yaml = "".join(f"- func: my::f{i}(Tensor self) -> Tensor\n" for i in range(count))
    files = generate(tmp_path, yaml, "calls-only = true")
    sources = [path for path in files if path.startswith("src/")]
    assert len(sources) == (16 if count > 1000 else 1)
    structs = "".join(files.values()).count("\nstruct ")
    assert structs == count


def test_types_without_a_type_are_shown_where_they_are(tmp_path: Path) -> None:
    yaml = (
        "- func: my::f(Tensor x, Generator? g, ScalarType[] s) -> (Tensor, Device)\n"
        "  tags: nondeterministic_seeded\n"
        "- func: my::g(Tensor x) -> Tensor\n"
    )
    assert messages(tmp_path, yaml) == [
        "ops.yaml:1:25: TG560 there is no C++ type for `Generator`",
        "ops.yaml:1:39: TG560 there is no C++ type for `ScalarType`",
        "ops.yaml:1:67: TG560 there is no C++ type for `Device`",
    ]
    assert messages(tmp_path, yaml, 'skip = ["my::f"]') == []


def test_structured_kernels_are_refused_entry_by_entry(tmp_path: Path) -> None:
    yaml = (
        "- func: my::neg(Tensor self) -> Tensor\n  structured_delegate: neg.out\n"
        "- func: my::neg_(Tensor(a!) self) -> Tensor(a!)\n  structured_delegate: neg.out\n"
        "  dispatch:\n    SparseCPU: neg_\n"
        "- func: my::neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
        "  dispatch:\n    CPU, CUDA: neg_out\n    SparseCPU: neg_out_sparse\n"
    )
    found = [message.partition(" ")[0] for message in messages(tmp_path, yaml)]
    # The kernels of neg_ and of SparseCPU are not structured.
    assert found == ["ops.yaml:2:24:", "ops.yaml:10:16:"]
    assert messages(tmp_path, yaml, 'skip = ["my::neg", "my::neg.out"]') == []


def test_any_number_of_values_is_left_out(tmp_path: Path) -> None:
    assert messages(tmp_path, "- func: my::f(...) -> ...\n" + NEG) == [
        "ops.yaml:1:9: TG511 `my::f` takes or returns any number of values, which a typed call cannot"
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ('skip = ["my::n"]', "there is no operator `my::n`"),
        ('namespace = "a-b"', "is not a C++ namespace"),
        ('folder = "/x"', "is not a path below the output folder"),
        ('kernel-headers = ["a\\nb.h"]', "is not a path of a header"),
        ('library = "impl"', "takes `def` or `fragment`"),
        ("shards = 1000", "takes a number from 0 to 256"),
        ("headers = ['a\">b']", "not a path of a header"),
        ("kernel-headers = ['a\">b']", "not a path of a header"),
        ("headers = 'a.h'", "`headers` takes a list of strings"),
        ("calls-only = 1", "`calls-only` takes true or false"),
        ('module = "_C"', "unknown option `module` of target `cpp-runtime`"),
        ('types = ["a"]', "`types` takes a table of strings"),
        ('types = {Device = "my device"}', "`types`: `my device` is not a C++ type"),
        ('types = {Device = "int; int"}', "is not a C++ type"),
        ('types = {Tensor = "T"}', "the type of tensors is the option `tensor`"),
        ('constants = {cpu = ""}', "`constants`: `` is not a C++ expression"),
        ('constants = {cpu = "0); f("}', "is not a C++ expression"),
    ],
)
def test_wrong_options(tmp_path: Path, options: str, message: str) -> None:
    (found,) = messages(tmp_path, NEG, options)
    assert " TG510 " in found and message in found


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        ("", "`tensor` is missing"),
        ('tensor = "const my::Tensor"', "`const my::Tensor` is not a C++ type"),
        ('tensor = "my::Tensor&"', "`my::Tensor&` is not a C++ type"),
        ('tensor = "my::Tensor*"', "`my::Tensor*` is not a C++ type"),
        ("tensor = 1", "`tensor` takes a string"),
    ],
)
def test_a_wrong_tensor(tmp_path: Path, tensor: str, message: str) -> None:
    (found,) = messages(tmp_path, NEG, tensor, tensor=False)
    assert " TG510 " in found and message in found


def test_the_framework_is_the_same_for_other_schemas(tmp_path: Path) -> None:
    """With `--schema`, the configured tensor stays, but the namespace is that of the named file."""
    load(tmp_path, NEG, 'namespace = "mine"\nskip = ["my::neg"]')
    (tmp_path / "other.yaml").write_text(NEG.replace("my::", "other::"))
    program = torchgen_lite.load("other.yaml", root=tmp_path)
    text = torchgen_lite.generate(program)[f"{TARGET}/include/other/operators.h"]
    assert "static my::Tensor call(const my::Tensor& self);" in text


@pytest.mark.torch
def test_pytorchs_operators_for_a_framework(tmp_path: Path) -> None:
    config = Config(
        root=tmp_path,
        target_options={TARGET: {"tensor": "my::Tensor", "types": {"Device": "my::Device"}}},
    )
    program = torchgen_lite.load(config=config, torch=True)
    found = {d.message for d in generate_all(program, targets=[TARGET]).diagnostics}
    assert "there is no C++ type for `ScalarType`" in found
    assert "there is no C++ type for `Device`" not in found
