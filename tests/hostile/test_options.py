"""No text of the configuration becomes code: each option gets what would leave strings, comments and lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.text import HOSTILE, RESERVED, escaped
from torchgen_lite.analysis.program import build_program
from torchgen_lite.diagnostics import Source
from torchgen_lite.loader.config import Config
from torchgen_lite.loader.native_functions import load_native_functions
from torchgen_lite.pipeline import generate_all
from torchgen_lite.targets import TARGETS

# Expressions and types of C++ that the author of a framework writes.
CODE = {"constants", "types", "tensor"}
SOURCE = Source(
    "ops.yaml",
    """\
- func: lib::f(Tensor self, str s='a') -> Tensor
  guard: "#ifdef A"
  dispatch:
    CPU: f
""",
)


def values(text: str) -> Iterator[object]:
    """A text in every shape that an option may have."""
    yield text
    yield [text]
    yield {"Device": text}


@pytest.mark.parametrize("target", TARGETS)
def test_no_text_of_an_option_becomes_code(target: str) -> None:
    functions, _ = load_native_functions([SOURCE])
    usual: dict[str, object] = {"tensor": "toy::Tensor"} if target == "cpp-runtime" else {}
    accepted, wrong = 0, []
    for option in TARGETS[target].declared_options().values():
        for text in (*HOSTILE, *RESERVED):
            for value in values(text):
                options = {target: {**usual, option.name: value}}
                program = build_program(functions, Config(Path("nowhere"), target_options=options))
                files = generate_all(program, targets=[target]).files
                accepted += bool(files)
                try:
                    if option.name not in CODE:
                        wrong += [f"{option.name} = {value!r}: {what}" for what in escaped(files)]
                except (SyntaxError, AssertionError) as error:
                    wrong.append(f"{option.name} = {value!r}: {error}")
    assert wrong == []
    assert accepted > 0 or target == "torch-stubs"
