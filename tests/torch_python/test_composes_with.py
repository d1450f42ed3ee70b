"""What pages say of jagged tensors and of `torch.func.functionalize` is what PyTorch does."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.installed import needs_torch
from tests.torch_python.generated import run_program, write_package

pytestmark = pytest.mark.torch

CONFIG = """\
schema = ["ops.yaml"]
targets = ["torch-python", "docs"]

[target.torch-python]
kernels = ["pages_kernels"]
"""
# A row for each operator: does it work under `functionalize`, and on jagged tensors?
ENTRIES = {
    "point(Tensor x) -> Tensor|same|tags: pointwise": (True, True),
    "front(Tensor x) -> Tensor|same|axes: x[*b, d!] -> [*b, d!]": (True, True),
    "inner(Tensor x) -> Tensor|same|axes: x[n, *b] -> [n, *b]": (True, False),
    "whole(Tensor x) -> Tensor|same|axes: x[*b!] -> [*b!]": (True, False),
    "two(Tensor x, Tensor y) -> Tensor|first|axes: x[*b, d], y[*c!, d] -> [*b, d]": (True, False),
    "total(Tensor x) -> Tensor|total|axes: x[*b+] -> []": (True, True),
    "plain(Tensor x) -> Tensor|same|": (True, False),
    "drawn(Tensor x) -> Tensor|same|tags: [pointwise, nondeterministic_seeded]": (True, True),
    "plus_(Tensor(a!) x) -> Tensor(a!)|plus|axes: x[*b] -> [*b]": (True, True),
    "push(Tensor(a!) x) -> Tensor|push|axes: x[*b] -> [*b], x[*b]": (True, False),
    "every(Tensor(a!)[] xs) -> ()|every|axes: xs[*b] -> xs[*b]": (True, True),
    "into.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)|into|axes: x[*b], out[*b] -> out[*b]": (
        True,
        True,
    ),
    "made(Tensor x) -> Tensor||": (True, True),
    "made_(Tensor(a!) x) -> Tensor(a!)||": (True, True),
    "turned(Tensor(a) x) -> Tensor(a)||": (True, True),
    "viewed(Tensor(a) x) -> Tensor(a)|viewed|fake: {view: x, shape: x.shape, stride: x.stride(), "
    "offset: x.storage_offset()}": (True, False),
}
KERNELS = """\
def same(x):
    return x * 1


def first(x, y):
    return x * 1


def total(x):
    return x.sum()


def plus(x):
    return x.add_(1)


def push(x):
    return x.add_(1) * 1


def every(xs):
    for x in xs:
        x.add_(1)


def into(x, *, out):
    return out.copy_(x)


def viewed(x):
    return x.view(x.shape)


def made(x):
    return x * 1


def made_(x):
    return x.mul_(1)


def turned(x):
    return x.transpose(-1, -2)
"""
PROGRAM = """
import json
import sys
import warnings

import torch

import pages_ops

# Of jagged tensors, a prototype.
warnings.simplefilter("ignore")
parts = [torch.ones(2, 3), torch.ones(4, 3)]
arguments = {"two": lambda x: (x, torch.ones(5, 3)), "every": lambda x: ([x],)}


def works(name, wrapped, x):
    packet = getattr(torch.ops.pages, name)
    given = arguments.get(name, lambda x: (x,))
    named = (lambda x: {"out": x * 1}) if name == "into" else (lambda x: {})
    try:
        wrapped(lambda x: packet(*given(x * 1), **named(x)))(x)
    except (RuntimeError, NotImplementedError):
        return False
    return True


print(json.dumps({
    name: (
        works(name, torch.func.functionalize, parts[0]),
        works(name, lambda f: f, torch.nested.nested_tensor(parts, layout=torch.jagged)),
    )
    for name in json.loads(NAMES)
}))
"""


@needs_torch((2, 13), "the pages are about it")
def test_pages_say_what_pytorch_does(tmp_path: Path) -> None:
    entries, wanted = "", {}
    for text, words in ENTRIES.items():
        schema, kernel, field = text.split("|")
        entries += f"- func: pages::{schema}\n"
        entries += f"  dispatch: {{CPU: {kernel}}}\n" if kernel else ""
        entries += f"  {field}\n" if field else ""
        wanted[schema.partition("(")[0]] = words
    (tmp_path / "torchgen_lite.toml").write_text(CONFIG)
    (tmp_path / "ops.yaml").write_text(entries)
    (tmp_path / "pages_kernels.py").write_text(KERNELS)
    write_package(tmp_path)
    said = {}
    for name in wanted:
        page = (tmp_path / "generated" / "docs" / "pages" / f"{name}.md").read_text("utf-8")
        found = dict(re.findall(r"^\| ([^|]+) \| (works|refused) \|", page, re.M))
        rows = "torch.func.functionalize", "Jagged NestedTensor"
        said[name] = tuple([found[row] == "works" for row in rows])
    names = json.dumps([name.partition(".")[0] for name in wanted])
    does = json.loads(run_program(tmp_path, f"NAMES = {names!r}\n{PROGRAM}"))
    assert said == wanted
    assert [tuple(one) for one in does.values()] == [*wanted.values()]
