"""What people write in expressions, in each field: read, or refused with what to write instead.

Each row is a spelling of Python or of PyTorch's formulas, and what each field says of it: nothing where it is read, else
the code and a part of the help. What is read runs: `test_what_is_read_runs`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import Result
from tests.torch_python.generated import run_python, write_package

Run = Callable[..., Result]

CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]
[target.torch-python]
package = "ops"
kernels = ["kernels"]
"""
KERNELS = "def act(x, n): return x * 1\n"
READ = ""
PI = "TG320 write the number: `3.14159"
NO_DTYPES = "TG320 formulas have no names of dtypes"
METHODS = "TG335 there are `abs`"
FUNCTIONS = "TG335 there are `arange`"
RULES = "TG332 there are `broadcast`"
NO_MEMBER = "TG335 use calls such as `randn(3)`"


class Spelling(NamedTuple):
    """A spelling of a tensor, and what formulas, references and samples say; `x` is `randn(3, 4)` in samples."""

    text: str
    formula: str
    reference: str
    sample: str


class Number(NamedTuple):
    """A spelling of a number, and what formulas, references and fakes say."""

    text: str
    formula: str
    reference: str
    fake: str


TENSORS = [
    Spelling("torch.sigmoid(x)", READ, READ, "TG335 write `randn(3, 4).sigmoid()`"),
    Spelling("sigmoid(x)", READ, READ, "TG335 write `randn(3, 4).sigmoid()`"),
    Spelling("x.sigmoid()", READ, READ, READ),
    Spelling("-x", READ, READ, READ),
    Spelling("x * 2", READ, READ, READ),
    Spelling("x.pow(2)", READ, READ, METHODS),
    Spelling("torch.pow(x, 2)", READ, READ, FUNCTIONS),
    Spelling("x ** 2", "TG219 write `pow(x, 2)`", READ, "TG219 write a product"),
    Spelling("x @ x.t() @ x", "TG219 write `matmul(x, x.t())`", READ, "TG219 "),
    Spelling("torch.matmul(x, x.t()).sum() * x", READ, READ, FUNCTIONS),
    Spelling("x.T.t()", READ, READ, NO_MEMBER),
    Spelling("x.mT.mT", READ, READ, NO_MEMBER),
    Spelling("x.t().t()", READ, READ, READ),
    Spelling("x * torch.sum(x, dim=0, keepdim=True)", READ, READ, FUNCTIONS),
    Spelling("x * sum(x, 0, True)", READ, "TG335 write `torch.sum", FUNCTIONS),
    Spelling("x * max(x)", READ, "TG335 write `torch.max", "TG335 "),
    Spelling("round(x)", READ, "TG335 write `torch.round", "TG335 "),
    Spelling("abs(x)", READ, READ, "TG335 write `randn(3, 4).abs()`"),
    Spelling("x * x.sum(dim=0, keepdim=True)", READ, READ, METHODS),
    Spelling("x * x.mean([0, 1])", READ, READ, METHODS),
    Spelling("x * x.mean((0, 1))", "TG219 write a list: `[0, 1]`", READ, "TG219 write a list"),
    Spelling("x * x[0]", READ, READ, NO_MEMBER),
    Spelling("x * x[-1]", READ, READ, NO_MEMBER),
    Spelling("x * x[:1]", "TG219 write `x.select(dim, index)`", READ, "TG219 "),
    Spelling("x * x[..., :1]", "TG219 write `x.select(dim, index)`", READ, "TG219 "),
    Spelling("x * torch.pi", PI, READ, NO_MEMBER),
    Spelling("x * math.pi", PI, "TG335 write `torch.pi`", NO_MEMBER),
    Spelling("x * np.pi", PI, "TG335 write `torch.pi`", NO_MEMBER),
    Spelling("np.sin(x)", "TG320 write `sin(...)`", "TG335 write `torch.sin`", METHODS),
    Spelling("F.relu(x)", "TG320 write `relu(...)`", "TG335 write `torch.nn.functional", METHODS),
    Spelling("torch.nn.functional.relu(x)", "TG320 write `relu(...)`", READ, METHODS),
    Spelling("torch.where(x > 0, x, x * 2)", READ, READ, FUNCTIONS),
    Spelling("zeros_like(x)", READ, READ, "TG335 did you mean `zeros`"),
    Spelling("x * torch.ones([3, 4])", READ, READ, READ),
    Spelling("x * torch.ones(3, 4)", "TG323 a list is one argument", READ, READ),
    Spelling("torch.stack([x, x])[0]", READ, READ, NO_MEMBER),
    Spelling("torch.cat((x, x))[0] * x", "TG219 write a list: `[x, x]`", READ, "TG219 "),
    Spelling("x.to(torch.float64)", NO_DTYPES, READ, READ),
    Spelling("x.to(float64)", NO_DTYPES, READ, READ),
    Spelling("x.double()", READ, READ, READ),
    Spelling("x.to(x.dtype)", READ, READ, NO_MEMBER),
    Spelling("x if n > 1 else -x", "TG219 write `n > 1 ? x : -x`", READ, "TG219 "),
]
NUMBERS = [
    Number("x.shape[0]", READ, READ, READ),
    Number("x.size(0)", READ, READ, READ),
    Number("x.shape[-1]", READ, READ, READ),
    Number("x.size(-1)", READ, READ, READ),
    Number("x.size()[0]", READ, READ, READ),
    Number("x.size(dim=0)", READ, READ, "TG333 "),
    Number("x.dim()", READ, READ, READ),
    Number("x.ndim", READ, READ, READ),
    Number("x.numel()", READ, READ, READ),
    Number("torch.numel(x)", READ, READ, "TG332 write `x.numel()`"),
    Number("numel(x)", READ, READ, "TG332 write `x.numel()`"),
    Number("x.nelement()", READ, READ, "TG332 there are `defined`"),
    Number("x.stride(0)", READ, READ, READ),
    Number("len(x)", "TG341 write `x.size(0)`", READ, "TG333 "),
    Number("len(x.shape)", "TG341 write `x.size(0)`, or `x.dim()`", READ, READ),
    Number("n", READ, READ, READ),
    Number("-n + 6", READ, READ, READ),
    Number("n % 2", READ, READ, READ),
    Number("n // 2", "TG219 `a / b` of integers", READ, "TG219 write `floor_div(a, b)`"),
    Number("n / 2", READ, READ, "TG333 write `floor_div(n, 2)`"),
    Number("n ** 2", "TG219 write `pow(n, 2)`", READ, "TG219 write `n * n`"),
    Number("int(n)", "TG341 leave `int` out", READ, RULES),
    Number("float(n)", "TG341 leave `float` out", READ, RULES),
    Number("math.sqrt(n)", "TG320 define a function", "TG335 `n ** 0.5`", "TG332 "),
    Number("x.shape[0] if n else 2", "TG219 write `n ? x.shape[0] : 2`", READ, "TG219 write `n ? "),
    Number("n ? x.size(0) : 2", READ, "TG335 ", "TG333 "),
]


