"""The nodes and kernels for `derivatives:`: their text, and that they run, also on an out-of-tree backend."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, SOURCES
from torchgen_lite import generate, load
from torchgen_lite.pipeline import generate_all

CONFIG = """\
schema = ["ops.yaml"]
targets = ["python"]

[target.python]
package = "scaling_ops"
framework = "torchgen_lite_reference.framework"
kernels = ["scaling_kernels"]
"""
SCHEMA = """\
- func: scaling::scale(Tensor self, Tensor factor, int power) -> Tensor
  dispatch:
    CPU, PrivateUse1: scale
  derivatives:
    self: grad * factor
    factor: grad * self
- func: scaling::scale_(Tensor(a!) self, Tensor factor, int power) -> Tensor(a!)
  dispatch:
    CPU: scale_
- func: scaling::sign(Tensor self) -> Tensor
  dispatch:
    CPU: sign
  derivatives:
    output_differentiability: [False]
"""
KERNELS = """\
from torchgen_lite_reference.tensor import wrap_array


def scale(self, factor, power):
    return wrap_array(self._array * factor._array, self._device)


def scale_(self, factor, power):
    self._array[...] *= factor._array
    return self


def sign(self):
    return wrap_array((self._array > 0).astype(self._array.dtype))
"""
NODE = '''\
class ScaleBackward0(_Node):
    """Gradients of scaling::scale."""

    __slots__ = ()

    def apply(_node, grads: _Gradients) -> _Gradients:
        factor, self = _node.unpack()
        grad: Any = grads[0]
        _grad_self: Any = None
        if _node.needs[0]:
            _grad_self = grad * factor
        _grad_factor: Any = None
        if _node.needs[1]:
            _grad_factor = grad * self
        return (_grad_self, _grad_factor)
'''
KERNEL = """def autograd_scale(_keyset: DispatchKeySet, self: Tensor, factor: Tensor, power: int) -> Tensor:
    _tangents = _dual_levels and _tangents_of((self, factor))
    _needs = _tangents.needs if _tangents else (self._requires_grad, factor._requires_grad)
    if not _tangents and (True not in _needs or not _grad_enabled()):
        return _operators.redispatch_scale(_after[_keyset], self, factor, power)
    _node = _nodes.ScaleBackward0((_edge_of(self), _edge_of(factor)), _needs)
    _node.saved = (_save(factor) if _needs[0] else None, _save(self) if _needs[1] else None)
    _outer = _state()
    _set_state(_below_adinplaceorview[_outer])
    try:
        _result = _operators.redispatch_scale(_after[_keyset], self, factor, power)
    finally:
        _set_state(_outer)
    if _tangents:
        _set_tangents(_node, (_result,), _tangents)
        return _result
    _set_history(_node, _result)
    return _result
"""
REGISTRATION = """\
scaling = Library("scaling", "IMPL", "Autograd", dispatcher=dispatcher)


def _autograd() -> ModuleType:
    from . import autograd

    return autograd


scaling.impl_deferred(
    _autograd,
    {
        "scale": "autograd_scale",
        "scale_": "autograd_scale_",
    },
    with_keyset=True,
)
scaling.impl("sign", _fallthrough)
"""
RUN = """\
import numpy as np
import my_backend
import torchgen_lite_reference as tl
import scaling_ops
import sys

print({m for m in sys.modules if m.startswith(("scaling_ops.autograd", "scaling_ops.nodes"))})
x = tl.tensor([1.0, 2.0], requires_grad=True)
f = tl.tensor([3.0, 5.0], requires_grad=True)
y = scaling_ops.scale(x, f, 1)
print(y.grad_fn.name(), [g.tolist() for g in tl.autograd.grad(y.sum(), [x, f])])
z = x * 1
scaling_ops.functions.scale_(z, f, 1)
print(z.grad_fn.name(), z._version, [g.tolist() for g in tl.autograd.grad(z.sum(), [x, f])])
print(scaling_ops.sign(x).requires_grad)

