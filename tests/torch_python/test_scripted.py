"""`torch.jit.script` and `torch.jit.trace` of code that calls the functions of a package, and pickles of what it has."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torch_python.generated import run_program, write_package

pytestmark = pytest.mark.torch

ENTRIES = """\
- func: jits::scaled(Tensor x, float by=2.0, Tensor? bias=None, *, bool negate=False) -> Tensor
  dispatch: {CPU: scaled}
  derivatives:
    x: "negate ? -grad * by : grad * by"
    bias: grad
- func: jits::scaled.out(Tensor x, float by=2.0, Tensor? bias=None, *, bool negate=False, Tensor(a!) out) -> Tensor(a!)
  dispatch: {CPU: scaled_out}
- func: jits::bounds(Tensor x) -> (Tensor low, Tensor high)
  dispatch: {CPU: bounds}
- func: jits::total(Tensor[] xs, Tensor?[] weights) -> Tensor
  dispatch: {CPU: total}
- func: jits::cut(Tensor x, int[2] at=1) -> Tensor[]
  dispatch: {CPU: cut}
- func: jits::plus(Tensor x, Scalar y=1) -> Tensor
  dispatch: {CPU: plus}
- func: jits::made(SymInt n, *, ScalarType? dtype=None, Device? device=None) -> Tensor
  dispatch: {CompositeExplicitAutograd: made}
- func: jits::named(Tensor x, Dict(str, int) sizes, str mode="sum", int[]? dims=None) -> Tensor
  dispatch: {CPU: named}
- func: jits::drawn(Tensor p, *, Generator? generator=None) -> Tensor
  tags: nondeterministic_seeded
  dispatch: {CPU: drawn}
- func: jits::add_to(Tensor(a!) y, Tensor x, float s) -> ()
  dispatch: {CPU: add_to}
- func: jits::lambda(Tensor x, Tensor torch) -> Tensor
  dispatch: {CPU: plus}
- func: jits::noted(Tensor x) -> ()
  effects: ordered
  dispatch: {CPU: noted}
- func: jits::noted_sum(Tensor x) -> Tensor
  effects: ordered
  dispatch: {CPU: noted_sum}
- func: jits::same.first(Tensor x) -> Tensor
  dispatch: {CPU: doubled}
- func: jits::same.second(Tensor x) -> Tensor
  dispatch: {CPU: noted_sum}
- func: jits::stored(Tensor x, Storage s) -> Tensor
  dispatch: {CPU: stored}
"""
KERNELS = """\
import torch


def scaled(x, by, bias, *, negate):
    result = x * (-by if negate else by)
    return result if bias is None else result + bias


def scaled_out(x, by, bias, *, negate, out):
    return out.copy_(scaled(x, by, bias, negate=negate))


def bounds(x):
    return x.amin(), x.amax()


def total(xs, weights):
    return sum(x if w is None else x * w for x, w in zip(xs, weights))


def cut(x, at):
    return [x[at[0]:].clone(), x[at[1]:].clone()]


def plus(x, y):
    return x + y


def made(n, *, dtype, device):
    return torch.full((n,), 3, dtype=dtype, device=device)


def named(x, sizes, mode, dims):
    factor = sum(sizes.values()) * len(mode)
    return x * (factor if dims is None else sum(dims))


def drawn(p, *, generator):
    return torch.bernoulli(p, generator=generator)


def add_to(y, x, s):
    y.add_(x, alpha=s)


def noted(x):
    pass


def noted_sum(x):
    return x.sum()


def doubled(x):
    return x * 2


def stored(x, s):
    return x.clone()
