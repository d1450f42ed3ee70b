"""Typed functions: an entry, and the function generated from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite import generate, load
from torchgen_lite.pipeline import generate_all

ENTRIES = {
    "defaults and a docstring": (
        "- func: mylib::topk(Tensor x, int k=5, *, bool largest=True) -> (Tensor, Tensor)\n"
        "  doc: |\n    The k largest.\n\n    x: one dimension.\n",
        '''\
def topk(x: Tensor, k: int = 5, *, largest: bool = True) -> tuple[Tensor, Tensor]:
    """The k largest.

    x: one dimension.
    """
    return _op_topk(x, k, largest=largest)
''',
    ),
    "keywords of Python": (
        "- func: mylib::random_.from(Tensor(a!) self, int from, *, Generator? g=None) -> Tensor(a!)\n",
        '''\
def random__from(self: Tensor, from_: int, *, g: Generator | None = None) -> Tensor:
    """mylib::random_.from(Tensor(a!) self, int from, *, Generator? g=None) -> Tensor(a!)"""
    return _op_random__from(self, from_, g=g)
''',
    ),
    "an argument that is called as a module": (
        "- func: mylib::twice(Tensor torch, *, int result=2) -> Tensor\n",
        '''\
def twice(torch_: Tensor, *, result: int = 2) -> Tensor:
    """mylib::twice(Tensor torch, *, int result=2) -> Tensor"""
    return _op_twice(torch_, result=result)
''',
    ),
    "constants": (
        "- func: mylib::lay(*, MemoryFormat f=contiguous_format, float e=1e-6) -> ()\n",
        '''\
def lay(*, f: memory_format = torch.contiguous_format, e: float = 1e-06) -> None:
    """mylib::lay(*, MemoryFormat f=contiguous_format, float e=1e-6) -> ()"""
    _op_lay(f=f, e=e)
''',
    ),
    "a name that hides a type": (
        "- func: mylib::int(Tensor x, int n) -> int[]\n",
        '''\
def int(x: Tensor, n: _int) -> list[_int]:
    """mylib::int(Tensor x, int n) -> int[]"""
    return _op_int(x, n)
''',
    ),
}


@pytest.mark.parametrize("name", ENTRIES)
def test_what_an_entry_becomes(tmp_path: Path, name: str) -> None:
    entry, function = ENTRIES[name]
    (tmp_path / "ops.yaml").write_text(entry)
    (tmp_path / "torchgen_lite.toml").write_text(
        'schema = ["ops.yaml"]\ntargets = ["torch-python"]\n'
    )
    text = generate(load(root=tmp_path))["torch-python/mylib_ops/functions.py"]
    start = text.index("\ndef ") + 1
    assert text[start : text.index("\n\n__all__")] == function


def test_an_argument_that_python_cannot_name_leaves_the_operator_out(tmp_path: Path) -> None:
    (tmp_path / "ops.yaml").write_text(
        "- func: mylib::f(Tensor x, *, int lambda=1) -> Tensor\n- func: mylib::g(Tensor x) -> Tensor\n"
    )
    (tmp_path / "torchgen_lite.toml").write_text('schema = ["ops.yaml"]\n')
    generated = generate_all(load(root=tmp_path), targets=["torch-python"])
    assert [(d.code, d.message) for d in generated.diagnostics] == [
        ("TG511", "`mylib::f` takes `lambda` by name, which is a keyword of Python")
    ]
    assert "def f(" not in generated.files["torch-python/mylib_ops/functions.py"]
    # Warnings of a target are switched off like lint rules.
    ops, config = tmp_path / "ops.yaml", tmp_path / "torchgen_lite.toml"
    ops.write_text(ops.read_text().replace("\n", "  # torchgen-lite: ignore[TG511]\n", 1))
    assert not generate_all(load(root=tmp_path), targets=["torch-python"]).diagnostics
    ops.write_text(ops.read_text().replace("TG511", "TG512"))
    assert generate_all(load(root=tmp_path), targets=["torch-python"]).diagnostics
    config.write_text(config.read_text() + '[lint]\nignore = ["TG511"]\n')
    assert not generate_all(load(root=tmp_path), targets=["torch-python"]).diagnostics


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ("mylib::name(Tensor x) -> Tensor", "has a name that `torch.ops` uses itself"),
        ("mylib::f.op(Tensor x) -> Tensor", "has a name that `torch.ops` uses itself"),
        ("higher_order::f(Tensor x) -> Tensor", "has a name that `torch.ops` uses itself"),
        ("__class__::f(Tensor x) -> Tensor", "has a name that `torch.ops` uses itself"),
        ("mylib::__call__(Tensor x) -> Tensor", "has a name that `torch.ops` uses itself"),
        (
            "mylib::torch(Tensor x) -> Tensor",
            "is called `torch`, which the generated code uses itself",
        ),
        (
            "mylib::f(Tensor x, *, int _places) -> Tensor",
            "takes `_places` by name, which is a module in the generated code",
        ),
        (
            "mylib::f(Tensor x, *, Tensor(a!) torch) -> Tensor(a!)",
            "takes `torch` by name, which is a module in the generated code",
        ),
    ],
)
def test_a_name_that_is_taken_leaves_the_operator_out(
    tmp_path: Path, schema: str, reason: str
) -> None:
    (tmp_path / "ops.yaml").write_text(f"- func: {schema}\n- func: mylib::g(Tensor x) -> Tensor\n")
    (tmp_path / "torchgen_lite.toml").write_text('schema = ["ops.yaml"]\n')
    generated = generate_all(load(root=tmp_path), targets=["torch-python"])
    name = schema.partition("(")[0]
    assert [(d.code, d.message) for d in generated.diagnostics] == [("TG511", f"`{name}` {reason}")]
    text = generated.files["torch-python/mylib_ops/functions.py"]
    assert text.count("\ndef ") == text.count("\ndef g(") == 1


def test_the_package_keeps_its_own_names(tmp_path: Path) -> None:
    names = ("RegistrationError", "_operators", "_places", "functions", "plain")
    (tmp_path / "ops.yaml").write_text(
        "".join(f"- func: mylib::{n}(Tensor x) -> Tensor\n" for n in names)
    )
    (tmp_path / "torchgen_lite.toml").write_text('schema = ["ops.yaml"]\n')
    files = generate(load(root=tmp_path), targets=["torch-python"])
    imported = files["torch-python/mylib_ops/__init__.py"].partition("from .functions ")[2]
    assert imported.partition(")")[0] == "import (\n    plain,\n"
    assert all(f"\ndef {n}(" in files["torch-python/mylib_ops/functions.py"] for n in names)


def test_operators_are_bound_once_under_a_free_name(tmp_path: Path) -> None:
    (tmp_path / "ops.yaml").write_text(
        "- func: mylib::f(Tensor _op_f) -> Tensor\n- func: mylib::g(Tensor x) -> ()\n"
        "- func: mylib::_op_g(Tensor x) -> (Tensor, int)\n"
    )
    (tmp_path / "torchgen_lite.toml").write_text(
        'schema = ["ops.yaml"]\ntargets = ["torch-python"]\n'
    )
    text = generate(load(root=tmp_path))["torch-python/mylib_ops/functions.py"]
    bound = text.partition("are there.\n")[2].partition("\n\n\n")[0]
    assert bound == """\
__op_f: Callable[..., Tensor] = torch.ops.mylib.f.default
__op_g: Callable[..., None] = torch.ops.mylib.g.default
_op__op_g: Callable[..., tuple[Tensor, int]] = torch.ops.mylib._op_g.default"""