def fields(row: Spelling | Number) -> Iterator[tuple[str, str, str]]:
    """Each field, its text, and what is said of it."""
    quoted = json.dumps
    text = row.text
    is_tensor = isinstance(row, Spelling)
    reference = text if is_tensor else f"x * ({text})"
    yield "formula", f"  derivatives:\n    x: {quoted(f'grad * ({text})')}\n", row.formula
    sample = "  samples:\n    calls: ['(randn(3, 4), 3)']\n"
    yield "reference", f"{sample}    reference: {quoted(reference)}\n", row.reference
    if isinstance(row, Spelling):
        call = text.replace("x", "randn(3, 4)") if ".ex" not in text else text
        yield "sample", f"  samples:\n    - {quoted(f'({call})')}\n", row.sample
    else:
        yield "fake", f"  fake: {{shape: [{quoted(text)}]}}\n", row.fake


CELLS = [(row.text, *cell) for row in (*TENSORS, *NUMBERS) for cell in fields(row)]


def entry(name: str, field: str) -> str:
    fake = "" if "  fake:" in field else "  fake: {like: x}\n"
    head = f"- func: mylib::{name}(Tensor x, int n=3) -> Tensor\n  dispatch:\n    CPU: act\n"
    return f"{head}{fake}{field}"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "torchgen_lite.toml").write_text(CONFIG)
    (tmp_path / "kernels.py").write_text(KERNELS)
    return tmp_path


# What is said of files without mistakes of the other kinds, after these are mended.
STAGES = {"": 2, "TG323": 1, "TG341": 2}


@pytest.mark.parametrize("stage", range(3))
def test_each_spelling_is_read_or_refused_with_what_to_write(
    stage: int, run: Run, folder: Path
) -> None:
    cells = [cell for cell in CELLS if STAGES.get(cell[3].partition(" ")[0], 0) == stage]
    lines: list[str] = []
    starts = []
    for number, (_, _, field, _) in enumerate(cells):
        starts.append(len(lines) + 1)
        lines += entry(f"f{number}", field).splitlines()
    (folder / "ops.yaml").write_text("\n".join(lines) + "\n")
    answer = run("lint", "--output-format", "json", "--max-diagnostics", "0").stdout
    said: list[list[str]] = [[] for _ in cells]
    for one in json.loads(answer)["diagnostics"]:
        if one["severity"] == "error":
            line = one["start"]["line"]
            cell = sum(start <= line for start in starts) - 1
            said[cell].append(f"{one['code']} {one['help']}")
    wrong = []
    for (text, field, _, expected), found in zip(cells, said):
        code, _, words = expected.partition(" ")
        is_as_expected = not found
        if expected:
            is_as_expected = any(one.startswith(code) and words in one for one in found)
        if not is_as_expected:
            wrong.append((text, field, expected, found))
    assert not wrong, "\n".join(map(str, wrong))


PROGRAM = """\
import torch, ops
for name in dir(ops):
    if name[0] == "f" and name[1:].isdigit():
        getattr(ops, name)(torch.empty(3, 4, device="meta"))
        x = torch.randn(3, 4, requires_grad=name in {formulas})
        y = getattr(ops, name)(x)
        if name in {formulas}:
            y.sum().backward()
            assert x.grad.shape == x.shape, name
"""


@pytest.mark.torch
def test_what_is_read_runs(folder: Path) -> None:
    fields_read = [field for _, _, field, expected in CELLS if not expected]
    entries = [entry(f"f{number}", field) for number, field in enumerate(fields_read)]
    (folder / "ops.yaml").write_text("\n".join(entries))
    write_package(folder)
    formulas = [f"f{number}" for number, field in enumerate(fields_read) if "grad * " in field]
    done = run_python(folder, "-c", PROGRAM.format(formulas=formulas))
    assert done.returncode == 0, done.stderr
    options = ("-q", "--tb=line", "-p", "no:cacheprovider", "-k", "test_reference or test_opcheck")
    done = run_python(folder, "-m", "pytest", *options, "generated/torch-python/tests")
    causes = re.findall(r"^\S+\.py:\d+: (.*)$", done.stdout, re.M)
    # The kernel is not what these references say. They give tensors that are compared with what it gives.
    assert " passed" in done.stdout and len(causes) == done.stdout.count("FAILED ") > 30
    for cause in causes:
        assert cause.startswith("Failed: results of the kernel and of the reference differ"), cause