"""
CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]

[target.torch-python]
kernels = ["kern"]
torchscript = true
"""
MODULES = """\
import warnings
from typing import Dict, List, Optional

import jits_ops
import torch
from jits_ops import functions
from torch import Tensor, nn

# TorchScript as a whole is deprecated.
warnings.filterwarnings("ignore", "`torch.jit")


class Every(nn.Module):
    def forward(self, x: Tensor, bias: Optional[Tensor], weights: List[Optional[Tensor]], sizes: Dict[str, int]):
        plain = jits_ops.scaled(x)
        given = functions.scaled(x, 3.0, negate=True, bias=bias)
        written = torch.zeros_like(x)
        functions.scaled_out(x, out=written)
        low, high = jits_ops.bounds(x)
        total = jits_ops.total([x, x, x], weights)
        pieces = jits_ops.cut(x) + jits_ops.cut(x, 2) + jits_ops.cut(x, at=[0, 1])
        sums = jits_ops.plus(x) + jits_ops.plus(x, 2.5) + jits_ops.plus(x, y=3)
        made = [jits_ops.made(2), jits_ops.made(2, dtype=torch.float64, device=torch.device("cpu"))]
        named = jits_ops.named(x, sizes) + jits_ops.named(x, sizes, "max", [1, 2])
        jits_ops.add_to(written, x, s=0.5)
        renamed = functions.lambda_(x, torch_=x)
        return plain, given, written, low, high, total, pieces, sums, made, named, renamed, jits_ops.drawn(x * 0)


class Held(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.function = jits_ops.scaled

    def forward(self, x: Tensor):
        return self.function(self.layer(x), negate=True)


X = torch.tensor([0.5, 2.0, -1.0])
CALL = (X, X * 2, [None, X, None], {"a": 1, "b": 2})
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("jits")
    (folder / "ops.yaml").write_text(ENTRIES)
    (folder / "kern.py").write_text(KERNELS)
    (folder / "modules.py").write_text(MODULES)
    (folder / "torchgen_lite.toml").write_text(CONFIG)
    write_package(folder)
    return folder


def test_a_scripted_module_calls_what_the_functions_call(project: Path) -> None:
    program = """
        import io
        import torch
        from modules import CALL, Every, Held, X

        held = Held()
        for module, call in ((Every(), CALL), (held, (X,))):
            file = io.BytesIO()
            torch.jit.save(torch.jit.script(module), file)
            file.seek(0)
            wanted = module(*call)
            for found in (torch.jit.script(module), torch.jit.load(file), torch.jit.freeze(torch.jit.script(module.eval()))):
                for _ in range(3):
                    torch.testing.assert_close(found(*call), wanted)
        held(X).sum().backward()
        wanted = held.layer.weight.grad.clone()
        held.zero_grad()
        torch.jit.script(held)(X).sum().backward()
        torch.testing.assert_close(held.layer.weight.grad, wanted)
    """
    run_program(project, program)


def test_a_function_alone_is_scripted_and_runs_as_before(project: Path) -> None:
    program = """
        import torch
        import jits_ops
        from modules import X

        function = jits_ops.scaled
        scripted = torch.jit.script(function)
        assert jits_ops.scaled is function and function.__code__.co_filename.endswith("functions.py")
        assert torch.equal(scripted(X, negate=True), function(X, negate=True))
        print(scripted.schema)
        print(scripted.code)
    """
    printed = run_program(project, program)
    assert (
        "scaled(Tensor x, float by=2., Tensor? bias=None, bool negate=False) -> Tensor" in printed
    )
    assert "ops.jits.scaled(x, by, bias, negate=negate)" in printed


def test_traced_functions(project: Path) -> None:
    program = """
        import torch
        import jits_ops
        from modules import CALL, Every, Held, X

        held = Held()
        torch.testing.assert_close(torch.jit.trace(held, (X,))(X + 1), held(X + 1))

        def several(x):
            low, high = jits_ops.bounds(x)
            return jits_ops.scaled(x, bias=low), jits_ops.cut(x, at=[0, 1])[0], jits_ops.plus(high, 2)

        torch.testing.assert_close(torch.jit.trace(several, (X,))(X + 1), several(X + 1))
    """
    run_program(project, program)


@pytest.mark.parametrize(
    "name, said",
    [
        (
            "noted",
            "jits.noted.default: it has effects, and TorchScript leaves calls out whose results are not used",
        ),
        ("noted_sum", "jits.noted_sum.default: it has effects, and"),
        (
            "same_second",
            "jits.same.second: TorchScript would call another overload, jits::same.first",
        ),
        ("stored", "jits.stored.default: TorchScript refuses it:"),
    ],
)
def test_what_torchscript_cannot_say_is_refused_by_name(
    project: Path, name: str, said: str
) -> None:
    program = """
        import sys
        import torch
        from jits_ops import functions

        for _ in range(2):
            try:
                torch.jit.script(getattr(functions, sys.argv[1]))
            except RuntimeError as error:
                print(error)
    """
    printed = run_program(project, program, name)
    assert printed.count(said) == 2, printed


def test_functions_are_pickled_by_name(project: Path) -> None:
    """Also for a process that has not imported the package, and in modules that are saved; PyTorch pickles no operator."""
    program = """
        import copy
        import io
        import multiprocessing
        import pickle
        from functools import partial
        import torch
        import jits_ops
        from jits_ops import functions
        from modules import Held, X

        for name in functions.__all__:
            function = getattr(functions, name)
            for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
                assert pickle.loads(pickle.dumps(function, protocol)) is function, name
            assert copy.deepcopy(function) is function, name
        assert torch.equal(pickle.loads(pickle.dumps(partial(jits_ops.scaled, by=3.0)))(X), X * 3)
        held = Held()
        file = io.BytesIO()
        torch.save(held, file)
        file.seek(0)
        again = torch.load(file, weights_only=False)
        assert again.function is jits_ops.scaled
        assert torch.equal(again(X), held(X)) and torch.equal(copy.deepcopy(held)(X), held(X))
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            assert torch.equal(pool.map(jits_ops.scaled, [X])[0], X * 2)

        operators = torch.ops.jits
        for operator in (operators.scaled, operators.scaled.out, getattr(operators, "lambda").default):
            assert copy.deepcopy(operator) is operator
            try:
                pickle.dumps(operator)
            except RuntimeError as error:
                assert "is not pickleable" in str(error), error
            else:
                raise AssertionError(f"PyTorch pickles {operator}, which docs/torch-python-target.md says that it does not")
    """
    run_program(project, program)
