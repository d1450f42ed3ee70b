"""For which operators PyTorch's fallback of `vmap` is a loop, asked of PyTorch itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Result
from torchgen_lite.analysis.composition import UNTRACED
from torchgen_lite.analysis.torch_library import takes_a_loop
from torchgen_lite.schema import FunctionSchema

LOOPS = {
    "plain(Tensor x) -> Tensor": True,
    "pair(Tensor x) -> (Tensor, Tensor)": True,
    "optional(Tensor x, Tensor? y=None) -> Tensor": True,
    "named(int n, *, Tensor x) -> Tensor": True,
    "written_(Tensor(a!) x, int n) -> Tensor(a!)": True,
    "number(Tensor x) -> (Tensor, int)": False,
    "listed(Tensor[] xs) -> Tensor": False,
    "optionals(Tensor?[] xs) -> Tensor": False,
    "lists(Tensor x) -> Tensor[]": False,
    "nothing(Tensor x) -> ()": False,
    "viewed(Tensor(a) x) -> Tensor(a)": False,
    "to_nothing(Tensor(a!) x) -> ()": False,
    "to_another(Tensor(a!) x) -> Tensor": False,
    "second(Tensor x, Tensor(a!) y) -> Tensor(a!)": False,
    "both(Tensor(a!) x, Tensor(b!) y) -> Tensor(a!)": False,
    "lists_too_(Tensor(a!) x, Tensor[] ys) -> Tensor(a!)": False,
    "into.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)": False,
}


def test_what_is_known() -> None:
    found = {text: takes_a_loop(FunctionSchema.parse(text)) for text in LOOPS}
    assert found == LOOPS


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_what_pytorch_does() -> None:
    import torch

    library: Any = torch.library.Library("composition_test", "DEF")
    results = {
        "Tensor": lambda x: x * 2,
        "(Tensor, Tensor)": lambda x: (x * 2, x * 3),
        "(Tensor, int)": lambda x: (x * 2, 3),
        "Tensor[]": lambda x: [x * 2],
        "()": lambda x: None,
        "Tensor(a)": lambda x: x.view(-1),
        "Tensor(a!)": lambda x: x.mul_(2),
    }

    def kernel(returned: str, *args: Any, **kwargs: Any) -> Any:
        leaves = torch.utils._pytree.tree_leaves((args, kwargs))
        return results[returned]([one for one in leaves if isinstance(one, torch.Tensor)][-1])

    def call(schema: FunctionSchema, x: torch.Tensor) -> Any:
        packet = getattr(torch.ops.composition_test, schema.base_name)
        types = {a.name: str(a.type) for a in schema.arguments}
        given = {name: [x.clone()] if "[" in text else x.clone() for name, text in types.items()}
        return packet(**{n: 2 if types[n] == "int" else value for n, value in given.items()})

    found = {}
    for text in LOOPS:
        schema = FunctionSchema.parse(text)
        library.define(text)
        library.impl(schema.local_name, partial(kernel, text.partition(" -> ")[2]), "CPU")
        try:
            torch.vmap(partial(call, schema))(torch.ones(3, 2))
            found[text] = True
        except RuntimeError as error:
            assert "Batching rule not implemented" in str(error)
            found[text] = False
    assert found == LOOPS


@pytest.mark.parametrize(
    ("schema", "word"),
    [
        ("my::f(Tensor x, Dict(str, Tensor) d) -> Tensor", "refused"),
        ("my::f(Tensor x) -> Dict(str, Tensor)", "refused"),
        ("my::f(Tensor x, Dict(str, int) d) -> Tensor", "works"),
        ("my::f(Tensor x, Tensor[] d) -> Tensor", "works"),
    ],
)
def test_dictionaries_of_tensors(
    run: Callable[..., Result], project: Path, schema: str, word: str
) -> None:
    config = 'targets = ["docs", "torch-python"]\n[target.torch-python]\npackage = "my_ops"\n'
    (project / "torchgen_lite.toml").write_text(config)
    (project / "native_functions.yaml").write_text(
        f"- func: {schema}\n  dispatch: {{CPU: f, Meta: f_meta}}\n"
    )
    assert run("generate").code == 0
    page = project / "generated" / "docs" / "my" / "f.md"
    assert re.search(rf"torch\.compile \| {word} ", page.read_text())


@pytest.mark.torch
def test_what_dynamo_traces() -> None:
    import torch

    library: Any = torch.library.Library("traced_test", "DEF")
    results = {"int": 3, "SymInt": 3, "bool": True, "float": 2.5, "Scalar": 2.5, "int[]": [3]}
    refused = set()
    for name, value in results.items():
        local = f"of_{name.rstrip('[]')}{len(name)}"
        library.define(f"{local}(Tensor x) -> {name}")
        library.impl(local, lambda x, value=value: value, "CompositeExplicitAutograd")
        op = getattr(torch.ops.traced_test, local)
        try:
            torch.compile(op, backend="eager", fullgraph=True)(torch.ones(2))
        except torch._dynamo.exc.Unsupported:
            refused.add(f"-> {name}")
    assert refused == {*UNTRACED}
