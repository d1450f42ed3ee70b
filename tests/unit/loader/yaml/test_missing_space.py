"""A colon without a space, and a pair on the line of its field: the help, followed, gives the file that was meant."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from tests.conftest import ROOT
from torchgen_lite.analysis.program import build_program
from torchgen_lite.diagnostics import Diagnostics, Source
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.formats.native_functions import load_native_functions

HEAD = "- func: lib::f(Tensor x, Tensor y) -> Tensor\n  dispatch: {CPU: f}\n"
OTHER = "- func: lib::g(Tensor x) -> Tensor\n  dispatch: {CPU: g}\n"
# The pairs of fields that are mappings.
PAIRS = {
    "dispatch": ("CPU: f", "CUDA: ns::g", "CPU, CUDA: f"),
    "derivatives": ("x: grad", "y: grad * 2", "x, y: not_differentiable"),
    "fake": ("like: x", "shape: [2]"),
}
# Those whose second pair needs the first.
PAIRS_TOGETHER = {
    "autocast": ("dtype: float32", "result: x"),
    "samples": ('calls: ["(ones(2), ones(2))"]', "reference: x + y"),
}
VALUES = {"variants": "function", "tags": "core", "doc": "Hello you", "vmap": "loop"}


def glued(pair: str) -> str:
    return pair.replace(": ", ":", 1)


def files() -> Iterator[str]:
    for name, pairs in (PAIRS | PAIRS_TOGETHER).items():
        head = HEAD if name != "dispatch" else HEAD.splitlines(keepends=True)[0]
        start = f"{head}  {name}:"
        for pair in pairs if name in PAIRS else pairs[:1]:
            yield f"{start} {pair}\n"
            yield f"{start} {glued(pair)}\n"
            yield f"{start}\n    {glued(pair)}\n"
            if ", " not in pair and "]" not in pair:
                yield f"{start} {{{glued(pair)}}}\n"
        for first, second in itertools.permutations(pairs[:2]):
            yield f"{start}\n    {glued(first)}\n    {second}\n"
            yield f"{start}\n    {first}\n    {glued(second)}\n"
            if "[" not in first + second:
                yield f"{start} {{{glued(first)}, {second}}}\n"
                yield f"{start} {{{first}, {glued(second)}}}\n"
    for name, value in VALUES.items():
        yield f"{HEAD}  {name}:{value}\n"
        yield f"{HEAD}  {name}:{value}\n  device_guard: False\n"
        yield f"{HEAD}  device_guard: False\n  {name}:{value}\n"
    yield f"{HEAD}  device_guard:False\n".replace("func: ", "func:")
    yield HEAD.replace("func: ", "func:")


def read(text: str) -> Diagnostics:
    source = Source("ops.yaml", text)
    functions, problems = load_native_functions([source])
    return build_program(
        functions, Config(ROOT), diagnostics=problems, sources=[source]
    ).diagnostics


@pytest.mark.parametrize("text", list(files()))
def test_the_help_leads_to_what_was_meant(text: str) -> None:
    text += OTHER
    meant = "".join(text.split())
    steps = 0
    while problems := [d for d in read(text) if d.severity == "error"]:
        first = problems[0]
        assert first.fix is not None, (text, first)
        assert (
            "no space" in f"{first.message} {first.label}"
            or "space after" in str(first.help)
            or steps == 0
        )
        span, new = first.fix
        text = text[: span.start] + new + text[span.end :]
        steps += 1
        assert steps < 4, text
    assert steps > 0
    assert "".join(text.split()) == meant