device = my_backend.DEVICE
far, factor = (t.detach().to(device).requires_grad_() for t in (x, f))
found = scaling_ops.scale(far, factor, 1)
one = tl.tensor([1.0, 1.0]).to(device)
print(found.device, [g.cpu().tolist() for g in tl.autograd.grad(found, [far, factor], one)])
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "torchgen_lite.toml").write_text(CONFIG)
    (tmp_path / "ops.yaml").write_text(SCHEMA)
    (tmp_path / "scaling_kernels.py").write_text(KERNELS)
    return tmp_path


def test_a_node_and_a_kernel_for_each_operator(project: Path) -> None:
    files = generate(load(root=project))
    text = files["python/scaling_ops/autograd.py"]
    assert NODE in files["python/scaling_ops/nodes.py"]
    assert KERNEL in text
    assert REGISTRATION in files["python/scaling_ops/register_autograd.py"]
    assert "original(self)" in text.split("def autograd_scale_(")[1]
    versions = files["python/scaling_ops/adinplaceorview.py"]
    assert "    _bump_version(self)\n" in versions
    registration = files["python/scaling_ops/registration.py"]
    assert "from . import register_adinplaceorview as register_adinplaceorview\n" in registration


WRITES = """\
- func: scaling::each_(Tensor(a!)[] xs, Tensor(b!)? y, Tensor(c!)?[] zs, Tensor w, Tensor(d!)[]? vs=None) -> ()
  dispatch:
    CPU: each_
- func: scaling::sign(Tensor self) -> Tensor
  dispatch:
    CPU: sign
  derivatives:
    self: grad
"""
WRITING_KERNELS = """
def each_(xs, y, zs, w, vs=None):
    for written in (*xs, y, *zs, *(vs or ())):
        if written is not None:
            written._array[...] += w._array
"""
WRITE = """\
values = [{lib}.zeros(2) for _ in range(6)]
starts = [value._version for value in values]
a, b, c, d, e, w = values
{call}([a, b], c, [None, d], w, [e])
{call}([a], None, [None], w)
print([value._version - start for value, start in zip(values, starts)])
"""
REGISTERED = """\
import torch

SCHEMA = "(Tensor(a!)[] xs, Tensor(b!)? y, Tensor(c!)?[] zs, Tensor w, Tensor(d!)[]? vs=None) -> ()"

@torch.library.custom_op("scaling::each_", mutates_args=("xs", "y", "zs", "vs"), schema=SCHEMA)
def each_(xs, y, zs, w, vs=None):
    for written in (*xs, y, *zs, *(vs or ())):
        if written is not None:
            written.numpy()[...] += w.numpy()
"""


def test_versions_of_what_is_in_lists(project: Path) -> None:
    (project / "ops.yaml").write_text(WRITES)
    (project / "scaling_kernels.py").write_text(KERNELS + WRITING_KERNELS)
    program = WRITE.format(lib="tl", call="scaling_ops.functions.each_")
    found = run(project, f"import torchgen_lite_reference as tl\nimport scaling_ops\n{program}")
    assert found == ["[2, 1, 1, 1, 1, 0]"]


@pytest.mark.torch
def test_pytorch_counts_the_same_versions(project: Path) -> None:
    """`torch.library` calls `torch.autograd.graph.increment_version` for each written argument."""
    program = REGISTERED + WRITE.format(lib="torch", call="torch.ops.scaling.each_")
    assert run(project, program) == ["[2, 1, 1, 1, 1, 0]"]


