"""`checkpoint:` says what a selective checkpoint keeps, through the policy that the package has."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torch_python.generated import run_program, write_package

pytestmark = pytest.mark.torch

CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python"]

[target.torch-python]
kernels = ["my_kernels"]
"""
ENTRY = """\
- func: my::{name}(Tensor x) -> Tensor
  dispatch: {{CPU: {name}}}
  fake: {{like: x}}
  derivatives: {{x: grad * {name}(x)}}
{field}"""
KERNELS = """\
from collections import Counter

CALLS = Counter()


def kernel(name):
    def call(x):
        CALLS[name] += 1
        return x.exp()

    return call


kept, again, silent = map(kernel, ("kept", "again", "silent"))
"""
PROGRAM = """
from functools import partial
import my_ops, torch
from my_kernels import CALLS
from torch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts

contexts = partial(create_selective_checkpoint_contexts, my_ops.checkpoint_policy)

def f(x):
    return my_ops.silent(my_ops.again(my_ops.kept(x))).sin()

def ran(x):
    return checkpoint(f, x, use_reentrant=False, context_fn=contexts)

x = torch.rand(3, requires_grad=True)
wanted, = torch.autograd.grad(f(x).sum(), x)
for function in (ran, torch.compile(ran, backend="aot_eager", fullgraph=True)):
    CALLS.clear()
    y = function(x)
    forward = dict(CALLS)
    found, = torch.autograd.grad(y.sum(), x)
    torch.testing.assert_close(found, wanted)
    print(forward == dict(kept=1, again=1, silent=1), {name: count - CALLS["silent"] for name, count in CALLS.items()})
"""


def test_the_policy_of_a_package(tmp_path: Path) -> None:
    """What is kept runs once less than what is computed again."""
    fields = {"kept": "  checkpoint: save\n", "again": "  checkpoint: recompute\n", "silent": ""}
    entries = [ENTRY.format(name=name, field=field) for name, field in fields.items()]
    files = {"torchgen_lite.toml": CONFIG, "ops.yaml": "".join(entries), "my_kernels.py": KERNELS}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    write_package(tmp_path)
    printed = run_program(tmp_path, PROGRAM)
    assert printed == "True {'kept': -1, 'again': 0, 'silent': 0}\n" * 2
