"""`import` of Python files, of which none is imported: each with its YAML and its messages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import FunctionType

import pytest

from tests.conftest import Result
from torchgen_lite.diagnostics import Source
from torchgen_lite_tools.importing.python_modules import parse_module
from torchgen_lite_tools.importing.python_schemas import infer_python_schema

Run = Callable[..., Result]

OPS = """\
from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

import torch
from torch import Tensor
from torch.library import custom_op, triton_op

from . import kernels
from .names import NAMESPACE, lib

register_fake = torch.library.register_fake if False else None
if hasattr(torch.library, "register_fake"):
    register_fake = torch.library.register_fake
else:
    register_fake = torch.library.impl_abstract


@custom_op(f"{NAMESPACE}::scale", mutates_args=("out",), device_types=["cpu", "cuda"])
def scale(x: Tensor, out: "Tensor", by: Optional[float] = 1.5, *, axes: Sequence[int] | None = None) -> None:
    out.copy_(x * by)


@scale.register_fake
def _(x, out, by=1.5, *, axes=None):
    return None


@torch.library.custom_op("mylib::twice", mutates_args=(), schema="(Tensor x) -> Tensor", tags=torch.Tag.core)
def twice(x):
    return x * 2


@register_fake("mylib::twice")
def twice_fake(x):
    return torch.empty_like(x)


@twice.register_kernel("xpu")
def twice_xpu(x):
    return x * 2


lib.define("half(Tensor x) -> Tensor", tags=(torch.Tag.pointwise,))
lib.impl("half", kernels.half, "CPU")
torch.library.impl(lib, "half", "Meta")(kernels.half)
torch.library.define("mylib::third.plain", "(Tensor x, int n=3) -> Tensor")


@torch.library.impl("mylib::third.plain", ("cpu", "AutogradCPU"))
def third(x, n):
    return x / n


@torch.library.register_vmap(torch.ops.mylib.third.plain)
def third_vmap(info, dims, x, n=3):
    return x / n, 0


if torch.cuda.is_available():

    @custom_op("mylib::fast", mutates_args=())
    def fast(x: torch.Tensor, dtype: torch.dtype = torch.float16) -> tuple[Tensor, int]:
        return x, 1

else:

    def fast(x):
        raise RuntimeError
"""
NAMES = """\
from torch.library import Library

NAMESPACE = "my" "lib"
lib = Library(NAMESPACE, "FRAGMENT")
"""
YAML = """\
- func: mylib::scale(Tensor x, Tensor(a1!) out, float? by=1.5, *, SymInt[]? axes=None) -> ()
  dispatch:
    CPU, CUDA: scale
  tags: [pt2_compliant_tag]
  fake: _

- func: mylib::twice(Tensor x) -> Tensor
  dispatch:
    CompositeExplicitAutograd: twice
    XPU: twice_xpu
  tags: [core, pt2_compliant_tag]
  fake: twice_fake

- func: mylib::half(Tensor x) -> Tensor
  dispatch:
    CPU, Meta: half
  tags: [pointwise]

- func: mylib::third.plain(Tensor x, int n=3) -> Tensor
  dispatch:
    CPU, AutogradCPU: third
  vmap: third_vmap

# ? registered only if `torch.cuda.is_available()`: an entry is there always
- func: mylib::fast(Tensor x, ScalarType dtype=float16) -> (Tensor, SymInt)
  dispatch:
    CompositeExplicitAutograd: fast
  tags: [pt2_compliant_tag]
"""


def test_styles(run: Run, project: Path) -> None:
    (project / "mylib").mkdir()
    (project / "mylib/__init__.py").write_text("from . import ops\n")
    (project / "mylib/ops.py").write_text(OPS)
    (project / "mylib/names.py").write_text(NAMES)
    result = run("import", "mylib")
    assert result.stdout == YAML
    assert (result.code, result.stderr.splitlines()) == (
        0,
        [
            'the functions are those of `kernels = ["mylib.ops", "mylib.kernels"]`',
            'the functions are those of `fakes = ["mylib.ops"]`',
            "mylib/ops.py: 12 registrations in Python, 12 read, 0 not read",
            "5 operators",
        ],
    )


def imported(run: Run, project: Path, text: str) -> tuple[str, list[str]]:
    """The YAML of a file, and its messages without their help."""
    (project / "ops.py").write_text(text)
    result = run("import", "ops.py", "--output-format", "concise")
    assert result.code == 1
    return result.stdout, [line.partition(" (")[0] for line in result.stderr.splitlines()]


def test_what_is_not_read(run: Run, project: Path) -> None:
    yaml, said = imported(
        run,
        project,
        """\
