"""A package without its source files: in an archive, as byte code alone, and made in memory."""

from __future__ import annotations

import compileall
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.torch_python.generated import run_program, write_package

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

Pack = Callable[[Path], str]

CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]
[target.torch-python]
kernels = ["kern"]
formulas = ["forms"]
"""
ENTRIES = """\
- func: my::cube(Tensor x) -> Tensor
  dispatch:
    CPU: cube
  fake: {like: x}
  derivatives:
    x: slope(grad, x)
- func: my::filled(Tensor x) -> Tensor
  dispatch:
    CPU:
    - {kernel: filled, tune: [value=1, value=2]}
  fake: {like: x}
"""
KERNELS = """\
import torch


def cube(x: torch.Tensor) -> torch.Tensor:
    return x**3


def filled(x: torch.Tensor, *, value: int) -> torch.Tensor:
    return torch.full_like(x, value)
"""
FORMULAS = """\
import torch


def slope(grad: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return grad * 3 * x * x
"""
TUNED = {"my::filled for CPU: kern.filled": {"float32[1]": {"value": 2}}}
PROGRAM = """\
import sys
import torch
if sys.argv[1:] == ["memory"]:
    import importlib.abc
    import importlib.util
    from pathlib import Path

    class InMemory(importlib.abc.MetaPathFinder, importlib.abc.Loader):
        def find_spec(self, name, path, target=None):
            file = Path("texts", *name.split("."))
            self.texts = {True: file / "__init__.py", False: file.with_suffix(".py")}
            is_package = self.texts[True].is_file()
            if is_package or self.texts[False].is_file():
                return importlib.util.spec_from_loader(name, self, is_package=is_package)

        def exec_module(self, module):
            exec(self.texts[hasattr(module, "__path__")].read_text(), module.__dict__)

    sys.meta_path.insert(0, InMemory())
else:
    sys.path.insert(0, sys.argv[1])
import my_ops
x = torch.tensor([2.0], requires_grad=True)
(grad,) = torch.autograd.grad(my_ops.cube(x), x)
assert grad.item() == 12.0, grad
value = my_ops.filled(x.detach()).item()
assert value == (1.0 if sys.argv[1] == "memory" else 2.0), value
print(torch.compiler.config.cache_key_tag)
"""


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """A folder with the modules of the project, those of the package among them."""
    files = {
        "ops.yaml": ENTRIES,
        "torchgen_lite.toml": CONFIG,
        "kern.py": KERNELS,
        "forms.py": FORMULAS,
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    write_package(tmp_path)
    folder = tmp_path / "texts"
    (tmp_path / "generated" / "torch-python").rename(folder)
    for name in ("kern.py", "forms.py"):
        (tmp_path / name).rename(folder / name)
    device = f"cpu {torch.backends.cpu.get_cpu_capability()}"
    (folder / "my_ops" / "tuned.json").write_text(json.dumps({device: TUNED}))
    return folder


def _archive(texts: Path) -> str:
    archive = texts.parent / "package.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in sorted(texts.rglob("*.*")):
            file.write(path, path.relative_to(texts))
    return archive.name


def _byte_code(texts: Path) -> str:
    compileall.compile_dir(texts, quiet=2, legacy=True)
    for path in texts.rglob("*.py"):
        path.unlink()
    return texts.name


def _in_memory(texts: Path) -> str:
    return "memory"


@pytest.mark.parametrize("packed", [_archive, _byte_code, _in_memory])
def test_a_package_is_imported_without_source_files(packed: Pack, texts: Path) -> None:
    assert run_program(texts.parent, PROGRAM, packed(texts)).startswith("my_ops=")


def test_caches_forget_what_other_formulas_have_compiled(texts: Path) -> None:
    """The key of the caches is another if a formula is, and the same if nothing is."""
    keys = []
    for text in (FORMULAS, FORMULAS, FORMULAS.replace("grad * 3", "3 * grad")):
        (texts / "forms.py").write_text(text)
        keys.append(run_program(texts.parent, PROGRAM, _archive(texts)))
    assert keys[0] == keys[1] != keys[2]
