"""Every Python file that is given is accounted for: what registers is read, or named with the reason."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result

Run = Callable[..., Result]

HEAD = "import functools\nimport torch\nfrom torch.library import Library, custom_op\n"
TYPED = "(x: torch.Tensor) -> torch.Tensor:\n    return x.clone()\n"
OTHER = HEAD + f'@custom_op("other::o", mutates_args=())\ndef o{TYPED}'
LIB = HEAD + 'LIB = Library("l", "DEF")\n'
F = '"f(Tensor x) -> Tensor"'

READ: dict[str, dict[str, str]] = {
    "a library of another file": {
        "a.py": LIB,
        "b.py": f"from .a import LIB\nLIB.define({F})\n",
    },
    "by another name": {
        "a.py": LIB,
        "b.py": f"from .a import LIB as h\nh.define({F})\n",
    },
    "of the module": {
        "a.py": LIB,
        "b.py": f"from . import a\na.LIB.define({F})\n",
    },
    "of all names of the module": {
        "a.py": LIB,
        "b.py": f"from .a import *\nLIB.define({F})\n",
    },
    "by a file between": {
        "a.py": LIB,
        "b.py": "from .a import LIB as _one\nTWO = _one\n",
        "c.py": f"from .b import TWO as z\nz.define({F})\n",
    },
    "its method": {
        "a.py": f"{LIB}declare = LIB.define\ndeclare({F})\n",
    },
    "its method, of another file": {
        "a.py": f"{LIB}declare = LIB.define\n",
        "b.py": f"from .a import declare as d\nd({F})\n",
    },
    "its method by getattr": {
        "a.py": f'{LIB}getattr(LIB, "define")({F})\n',
    },
    "partial": {
        "a.py": f'{HEAD}op = functools.partial(torch.library.custom_op, mutates_args=())\n@op("l::f")\ndef f{TYPED}',
    },
    "partial of another file": {
        "a.py": f"{HEAD}make = functools.partial(custom_op, mutates_args=())\n",
        "b.py": f'import torch\nfrom .a import make\n@make("l::f")\ndef f{TYPED}',
    },
    "partial by another name, of a partial": {
        "a.py": f"{HEAD}from functools import partial as p\na = p(custom_op, mutates_args=())\n"
        f'b = p(a, "l::f")\n@b()\ndef f{TYPED}',
    },
    "partial that is called": {
        "a.py": f'{HEAD}@functools.partial(custom_op, mutates_args=())("l::f")\ndef f{TYPED}',
    },
    "a condition": {
        "a.py": f'{HEAD}op = custom_op if hasattr(torch.library, "custom_op") else None\n'
        f'@op("l::f", mutates_args=())\ndef f{TYPED}',
    },
    "an `or`": {
        "a.py": f'{HEAD}def _no(*a, **k): ...\nop = custom_op or _no\n@op("l::f", mutates_args=())\ndef f{TYPED}',
    },
    "getattr": {
        "a.py": f'{HEAD}op = getattr(torch.library, "custom_op", None)\n@op("l::f", mutates_args=())\ndef f{TYPED}',
    },
    "getattr or something else": {
        "a.py": f'{HEAD}def _no(*a, **k): ...\nop = getattr(torch.library, "custom_op", None) or _no\n'
        f'@op("l::f", mutates_args=())\ndef f{TYPED}',
    },
    "getattr that is called": {
        "a.py": f'{HEAD}@getattr(torch.library, "custom_op")("l::f", mutates_args=())\ndef f{TYPED}',
    },
    "an assignment in an expression": {
        "a.py": f'{HEAD}op = (made := custom_op)\n@op("l::f", mutates_args=())\ndef f{TYPED}',
    },
    "all names of torch.library": {
        "a.py": 'from torch.library import *\ndefine("l::f", "(Tensor x) -> Tensor")\n',
    },
    "an import in a try": {
        "a.py": "import torch\ntry:\n    from torch.library import custom_op as op\nexcept ImportError:\n"
        f'    op = None\n@op("l::f", mutates_args=())\ndef f{TYPED}',
    },
}  # fmt: skip


def written(project: Path, files: dict[str, str]) -> None:
    (project / "pkg").mkdir()
    for name, text in {"__init__.py": "", "other.py": OTHER, **files}.items():
        (project / "pkg" / name).write_text(text)


@pytest.mark.parametrize("files", READ.values(), ids=READ)
def test_what_is_read(files: dict[str, str], run: Run, project: Path) -> None:
    written(project, files)
    result = run("import", "pkg", "--output-format", "concise")
    assert "- func: l::f(Tensor x) -> Tensor" in result.stdout, result.stderr
    assert result.code == 0, result.stderr


@pytest.mark.torch
@pytest.mark.parametrize("case", READ)
def test_torch_registers_it(case: str, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The inputs are right. Each has a namespace of its own, since PyTorch forgets none."""
    import torch

    namespace = f"accounted{list(READ).index(case)}"
    texts = {
        name: re.sub(r'"l(?="|::)', f'"{namespace}', text) for name, text in READ[case].items()
    }
    written(project, texts)
    monkeypatch.syspath_prepend(str(project))
    try:
        for name in texts:
            importlib.import_module(f"pkg.{name.removesuffix('.py')}")
        assert getattr(torch.ops, namespace).f.default
    finally:
        for name in [one for one in sys.modules if one.partition(".")[0] == "pkg"]:
            del sys.modules[name]