import torch
from mylib.wrappers import register_fake
from torch.library import Library, custom_op, define, register_autograd, triton_op

def wrapped(name, f):
    return custom_op(name, f, mutates_args=())

for name in ("a", "b"):
    define(f"mylib::{name}", "(Tensor x) -> Tensor")

class Kernels:
    define("mylib::c", "(Tensor x) -> Tensor")

@custom_op("mylib::d", mutates_args=())
def d(x: object) -> torch.Tensor: ...

@custom_op("mylib::e", mutates_args=())
def e(x) -> torch.Tensor: ...

@custom_op("mylib::f", mutates_args="y")
def f(x: torch.Tensor): ...

@custom_op(computed(), mutates_args=())
def g(x: torch.Tensor) -> torch.Tensor: ...

@register_fake("mylib::d")
def fake(x): ...

lib = Library(computed(), "DEF")
lib.define("h(Tensor x) -> Tensor")
other.define("i(Tensor x) -> Tensor")
known = Library("mylib", "DEF")
known.fallback(f)
known.impl("j", f, "CPUU")
known.define("k(Tnsor x) -> Tensor")
define(*arguments)
known.define("ok(Tensor x) -> Tensor")
torch.library.opcheck(f)
parser.define("debug")
""",
    )
    assert yaml == "- func: mylib::ok(Tensor x) -> Tensor\n  dispatch: {}\n"
    reasons = [line.removeprefix("ops.py:") for line in said if "TG614" in line]
    assert reasons == [
        "6:5: error[TG614] 'custom_op(name, f, mutates_args=())' was not read: this is in a function, a loop or a class",
        "9:5: error[TG614] 'define(f'mylib::{name}', '(Tensor x) -> Tensor')' was not read: this is in a function, a loop or a class",
        "12:5: error[TG614] 'mylib::c' was not read: this is in a function, a loop or a class",
        "14:1: error[TG614] 'mylib::d' was not read: no schema has the type 'object'",
        "17:1: error[TG614] 'mylib::e' was not read: an argument has no annotation",
        "20:1: error[TG614] 'mylib::f' was not read: its result has no annotation",
        "23:1: error[TG614] 'g' was not read: 'computed()' is computed",
        "26:1: error[TG614] 'mylib::d' was not read: 'register_fake' is not known here",
        "30:1: error[TG614] 'h' was not read: 'computed()' is computed",
        "31:1: error[TG614] 'i' was not read: 'other' is not known here",
        "33:1: error[TG614] 'known.fallback(f)' was not read: this remains handwritten",
        "34:1: error[TG614] 'j' was not read: 'CPUU' is no dispatch key",
        "35:1: error[TG614] 'k' was not read: unknown type 'Tnsor'",
        "36:1: error[TG614] 'define(*arguments)' was not read: its arguments are computed",
    ]
    assert said[-2:] == [
        "ops.py: 15 registrations in Python, 1 read, 14 not read",
        "1 operator, 14 things to do by hand",
    ]


def test_calls_of_functions_that_register(run: Run, project: Path) -> None:
    """In files that do not mention `torch.library`, too."""
    (project / "pkg").mkdir()
    (project / "pkg/__init__.py").write_text("from .wrap import cute_op\n")
    (project / "pkg/wrap.py").write_text("""\
import torch
def cute_op(name, **more):
    return lambda f: torch.library.custom_op(name, f, mutates_args=(), **more)
def made(lib):
    def register(f):
        lib.define(schema_of(f))
    return register
def outer(name):
    return cute_op(name)
""")
    (project / "pkg/ops.py").write_text("""\
from . import wrap
from pkg import cute_op
@cute_op("pkg::f", device_types="cuda")
def f(x): ...
registered = wrap.made(wrap)
@registered
def g(x): ...
h = wrap.outer("pkg::h")(f)
print(f)
""")
    result = run("import", "pkg", "--output-format", "concise")
    assert [one for one in result.stderr.splitlines() if one.startswith("pkg/ops.py")] == [
        "pkg/ops.py:3:1: error[TG614] 'pkg::f' was not read: 'cute_op' registers it",
        "pkg/ops.py:5:1: error[TG614] 'wrap.made(wrap)' was not read: 'wrap.made' registers it",
        "pkg/ops.py:6:1: error[TG614] 'g' was not read: 'registered' registers it",
        "pkg/ops.py:8:1: error[TG614] 'pkg::h' was not read: 'wrap.outer' registers it",
        "pkg/ops.py: 4 registrations in Python, 0 read, 4 not read",
    ]


def test_functions_that_yaml_has_no_name_for(run: Run, project: Path) -> None:
    yaml, said = imported(
        run,
        project,
        """\
