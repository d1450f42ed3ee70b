"""A package for the runtime dispatcher can be imported, and its operators called, whatever they are called."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import ModuleType

import pytest

import torchgen_lite
from torchgen_lite.analysis.program import build_program
from torchgen_lite.diagnostics import Source, has_errors
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.formats.native_functions import load_native_functions
from torchgen_lite.pipeline import generate_all

Import = Callable[..., tuple[ModuleType, list[str]]]
_NUMBERS = count()
LEFT_OUT = (
    "__class__ __dict__ __getattr__ __name__ __path__ __slots__ __spec__ _list _memo_f _operators _state float redispatch_f"
).split()
PLAIN = (
    "__and__ complex dispatcher from functions keyset kwargs list methods operators ops print redispatch register_cpu schemas "
    "self type"
).split()
OPERATORS = (
    "- func: lib::{0}(Tensor self, Tensor[] x=[], complex c=1j, complex d=-2j) -> Tensor\n  variants: function, method\n"
    "- func: lib::{0}.out(Tensor self, Tensor[] x=[], complex c=1j, complex d=-2j, *, Tensor(a!) out) -> Tensor(a!)\n"
    "- func: lib::f(Tensor self, Device? d=None) -> Tensor\n"
)


class Value:
    """A tensor to the dispatcher."""

    def __init__(self, keyset: object) -> None:
        self._dispatch_keyset = keyset


@pytest.fixture
def imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Import:
    monkeypatch.syspath_prepend(tmp_path)

    def import_package(text: str, *skip: str) -> tuple[ModuleType, list[str]]:
        name = f"named_{next(_NUMBERS)}"
        options = {"python": {"package": name, "dispatcher": "own", "skip": list(skip)}}
        source = Source("ops.yaml", text)
        functions, found = load_native_functions([source])
        config = Config(tmp_path, target_options=options)
        program = build_program(functions, config, diagnostics=found, sources=[source])
        generated = generate_all(program, targets=["python"])
        assert not has_errors(generated.diagnostics)
        for path, file in generated.files.items():
            compile(file, path, "exec")
            place = tmp_path / path.removeprefix("python/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(file)
        importlib.invalidate_caches()
        return importlib.import_module(name), [d.message for d in generated.diagnostics]

    return import_package


def call(package: ModuleType, namespace: str, name: str) -> object:
    """Call the overload that has no name."""
    runtime = importlib.import_module("torchgen_lite.runtime")
    value = Value(runtime.DispatchKeySet(runtime.DispatchKey.CPU))
    library = runtime.Library(namespace, "IMPL", "CPU", dispatcher=package.dispatcher)
    library.impl(name, lambda self, *rest, **named: self)
    found = getattr(getattr(package.ops, namespace), name if name != "from" else "from_")
    return found.default(value) is value


@pytest.mark.parametrize("name", PLAIN)
def test_an_operator_may_have_this_name(imported: Import, name: str) -> None:
    package, found = imported(OPERATORS.format(name))
    assert found == []
    assert call(package, "lib", name)
    assert call(package, "lib", "f")
    assert isinstance(package.ops, ModuleType)
    assert callable(getattr(package.functions, name if name != "from" else "from_"))


@pytest.mark.parametrize("name", LEFT_OUT)
def test_a_name_that_the_package_needs_is_left_out(imported: Import, name: str) -> None:
    package, found = imported(OPERATORS.format(name))
    said = "has a name that the generated code uses itself"
    assert f"`lib::{name}` {said}" in found
    assert call(package, "lib", "f")


@pytest.mark.parametrize("name", ["Library", "dispatcher", "__class__", "_operators"])
def test_a_namespace_that_the_package_needs_is_left_out(imported: Import, name: str) -> None:
    text = f"- func: lib::f(Tensor x) -> Tensor\n- func: {name}::f(Tensor x) -> Tensor\n"
    package, found = imported(text)
    said = "is in a namespace whose name the generated code uses itself"
    assert found == [f"`{name}::f` {said}"]
    assert call(package, "lib", "f")


@pytest.mark.parametrize("name", ["keyset", "kwargs", "from", "_0", "self", "arguments", "out"])
def test_an_argument_may_have_this_name(imported: Import, name: str) -> None:
    text = f"- func: lib::f(Tensor? q, *, int {name}=1) -> Tensor\n- func: lib::f.a(Tensor {name}) -> Tensor\n"
    package, found = imported(text)
    assert found == []
    assert "lib" in vars(package.ops)
    assert sys.modules[package.__name__] is package
    runtime = importlib.import_module("torchgen_lite.runtime")
    keyset = runtime.DispatchKeySet(runtime.DispatchKey.CPU)
    value = Value(keyset)
    library = runtime.Library("lib", "IMPL", "CPU", dispatcher=package.dispatcher)
    for overload in ("f", "f.a"):
        library.impl(overload, lambda *given, **named: [*given, *named.values()])
    parameter = "from_" if name == "from" else name
    assert package.f(value, **{parameter: 3}) == [value, 3]
    assert package.redispatch.f(keyset, value, **{parameter: 3}) == [value, 3]
    assert package.redispatch.f(keyset, **{parameter: value}) == [value]
    assert parameter in inspect.signature(package.f).parameters
    assert parameter in inspect.signature(package.redispatch.f).parameters


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ("f.from(Tensor x) -> Tensor|f.from_(Tensor x, int n) -> Tensor", "`lib::f.from` is called `f.from_` in Python, as another is"),
        ("from(Tensor x) -> Tensor|from_(Tensor(a!) self) -> Tensor(a!)", "`lib::from` is called `from_` in Python, as another is"),
        ("from.a(Tensor x) -> Tensor|from_.b(Tensor x) -> Tensor", "`lib::from.a` is called `from_` in Python, as another is"),
        ("f(Tensor from, Tensor from_) -> Tensor", "`lib::f` has two arguments that are called `from_` in Python"),
        ("f.redispatch(Tensor x) -> Tensor", "`lib::f.redispatch` has a name that the generated code uses itself"),
        ("f(Tensor x, int _keyset) -> Tensor", "`lib::f` has an argument `_keyset`, which the generated code uses itself"),
        ("f(Tensor x, int __debug__) -> Tensor", "`lib::f` has an argument `__debug__`, which the generated code uses itself"),
    ],
)  # fmt: skip
def test_names_that_are_one_in_python(imported: Import, entries: str, message: str) -> None:
    text = "".join(f"- func: lib::{entry}\n" for entry in entries.split("|"))
    _, found = imported(text)
    assert found == [message]


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ("from(Tensor x) -> Tensor|from_(Tensor(a!) self) -> Tensor(a!)", "`lib::from` is called `from_` in Python, as another is"),
        ("f(Tensor from, Tensor from_) -> Tensor", "`lib::f` has two arguments that are called `from_` in Python"),
        ("f.from(Tensor x) -> Tensor|f.from_(Tensor x, int n) -> Tensor", ""),
    ],
)  # fmt: skip
def test_names_that_are_one_in_functions_for_pytorch(entries: str, message: str) -> None:
    """In its module an overload has the name of the operator before its own, `f_from`."""
    text = "".join(f"- func: lib::{entry}\n" for entry in entries.split("|"))
    source = Source("ops.yaml", text)
    functions, found = load_native_functions([source])
    options = {"torch-python": {"package": "ops", "defines": True}}
    config = Config(Path("nowhere"), target_options=options)
    program = build_program(functions, config, diagnostics=found, sources=[source])
    made = generate_all(program, targets=["torch-python"]).diagnostics
    assert [d.message for d in made if d.code == "TG511"] == ([message] if message else [])


def test_namespaces_that_are_one_in_python(imported: Import) -> None:
    text = "- func: from::f(Tensor x) -> Tensor\n- func: from_::g(Tensor x) -> Tensor\n"
    package, found = imported(text)
    assert found == ["`from::f` is called `from_` in Python, as another is"]
    assert call(package, "from_", "g")


def test_names_of_other_kinds_and_of_operators_left_out_are_free(imported: Import) -> None:
    package, found = imported(
        "- func: lib::from(Tensor x) -> Tensor\n"
        "- func: lib::from_(Tensor(a!) self) -> Tensor(a!)\n"
        "- func: from_::h(Tensor x) -> Tensor\n",
        "lib::from_",
    )
    assert found == []
    assert call(package, "lib", "from") and call(package, "from_", "h")


def test_a_dotted_package_is_a_folder_in_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dotted_kernels.py").write_text("def f(x):\n    return x\n")
    (tmp_path / "ops.yaml").write_text(
        "- func: lib::f(Tensor x) -> Tensor\n  dispatch:\n    CPU: f\n"
    )
    options = {"package": "outer.inner", "dispatcher": "own", "kernels": ["dotted_kernels"]}
    config = Config(tmp_path, schema=("ops.yaml",), target_options={"python": options})
    for path, text in torchgen_lite.generate(torchgen_lite.load(config=config)).items():
        place = tmp_path / path.removeprefix("python/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    package = importlib.import_module("outer.inner")
    keys = importlib.import_module("torchgen_lite.runtime")
    value = Value(keys.DispatchKeySet(keys.DispatchKey.CPU))
    assert package.f(value) is value


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("- func: f(Tensor x) -> Tensor\n  dispatch:\n    CPU: k\n  derivatives:\n    x: grad\n", "the generated kernel of `aten::f` for "),
        ("- func: f(Tensor x, *, MemoryFormat m=channels_last) -> Tensor\n  dispatch:\n    CPU: k\n", "the default `channels_last` is a constant of a `framework`"),
    ],
)  # fmt: skip
def test_what_needs_a_framework_says_so(tmp_path: Path, entry: str, message: str) -> None:
    (tmp_path / "some_kernels.py").write_text("def k(x, **others):\n    return x\n")
    (tmp_path / "ops.yaml").write_text(entry)
    options = {"python": {"kernels": ["some_kernels"]}}
    config = Config(tmp_path, schema=("ops.yaml",), target_options=options)
    found = generate_all(torchgen_lite.load(config=config)).diagnostics
    assert [d.code for d in found] == ["TG510"]
    assert found[0].message.startswith(message)
