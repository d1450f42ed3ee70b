"""Gradients of calls that leave out arguments, or give what equals a default, which PyTorch leaves out, too.

The grid is made of what an operator takes, what it gives, and what a call says. The truth is the same function of
PyTorch, without an operator.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torch_python.generated import run_program, write_package
from torchgen_lite.schema import FunctionSchema

pytestmark = pytest.mark.torch

CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]

[target.torch-python]
package = "grid"
kernels = ["grid_kernels"]
formulas = ["grid_formulas"]
"""
# What an operator takes; the tensors among it have formulas, but for a list that may be absent, which none may use.
ARGUMENTS = {
    "plain": "Tensor x, float s=2.0, int n=1",
    "listed": "Tensor[] xs, float s=2.0, int n=1",
    "maybe": "Tensor x, Tensor? w=None, float s=2.0",
    "maybe_many": "Tensor x, Tensor[]? ws=None, int n=1",
    "every": "Tensor[] xs, float s=2.0, Tensor? w=None, Tensor[]? ws=None",
    "named": "Tensor x, *, float s=2.0, int n=1",
    "listed_named": "Tensor[] xs, int n=1, *, float s=2.0",
}
# What it gives, and what its formulas call the gradients.
RESULTS = {
    "one": ("Tensor", "grad"),
    "several": ("(Tensor, Tensor)", "grads"),
    "with_names": ("(Tensor low, Tensor high)", "grads"),
    "many": ("Tensor[]", "grads"),
    "many_and_one": ("(Tensor[], Tensor)", "grads"),
    "one_and_number": ("(Tensor, int)", "grad"),
    "maybe_one": ("Tensor?", "grad"),
}
TENSORS = ("x", "xs", "w")
ENTRY = """\
- func: grid::{name}({schema}) -> {returns}
  dispatch: {{CPU: {name}}}
  derivatives: {{{formulas}}}

"""
COMPUTED = """\
def total(x=None, xs=(), s=2.0, n=1, w=None, ws=None):
    found = sum(xs) if x is None else x
    found = found * s**n
    return found if w is None else found * w


RESULTS = {
    "one": lambda value: value * 3,
    "several": lambda value: (value, value.sin()),
    "with_names": lambda value: (value, value.sin()),
    "many": lambda value: [value * 3, value.sin()],
    "many_and_one": lambda value: ([value * 3, value.sin()], value.cos()),
    "one_and_number": lambda value: (value * 3, 7),
    "maybe_one": lambda value: value * 3,
}


"""
KERNEL = """\
def {name}({names}):
    return RESULTS["{results}"](total({given}))


"""
PULLED = """\
import torch
from torch.utils import _pytree as pytree

import grid_kernels


def tensors(value):
    return [v for v in pytree.tree_leaves(value) if isinstance(v, torch.Tensor)]


def pulled(results, tensor, grads, values):
    value = pytree.tree_map(lambda one: one.detach().requires_grad_(), values[tensor])
    with torch.enable_grad():
        total = grid_kernels.total(**{**values, tensor: value})
        found = tensors(grid_kernels.RESULTS[results](total))
    gradients = torch.autograd.grad(found, tensors(value), tensors(grads))
    return [*gradients] if isinstance(value, list) else gradients[0]


"""
# It pulls the gradients of one argument back through the same function of PyTorch.
FORMULA = """\
def {name}_{tensor}(grads, {names}):
    return pulled("{results}", "{tensor}", grads, dict({given}))


"""
PROGRAM = """
import itertools

import torch

import grid
import grid_kernels
from grid_formulas import tensors

arguments, results = {arguments!r}, {results!r}


def other_value(name, seed):
    torch.manual_seed(seed)

    def made(count):
        return [torch.randn(2, 3, dtype=torch.float64, requires_grad=True) for _ in range(count)]

    values = {{"x": made(1)[0], "w": made(1)[0], "xs": made(2), "s": 0.5, "n": 3}}
    return values.get(name, [torch.ones(2, 3, dtype=torch.float64)])


def given_in_every_way(arguments):
    ways = [("left out", "equal", "other") if a.has_default_value() else ("other",) for a in arguments]
    for said in itertools.product(*ways):
        given = {{}}
        for seed, (argument, how) in enumerate(zip(arguments, said)):
            if how == "equal":
                given[argument.name] = argument.default_value
            elif how == "other":
                given[argument.name] = other_value(argument.name, seed)
        yield given


def by_position(op, given):
    args, kwargs, is_gap = [], {{}}, False
    for argument in op._schema.arguments:
        is_gap = is_gap or argument.kwarg_only or argument.name not in given
        if argument.name in given and is_gap:
            kwargs[argument.name] = given[argument.name]
        elif argument.name in given:
            args.append(given[argument.name])
    return op(*args, **kwargs)


def by_name(op, given):
    return op(**given)


def differentiated(found, given):
    leaves = [tensor for tensor in tensors(list(given.values())) if tensor.requires_grad]
    for leaf in leaves:
        leaf.grad = None
    sum((i + 2) * one.sum() for i, one in enumerate(tensors(found))).backward()
    return [*tensors(found), *(leaf.grad for leaf in leaves)]


def is_close(one, other):
    return one is None if other is None else one.dtype == other.dtype and torch.allclose(one, other)


count, wrong = 0, []
ways = [(gives, by_position) for gives in results] + [("one", by_name), ("many_and_one", by_name)]
for takes, (gives, call) in itertools.product(arguments, ways):
    op = getattr(torch.ops.grid, f"{{takes}}_{{gives}}").default
    for given in given_in_every_way(op._schema.arguments):
        count += 1
        computed = grid_kernels.RESULTS[gives](grid_kernels.total(**given))
        wanted = differentiated(computed, given)
        try:
            found = differentiated(call(op, given), given)
            said = "" if all(map(is_close, found, wanted)) else "another value"
        except Exception as error:
            said = str(error)
        if said:
            wrong.append(f"{{takes}}_{{gives}}({{', '.join(given)}}): {{said}}"[:200])
assert not wrong, "\\\\n".join([f"{{len(wrong)}} of {{count}}", *wrong[:8]])
print(count)
"""


