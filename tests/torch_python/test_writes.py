"""What a call writes is seen by autograd, and what it returns is what the schema says.

Three packages have the same operators, with kernels that write by NumPy, which moves no version: one is `final`, and for
one another library defines the operators and has the kernels, as a library in C++ does. One process runs them all.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.torch_python.generated import run_program, write_package

pytestmark = pytest.mark.torch

ENTRIES = """\
- func: NAME::one_(Tensor(a!) self, float v) -> Tensor(a!)
  dispatch: {CPU: one_}
- func: NAME::derived_(Tensor(a!) self, Tensor x) -> Tensor(a!)
  dispatch: {CPU: derived_}
  derivatives: {self: zeros_like(grad), x: grad}
- func: NAME::refused_(Tensor(a!) self, Tensor x) -> Tensor(a!)
  dispatch: {CPU: derived_}
  derivatives: {self: grad}
- func: NAME::constant_(Tensor(a!) self, Tensor x) -> Tensor(a!)
  dispatch: {CPU: derived_}
  derivatives: {self: not_differentiable, x: not_differentiable}
- func: NAME::noted(Tensor(a!) y, Tensor x) -> ()
  dispatch: {CPU: two}
  derivatives: {y: not_differentiable, x: not_differentiable}
- func: NAME::given_(Tensor(a!) self, Tensor x) -> Tensor(a!)
  dispatch: {CPU: derived_}
- func: NAME::mixed(Tensor(a!) y, Tensor x) -> (Tensor(a!), Tensor)
  dispatch: {CPU: mixed}
- func: NAME::nothing(Tensor(a!) y, Tensor x) -> ()
  dispatch: {CPU: two}
- func: NAME::last(Tensor x, Tensor(a!) y) -> ()
  dispatch: {CPU: last}
- func: NAME::short(Tensor! y, Tensor x) -> ()
  dispatch: {CPU: two}
- func: NAME::several(Tensor(a!) y, Tensor(b!) z, Tensor x) -> ()
  dispatch: {CPU: several}
- func: NAME::listed(Tensor(a!)[] ys, Tensor x) -> ()
  dispatch: {CPU: two}
- func: NAME::gaps(Tensor x, Tensor(a!)?[] ys) -> ()
  dispatch: {CPU: last}
- func: NAME::maybe(Tensor x, Tensor(a!)? y=None, *, Tensor(b!)[]? ys=None, Tensor(c!)? z=None) -> Tensor
  dispatch: {CPU: maybe}
  fake: {like: x}
- func: NAME::only(Tensor(a!)[]? ys=None) -> ()
  dispatch: {CompositeExplicitAutograd: only}
- func: NAME::full.out(float v, *, Tensor(a!) out) -> Tensor(a!)
  dispatch: {CPU: full_out}
- func: NAME::both.out(Tensor x, *, Tensor(a!) low, Tensor(b!) high) -> (Tensor(a!), Tensor(b!))
  dispatch: {CPU: both_out}
- func: NAME::composed(Tensor(a!) y, Tensor x) -> ()
  dispatch: {CompositeImplicitAutograd: composed}
- func: NAME::calling_(Tensor(a!) self, Tensor x) -> Tensor(a!)
  dispatch: {CPU: calling_}
"""
KERNELS = """\
import torch


def write(values, v=5):
    for value in values if isinstance(values, (list, tuple)) else [values]:
        if value is not None:
            value.detach().numpy()[...] = v


def one_(self, v):
    write(self, v)
    return self


def derived_(self, x):
    write(self, x.detach().numpy())
    return self


def mixed(y, x):
    write(y)
    return y, torch.ones(2)


def two(ys, x):
    write(ys)


def last(x, ys):
    write(ys)


def several(y, z, x):
    write([y, z])


def maybe(x, y=None, *, ys=None, z=None):
    write([y, z, *(ys or ())])
    return torch.from_numpy(x.detach().numpy() * 2)


def only(ys=None):
    write(ys)


def full_out(v, *, out):
    write(out, v)
    return out


def both_out(x, *, low, high):
    write([low, high])
    return low, high


def composed(y, x):
    y.copy_(x)


def calling_(self, x):
    return self.copy_(x)
