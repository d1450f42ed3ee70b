"""The examples in the table of codes: the bad one gives the code, the good one does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite.analysis import build_program
from torchgen_lite.diagnostics import CODES, Code, Source
from torchgen_lite.loader import Config, load_native_functions

# Those about derivatives and about two versions have tests of their own; a suppression comment alone is no
# entry.
ELSEWHERE = ("TG32", "TG35", "TG36", "TG120")
EXAMPLES = [
    code
    for code in CODES.values()
    if code.bad and code.code[2] in "1234" and not code.code.startswith(ELSEWHERE)
]
# What surrounds an example that shows only a part of an entry.
HEAD = "- func: f.out(Tensor self, int dim, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"


def codes_of(text: str) -> set[str]:
    source = Source("ops.yaml", text)
    functions, found = load_native_functions([source])
    program = build_program(
        functions, Config(Path(".")), diagnostics=found, sources=[source], lint=True
    )
    return {d.code for d in program.diagnostics}


def whole(example: str, code: Code) -> str:
    """An example as a file: schemas become entries, parts of an entry get a head."""
    if code.code[2] == "2" and not example.startswith("- "):
        return f"- func: {example}\n"
    if example.startswith("  "):
        head = HEAD if "precomputed" in example else "- func: f(Tensor self) -> Tensor\n"
        return head + example + "\n"
    return example + "\n"


@pytest.mark.parametrize("code", EXAMPLES, ids=lambda code: code.code)
def test_the_bad_example_is_bad_and_the_good_one_good(code: Code) -> None:
    assert code.code in codes_of(whole(code.bad, code))
    assert code.code not in codes_of(whole(code.good, code))