WRITTEN = """\
- func: scaling::scale(Tensor self, Tensor factor, int power) -> Tensor
  dispatch:
    CPU: scale
  derivatives:
    self: grad * factor
    factor: grad * self
    result: (self_t * factor_p + factor_t * self_p) * 10
- func: scaling::scale_(Tensor(a!) self, Tensor factor, int power) -> Tensor(a!)
  dispatch:
    CPU: scale_
- func: scaling::linear(Tensor self, Tensor factor, int power) -> Tensor
  dispatch:
    CPU: scale
  derivatives:
    self: grad * factor
    factor: not_differentiable
    result: auto_linear
- func: scaling::each(Tensor self, Tensor factor, int power) -> Tensor
  dispatch:
    CPU: scale
  derivatives:
    self: grad * factor * 7
    factor: not_differentiable
    result: auto_element_wise
- func: scaling::curved(Tensor self, Tensor factor, int power) -> Tensor
  dispatch:
    CPU: scale
  derivatives:
    self: grad * grad
    factor: not_differentiable
- func: scaling::masked(Tensor self, Tensor mask, int power) -> Tensor
  dispatch:
    CPU: scale
  derivatives:
    self: grad * mask
"""
CARRIED = """
import torchgen_lite_reference as tl, scaling_ops.functions as ops
from torchgen_lite_reference.autograd.forward_ad import dual_level, make_dual, unpack_dual

x, factor, one = tl.tensor([2.0]), tl.tensor([3.0]), tl.tensor([1.0])
with dual_level():
    dual = make_dual(x, one)
    for name in ("scale", "scale_", "linear", "each", "curved", "masked"):
        for values in ((dual.clone(), factor, 1), (dual.clone(), make_dual(factor, one), 1)):
            try:
                value = getattr(ops, name)(*values)
                print(name, value.tolist(), unpack_dual(value).tangent.tolist())
            except RuntimeError as error:
                print(error)
"""


def test_a_written_formula_decides_what_a_tangent_is(project: Path) -> None:
    """The formulas are not the derivatives, so that it shows which one has been used."""
    (project / "ops.yaml").write_text(WRITTEN)
    program = load(root=project)
    assert [d.code for d in program.diagnostics] == ["TG347", "TG324"]
    (project / "scaling_kernels.py").write_text(KERNELS)
    curved = "scaling::curved has no formula for forward-mode: "
    assert run(project, CARRIED) == [
        "scale [6.0] [30.0]",
        "scale [6.0] [50.0]",
        "scale_ [6.0] [30.0]",
        "scale_ [6.0] [50.0]",
        "linear [6.0] [3.0]",
        "linear [6.0] [3.0]",
        "each [6.0] [21.0]",
        "each [6.0] [21.0]",
        f"{curved}the formula of `self` is not linear in the gradient",
        f"{curved}the formula of `self` is not linear in the gradient",
        "masked [6.0] [3.0]",
        "scaling::masked has no derivative with respect to mask",
    ]


def test_a_framework_without_tangents_is_called_as_before(project: Path) -> None:
    """What an older framework lacks is not called, and no diagnostic asks for it."""
    names = "dual_levels, element_wise, refuse_tangents, set_tangents, tangents_of".split(", ")
    source = (ROOT / "reference/torchgen_lite_reference/framework.py").read_text()
    source = re.sub(r"from \S+(forward|tangents) import .*\n", "", source)
    for name in names:
        source = source.replace(f'    "{name}",\n', "")
    assert "tangents" not in source
    (project / "old_framework.py").write_text(source)
    (project / "torchgen_lite.toml").write_text(
        CONFIG.replace("torchgen_lite_reference.framework", "old_framework")
    )
    program = load(root=project)
    generated = generate_all(program)
    assert not generated.diagnostics
    text = generated.files["python/scaling_ops/autograd.py"]
    assert "tangents" not in text
    assert "    if True not in _needs or not _grad_enabled():\n" in text


WITHOUT_FORMULA = """\
- func: scaling::masked(Tensor self, Tensor mask, Tensor? bias=None) -> Tensor
  dispatch:
    CPU: masked
  derivatives:
    self: grad * mask
"""
MASKED = """
import torchgen_lite_reference as tl, scaling_ops
x, y = tl.tensor([1.0], requires_grad=True), tl.tensor([1.0])
for values in ((x, y), (y, x), (x, y, x)):
    try:
        print(scaling_ops.functions.masked(*values)._requires_grad)
    except RuntimeError as error:
        print(error)
with tl.no_grad():
    print(scaling_ops.functions.masked(y, x)._requires_grad)
"""