"""
# Each call with the two tensors that it may write to and one that it reads, and which are written how often.
CALLS = {
    "one": ("ops.one_(y, 5.0)", (1, 0)),
    "derived": ("ops.derived_(y, x)", (1, 0)),
    "refused": ("ops.refused_(y, x.detach())", (1, 0)),
    "constant": ("ops.constant_(y, x)", (1, 0)),
    "noted down": ("ops.noted(y, x)", (1, 0)),
    "given back": ("ops.given_(y, x)", (1, 0)),
    "given back beside another": ("ops.mixed(y, x)", (1, 0)),
    "nothing": ("ops.nothing(y, x)", (1, 0)),
    "last": ("ops.last(x, y)", (1, 0)),
    "short": ("ops.short(y, x)", (1, 0)),
    "several": ("ops.several(y, z, x)", (1, 1)),
    "one tensor for two arguments": ("ops.several(y, y, x)", (2, 0)),
    "a list": ("ops.listed([y, z], x)", (1, 1)),
    "an empty list": ("ops.listed([], x)", (0, 0)),
    "a list with a gap": ("ops.gaps(x, [None, z])", (0, 1)),
    "a list of gaps": ("ops.gaps(x, [None])", (0, 0)),
    "all left out": ("ops.maybe(x)", (0, 0)),
    "optional": ("ops.maybe(x, y)", (1, 0)),
    "an optional list": ("ops.maybe(x, ys=[y, z])", (1, 1)),
    "optional by keyword": ("ops.maybe(x, z=z)", (0, 1)),
    "several of them": ("ops.maybe(x, y, ys=[], z=z)", (1, 1)),
    "out alone": ("ops.full(5.0, out=y)", (1, 0)),
    "two outs": ("ops.both(x, high=z, low=y)", (1, 1)),
    "a view": ("ops.one_(y[1:], 5.0)", (1, 0)),
    "views": ("ops.several(y[1:], z[:2], x)", (1, 1)),
    "a list of views": ("ops.listed([y[1:], z[:2]], x)", (1, 1)),
    "nothing in it": ("ops.one_(y[:0], 5.0)", (1, 0)),
    "no key": ("ops.only([y, z])", (1, 1)),
}
MODES = ("plain", "gradients", "no_grad", "inference")
PROGRAM = """
import contextlib
import importlib
import json
import sys
from pathlib import Path

import torch

import write_kernels
import forms_ops, formsfinal_ops

library = torch.library.Library("formstheirs", "DEF")
for line in Path("theirs.txt").read_text().splitlines():
    schema, key, kernel = line.rstrip().split("|")
    library.define(schema)
    library.impl(schema.partition("(")[0], getattr(write_kernels, kernel), key)
import formstheirs_ops

CALLS, MODES = json.loads(Path("calls.json").read_text())
KINDS = {"no_grad": torch.no_grad, "inference": torch.inference_mode}


def attempt(call, **names):
    try:
        eval(call, {"torch": torch, **names})
    except Exception as error:
        return str(error)
    return ""


def versions(ops, call, mode):
    y, z = torch.zeros(3), torch.zeros(3)
    x = torch.ones(3, requires_grad=mode != "plain")
    with KINDS.get(mode, contextlib.nullcontext)():
        error = attempt(call, ops=ops, x=x, y=y, z=z)
    return error or [y._version, z._version]


def on_leaves(ops, call):
    found = []
    for make in (lambda: torch.zeros(3, requires_grad=True), lambda: torch.zeros(3, requires_grad=True) * 1):
        y, z, x = make(), make(), torch.ones(3)
        error = attempt(call, ops=ops, x=x, y=y, z=z)
        is_passed = "constant_" in call or "noted" in call
        backward = "" if is_passed else attempt("(y.sum() + z.sum()).backward()", y=y, z=z)
        with torch.no_grad():
            under_no_grad = attempt(call, ops=ops, x=x, y=y, z=z)
        found.append([error or backward, under_no_grad])
    return found


def differentiated(value, x):
    loss = value.abs().double().sum() + x.sum()
    if not value.requires_grad:
        return "no history"
    ways = ("loss.backward(retain_graph=True)", "torch.autograd.grad(loss, x)")
    return [attempt(way, loss=loss, x=x) for way in ways]


def lost(ops, call):
    # Only what is read requires a gradient.
    found = {}
    for dtype in (torch.float32, torch.complex64, torch.int64):
        x = torch.ones(3, requires_grad=True)
        y, z = torch.zeros(3, dtype=dtype), torch.zeros(3, dtype=dtype)
        names = {"ops": ops, "x": x, "y": y, "z": z}
        errors = [attempt(call, **names), attempt(call, **names)]
        found[str(dtype)] = [errors, differentiated(y, x), differentiated(z, x)]
    return found


