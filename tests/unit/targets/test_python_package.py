"""The output of the Python target for a few operators."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import torchgen_lite
from torchgen_lite.loader.config.project import Config
from torchgen_lite.pipeline import generate_all
from torchgen_lite.targets import TARGETS
from torchgen_lite.targets.python.options import PythonOptions
from torchgen_lite.targets.python.overloads import build_packet, merge_out
from torchgen_lite.targets.python.package import build_package, is_module

ROOT = Path(__file__).resolve().parents[3]


def load(tmp_path: Path, yaml: str, **options: object) -> torchgen_lite.Program:
    (tmp_path / "native_functions.yaml").write_text(yaml)
    config = Config(root=tmp_path, target_options={"python": {"package": "ops", **options}})
    return torchgen_lite.load(config=config)


def generate(tmp_path: Path, yaml: str, **options: object) -> dict[str, str]:
    files = torchgen_lite.generate(load(tmp_path, yaml, **options))
    return {path.removeprefix("python/ops/"): text for path, text in files.items()}


ADD = """\
- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  variants: function, method
  tags: core
- func: add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
"""


def test_operator(tmp_path: Path) -> None:
    assert """

def add_Tensor(self: Tensor, other: Tensor, *, alpha: Number = 1) -> Tensor:
    kernel: Callable[..., Tensor]
    try:
        kernel = _memo_add_Tensor[_state()][self._dispatch_keyset][other._dispatch_keyset]
    except (KeyError, AttributeError, TypeError):
        kernel = _handle_add_Tensor.resolve(self, other)
    return kernel(self, other, alpha=alpha)


def redispatch_add_Tensor(
    keyset: DispatchKeySet,
    self: Tensor,
    other: Tensor,
    *,
    alpha: Number = 1,
) -> Tensor:
    try:
        kernel: Callable[..., Tensor] = _redispatch_memo_add_Tensor[keyset]
    except KeyError:
        kernel = _handle_add_Tensor.resolve_redispatch(keyset)
    return kernel(self, other, alpha=alpha)


_handle_add_Tensor = _library_aten.define_stubs(
    "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    "TT-",
    add_Tensor,
    redispatch_add_Tensor,
    tags=("core",),
)
_memo_add_Tensor = _handle_add_Tensor.memo
_redispatch_memo_add_Tensor: Any = _handle_add_Tensor.redispatch_memo