def test_what_has_no_formula_may_not_require_a_gradient(project: Path) -> None:
    (project / "ops.yaml").write_text(WITHOUT_FORMULA)
    (project / "scaling_kernels.py").write_text(
        KERNELS + "\ndef masked(self, mask, bias=None): return scale(self, mask, 1)\n"
    )
    refused = "scaling::masked has no derivative with respect to"
    assert run(project, MASKED) == ["True", f"{refused} mask", f"{refused} bias", "False"]


LISTED = """\
- func: scaling::listed(Tensor[] xs, Tensor y, Tensor[] zs) -> Tensor
  dispatch:
    CPU: listed
  derivatives:
    xs: '[grad * y, grad * y]'
    y: grad * (xs[0] + xs[1])
    zs: '[grad]'
"""
LISTED_KERNEL = """
def listed(xs, y, zs):
    return wrap_array((xs[0]._array + xs[1]._array) * y._array + zs[0]._array)
"""
GRADIENTS_OF_LISTED = """\
import itertools
import scaling_ops
import torchgen_lite_reference as tl

for needs in itertools.product([True, False], repeat=3):
    if any(needs):
        tensors = [tl.tensor([float(i)]) for i in range(1, 5)]
        wanted = {"xs": tensors[1], "y": tensors[2], "zs": tensors[3]}
        for name, need in zip(("xs", "y", "zs"), needs):
            wanted[name].requires_grad_(need)
        scaling_ops.functions.listed(tensors[:2], tensors[2], tensors[3:]).backward()
        print([one.grad and one.grad.item() for one in wanted.values()])
"""


def test_the_gradients_after_those_of_a_list_have_their_places(project: Path) -> None:
    """Whichever of the arguments need a gradient."""
    (project / "ops.yaml").write_text(LISTED)
    (project / "scaling_kernels.py").write_text(KERNELS + LISTED_KERNEL)
    wanted = ["[3.0, 3.0, 1.0]", "[3.0, 3.0, None]", "[3.0, None, 1.0]", "[3.0, None, None]"]
    wanted += [one.replace("[3.0, ", "[None, ", 1) for one in wanted[:3]]
    assert run(project, GRADIENTS_OF_LISTED) == wanted


@pytest.mark.parametrize("count", [1, 2, 3])
def test_what_has_no_differentiable_result_has_no_node(project: Path, count: int) -> None:
    results, flags = ", ".join(["Tensor"] * count), ", ".join(["False"] * count)
    (project / "ops.yaml").write_text(
        f"- func: scaling::signs(Tensor self) -> ({results})\n  dispatch:\n    CPU: sign\n"
        f"  derivatives:\n    output_differentiability: [{flags}]\n"
    )
    files = generate(load(root=project))
    assert "python/scaling_ops/nodes.py" not in files
    text = files["python/scaling_ops/register_autograd.py"]
    assert 'scaling.impl("signs", _fallthrough)' in text


@pytest.mark.parametrize(
    ("results", "formulas", "is_taken"),
    [
        ("(Tensor a, Tensor[] b)", "self: grad_a", False),
        ("(Tensor a, Tensor[] b)", "output_differentiability: [True, False]", True),
        ("(Tensor a, int[] b)", "self: grad_a", True),
        ("Tensor[]", "self: grads[0]", True),
    ],
)
def test_a_list_among_the_results_has_no_places_for_its_gradients(
    project: Path, results: str, formulas: str, is_taken: bool
) -> None:
    (project / "ops.yaml").write_text(
        f"- func: scaling::sign(Tensor self) -> {results}\n  dispatch:\n    CPU: sign\n"
        f"  derivatives:\n    {formulas}\n"
    )
    program = load(root=project)
    generated = generate_all(program)
    refused = [] if is_taken else ["TG511"]
    assert [d.code for d in generated.diagnostics if d not in program.diagnostics] == refused
    assert ('"scaling::sign(' in generated.files["python/scaling_ops/operators.py"]) == is_taken


