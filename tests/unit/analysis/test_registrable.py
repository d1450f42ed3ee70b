"""Every target that defines operators reports at generation time what PyTorch's dispatcher refuses."""

from __future__ import annotations

import keyword
import re
from pathlib import Path
from typing import Any

import pytest

from tests.installed import needs_torch
from torchgen_lite import load
from torchgen_lite.analysis.checks.registrable import (
    COUNTERS,
    INDUCTORS,
    RESERVED,
    UNREAD_TYPES,
    VMAPS,
    default_problem,
)
from torchgen_lite.diagnostics import has_errors
from torchgen_lite.pipeline import generate_all
from torchgen_lite.schema import (
    Argument,
    ListType,
    OptionalType,
    Type,
    parse_schema,
)
from torchgen_lite.schema.type_names import BASE_TYPES, DEVICES, MEANT_TYPES, is_type_variable

TARGETS = ["cpp-torch", "cpp-torch-stable", "torch-python"]


def messages(folder: Path, target: str, yaml: str) -> list[str]:
    (folder / "ops.yaml").write_text(yaml)
    (folder / "torchgen_lite.toml").write_text(f'schema = "ops.yaml"\ntargets = "{target}"\n')
    found = generate_all(load(root=folder)).diagnostics
    return [f"{d.start()[0]}:{d.start()[1]}: {d.message}" for d in found if d.code == "TG512"]


@pytest.mark.parametrize("target", TARGETS)
def test_it_is_said_where_it_is(tmp_path: Path, target: str) -> None:
    yaml = (
        "- func: my::clip(Tensor x, float limit=inf, int[]? dim=[1]) -> Tensor\n"
        "- func: my::pad(Tensor as, int[][] pairs=[]) -> Tensor\n"
        "- func: my::is(Tensor x, MemoryFormat format=channels_last) -> Tensor\n"
    )
    assert messages(tmp_path, target, yaml) == [
        "1:40: PyTorch cannot take the default of argument `limit`: it does not accept `inf` as a value of type `float`",
        "1:56: PyTorch cannot take the default of argument `dim`: " "a `int[]?` may only be `None`",
        "2:24: `as` is a reserved word of PyTorch's schema language",
        "2:42: PyTorch cannot take the default of argument `pairs`: it cannot make a list of `int[]` from it",
        "3:9: `is` is a reserved word of PyTorch's schema language",
        "3:46: PyTorch cannot take the default of argument `format`: "
        "it does not accept `channels_last` as a value of type `MemoryFormat`",
    ]


@pytest.mark.parametrize("target", TARGETS)
def test_a_namespace_in_another(tmp_path: Path, target: str) -> None:
    """`TORCH_LIBRARY(my::own, m)` does not compile, and `torch.ops.my` has no `own::f`."""
    yaml = "- func: my::own::f(Tensor x) -> Tensor\n- func: my::own_f(Tensor x) -> Tensor\n"
    assert messages(tmp_path, target, yaml) == [
        "1:9: PyTorch has no namespaces in others: `my::own` cannot be one"
    ]


def test_what_pytorch_defines_itself_is_not_defined_again(tmp_path: Path) -> None:
    """PyTorch 2.9 has operators that take names of dimensions, and a default that its dispatcher does not read."""
    theirs = "- func: sum.DimnameList_out(Tensor self, Dimname[1] dim, float x=inf, *, Tensor(a!) out) -> Tensor(a!)\n"
    (tmp_path / "pytorch.yaml").write_text(theirs)
    (tmp_path / "ops.yaml").write_text(
        "- func: sum.DimnameList_out\n"
        "  dispatch: {PrivateUse1: sum_out}\n"
        "- func: my::clip(Tensor x, float limit=inf) -> Tensor\n"
    )
    configuration = 'schema = "ops.yaml"\nnative = "pytorch.yaml"\ntargets = "cpp-torch"\n'
    (tmp_path / "torchgen_lite.toml").write_text(configuration)
    found = generate_all(load(root=tmp_path)).diagnostics
    assert [(d.code, d.start()) for d in found if d.severity == "error"] == [("TG512", (3, 40))]


def test_types_are_said_where_they_are(tmp_path: Path) -> None:
    # Only `torch-python`: the other targets refuse these types earlier.
    yaml = "- func: my::f(NoneType? x, Dict(str, int)(a) y) -> SymFloat\n"
    assert messages(tmp_path, "torch-python", yaml) == [
        "1:9: PyTorch's dispatcher does not know the type `SymFloat`",
        "1:15: PyTorch's dispatcher cannot take `NoneType?`",
        "1:28: PyTorch's dispatcher does not accept an alias annotation after `Dict(str, int)`",
    ]


