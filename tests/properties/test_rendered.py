"""After any edit, a run that reuses the results of the previous run writes what a fresh run writes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from torchgen_lite.emit.render import Rendered
from torchgen_lite.pipeline import generate_all, load

PROJECTS = {
    "torch_ops": ("cpp-torch", "cpp-torch-stable", "torch-python", "torch-stubs", "docs"),
    "cpp_runtime": ("cpp-runtime", "docs"),
    "tinyarr": ("python", "docs"),
}
WORDS = [
    ("float s", "float s=2.5"),
    ("float s", "int s"),
    ("Tensor self", "Tensor input"),
    ("grad *", "2 * grad *"),
    ("function, method", "function"),
    ("inplace_view", "pointwise"),
    ("Scalar alpha=1", "Scalar alpha=2"),
    ("doc: ", "doc: In short, "),
]


def edited(lines: list[str], at: int, kind: str, words: tuple[str, str]) -> list[str]:
    """The lines of a schema file after an edit, which may make the file invalid."""
    at %= len(lines)
    if kind == "replace":
        return [line.replace(*words) if i >= at else line for i, line in enumerate(lines)]
    if kind == "delete entry":
        begins = [i for i, line in enumerate(lines) if line.startswith("- ")] + [len(lines)]
        begin, end = (begins + [len(lines)])[at % len(begins) :][:2]
        return lines[:begin] + lines[end:]
    return lines[:at] + ["" if kind == "blank" else "# A comment."] + lines[at:]


EDITS = st.tuples(
    st.integers(0, 200),
    st.sampled_from(["replace", "blank", "comment", "delete entry"]),
    st.sampled_from(WORDS),
)


@pytest.mark.parametrize("project", PROJECTS)
@settings(max_examples=8)
@given(edits=st.lists(EDITS, min_size=1, max_size=4))
def test_a_run_after_another_is_a_fresh_run(
    project: str, edits: list[tuple[int, str, tuple[str, str]]]
) -> None:
    root = ROOT / "examples" / project
    program = load(root=root)
    path = root / program.config.schema[0]
    lines = path.read_text("utf-8").split("\n")
    rendered: Rendered = {}
    targets = PROJECTS[project]
    assert generate_all(program, targets=targets, rendered=rendered).files
    for at, kind, words in edits:
        changed = edited(lines, at, kind, words)
        program = load(root=root, texts={path.resolve(): "\n".join(changed)})
        after = generate_all(program, targets=targets, rendered=rendered)
        assert after == generate_all(program, targets=targets)
        lines = changed if after.files else lines
