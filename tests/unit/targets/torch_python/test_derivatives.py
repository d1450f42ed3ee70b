"""Derivatives and places: an entry, and the lines generated from it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from torchgen_lite import generate, load


def backward_of(folder: Path, entry: str) -> str:
    """The bodies of the operator's two functions."""
    (folder / "ops.yaml").write_text(entry)
    (folder / "torchgen_lite.toml").write_text(
        'schema = ["ops.yaml"]\ntargets = ["torch-python"]\n'
    )
    text = generate(load(root=folder))["torch-python/my_ops/_operators.py"]
    functions = text.partition("\ndef setup_context_f(")[2].partition("\n\nOPERATORS")[0]
    setup, backward = re.split(
        r' *"""(?:Keep what the g|G)radients of my::f(?: need)?\."""\n', functions
    )[1:]
    return setup.partition("\n\n\n")[0] + "|" + backward


ENTRIES = {
    "results without a gradient are marked": (
        "- func: my::f(Tensor x) -> Tensor\n"
        "  dispatch: {CPU: f}\n"
        "  fake: {like: x}\n"
        "  derivatives: {output_differentiability: [False]}\n",
        "    ctx.mark_non_differentiable(output)|    return (None,)\n",
    ),
    "an argument that is called as a result without a name": (
        "- func: my::f(Tensor x, Tensor result) -> Tensor\n"
        "  dispatch: {CPU: f}\n"
        "  fake: {like: x}\n"
        "  derivatives: {x: grad * result, result: not_differentiable}\n",
        "    result = inputs[1]\n    ctx.save_for_backward(result)|"
        "    needs = ctx.needs_input_grad\n"
        "    (result,) = ctx.saved_tensors\n"
        "    grad = grads[0]\n"
        "    grad_x_: Any = None\n"
        "    if needs[0]:\n"
        "        grad_x_ = grad * result\n"
        "    return (grad_x_, None)\n",
    ),
    "the conjugate of a tensor and that of a number": (
        "- func: my::f(Tensor x, Tensor y, Scalar s) -> Tensor\n"
        "  dispatch: {CPU: f}\n"
        "  fake: {like: x}\n"
        "  derivatives: {x: grad * y.conj() * s.conj(), y: not_differentiable}\n",
        "    y = inputs[1]\n    s = inputs[2]\n    ctx.s = s\n    ctx.save_for_backward(y)|"
        "    needs = ctx.needs_input_grad\n"
        "    (y,) = ctx.saved_tensors\n"
        "    s = ctx.s\n"
        "    grad = grads[0]\n"
        "    grad_x_: Any = None\n"
        "    if needs[0]:\n"
        "        grad_x_ = grad * y.conj() * s.conjugate()\n"
        "    return (grad_x_, None, None)\n",
    ),
    "what a formula calls, and tensors that it says nothing of": (
        "- func: my::f(Tensor x, Tensor m, Tensor[] ys, *, float s) -> Tensor\n"
        "  dispatch: {CPU: f}\n"
        "  fake: {like: x}\n"
        "  derivatives: {x: 'f(grad, grad, {}, s)'}\n",
        '    s = keyword_only_inputs["s"]\n'
        "    ctx.s = s|"
        "    needs = ctx.needs_input_grad\n"
        "    s = ctx.s\n"
        "    grad = grads[0]\n"
        "    grad_x_: Any = None\n"
        "    if needs[0]:\n"
        "        grad_x_ = torch.ops.my.f(grad, grad, [], s=s)\n"
        "    return (grad_x_, None, None)\n",
    ),
    "an argument that is called as what is kept of another": (
        "- func: my::f(Tensor x, int[] x_shape) -> Tensor\n"
        "  dispatch: {CPU: f}\n"
        "  fake: {like: x}\n"
        "  derivatives: {x: grad.reshape(x_shape).reshape(x.shape)}\n",
        "    x = inputs[0]\n    x_shape = inputs[1]\n    ctx.x_shape = x_shape\n"
        "    ctx.x_shape_ = x.shape|"
        "    needs = ctx.needs_input_grad\n"
        "    x_shape = ctx.x_shape\n"
        "    x_shape_ = ctx.x_shape_\n"
        "    grad = grads[0]\n"
        "    grad_x_: Any = None\n"
        "    if needs[0]:\n"
        "        grad_x_ = grad.reshape(x_shape).reshape(x_shape_)\n"
        "    return (grad_x_, None)\n",
    ),
}


@pytest.mark.parametrize("name", ENTRIES)
def test_what_derivatives_become(tmp_path: Path, name: str) -> None:
    entry, lines = ENTRIES[name]
    assert backward_of(tmp_path, entry) == lines


FORWARD = {
    "(x_t * y_p + x_p * y_t) * s": (
        "    x_p = inputs[0]\n    x_t = _zeros.tangent(inputs[0], tangents[0])\n"
        "    y_p = inputs[1]\n    y_t = _zeros.tangent(inputs[1], tangents[1])\n"
        '    s = keyword_only_inputs["s"]\n'
        "    return ((x_t * y_p + x_p * y_t) * s,)\n"
    ),
    "auto_linear": (
        "    x_t = _zeros.tangent(inputs[0], tangents[0])\n    y = inputs[1]\n"
        '    s = keyword_only_inputs["s"]\n'
        "    return (torch.ops.my.f.default(x_t, y, s=s),)\n"
    ),
    "auto_element_wise": (
        '    y = inputs[1]\n    s = keyword_only_inputs["s"]\n    grad = tangents[0].conj()\n'
        "    return ((grad * y * s).conj(),)\n"
    ),
}


@pytest.mark.parametrize("formula", FORWARD)
def test_what_a_formula_of_a_result_becomes(tmp_path: Path, formula: str) -> None:
    entry = (
        "- func: my::f(Tensor x, Tensor y, *, float s) -> Tensor\n"
        "  dispatch: {CPU: f}\n  fake: {like: x}\n"
        f"  derivatives: {{x: grad * y * s, y: not_differentiable, result: {formula}}}\n"
    )
    text = backward_of(tmp_path, entry)
    assert text.partition('"""Tangents of the results of my::f."""\n')[2] == FORWARD[formula]


@pytest.mark.parametrize("path", ['o"p\\s.yaml', "o\\u0041.yaml", "o\\N.yaml"])
def test_a_place_is_quoted(tmp_path: Path, path: str) -> None:
    (tmp_path / path).write_text(
        "- func: my::f(Tensor x) -> Tensor\n  dispatch: {CPU: f}\n  fake: made\n  vmap: batched\n"
    )
    (tmp_path / "my_fakes.py").write_text("def made(x): ...\ndef batched(info, in_dims, x): ...\n")
    (tmp_path / "torchgen_lite.toml").write_text(
        f"schema = ['{path}']\ntargets = [\"torch-python\"]\n"
        '[target.torch-python]\nfakes = ["my_fakes"]\n'
    )
    for file, text in generate(load(root=tmp_path)).items():
        if file.endswith(".py"):
            tree = ast.parse(text)
        if file.endswith("_places.py"):
            texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
            assert {f"{path}:1", f"{path}:3", f"{path}:4"} <= texts