def kept_apart(ops, call):
    # What is not to be differentiated has no history.
    found = []
    for make in ("x.detach()", "x"):
        x = eval(make, {"x": torch.ones(3, requires_grad=True)})
        y, z = torch.zeros(3), torch.zeros(3)
        with contextlib.nullcontext() if "detach" in make else torch.no_grad():
            error = attempt(call, ops=ops, x=x, y=y, z=z)
        found.append([error, y.requires_grad, z.requires_grad])
    return found


def transformed(ops, call):
    found = {}
    for is_captured in (False, True):
        y, z = torch.zeros(3), torch.zeros(3)

        def run(x):
            names = {"y": y, "z": z} if is_captured else {"y": torch.zeros(3), "z": torch.zeros(3)}
            eval(call, {"torch": torch, "ops": ops, "x": x, **names})
            return (x * names["y"] + names["z"]).sum()

        found[is_captured] = attempt("torch.func.grad(run)(torch.ones(3))", run=run)
    code = f"def run(x, y, z):\\n    {call}\\n    return y + z + x\\n"
    names = {"ops": ops}
    exec(code, names)
    torch._dynamo.reset()
    compiled = torch.compile(names["run"], backend="aot_eager", fullgraph=True)
    x, y, z = torch.ones(3, requires_grad=True), torch.zeros(3), torch.zeros(3)
    found["compile"] = attempt("run(x, y, z).sum().backward()", run=compiled, x=x, y=y, z=z)
    return found


def stale(ops, call):
    # What is kept for the backward pass is overwritten.
    w, y, z = torch.ones(3, requires_grad=True), torch.ones(3), torch.ones(3)
    loss = (w * y).sum() + (w * z).sum()
    attempt(call, ops=ops, x=torch.ones(3), y=y, z=z)
    return attempt("loss.backward()", loss=loss)


def compiled(ops, call):
    given = [torch.full((3,), float(n)) for n in range(3)]
    code = f"def run(x, y, z):\\n    y, z = y * 1, z * 1\\n    {call}\\n    return y + 1, z + 1\\n"
    names = {"ops": ops}
    exec(code, names)
    torch._dynamo.reset()
    ways = {
        "compile": torch.compile(names["run"], backend="aot_eager", fullgraph=True),
        "functionalize": torch.func.functionalize(names["run"]),
    }
    found = {}
    for name, way in ways.items():
        found[name] = [a.tolist() == b.tolist() for a, b in zip(way(*given), names["run"](*given))]
    return found


rows = {}
for name in ("forms", "formsfinal", "formstheirs"):
    ops = getattr(torch.ops, name)
    rows[name] = {
        "versions": {c: {m: versions(ops, text, m) for m in MODES} for c, text in CALLS.items()},
        "leaves": {c: on_leaves(ops, text) for c, text in CALLS.items()},
        "stale": {c: stale(ops, text) for c, text in CALLS.items()},
        "lost": {c: lost(ops, text) for c, text in CALLS.items()},
        "kept apart": {c: kept_apart(ops, text) for c, text in CALLS.items()},
    }
few = ("one", "derived", "nothing", "several", "a list", "optional", "an optional list", "all left out")
rows["forms"]["transformed"] = {c: transformed(torch.ops.forms, CALLS[c]) for c in ("nothing", "several", "given back", "views")}
rows["forms"]["compiled"] = {c: compiled(torch.ops.forms, CALLS[c]) for c in few}
x = torch.ones(3)
composed, calling = torch.zeros(3), torch.zeros(3)
torch.ops.forms.composed(composed, x)
torch.ops.forms.calling_(calling, x)
rows["others"] = [composed._version, calling._version]
batch = torch.zeros(2, 3)
torch.vmap(lambda y, x: torch.ops.forms.one_(y, 5.0), (0, None))(batch, x)
rows["vmap"] = [batch._version > 0, batch.tolist() == [[5.0] * 3] * 2]


@torch.library.custom_op("forms_by_hand::f", mutates_args=("y", "ys"))
def by_hand(y: torch.Tensor, ys: list[torch.Tensor], x: torch.Tensor) -> None:
    write_kernels.write([y, *ys])