import torch
from functools import partial
from torch.library import Library, register_autograd, register_autocast, register_fake
lib = Library("mylib", "DEF")
lib.define("f(Tensor x) -> Tensor")
lib.define("g(Tensor x) -> Tensor")
class F(torch.autograd.Function): ...
lib.impl("f", F.apply, "Autograd")
lib.impl("f", lambda x: x, "CPU")
lib.impl("f", partial(max, 1), "CUDA")
lib.impl("f", torch.library.fallthrough_kernel, "Meta")
@register_fake("mylib::f")
def _(x): ...
@register_fake("mylib::g")
def _(x): ...
def backward(context, grad): ...
register_autograd("mylib::f", backward)
register_autocast("mylib::g", "cuda", torch.float16)
@torch.library.triton_op("mylib::h", mutates_args={})
def h(x: torch.Tensor) -> torch.Tensor: ...
""",
    )
    assert yaml == """\
- func: mylib::f(Tensor x) -> Tensor
  dispatch: {}

- func: mylib::g(Tensor x) -> Tensor
  dispatch: {}
  fake: _

- func: mylib::h(Tensor x) -> Tensor
  dispatch:
    CompositeExplicitAutograd: h
  tags: [pt2_compliant_tag]
  fake: h
"""
    assert [line for line in said if "TG" in line] == [
        "error[TG607] 'mylib::g' is run in torch.float16 on cuda under autocast",
        "ops.py:8:1: error[TG607] the kernel for Autograd of 'mylib::f' is 'F.apply', which is not a module-level function",
        "ops.py:9:1: error[TG607] the kernel for CPU of 'mylib::f' is '<lambda>', which is not a module-level function",
        "ops.py:10:1: error[TG607] the kernel for CUDA of 'mylib::f' is 'partial(...)', which is not a module-level function",
        "ops.py:11:1: error[TG602] 'mylib::f' falls through at Meta, which YAML cannot say: a fallthrough is not a kernel",
        "ops.py:12:1: error[TG607] the fake of 'mylib::f' is '_', and so is another function of 'ops'",
        "ops.py:16:1: error[TG607] 'mylib::f' takes its gradient from 'ops:backward'",
        "ops.py:19:1: error[TG607] 'mylib::h' is a 'triton_op', into which 'torch.compile' looks",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "(",
        "a = a\nlibrary = a\n@library.custom_op(a)\ndef f(): ...",
        "import library\nx = y\ny = x\nx.define('f(')\n" + "library.impl(" + "(" * 50 + ")" * 50 + ")",
        "from torch.library import define\ndefine('a::b', " + " + ".join(["'('"] * 5000) + ")",
        "import torch\n" + "a = b\nb = a\n" * 40 + "torch.library.define(a, b)\na.define('f() -> ()')",
        "import torch\n" + "".join(f"a{n} = f'{{a{n + 1}}}{{a{n + 1}}}'\n" for n in range(60))
        + "a60 = 'x'\ntorch.library.define(a0, a30)",
        "import torch\na = f'{a}'\ntorch.library.define(a, '()')",
        "import torch\ntorch.library.define(" + "f(), " * 20_000 + ")",
        "from torch.library import *\ncustom_op()\n@custom_op\ndef f(): ...",
    ],
)  # fmt: skip
def test_nothing_that_is_written_is_a_crash(text: str, run: Run, project: Path) -> None:
    (project / "library.py").write_text(text)
    assert run("import", "library.py").code == 1


TRITON = """\
import torch
{before}
@torch.library.triton_op("mylib::f", mutates_args=())
def f(x: torch.Tensor) -> torch.Tensor: ...
def f_fake(x): ...
{after}
"""
FAKE = 'torch.library.register_fake("mylib::f", f_fake)'


@pytest.mark.parametrize(
    ("before", "after", "fake"),
    [("", "", "f"), ("", "f.register_fake(f_fake)", "f_fake"), ("", FAKE, "f_fake"), (FAKE, "", "f_fake")],
)  # fmt: skip
def test_a_triton_op_is_its_own_fake_until_it_has_one(
    before: str, after: str, fake: str, run: Run, project: Path
) -> None:
    (project / "library.py").write_text(TRITON.format(before=before, after=after))
    result = run("import", "library.py")
    fakes = [line for line in result.stdout.splitlines() if "fake:" in line]
    assert fakes == [f"  fake: {fake}"], result.stdout


FUNCTIONS = """\
import typing, torch
from typing import List, Optional, Sequence, Tuple, Union
import collections.abc
def f0(x: torch.Tensor, a: int, b: float = 1, c: bool = True, d: str = "s", *, e: torch.dtype) -> None: ...
def f1(x: List[torch.Tensor], a: Optional[int] = None, b: "float | None" = -1.5) -> List[torch.Tensor]: ...
def f2(x: Sequence[Optional[torch.Tensor]], a: Optional[List[int]], b: list[float]) -> torch.Tensor: ...
def f3(x: Union[torch.Tensor, None], a: collections.abc.Sequence[bool]) -> Tuple[torch.Tensor, int]: ...
def f4(x: torch.Tensor, d: torch.device = torch.device("cpu"), t: torch.dtype = torch.int8) -> float: ...
def f5(x: "torch.Tensor", n: torch.types.Number = 2) -> "tuple[torch.Tensor, ...]": ...
def f6(x: torch.Tensor, n: Tuple[int, int]) -> torch.Tensor: ...
def f7(x: torch.Tensor, n: Optional[str] = "a b", m: Sequence[str] = ()) -> torch.Tensor: ...
def f8(x: torch.Tensor, *n: int) -> torch.Tensor: ...
def f9(x: torch.Tensor) -> Sequence[torch.Tensor]: ...
def f10(x: torch.Tensor, n: Optional[Sequence[float]] = None) -> bool: ...
def f11(x: torch.Tensor, n: Optional[List[torch.Tensor]] = None) -> bool: ...
def f12(x: torch.Tensor, n: int = 2**3) -> torch.Tensor: ...
def f13(x: torch.Tensor, n: list["torch.Tensor"]) -> torch.types.Number: ...
def f14(x: torch.Tensor, n: list[list[int]]) -> torch.Tensor: ...
def f15(x: torch.Tensor, n: Union[int, float, bool] = 2, m: float | int | bool = 1) -> torch.Tensor: ...
def f16(x: torch.Tensor, n: Optional[Union[bool, int, float]] = None) -> Union[int, float, bool]: ...
def f17(x: torch.Tensor, n: Union[int, float] = 2) -> torch.Tensor: ...
def f18(x: torch.Tensor, n: Optional[Optional[int]] = 2) -> torch.Tensor: ...
def f19(x: torch.Tensor, n: Union[Union[int, bool], float, None] = 2) -> torch.Tensor: ...
"""


@pytest.mark.torch
@pytest.mark.parametrize("mutates", [(), ("x",), "unknown", ("nothing",), ("n",)])
def test_schemas_are_those_that_torch_infers(mutates: tuple[str, ...] | str) -> None:
    import torch

    names: dict[str, FunctionType] = {}
    exec(compile(FUNCTIONS, "functions.py", "exec", dont_inherit=True), names)
    module = parse_module(Source("functions.py", FUNCTIONS), {})
    refused = list[str]()
    for name, (function,) in module.functions.items():
        try:
            expected = torch.library.infer_schema(names[name], mutates_args=mutates)
        except ValueError:
            with pytest.raises(ValueError):
                infer_python_schema(module, function, mutates)
            continue
        try:
            assert infer_python_schema(module, function, mutates) == expected
        except ValueError:
            refused.append(name)
    assert set(refused) <= {"f12"}, "a default that is computed"


@pytest.mark.parametrize(
    "paths",
    [
        ["FILE", "FILE"],
        [".", "FILE"],
        ["FILE", "./FILE"],
        ["FILE", "link/FILE"],
        ["FILE", "again-FILE"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("name", ["ops.py", "ops.cpp"])
def test_a_file_with_several_names_is_read_once(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, paths: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ops.py").write_text(
        "import torch\n\n\n@torch.library.custom_op('mylib::f', mutates_args=())\n"
        "def f(x: torch.Tensor) -> torch.Tensor:\n    return x.clone()\n"
    )
    Path("ops.cpp").write_text(
        'TORCH_LIBRARY(mylib, m) {\n  m.def("g(Tensor x) -> Tensor", g);\n}\n'
    )
    Path("link").symlink_to(".")
    Path(f"again-{name}").symlink_to(name)
    if "." not in paths:
        expected = run("import", name)
    else:
        expected = run("import", ".")
    assert expected.code in (0, 1) and expected.stdout.count("- func: ") == 1 + ("." in paths)
    assert run("import", *[path.replace("FILE", name) for path in paths]) == expected