DEFAULTS = """
    None True False 0 1 -1 1.5 -1.5 .5 1. 0.0 0e-999 1e-5 1e5 -1e5 1e30 1e400 1e-310 1j -1j 1.5j +1 inf -inf
    nan 9223372036854775807 -9223372036854775808 9223372036854775808 99999999999999999999 float("inf")
    "a" 'a' "" 'it\\'s' "cpu" "cuda:0" "CPU" "cuda:" "cuda:-1" "cuda:01" "cuda:9" "cuda:99" "cuda:100" "cuda:127"
    "cuda:128" "cuda:200" "cuda:256" "cuda:99999999999" "privateuseone:1" "a:0" "meta" "mps:0"
    long byte float32 strided sparse_coo contiguous_format channels_last Mean Sum cpu a.b per_tensor_affine none [] [1] [1,2] [-1] [1.5] [0.5,1] [True] [True,False] ["a"] [None]
    [inf] [-inf] [long] [Mean] [strided] [sparse_coo] [[1]] [[]] () (1,2) [1j] [+1] [1e5] [1e400]
    [99999999999999999999]
    """.split()
SUFFIXES = ["", "?", "[]", "[2]", "[]?", "?[]", "[][]", "[2]?"]
MORE_TYPES = ["Dict(str, int)", "Future(int)", "Union(int, float)", "t"]


def arguments() -> list[Argument]:
    """Every pair of type and default that our parser accepts."""
    found = []
    for base in sorted({*BASE_TYPES, *MORE_TYPES} - UNREAD_TYPES - {"None", "NoneType"}):
        for suffix in SUFFIXES:
            for default in DEFAULTS:
                schema, problems = parse_schema(f"f({base}{suffix} x={default}) -> Tensor")
                if schema is not None and not has_errors(problems):
                    found.append(schema.arguments[0])
    return found


WHOLE = """
    ConstQuantizerPtr DeviceIndex Layout MemoryFormat ScalarType SymInt int
    """.split()


def fits(type_: Type, value: object) -> bool:
    """Whether a default that PyTorch parsed has its type: PyTorch accepts 1 for a `float?`, and fails later."""
    if isinstance(type_, OptionalType):
        return value is None or fits(type_.elem, value)
    if isinstance(type_, ListType):
        # A kernel that takes a list of dtypes does not accept a list of integers.
        elem = str(type_.elem)
        taken = elem not in WHOLE or elem in ("int", "SymInt")
        if not isinstance(value, list) or (
            elem == "bool" and len(value) != (type_.size or len(value))
        ):
            return False
        return taken and all(fits(type_.elem, item) for item in value)
    kinds: dict[str, tuple[type, ...]] = {
        "Scalar": (bool, int, float, complex),
        "bool": (bool,),
        "complex": (complex,),
        "float": (float,),
        "str": (str,),
    }
    if str(type_) in ("Tensor", "Generator"):
        return False
    if str(type_) == "Device":
        return type(value).__name__ == "device"
    return type(value) in kinds.get(str(type_), (int,) if str(type_) in WHOLE else ())


@needs_torch((2, 13), "a SymBool was no argument, and a Dimname was one")
@pytest.mark.torch
def test_defaults_are_those_that_pytorch_takes() -> None:
    import torch

    checked = 0
    for argument in arguments():
        text = f"my::f({argument}) -> Tensor"
        try:
            read = torch._C.parse_schema(text).arguments[0].default_value
            # PyTorch reads a real number for a `complex` as an imaginary one.
            is_real = "complex" in str(argument.type) and bool(
                re.search(r"[0-9.]\]?$", str(argument.default))
            )
            # An index of a device that does not fit into 8 bits becomes another one.
            is_other = str(argument.type) == "Device" and str(read) != str(argument.default)[1:-1]
            is_taken = fits(argument.type, read) and not is_real and not is_other
        # A number that does not fit raises an IndexError or a ValueError.
        except (RuntimeError, IndexError, ValueError):
            is_taken = False
        problem = default_problem(argument)
        assert bool(problem) is not is_taken, f"{text}: {problem}"
        checked += 1
    assert checked > 9_000


@pytest.mark.torch
def test_devices_are_those_that_pytorch_names() -> None:
    import torch

    with pytest.raises(RuntimeError, match="nonsense") as refused:
        torch.device("nonsense")
    listed = re.search("Expected one of (.*) device type", str(refused.value))
    assert listed is not None
    assert set(listed[1].split(", ")) == DEVICES


@pytest.mark.torch
def test_words_are_those_that_pytorch_refuses() -> None:
    import torch

    def refused(text: str) -> bool:
        try:
            torch._C.parse_schema(text)
        except RuntimeError:
            return True
        return False

    words = {*keyword.kwlist, *keyword.softkwlist, *RESERVED, "self", "inf", "print", "Tensor"}
    for shape in ("my::f(Tensor {}) -> Tensor", "my::{}(Tensor x) -> Tensor", "{}::f() -> int"):
        assert {word for word in words if refused(shape.format(word))} == RESERVED


