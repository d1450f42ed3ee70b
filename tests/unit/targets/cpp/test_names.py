"""Operators whose names C++ or the generated code already uses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from torchgen_lite import GenerateError, generate, load
from torchgen_lite.loader.config.project import Config

YAML = """\
- func: demo::new(Tensor self, int namespace=1) -> Tensor
- func: demo::new_(Tensor(a!) self) -> Tensor(a!)
- func: demo::call(Tensor self) -> Tensor
- func: demo::torch(Tensor self) -> Tensor
- func: demo::schema(Tensor self) -> Tensor
- func: demo::detail(Tensor self) -> Tensor
  dispatch: {CompositeImplicitAutograd: detail_kernel}
"""


@pytest.mark.parametrize("target", ["cpp-torch", "cpp-torch-stable"])
def test_structs_get_names_that_are_free(tmp_path: Path, target: str) -> None:
    (tmp_path / "ops.yaml").write_text(YAML)
    files = generate(load("ops.yaml", root=tmp_path), targets=[target])
    header = files[f"{target}/include/demo/operators.h"]
    structs = [line.split()[1] for line in header.splitlines() if line.startswith("struct ")]
    assert structs == ["new__", "new_", "call_", "torch_", "schema_", "detail_"]
    # libtorch looks up the operator's own name.
    assert 'name = "demo::new";' in header
    assert "ops::new__::call(self, namespace_)" in files[f"{target}/include/demo/functions.h"]


TARGETS = ("cpp-torch", "cpp-torch-stable", "cpp-runtime")


def generated(folder: Path, target: str, yaml: str, namespace: str = "") -> dict[str, str]:
    (folder / "ops.yaml").write_text(yaml)
    options = {"namespace": namespace} if namespace else {}
    if target == "cpp-runtime":
        options["tensor"] = "toy::Tensor"
    config = Config(root=folder, schema=("ops.yaml",), target_options={target: options})
    return generate(load(config=config, root=folder), targets=[target])


def refused(folder: Path, target: str, yaml: str, namespace: str = "") -> str:
    """The message about the refused operators."""
    with pytest.raises(GenerateError) as caught:
        generated(folder, target, yaml, namespace)
    return str(caught.value)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["M_PI", "EINTR", "HUGE_VAL", "PRId64", "errno", "major", "unix"])
def test_no_struct_function_or_argument_is_called_as_what_may_be_a_macro(
    tmp_path: Path, target: str, name: str
) -> None:
    """`struct M_PI` did not compile behind <cmath>: functions and arguments had another name, structs had not."""
    entry = f"- func: demo::{name}(Tensor x, int {name}=1) -> Tensor\n  dispatch: {{CPU: kernel}}\n"
    files = generated(tmp_path, target, entry, namespace="demo")
    for path, text in files.items():
        # In strings and comments it is what the dispatcher knows.
        code = re.sub(r'"[^"\n]*"|//.*', "", text)
        assert re.findall(rf"\b{name}\b", code) == [], path
    header = files[f"{target}/include/demo/operators.h"]
    assert re.search(rf"\bstruct (?:\w+ )?{name}_\b", header)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("operator", "said"),
    [
        ("int::g", "'int' cannot be a C++ namespace: 'int' is a reserved word in C++"),
        (
            "torch::f",
            "'torch' cannot be the namespace of a library: 'torch' belongs to another one",
        ),
        ("std::f", "'std' cannot be the namespace of a library: 'std' belongs to another one"),
    ],
)
def test_the_namespace_that_nobody_chose(
    tmp_path: Path, target: str, operator: str, said: str
) -> None:
    yaml = f"- func: {operator}(Tensor x) -> Tensor\n"
    found = refused(tmp_path, target, yaml)
    help_ = f"set another one with 'namespace' of target '{target}'"
    assert found == f"error[TG510] {said} ({help_})"
    assert generated(tmp_path, target, yaml, "mine")


def test_a_part_of_a_namespace(tmp_path: Path) -> None:
    yaml = "- func: demo::f(Tensor x) -> Tensor\n"
    assert "'mine::at' cannot be the namespace" in refused(tmp_path, "cpp-torch", yaml, "mine::at")
    assert generated(tmp_path, "cpp-torch", yaml, "mine::torch_ops")


@pytest.mark.parametrize(
    ("target", "kernel"),
    [
        *[(target, kernel) for target in TARGETS for kernel in ("ops", "functions", "proof")],
        *[("cpp-torch", kernel) for kernel in ("autograd", "redispatch", "structured", "fallback")],
        ("cpp-torch-stable", "detail"),
    ],
)
def test_kernels_with_names_of_namespaces(tmp_path: Path, target: str, kernel: str) -> None:
    yaml = f"- func: demo::{kernel}(Tensor x) -> Tensor\n"
    assert refused(tmp_path, target, yaml) == (
        f"ops.yaml:1:9: error[TG513] kernel '{kernel}' has the name of a generated namespace: "
        f"'demo::{kernel}' is a namespace (rename the kernel under 'dispatch': 'CompositeImplicitAutograd: {kernel}_kernel')"
    )
    named = f"{yaml}  dispatch: {{CompositeImplicitAutograd: {kernel}_kernel}}\n"
    assert generated(tmp_path, target, named)
    # In another namespace, the kernel may have this name.
    assert generated(tmp_path, target, named.replace(f"{kernel}_kernel", f"other::{kernel}"))


def test_a_structured_kernel_of_two_operators(tmp_path: Path) -> None:
    yaml = "".join(
        f"- func: demo::eq.{name}(Tensor self, {name} other) -> Tensor\n"
        f"  structured_delegate: eq.{name}_out\n"
        f"- func: demo::eq.{name}_out(Tensor self, {name} other, *, Tensor(a!) out) -> Tensor(a!)\n"
        "  structured: True\n"
        "  dispatch: {CPU: eq_out, CUDA: eq_out}\n"
        for name in ("Tensor", "Scalar")
    )
    assert refused(tmp_path, "cpp-torch", yaml) == (
        "ops.yaml:10:19: error[TG513] 'eq.Tensor_out' and 'eq.Scalar_out' have a structured kernel, "
        "'eq_out', which is one class (name it after the overload: 'eq_Scalar_out'; ops.yaml:5:19: the other one)"
    )
    first, second = yaml.split("- func: demo::eq.Scalar(")
    renamed = f"{first}- func: demo::eq.Scalar({second.replace(': eq_out', ': eq_Scalar_out')}"
    assert generated(tmp_path, "cpp-torch", renamed)
    # Functions are overloads.
    plain = yaml.replace("  structured: True\n", "").replace(
        "  structured_delegate: eq", "  dispatch: {} #"
    )
    assert generated(tmp_path, "cpp-torch", plain)


@pytest.mark.parametrize("target", TARGETS)
def test_two_arguments_with_one_name_in_cpp(tmp_path: Path, target: str) -> None:
    yaml = "- func: demo::f(Tensor x, Tensor default, Tensor default_) -> Tensor\n"
    assert refused(tmp_path, target, yaml) == (
        "ops.yaml:1:50: error[TG513] two parameters are called 'default_' in C++: "
        "'default' has the same name (rename the argument)"
    )
    yaml = "- func: demo::f(Tensor x, Tensor dispatchKeySet) -> Tensor\n"
    assert "two parameters are called 'dispatchKeySet' in C++" in refused(tmp_path, target, yaml)


@pytest.mark.parametrize("target", TARGETS)
def test_arguments_that_would_hide_something(tmp_path: Path, target: str) -> None:
    yaml = "- func: demo::f(Tensor op, int int64_t, int op_, float linux, Tensor _node) -> Tensor\n"
    files = generated(tmp_path, target, yaml)
    functions = files[f"{target}/include/demo/functions.h"]
    assert "int64_t int64_t_,\n    int64_t op_,\n    double linux_," in functions
    assert "return ops::f::call(op, int64_t_, op_, linux_, _node_);" in functions
    if target == "cpp-runtime":
        assert (
            "return op__.call(op, int64_t_, op_, linux_, _node_);"
            in files[f"{target}/src/operators.cpp"]
        )