NAMED: dict[str, tuple[str, dict[str, str]]] = {
    "another name of a method in a function": (
        "a.py:6:",
        {"a.py": f"{LIB}def g():\n    declare = LIB.define\n    declare({F})\n"},
    ),
    "a name in a function": (
        "a.py:4:",
        {"a.py": f"import torch\ndef g():\n    from torch.library import define as d\n    d('l::f', {F})\n"},
    ),
    "a function that is in a table": (
        "a.py:4:",
        {"a.py": f'{HEAD}TABLE = {{"op": custom_op}}\nTABLE["op"]("l::f", mutates_args=())\n'},
    ),
    "a function that is passed on": (
        "a.py:4:",
        {"a.py": f"{HEAD}with_all(torch.library.register_fake)\n"},
    ),
    "a method that is passed on": (
        "a.py:5:",
        {"a.py": f"{LIB}list(map(LIB.define, ['f(Tensor x) -> Tensor']))\n"},
    ),
    "a partial that is passed on": (
        "a.py:4:",
        {"a.py": f"{HEAD}apply(functools.partial(custom_op, mutates_args=()))\n"},
    ),
    "an attribute of a class": (
        "a.py:5:",
        {"a.py": f"{HEAD}class A:\n    op = custom_op\nA.op('l::f')\n"},
    ),
    "a default": (
        "a.py:4:",
        {"a.py": f"{HEAD}def g(name, op=custom_op):\n    return op(name)\n"},
    ),
    "a name that is computed": (
        "a.py:4:",
        {"a.py": f'{HEAD}getattr(torch.library, name())("l::f", mutates_args=())\n'},
    ),
    "a function that is chosen by name": (
        "a.py:5:",
        {"a.py": f'{HEAD}op = getattr(torch.library, "custom" + kind)\nop("l::f", mutates_args=())\n'},
    ),
    "a method by a name that is computed": (
        "a.py:5:",
        {"a.py": f"{LIB}getattr(LIB, name())({F})\n"},
    ),
    "a library that a function is given, where nothing speaks of PyTorch": (
        "a.py:2:",
        {"a.py": f"def g(lib):\n    lib.define({F})\n"},
    ),
    "a kernel for it": (
        "a.py:2:",
        {"a.py": 'def g(lib, f):\n    lib.impl("f", f, "CPU")\n'},
    ),
    "a library that no file has": (
        "a.py:3:",
        {"a.py": f"from elsewhere import LIB\ndeclare = LIB.define\ndeclare({F})\n"},
    ),
    "a library that is given to what no file has": (
        "a.py:6:",
        {"a.py": f"{LIB}from elsewhere import setup\nsetup(LIB)\n"},
    ),
    "a text that is run": (
        "a.py:4:",
        {"a.py": f"{HEAD}exec('custom_op(\"l::f\", f, mutates_args=())')\n"},
    ),
    "a text that is made and run": (
        "a.py:3:",
        {"a.py": "import torch\nfor name in ('f', 'g'):\n"
                 "    exec(compile(f'torch.library.define(\"l::{name}\", \"() -> int\")', '', 'exec'))\n"},
    ),
    "by its name in another module": (
        "b.py:3:",
        {"a.py": LIB, "b.py": "import elsewhere\nfrom .a import LIB as h\nelsewhere.setup(1, library=h)\n"},
    ),
    "a partial that a file gives what it computes": (
        "b.py:2:",
        {
            "a.py": f"{HEAD}make = functools.partial(custom_op, mutates_args=written())\n",
            "b.py": f'from .a import make\n@make("l::f")\ndef f{TYPED}',
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize(("place", "files"), NAMED.values(), ids=NAMED)
def test_what_is_named(place: str, files: dict[str, str], run: Run, project: Path) -> None:
    written(project, files)
    result = run("import", "pkg", "--output-format", "concise")
    assert any(
        line.startswith(f"pkg/{place}") for line in result.stderr.splitlines()
    ), result.stderr
    assert "TG614" in result.stderr and result.code == 1
    proof = run("prove", "pkg", "--output-format", "concise")
    assert proof.code == 1 and "all of them agree" not in proof.stderr


@pytest.mark.parametrize(
    "text",
    [
        'parser.define("debug", "a")\n',
        'from registry import register_kernel\nregister_kernel("a", f)\n',
        'define("port", default=1)\nfallback = 1\n',
        "print 'define'\n",
        f'{HEAD}if hasattr(torch.library, "custom_op") and torch.library.custom_op is not None: ...\n',
        f"{HEAD}import inspect\nnames = inspect.signature(torch.library.custom_op).parameters\n",
        f"{LIB}kept = []\nkept.append(LIB)\nprint(LIB)\n",
        f"{HEAD}__all__ = ['custom_op']\ntext = custom_op.__doc__\n",
        f"{HEAD}fake = torch.library.register_fake if torch.library.register_fake else None\n",
    ],
)
def test_what_registers_nothing(text: str, run: Run, project: Path) -> None:
    written(project, {"a.py": text})
    result = run("import", "pkg")
    assert (result.code, "a.py" in result.stderr) == (0, False), result.stderr


def test_long_names_are_whole(run: Run, project: Path) -> None:
    name = "a_name_" + 20 * "that_is_long_"
    text = f'{HEAD}@custom_op("l::{name}", mutates_args=())\ndef {name}(x: torch.Tensor, n=one()) -> torch.Tensor: ...\n'
    written(project, {"a.py": text})
    assert f"'l::{name}'" in run("import", "pkg", "--output-format", "concise").stderr