def add_out(self""" in generate(tmp_path, ADD)["operators.py"]


def test_one_number_for_a_sized_list_is_made_a_tuple(tmp_path: Path) -> None:
    yaml = "- func: my::roll(Tensor x, int[1] type, int[2]? tuple=1) -> Tensor\n  dispatch: {CPU: roll}\n"
    assert """

def roll(
    x: Tensor,
    type: int | Sequence[int],
    tuple: int | Sequence[int] | None = (1, 1),
) -> Tensor:
    kernel: Callable[..., Tensor]
    if _type(type) is not _tuple:
        type = _handle_roll.as_tuple(1, type)
    if tuple is not None and _type(tuple) is not _tuple:
        tuple = _handle_roll.as_tuple(2, tuple)
    try:
        kernel = _memo_roll[_state()][x._dispatch_keyset]
    except (KeyError, AttributeError, TypeError):
        kernel = _handle_roll.resolve(x)
""" in generate(tmp_path, yaml)["operators.py"]
    (tmp_path / "kernels.py").write_text("def roll(*arguments):\n    return arguments[1:]\n")
    program = """
from ops import dispatcher, functions, operators
from torchgen_lite.runtime import DispatchKey, DispatchKeySet
class X: _dispatch_keyset = DispatchKeySet(DispatchKey.CPU)
x = X()
print(functions.roll(x, 3), functions.roll(x, [3], 4), functions.roll(x, (), tuple=None))
print(operators.redispatch_roll(x._dispatch_keyset, x, 3))
stack = [x, 3, 4]
dispatcher.find_schema_or_throw("my::roll").call_boxed(stack)
print(stack)
operators.roll(x, "a")
"""
    for path, text in generate(tmp_path, yaml, kernels=("kernels",), dispatcher="own").items():
        (tmp_path / "ops").mkdir(exist_ok=True)
        (tmp_path / "ops" / path).write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout == (
        "((3,), (1, 1)) ((3,), (4, 4)) ((), None)\n((3,), (1, 1))\n[((3,), (4, 4))]\n"
    )
    assert done.stderr.splitlines()[-1] == (
        "TypeError: my::roll(): argument 'type' (position 2) must be int or a sequence of them, not str"
    )


def test_out_is_merged_into_the_functional_overload(tmp_path: Path) -> None:
    files = generate(tmp_path, ADD)
    assert """
add = _packet(
    "add",
    _Candidate(_operators.add_Tensor, ("Tensor", "Tensor", "Scalar"), out=_operators.add_out),
)
""" in files["functions.py"]
    assert """
def add(self: Tensor, other: Tensor, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor: ...
""" in files["functions.pyi"]
    assert "add = _redispatch_packet(_ops.aten.add)\n" in files["redispatch.py"]
    assert "    __add__ = add\n    __radd__ = add\n" in files["methods.py"]


def test_types_of_ops(tmp_path: Path) -> None:
    """A name with one overload has the type of its stub; other names are classes."""
    yaml = "- func: f(Tensor x) -> Tensor\n- func: g.T(Tensor x) -> Tensor\n"
    assert """

class _aten_g:
    def __call__(_packet, x: Tensor) -> Tensor: ...
    T = _overload(_operators.g_T)

class _aten:
    f = _only(_operators.f)
    g: _aten_g

aten: _aten
""" in generate(tmp_path, yaml)["ops.pyi"]


def test_several_out_arguments_are_named(tmp_path: Path) -> None:
    yaml = (
        "- func: two(Tensor x) -> (Tensor, Tensor)\n"
        "- func: two.out(Tensor x, *, Tensor(a!) a, Tensor(b!) b) -> (Tensor(a!), Tensor(b!))\n"
    )
    files = generate(tmp_path, yaml)
    assert """
    _Candidate(_operators.two, ("Tensor",), out=_operators.two_out, out_names=("a", "b")),
""" in files["functions.py"]
    assert """
def two(x: Tensor, *, out: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]: ...
""" in files["functions.pyi"]


def test_kinds_of_arguments(tmp_path: Path) -> None:
    yaml = "- func: f(Tensor a, Tensor? b, Tensor[] c, Tensor?[] d, Generator? g, int e) -> ()\n"
    files = generate(tmp_path, yaml)
    assert """
    kernel: Callable[..., None]
    try:
        kernel = (
            _memo_f[_state()]
            [a._dispatch_keyset][_optional(b)][_list(c)]
            [_list(d)][_optional(g)]
        )
    except (KeyError, AttributeError, TypeError):
        kernel = _handle_f.resolve(a, b, c, d, g)
    return kernel(a, b, c, d, g, e)
""" in files["operators.py"]
    assert '    "TOLPG-",\n    f,\n    redispatch_f,\n    returns=0,\n)\n' in files["operators.py"]


def test_names_that_python_uses_itself(tmp_path: Path) -> None:
    yaml = (
        "- func: complex(Tensor self, complex x) -> Tensor\n  variants: function, method\n"
        "- func: lambda(Tensor kernel, int keyset, int from) -> Tensor\n"
        "- func: __and__.Scalar(Tensor self, Scalar other) -> Tensor\n  variants: function, method\n"
    )
    files = generate(tmp_path, yaml)
    assert "\ndef complex(self: Tensor, x: _complex) -> Tensor:\n" in files["operators.py"]
    assert "from builtins import complex as _complex\n" in files["operators.py"]
    assert "\ndef lambda_(kernel: Tensor, keyset: int, from_: int) -> Tensor:\n" in (
        files["operators.py"]
    )
    assert "(_keyset: DispatchKeySet, kernel: Tensor, keyset: int, from_: int)" in (
        files["operators.py"]
    )
    assert "    return _kernel(kernel, keyset, from_)\n" in files["operators.py"]
    assert "_method___and__ = _operators.__and___Scalar\n" in files["methods.py"]


@pytest.mark.parametrize("name", ["_keyset", "_node", "_operators", "_result", "_after"])
def test_names_that_kernels_use(name: str, tmp_path: Path) -> None:
    (tmp_path / "ops.yaml").write_text(f"- func: f(Tensor x, int {name}) -> Tensor\n")
    (tmp_path / "torchgen_lite.toml").write_text('schema = ["ops.yaml"]\n')
    [found] = generate_all(torchgen_lite.load(root=tmp_path)).diagnostics
    said = f"`f` has an argument `{name}`, which the generated code uses itself"
    assert (found.code, found.message) == ("TG511", said)


def test_self_in_the_middle(tmp_path: Path) -> None:
    yaml = (
        "- func: where.self(Tensor condition, Tensor self, Tensor other) -> Tensor\n"
        "  variants: function, method\n"
        "- func: where.Scalar(bool condition, Scalar self, Scalar other) -> Tensor\n"
    )
    files = generate(tmp_path, yaml)
    assert (
        '_Candidate(_operators.where_Scalar, ("bool", "Scalar", "Scalar"))' in files["functions.py"]
    )
    text = files["methods.py"]
    assert "    return _operators.where_self(condition, self, other)\n" in text
    assert "    where = _where_self\n" in text
    assert "\ndef _where_self(self: Any, condition: Any, other: Any) -> Any:\n" in text


def test_an_adapter_has_the_defaults(tmp_path: Path) -> None:
    yaml = (
        "- func: f(Tensor x, Tensor self, int n=1, *, bool b=False) -> Tensor\n"
        "  variants: method\n"
    )
    text = generate(tmp_path, yaml)["methods.py"]
    assert "\ndef _f(self: Any, x: Any, n: Any = 1, *, b: Any = False) -> Any:\n" in text
    assert "    return _operators.f(x, self, n, b=b)\n" in text


def test_varargs_of_methods(tmp_path: Path) -> None:
    yaml = "- func: view(Tensor(a) self, SymInt[] size) -> Tensor(a)\n  variants: method\n"
    files = generate(tmp_path, yaml)
    assert '_Candidate(_operators.view, ("Tensor", "SymInt[]"), varargs=1)' in files["methods.py"]
    assert "    def view(self, *size: int | Sequence[int]) -> Tensor: ...\n" in files["methods.pyi"]


def test_varargs_beside_an_operator_that_is_called_as_their_type(tmp_path: Path) -> None:
    files = generate(
        tmp_path, "- func: int(Tensor x) -> Tensor\n- func: empty(int[] size) -> Tensor\n"
    )
    assert "\ndef empty(*size: _int | Sequence[_int]) -> Tensor: ...\n" in files["functions.pyi"]


def test_shards_depend_on_the_name_alone(tmp_path: Path) -> None:
    yaml = "".join(f"- func: f{i}(Tensor self) -> Tensor\n" for i in range(40))
    before = generate(tmp_path, yaml, shards=4)
    after = generate(tmp_path, "- func: first(Tensor self) -> Tensor\n" + yaml, shards=4)
    shards = [p for p in before if p.startswith("operators_")]
    assert len(shards) == 4
    assert len([p for p in shards if before[p] != after[p]]) == 1
    assert "    f0 as f0,\n    redispatch_f0 as redispatch_f0,\n" in before["operators.py"]


@pytest.mark.parametrize("shards", [1, 4])
def test_an_operator_adds_lines_and_changes_none(tmp_path: Path, shards: int) -> None:
    """This holds even for the first entry in the file."""
    yaml = "".join(
        f"- func: f{i}.T(Tensor self, int n=1) -> Tensor\n  variants: function, method\n"
        for i in range(9)
    )
    added = "- func: g.T(Tensor self, *, int s) -> Tensor\n  variants: function, method\n"
    before = generate(tmp_path, yaml, shards=shards)
    after = generate(tmp_path, added + yaml, shards=shards)
    assert before.keys() == after.keys()
    for path, text in after.items():
        lines = iter(text.splitlines())
        missing = [line for line in before[path].splitlines() if line not in lines]
        assert missing == [], path


def test_another_namespace_is_prefixed(tmp_path: Path) -> None:
    yaml = "- func: my::f(Tensor x) -> Tensor\n- func: other::f(Tensor x) -> Tensor\n"
    files = generate(tmp_path, yaml)
    assert ("""_handle_other__f = _library_other.define_stubs(
    "other::f(Tensor x) -> Tensor",
    "T",
    other__f,
    redispatch_other__f,
)
""") in files["operators.py"]
    assert "other.f = _with_overloads(_operators.other__f, default=_operators.other__f)\n" in (
        files["ops.py"]
    )
    assert """
f = _redispatch_packet(
    _packet(
        "f",
        _Candidate(_operators.f, ("Tensor",)),
        _Candidate(_operators.other__f, ("Tensor",)),
    ),
)
""" in files["redispatch.py"]


KERNELS = """\
def meta_add_Tensor(self, other, *, alpha=1): ...
def add_cpu(self, other, *, alpha=1, out): ...
def empty_cpu(size, *, dtype=None, layout=None, device=None, pin_memory=None): ...
def matmul(a, b): ...
"""
STRUCTURED = """\
- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  structured_delegate: add.out
- func: add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)
  variants: method
  structured_delegate: add.out
- func: add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: add_cpu
- func: empty(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
  dispatch:
    CPU: empty_cpu
- func: matmul(Tensor a, Tensor b) -> Tensor
"""


def test_structured_kernels(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(KERNELS)
    (tmp_path / "framework.py").write_text("from somewhere import *\n")
    files = generate(tmp_path, STRUCTURED, kernels=["kernels"], framework="framework")
    body = files["structured_cpu.py"]
    assert """
    _spec = _kernels.meta_add_Tensor(self, other, alpha=alpha)
    out = _allocate(_spec, "CPU")
    _kernels.add_cpu(self, other, alpha=alpha, out=out)
    return out
""" in body
    assert """
    _spec = _kernels.meta_add_Tensor(self, other, alpha=alpha)
    _check_inplace(self, _spec)
    _kernels.add_cpu(self, other, alpha=alpha, out=self)
    return self
""" in body
    assert """
    _resize_out(out, _spec)
    _kernels.add_cpu(self, other, alpha=alpha, out=out)
    return out
""" in body
    assert '        "add_.Tensor": "structured_add__Tensor",\n' in files["register_cpu.py"]
    assert "_kernels.add_cpu" not in files["structured_meta.py"]
    assert (
        'aten.impl_from(_kernels, "matmul", "matmul")\n'
        in files["register_compositeimplicitautograd.py"]
    )
    assert "    _keyset = _key_for_options(dtype, layout, device)\n" in (files["backendselect.py"])
    assert "register_backendselect as register_backendselect\n" in files["registration.py"]


def test_missing_kernels_are_all_reported(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text("def unrelated(): ...\n")
    with pytest.raises(torchgen_lite.GenerateError) as caught:
        generate(tmp_path, STRUCTURED, kernels=["kernels"])
    assert [d.code for d in caught.value.diagnostics] == ["TG510"] + ["TG302"] * 4


def test_operators_with_any_number_of_arguments_are_left_out(tmp_path: Path) -> None:
    program = load(tmp_path, "- func: f(...) -> ...\n- func: g(Tensor x) -> Tensor\n")
    generated = generate_all(program)
    assert [(d.code, d.severity, d.operator) for d in generated.diagnostics] == [
        ("TG511", "warning", "f")
    ]
    assert '"aten::f(' not in generated.files["python/ops/operators.py"]
    assert '"aten::g(' in generated.files["python/ops/operators.py"]


def test_missing_meta_function(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(KERNELS.replace("meta_add_Tensor", "meta_other"))
    with pytest.raises(torchgen_lite.GenerateError, match="defines 'meta_add_Tensor'"):
        generate(tmp_path, STRUCTURED, kernels=["kernels"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pakage": "x"}, "unknown option `pakage` of target `python`"),
        ({"package": "a-b"}, "`package`: `a-b` cannot be the name of the package"),
        ({"package": "typing.ops"}, "`package`: `typing.ops` cannot be the name of the package"),
        ({"shards": -1}, "`shards` takes a number from 0 to 256"),
        ({"kernels": 1}, "`kernels` takes a list of module names"),
        ({"kernels": ["a b"]}, "`kernels`: `a b` is not the name of a Python module"),
        ({"dispatcher": "two"}, "`dispatcher` takes `singleton` or `own`"),
    ],
)
def test_wrong_options(options: dict[str, object], message: str) -> None:
    config = Config(Path("."), target_options={"python": options})
    _, found = TARGETS["python"].read_options(config)
    assert [(d.code, d.message) for d in found] == [("TG510", message)]


def test_merge_out_prefers_the_functional_partner(tmp_path: Path) -> None:
    yaml = (
        "- func: zeros(int[] size, *, ScalarType? dtype=None, Layout? layout=None, "
        "Device? device=None, bool? pin_memory=None) -> Tensor\n"
        "- func: zeros.out(int[] size, *, Tensor(a!) out) -> Tensor(a!)\n"
        "- func: lonely.out(int[] size, *, Tensor(a!) out) -> Tensor(a!)\n"
    )
    overloads = build_package(load(tmp_path, yaml).resolved.declared, PythonOptions()).overloads
    zeros = merge_out(overloads[:2])
    assert [o.flat for o in zeros] == ["zeros"]
    assert zeros[0].out is not None and zeros[0].out.flat == "zeros_out"
    packet = build_packet("lonely", merge_out(overloads[2:]))
    (lonely,) = packet.overloads
    assert lonely.out is not None and lonely.out.flat == lonely.flat
    assert ([a.name for a in lonely.arguments], lonely.varargs) == (["size"], 0)
    assert packet.stub == ""


def test_the_package_runs(tmp_path: Path) -> None:
    """Import the package in a fresh interpreter, register a kernel, and call the operator in every way."""
    for path, text in torchgen_lite.generate(load(tmp_path, ADD, dispatcher="own")).items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    program = """
import ops
from torchgen_lite.runtime import DispatchKey, DispatchKeySet, Library
class T(ops.methods.TensorMethods):
    _dispatch_keyset = DispatchKeySet(DispatchKey.CPU)
lib = Library("aten", "IMPL", "CPU", dispatcher=ops.dispatcher)
lib.impl("add.Tensor", lambda a, b, *, alpha: ("add", alpha))
lib.impl("add.out", lambda a, b, *, alpha, out: ("out", alpha))
x = T()
print(ops.add(x, x), ops.add(x, x, alpha=2), ops.add(x, x, out=x), x.add(x), x + x)
print(ops.ops.aten.add.Tensor(x, x), ops.ops.aten.add.Tensor.redispatch(x._dispatch_keyset, x, x))
print(ops.redispatch.add(x._dispatch_keyset, x, x, alpha=3))
try:
    ops.add(x, "no")
except TypeError as error:
    print(str(error).splitlines()[0])
"""
    result = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": f"{tmp_path / 'python'}:{ROOT}"},
        capture_output=True,
        text=True,
    )
    assert result.stderr == ""
    assert result.stdout.splitlines() == [
        "('add', 1) ('add', 2) ('out', 1) ('add', 1) ('add', 1)",
        "('add', 1) ('add', 1)",
        "('add', 3)",
        "add() received an invalid combination of arguments - got (T, str), but expected one of:",
    ]


@pytest.mark.parametrize(
    ("folder", "root"),
    [("python", "python/tiny/_ops/"), ("src", "src/tiny/_ops/"), (".", "tiny/_ops/")],
)
def test_the_package_stands_in_a_folder(tmp_path: Path, folder: str, root: str) -> None:
    files = torchgen_lite.generate(load(tmp_path, ADD, package="tiny._ops", folder=folder))
    assert f"{root}__init__.py" in files
    assert all(path.startswith(root) for path in files)


DERIVED = """\
- func: {0}scale(Tensor self, Scalar factor=2) -> Tensor
  variants: function, method
  dispatch:
    CompositeExplicitAutograd: scale
  derivatives:
    self: scale(grad, factor)
- func: {0}scale.out(Tensor self, Scalar factor=2, *, Tensor(a!) out) -> Tensor(a!)
  dispatch:
    CPU: scale_out
"""


@pytest.mark.parametrize("target", ["python", "cpp-torch", "torch-python"])
def test_a_namespace_of_the_configuration_is_that_of_every_name_without_one(
    tmp_path: Path, target: str
) -> None:
    def generated(text: str, namespace: str) -> dict[str, list[str]]:
        (tmp_path / "native_functions.yaml").write_text(text)
        config = Config(tmp_path, targets=(target,), namespace=namespace)
        files = torchgen_lite.generate(torchgen_lite.load(config=config))
        # In C++, a type keeps its column in the schema, so only the words are compared.
        return {path: text.split() for path, text in files.items()}

    assert generated(DERIVED.format(""), "tiny") == generated(DERIVED.format("tiny::"), "")


def test_files_without_kernels_are_not_there(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text("def f(x): ...\n")
    entry = "- func: f(Tensor x) -> Tensor\n  dispatch: {CPU: f}\n"
    options = {"framework": "torchgen_lite_reference.framework", "kernels": ["k"]}
    none = f"{entry}  derivatives:\n    output_differentiability: [False]\n"
    files = generate(tmp_path, none, **options)
    assert [name for name in files if "auto" in name or "nodes" in name or "inplace" in name] == [
        "register_autograd.py"
    ]
    assert 'aten.impl("f", _fallthrough)' in files["register_autograd.py"]
    # An operator that must not be recorded has a kernel, but no node.
    composed = none.replace("CPU: f", "CompositeExplicitAutograd: f")
    files = generate(tmp_path, composed, **options)
    assert [name for name in files if "auto" in name or "nodes" in name or "inplace" in name] == [
        "autograd.py",
        "register_autograd.py",
        "register_compositeexplicitautograd.py",
    ]
    assert "_nodes" not in files["autograd.py"]


def test_modules_of_checked_in_packages_are_known_to_be_modules() -> None:
    """Namespaces and modules of kernels keep away from the names that `is_module` knows."""
    packages = {path.parent for path in ROOT.glob("*/**/register_cpu.py")}
    modules = {path.stem for package in packages for path in package.glob("*.py")} - {"__init__"}
    assert {"nodes_0", "register_cpu", "selected_cpu", "structured_meta", "constants"} <= modules
    assert [name for name in sorted(modules) if not is_module(name)] == []