def write_grid(folder: Path) -> None:
    entries, kernels, formulas = [], [COMPUTED], [PULLED]
    for takes, schema in ARGUMENTS.items():
        arguments = FunctionSchema.parse(f"f({schema}) -> Tensor").arguments
        names = [argument.name for argument in arguments]
        given = ", ".join(f"{name}={name}" for name in names)
        for results, (returns, grads) in RESULTS.items():
            said = {"name": f"{takes}_{results}", "schema": schema, "returns": returns}
            said |= {"results": results, "names": ", ".join(names), "given": given}
            kernels.append(KERNEL.format(**said))
            kept = [name for name in names if name != "ws"]
            said |= {
                "names": ", ".join(kept),
                "given": ", ".join(f"{name}={name}" for name in kept),
            }
            rules = ["ws: not_differentiable"] if "ws" in names else []
            for tensor in [name for name in names if name in TENSORS]:
                formulas.append(FORMULA.format(tensor=tensor, **said))
                call = f"{said['name']}_{tensor}({grads}, {said['names']})"
                rules.append(f'{tensor}: "{call}"')
            entries.append(ENTRY.format(formulas=", ".join(rules), **said))
    (folder / "torchgen_lite.toml").write_text(CONFIG)
    (folder / "ops.yaml").write_text("".join(entries))
    (folder / "grid_kernels.py").write_text("".join(kernels))
    (folder / "grid_formulas.py").write_text("".join(formulas))


def test_the_gradients_of_every_call_are_those_of_functions_of_torch(tmp_path: Path) -> None:
    write_grid(tmp_path)
    write_package(tmp_path)
    # Left out, equal or other: 3 ways for each of the arguments with defaults.
    each = {takes: 3 ** schema.count("=") for takes, schema in ARGUMENTS.items()}
    program = PROGRAM.format(arguments=[*ARGUMENTS], results=[*RESULTS])
    assert int(run_program(tmp_path, program)) == sum(each.values()) * (len(RESULTS) + 2)
