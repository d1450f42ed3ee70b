"""Classes of Python as types of schemas, which the package registers before it defines the operators."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torch_python.generated import run_program, run_python, write_package

pytestmark = pytest.mark.torch

CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]

[target.torch-python]
kernels = ["tables"]
fakes = ["tables"]

[target.torch-python.opaque]
"tables.Table" = "reference"
"tables.Size" = "value"
"""
ENTRIES = """\
- func: tab::look_up(Tensor x, tables.Table table) -> Tensor
  dispatch: {CPU: look_up}
  fake: {like: x}
  derivatives:
    x: grad * 2

- func: tab::sum(Tensor x, tables.Table[] tables, *, tables.Size? size=None) -> Tensor
  dispatch: {CPU: sum_}
  fake: sum_fake

- func: tab::make(Tensor x) -> tables.Table
  dispatch: {CompositeExplicitAutograd: make}
"""
TABLES = """\
import torch
from torch._library import opaque_object
from torch._opaque_base import OpaqueBase

CALLS = []


class Table(OpaqueBase):
    def __init__(self, value):
        self.value = value


class Size:
    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return isinstance(other, Size) and other.n == self.n

    def __hash__(self):
        return hash(self.n)

    def __fx_repr__(self):
        return f"Size({self.n})", {"Size": Size}


# A class may be registered where it is defined.
if hasattr(opaque_object, "register_opaque_type"):
    opaque_object.register_opaque_type(Size, typ="value")


def look_up(x, table):
    CALLS.append(type(table).__name__)
    return x * 2 + table.value


def sum_(x, tables, size):
    return x + sum(table.value for table in tables) + (size.n if size is not None else 0)


def sum_fake(x, tables, size=None):
    return torch.empty_like(x)


def make(x):
    return Table(float(x.sum()))
"""
PROGRAM = """
import tab_ops, torch
from tables import CALLS, Size, Table

x, table = torch.ones(2, requires_grad=True), tab_ops.make(torch.ones(3))
print(table.value, tab_ops.look_up(x, table).tolist())
print(tab_ops.sum(x, [table, Table(1.0)]).tolist(), tab_ops.sum(x, [], size=Size(4)).tolist())

def f(x, table, size):
    y = tab_ops.look_up(x, table) * 3
    return y + tab_ops.sum(x.detach(), [table], size=size)

compiled = torch.compile(f, backend="aot_eager", fullgraph=True)
for value, n in ((3.0, 1), (5.0, 2)):
    CALLS.clear()
    given = Table(value), Size(n)
    found = compiled(x, *given)
    print(found.tolist(), f(x, *given).tolist(), *CALLS)
    print(*torch.autograd.grad(found.sum(), x))
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch._opaque_base", reason="this torch takes no objects of Python")
    folder = tmp_path_factory.mktemp("opaque")
    files = {"torchgen_lite.toml": CONFIG, "ops.yaml": ENTRIES, "tables.py": TABLES}
    for name, text in files.items():
        (folder / name).write_text(text)
    write_package(folder)
    return folder


def test_objects_of_python_are_arguments_and_results(project: Path) -> None:
    """In eager mode, and under a compiler that never looks into them."""
    assert run_program(project, PROGRAM) == """\
3.0 [5.0, 5.0]
[5.0, 5.0] [5.0, 5.0]
[20.0, 20.0] [20.0, 20.0] Table Table
tensor([6., 6.])
[29.0, 29.0] [29.0, 29.0] Table Table
tensor([6., 6.])
"""


def test_functions_name_the_classes(project: Path) -> None:
    text = (project / "generated" / "torch-python" / "tab_ops" / "functions.py").read_text()
    assert "    from tables import Size as tables_Size, Table as tables_Table\n" in text
    assert "def look_up(x: Tensor, table: tables_Table) -> Tensor:\n" in text
    assert "def make(x: Tensor) -> tables_Table:\n" in text


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (
            "from torch._library import opaque_object as o; del o.register_opaque_type\n"
            "o.register_custom_class = lambda cls, typ: print(cls.__name__, typ)",
            "unknown type specifier",
        ),
        (
            "from importlib import util; util.find_spec = lambda name: None",
            "ops.yaml:1: `tab::look_up`: `tables.Table`: torch 2.",
        ),
        ("import tables; del tables.Table", "module 'tables' has no attribute 'Table'"),
    ],
)
def test_what_cannot_be_registered_is_refused_by_name(
    project: Path, before: str, said: str
) -> None:
    """A later torch registers them with another function and other words, and an earlier one has none."""
    done = run_python(project, "-c", f"import torch\n{before}\nimport tab_ops")
    assert "tab_ops._library.RegistrationError: ops.yaml:1: `tab::look_up`: " in done.stderr
    assert said in done.stderr
    # A registration that does nothing is asked for again by each operator that names the class.
    asked = {"Table symbolic", "Size constant"} if "register_custom_class" in before else set()
    assert {*done.stdout.splitlines()} == asked
