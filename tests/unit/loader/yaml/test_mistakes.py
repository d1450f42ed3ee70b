"""Every mistake in YAML gets a message with a place inside the file."""

from __future__ import annotations

import random

import pytest

from torchgen_lite.diagnostics import Source, render_full
from torchgen_lite.loader.yaml.nodes import read_yaml

TEXT = """\
# Operators.
- func: "add.Tensor(Tensor self, Tensor other) -> Tensor"
  dispatch: {CPU: add_cpu, Meta: add_meta}
  tags: [core, pointwise]

- func: relu(Tensor self) -> Tensor
  dispatch:
    CPU: relu_cpu
    CUDA: relu_cuda
  variants: function, method
"""


@pytest.mark.parametrize("seed", range(10))
def test_random_mistakes(seed: int) -> None:
    chance, wrong = random.Random(seed), 0
    for _ in range(100):
        text = list(TEXT)
        for _ in range(chance.randint(1, 3)):
            text[chance.randrange(len(text))] = chance.choice(" \t\n:-\"'[]{}@%|>&*!,#a")
        source = Source("ops.yaml", "".join(text))
        _, diagnostics = read_yaml(source)
        assert render_full(diagnostics).count("--> ops.yaml:") == len(diagnostics)
        for one in diagnostics:
            for label in filter(None, (one.label, *one.secondary)):
                assert 0 <= label.span.start < label.span.end <= len(source.text)
        wrong += bool(diagnostics)
    assert wrong > 20