def test_a_fact_that_a_node_cannot_keep_keeps_the_tensor(project: Path) -> None:
    (project / "ops.yaml").write_text(
        "- func: scaling::like(Tensor self) -> Tensor\n  dispatch:\n    CPU: sign\n"
        "  derivatives:\n    self: grad.as_strided(self.shape, self.sym_strides())\n"
    )
    files = generate(load(root=project))
    text = files["python/scaling_ops/autograd.py"]
    assert "    _node.saved = (self._shape, _save(self))\n" in text
    gradient = "        _grad_self: Any = grad.as_strided(self_shape, self.stride())\n"
    assert gradient in files["python/scaling_ops/nodes.py"]


def test_formulas_for_each_of_a_list_become_no_kernel(project: Path) -> None:
    lists = "- func: scaling::_foreach_scale(Tensor[] self, Tensor factor, int power) -> Tensor[]\n"
    (project / "ops.yaml").write_text(f"{SCHEMA}{lists}  dispatch:\n    CPU: scale\n")
    files = generate(load(root=project))
    assert "foreach" not in files["python/scaling_ops/register_autograd.py"]
    assert "Foreach" not in files["python/scaling_ops/nodes.py"]


def test_without_formulas_there_is_no_autograd(project: Path) -> None:
    (project / "ops.yaml").write_text(
        "- func: scaling::sign(Tensor self) -> Tensor\n  dispatch:\n    CPU: sign\n"
    )
    assert not [path for path in generate(load(root=project)) if "autograd" in path]


def test_what_formulas_call_has_to_be_there(project: Path) -> None:
    text = SCHEMA.replace("grad * self", "twist(grad, self)")
    (project / "ops.yaml").write_text(text)
    assert [(d.code, d.start()) for d in load(root=project).diagnostics] == [("TG322", (6, 13))]


OVERRIDE = """\
{# template-api: 1 #}
{% extends "built-in/python/autograd.py.j2" %}
{% block kernel %}
    print("called:", {{ op.overload.schema.local_name | py.quote }})
{{ super() }}
{%- endblock %}
"""


def run(project: Path, program: str) -> list[str]:
    """The output of a program that uses the generated package."""
    for path, text in generate(load(root=project)).items():
        target = project / "generated" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    path = [project, project / "generated/python", ROOT / "examples", *SOURCES]
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))},
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_an_override_of_one_block_changes_the_kernels(project: Path) -> None:
    override = project / "mine/python/autograd.py.j2"
    override.parent.mkdir(parents=True)
    override.write_text(OVERRIDE)
    config = project / "torchgen_lite.toml"
    config.write_text('template-dirs = ["mine"]\n' + config.read_text())
    program = RUN[: RUN.index("z = x * 1")]
    assert run(project, program) == [
        "set()",
        "called: scale",
        "ScaleBackward0 [[3.0, 5.0], [1.0, 2.0]]",
    ]


def test_an_operator_of_ones_own_is_differentiable_on_every_backend(project: Path) -> None:
    assert run(project, RUN) == [
        "set()",  # Nothing has called a kernel yet.
        "ScaleBackward0 [[3.0, 5.0], [1.0, 2.0]]",
        "ScaleBackward0 1 [[3.0, 5.0], [1.0, 2.0]]",
        "False",
        "privateuse1 [[3.0, 5.0], [1.0, 2.0]]",
    ]


def test_an_argument_may_have_the_name_of_a_node(project: Path) -> None:
    for name in ("ops.yaml", "scaling_kernels.py"):
        path = project / name
        path.write_text(path.read_text().replace("factor", "node"))
    program = RUN[: RUN.index("z = x * 1")]
    assert run(project, program)[1:] == ["ScaleBackward0 [[3.0, 5.0], [1.0, 2.0]]"]


