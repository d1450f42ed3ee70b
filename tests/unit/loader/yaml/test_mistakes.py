"""Every mistake in YAML gets a message with a place inside the file."""

from __future__ import annotations

import random

import pytest

from torchgen_lite.diagnostics import Source, render_full
from torchgen_lite.loader.entry.fields import FIELDS
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
        _, diagnostics = read_yaml(source, fields=FIELDS)
        assert render_full(diagnostics).count("--> ops.yaml:") == len(diagnostics)
        for one in diagnostics:
            for label in filter(None, (one.label, *one.secondary)):
                assert 0 <= label.span.start < label.span.end <= len(source.text)
        wrong += bool(diagnostics)
    assert wrong > 20


TYPED = """\
- func: m::a(Tensor x, *, int[2] s) -> (Tensor y, Tensor z)
  fake: [{like: x}, {shape: "[s[0]]", dtype: bool}]
  tags: [core, pointwise]
  samples:
    - (randn(3), s=[1, 2])
- func: m::b(Tensor x) -> Tensor
"""


@pytest.mark.parametrize("rest", ["", "\n", "\n- func: m::c(Tensor x) -> Tensor\n"])
def test_a_bracket_that_is_not_closed_is_named_while_it_is_typed(rest: str) -> None:
    """After `[` and `,` the message was "`` is not closed", and before another entry "`-` is not closed"."""
    seen = set()
    for end in range(len(TYPED)):
        source = Source("ops.yaml", f"{TYPED[:end]}{rest}")
        for one in read_yaml(source, fields=FIELDS)[1]:
            assert "``" not in one.message
            if one.message.endswith("` is not closed"):
                [opened] = one.secondary
                assert one.message == f"`{opened.span.text}` is not closed"
                seen.add(opened.span.text)
    assert seen == {"[", "{"}


@pytest.mark.parametrize("value", ["m:", "m: b(Tensor x) -> Tensor", "m::b(Tensor x) -> Tensor:"])
@pytest.mark.parametrize("above", ["", "  tags: core\n", "  samples:\n    - (randn(2))\n"])
def test_a_colon_in_a_value_is_no_dash(above: str, value: str) -> None:
    """Below a list, `- func: m:` was "a dash is indented differently", by which nobody finds the colon."""
    source = Source("ops.yaml", f"- func: m::a(Tensor x) -> Tensor\n{above}- func: {value}\n")
    [found] = read_yaml(source, fields=FIELDS)[1]
    assert found.message == "an unquoted value has `: ` in it"
    assert found.label is not None and found.label.span.text == ":"
    assert str(found.help).startswith("leave it out") == value.endswith(":")