rows["by hand"] = {m: versions(torch.ops.forms_by_hand, "ops.f(y, [z], x)", m) for m in MODES}
print(json.dumps(rows))
"""
PACKAGES = ("forms", "formsfinal", "formstheirs")


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("writes")
    options = {
        "forms": 'kernels = ["write_kernels"]\n',
        "formsfinal": 'kernels = ["write_kernels"]\nfinal = true\n',
        "formstheirs": "defines = false\n",
    }
    (folder / "write_kernels.py").write_text(KERNELS)
    for name, option in options.items():
        config = (
            f'schema = ["ops.yaml"]\ntargets = ["torch-python"]\n[target.torch-python]\n{option}'
        )
        (folder / "torchgen_lite.toml").write_text(config)
        (folder / "ops.yaml").write_text(ENTRIES.replace("NAME", name))
        write_package(folder)
    texts = ENTRIES.split("- func: NAME::")[1:]
    lines = [text.split("\n") for text in texts]
    kernels = [line[1].partition("{")[2].rstrip("}").split(": ") for line in lines]
    theirs = ["|".join([line[0], *kernel]) for line, kernel in zip(lines, kernels)]
    (folder / "theirs.txt").write_text("\n".join(theirs))
    calls = {name: call for name, (call, _) in CALLS.items()}
    (folder / "calls.json").write_text(json.dumps([calls, MODES]))
    return json.loads(run_program(folder, PROGRAM))


@pytest.mark.parametrize("package", PACKAGES)
def test_each_written_tensor_has_a_new_version(package: str, rows: Any) -> None:
    found = rows[package]["versions"]
    for name, (_, times) in CALLS.items():
        for mode in MODES:
            assert found[name][mode] == [*times], (name, mode, found[name][mode])


def test_as_custom_op_does(rows: Any) -> None:
    assert rows["by hand"] == {mode: [1, 1] for mode in MODES}
    # The parts of a composed operator do it, and a kernel that calls PyTorch's does it once more, as that of custom_op.
    assert rows["others"] == [1, 2]
    assert rows["vmap"] == [True, True]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_value_that_was_kept_is_not_used_when_it_is_overwritten(package: str, rows: Any) -> None:
    for name, error in rows[package]["stale"].items():
        is_written = any(CALLS[name][1])
        assert ("modified by an inplace operation" in error) == is_written, (name, error)


@pytest.mark.parametrize("package", PACKAGES)
def test_what_requires_a_gradient_is_not_written(package: str, rows: Any) -> None:
    """A leaf in PyTorch's words; without a gradient mode, each call is made."""
    leaf = "Variable that requires grad is being used in an in-place operation"
    for name, (on_leaf, on_other) in rows[package]["leaves"].items():
        if name in ("constant", "refused", "derived", "noted down"):
            assert on_other == ["", ""], name
            assert name in ("constant", "noted down") or leaf in on_leaf[0], name
        elif any(CALLS[name][1]):
            assert leaf in on_leaf[0], (name, on_leaf)
            assert "has no derivatives" in on_other[0], (name, on_other)
        assert on_leaf[1] == on_other[1] == "", (name, on_leaf, on_other)


# Calls that read a tensor, and of which an entry does not say what is between it and what they write.
UNSAID = [
    name
    for name, (call, times) in CALLS.items()
    if "x" in call
    and any(times)
    and "x.detach()" not in call
    and name not in ("derived", "constant", "noted down")
]


@pytest.mark.parametrize("package", PACKAGES)
def test_no_gradient_of_what_is_read_is_lost(package: str, rows: Any) -> None:
    """What is written refuses derivatives in the backward pass, and can be written again."""
    for name in UNSAID:
        for dtype, (errors, *tensors) in rows[package]["lost"][name].items():
            assert errors == ["", ""], (name, dtype, errors)
            for times, found in zip(CALLS[name][1], tensors, strict=True):
                if not times or dtype == "torch.int64":
                    assert found == "no history", (name, dtype)
                else:
                    assert all("has no derivatives (ops.yaml:" in said for said in found), (
                        name,
                        found,
                    )


@pytest.mark.parametrize("package", PACKAGES)
def test_what_needs_no_gradient_is_written_without_a_history(package: str, rows: Any) -> None:
    for name in UNSAID:
        assert rows[package]["kept apart"][name] == [["", False, False]] * 2, name
    for errors, *tensors in rows[package]["lost"]["noted down"].values():
        assert [*errors, *tensors] == ["", "", "no history", "no history"]


def test_transforms_lose_no_gradient_either(rows: Any) -> None:
    for name, found in rows["forms"]["transformed"].items():
        if name in UNSAID:
            for way, said in found.items():
                assert "has no derivatives" in said or "mutate a captured Tensor" in said, (
                    name,
                    way,
                    said,
                )


def test_compiled_and_functionalized_they_write_the_same(rows: Any) -> None:
    for name, found in rows["forms"]["compiled"].items():
        assert found == {"compile": [True, True], "functionalize": [True, True]}, name