WITH_GAPS = """\
- func: scaling::total(Tensor x, Tensor?[] ws, float s) -> Tensor
  dispatch: {CPU: total}
  derivatives:
    x: grad * scaling::weight(x, ws, s)
    ws: scaling::weights_grad(grad * x, ws, s)
- func: scaling::weight(Tensor x, Tensor?[] ws, float s) -> Tensor
  dispatch: {CompositeImplicitAutograd: weight}
- func: scaling::weights_grad(Tensor grad, Tensor?[] ws, float s) -> Tensor[]
  dispatch: {CompositeImplicitAutograd: weights_grad}
- func: scaling::both(Tensor?[] ws, Tensor x, Tensor[] more, Tensor y) -> Tensor
  dispatch: {CPU: both}
  derivatives:
    ws: scaling::weights_grad(grad, ws, 0.5)
    x: grad
    more: scaling::weights_grad(grad, more, 1.0)
    y: grad * 3
"""
KERNELS_WITH_GAPS = """\
import torchgen_lite_reference as tl


def weight(x, ws, s):
    found = tl.ones_like(x)
    for w in ws:
        found = found if w is None else found + w * w * s
    return found


def weights_grad(grad, ws, s):
    return [tl.zeros_like(grad) if w is None else grad * w * (2 * s) for w in ws]


def total(x, ws, s):
    return x * weight(x, ws, s)


def both(ws, x, more, y):
    return weight(x, ws, 0.5) + x + weight(x, more, 1.0) + y * 3
"""
RUN_WITH_GAPS = """\
import itertools
import torchgen_lite_reference as tl
import scaling_ops

KINDS = ("absent", "constant", "wanted")
for count, of_x in itertools.product(range(4), KINDS[1:]):
    for kinds in itertools.product(KINDS, repeat=count):
        x = tl.tensor([2.0, -3.0], requires_grad=of_x == "wanted")
        numbers = [[0.5 + i, 1.5 - i] for i in range(count)]
        ws = [
            None if kind == "absent" else tl.tensor(number, requires_grad=kind == "wanted")
            for kind, number in zip(kinds, numbers)
        ]
        needed = [one for one in (x, *ws) if one is not None and one.requires_grad]
        result = scaling_ops.total(x, ws, 0.5)
        assert result.requires_grad == bool(needed), kinds
        if not needed:
            continue
        found = tl.autograd.grad(result.sum(), needed, create_graph=True)
        for leaf, gradient in zip(needed, found):
            expected = (scaling_ops.weight(x, ws, 0.5) if leaf is x else x * leaf).tolist()
            assert gradient.tolist() == expected, (kinds, gradient, expected)
        if of_x == "wanted" and "wanted" in kinds:
            # A gradient of the gradient of a tensor in the list: what it is multiplied by.
            leaf = needed[-1]
            (second,) = tl.autograd.grad(found[-1].sum(), [x])
            assert second.tolist() == leaf.tolist(), kinds

for needs in itertools.product([False, True], repeat=4):
    tensors = [tl.tensor([2.0 + i], requires_grad=need) for i, need in enumerate(needs)]
    w, x, one, y = tensors
    result = scaling_ops.both([None, w, None], x, [one, tl.tensor([7.0])], y)
    needed = [tensor for tensor in tensors if tensor.requires_grad]
    found = [gradient.tolist() for gradient in tl.autograd.grad(result, needed)] if any(needs) else []
    wanted = [[2.0], [1.0], [2 * 4.0], [3.0]]
    assert found == [gradient for gradient, need in zip(wanted, needs) if need], (needs, found)
print("done")
"""


def test_gradients_of_lists_in_which_tensors_are_left_out(project: Path) -> None:
    (project / "ops.yaml").write_text(WITH_GAPS)
    (project / "scaling_kernels.py").write_text(KERNELS_WITH_GAPS)
    assert run(project, RUN_WITH_GAPS) == ["done"]