@needs_torch((2, 13), "a SymBool was no argument, and a Dimname was one")
@pytest.mark.torch
def test_types_are_those_that_pytorch_refuses() -> None:
    import torch

    def refused(name: str) -> bool:
        # `parse_schema` would accept type variables, which operators may not have.
        make: Any = torch.library.Library
        library = make("registrable", "FRAGMENT")
        try:
            library.define(f"f({name} x) -> Tensor")
        except RuntimeError:
            return True
        finally:
            library._destroy()
        return False

    assert {name for name in BASE_TYPES if refused(name)} == UNREAD_TYPES
    assert refused("t") and is_type_variable("t")


@pytest.mark.torch
def test_nothing_is_said_about_operators_of_pytorch() -> None:
    import torch

    for registered in torch._C._jit_get_all_schemas():
        schema, _ = parse_schema(str(registered))
        if schema is not None and schema.name.startswith("aten::"):
            problems = {default_problem(a) for a in schema.arguments}
            assert problems <= {""}, schema


def test_names_that_inductor_cannot_pass(tmp_path: Path) -> None:
    """Only what it passes by name, and not in a call that writes, which goes another way."""
    (tmp_path / "ops.yaml").write_text(
        "- func: my::a(Tensor x, int kernel=2) -> Tensor\n"
        "- func: my::b(Tensor x, *, int cls) -> Tensor\n"
        "- func: my::c(Tensor kernel, int size=2) -> Tensor\n"
        "- func: my::d(Tensor(a!) x, int kernel=2) -> ()\n"
    )
    for target in TARGETS:
        (tmp_path / "torchgen_lite.toml").write_text(f'schema = "ops.yaml"\ntargets = "{target}"\n')
        found = generate_all(load(root=tmp_path)).diagnostics
        assert [d.start() for d in found if d.code == "TG395"] == [(1, 29), (2, 32)]


@pytest.mark.parametrize(
    ("name", "field", "codes"),
    [
        ("self", "", ["TG395"]),
        ("keyset", "", []),
        *[(name, "  axes: x[*n] -> [*n]\n", ["TG395"]) for name in sorted(VMAPS | COUNTERS)],
        ("in_dim", "  axes: x[*n] -> [*n]\n", []),
        ("out_val", "  fake: {like: x}\n  flops: x.numel()\n", ["TG395"]),
    ],
)
def test_names_that_pytorch_cannot_pass(
    tmp_path: Path, name: str, field: str, codes: list[str]
) -> None:
    """Keyword arguments alone: others go by position."""
    for star in ("*, ", ""):
        entry = f"- func: my::a(Tensor x, {star}int {name}=2) -> Tensor\n  dispatch: {{CPU: k}}\n{field}"
        (tmp_path / "ops.yaml").write_text(entry)
        (tmp_path / "torchgen_lite.toml").write_text(
            'schema = "ops.yaml"\ntargets = "torch-python"\n'
        )
        found = generate_all(load(root=tmp_path)).diagnostics
        assert [d.code for d in found if d.code == "TG395"] == (codes if star else [])


@pytest.mark.torch
@needs_torch((2, 13), "its functions had other parameters")
def test_these_names_are_parameters_of_the_installed_inductor() -> None:
    import inspect

    from torch._inductor.ir import FallbackKernel

    assert set(inspect.signature(FallbackKernel.create.__func__).parameters) == {
        *INDUCTORS,
        "args",
        "kwargs",
    }


LITERALS = """
    None True 1 -1 9223372036854775808 1.5 1j "cpu" "a" [] [1] ["a"]
    """.split()
# Types of arguments that PyTorch's dispatcher reads, or torchgen alone, each with the values that lint takes beside
# those that the dispatcher reads.
WIDER = {
    "Device": '"a"',
    "Dimname": '"cpu" "a"',
    "Generator": "None",
    "QScheme": "1 -1",
    "Storage": "None",
    "Stream": "None",
    "SymBool": "True 1 -1",
    "SymFloat": "1 -1 1.5",
    "Tensor": "None",
    "bool": "1 -1",
    "complex": "True 1 -1",
}


@pytest.mark.torch
def test_a_literal_is_a_value_of_its_type() -> None:
    """What lint takes for a type, PyTorch reads as one, or it is in the table."""
    import torch

    found: dict[str, str] = {}
    # `Any` takes all, and the others are types of C++ that arguments of operators do not have.
    for name in sorted({*MEANT_TYPES} - {"Any", "ConstQuantizerPtr", "DimVector"}):
        for default in LITERALS:
            schema, problems = parse_schema(f"f({name} x={default}) -> Tensor")
            if schema is None or has_errors(problems):
                continue
            try:
                read = torch._C.parse_schema(f"my::f({name} x={default}) -> Tensor")
                is_taken = fits(schema.arguments[0].type, read.arguments[0].default_value)
            except (RuntimeError, IndexError, ValueError):
                is_taken = False
            if not is_taken:
                found[name] = f"{found.get(name, '')} {default}".strip()
    assert found == WIDER
