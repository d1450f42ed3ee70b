"""A template edited alone generates code that runs, or stops at the line of the edit.

Each edit adds one line to a template of Python: a call of the framework or a verb, misspelled or not.
"""

from __future__ import annotations

import itertools
import sys
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torchgen_lite import load
from torchgen_lite.diagnostics import has_errors
from torchgen_lite.emit.templates import find_templates, with_api
from torchgen_lite.languages.verbs import VERBS
from torchgen_lite.pipeline import generate_all
from torchgen_lite.targets.python.framework import CALLED

CONFIG = """\
schema = ["ops.yaml"]
targets = ["{target}"]
template-dirs = ["mine"]
[target.{target}]
package = "ops_{unique}"
kernels = ["kernels_{unique}"]
"""
FRAMEWORK = 'framework = "torchgen_lite_reference.framework"\n'
SCHEMA = """\
- func: edits_{unique}::scale(Tensor self, Tensor factor) -> Tensor
  variants: function, method
  dispatch:
    CPU: scale
  fake: {{like: self}}
  derivatives:
    self: grad * factor
    factor: grad * self
- func: edits_{unique}::half(Tensor self) -> Tensor
  dispatch:
    CPU: half
  fake: {{like: self}}
  derivatives:
    self: grad * 0.5
"""
KERNELS = """\
def scale(self, factor):
    return self * factor


def half(self):
    return self * 0.5
"""
UNIQUE = itertools.count()
TEMPLATES = {
    target: sorted(
        path.relative_to(find_templates()).as_posix()
        for path in (find_templates() / folder).glob("*.py*.j2")
        if path.name not in ("py.typed.j2", "read_schema.py.j2")
    )
    for target, folder in (("python", "python"), ("torch-python", "torch_python"))
}
WORDS = st.sampled_from([*sorted(CALLED), *sorted(v for v in VERBS if v.startswith("py."))])


def exported(template: str) -> str:
    return with_api((find_templates() / template).read_text("utf-8"))


class Edit(NamedTuple):
    """One line more in a template, before line `number`."""

    template: str
    number: int
    line: str

    @property
    def text(self) -> str:
        lines = exported(self.template).split("\n")
        return "\n".join([*lines[: self.number - 1], self.line, *lines[self.number - 1 :]])


def places(template: str) -> list[tuple[int, str]]:
    """The lines before which one more may stand, with their indentation: the body of a template that calls the
    framework, since its head imports what that calls, and what is below the head. None is within
    brackets, where no statement stands."""
    lines = exported(template).split("\n")
    first = 1 + max(
        i for i, line in enumerate(lines) if line.endswith("#}") or "__future__" in line
    )
    head = range(0)
    if "{% endset %}" in lines:
        first = lines.index("{% set body %}") + 1
        imports = next(i for i, line in enumerate(lines) if "framework.imported" in line)
        head = range(lines.index("{% endset %}") + 1, imports + 1)
    found = []
    for i in range(first, len(lines)):
        code = next((line for line in lines[i:] if line and not line.startswith("{%")), "")
        above = [line for line in lines[:i] if line and not line.startswith("{%")]
        is_within = bool(above) and above[-1].endswith(("(", "[", "{", ","))
        if i not in head and not is_within:
            found.append((i + 1, code[: len(code) - len(code.lstrip())]))
    return found


@st.composite
def edits(draw: st.DrawFn, target: str) -> Edit:
    template = draw(st.sampled_from(TEMPLATES[target]))
    number, indent = draw(st.sampled_from(places(template)))
    word = draw(WORDS)
    written = word[:-1] if draw(st.booleans()) else word
    call = f'framework("{written}")' if word in CALLED else f'"f" | {written} | string | py.quote'
    return Edit(template, number, f"{indent}_edit = {{{{ {call} }}}}")


def run(target: str, edit: Edit, folder: Path) -> str:
    """Generate a package with the edited template, import it, and call an operator."""
    unique = next(UNIQUE)
    root = folder / str(unique)
    path = root / "mine" / edit.template
    path.parent.mkdir(parents=True)
    path.write_text(edit.text, "utf-8")
    config = CONFIG.format(target=target, unique=unique)
    (root / "torchgen_lite.toml").write_text(config + (FRAMEWORK if target == "python" else ""))
    (root / "ops.yaml").write_text(SCHEMA.format(unique=unique))
    (root / f"kernels_{unique}.py").write_text(KERNELS)
    generated = generate_all(load(root=root))
    if has_errors(generated.diagnostics):
        # The target `python` has no use for a `fake`, and warns of it.
        (found,) = [d for d in generated.diagnostics if d.severity == "error"]
        assert found.label is not None and found.label.span.source.path == f"mine/{edit.template}"
        assert found.label.span.line == edit.number or "valid Python" in found.message
        return found.code
    for name, text in generated.files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    sys.path[:0] = [str(root), str(root / target)]
    try:
        package = import_module(f"ops_{unique}")
        library = import_module("torchgen_lite_reference" if target == "python" else "torch")
        x = library.tensor([1.0, 2.0], requires_grad=True)
        y = library.tensor([3.0, 5.0], requires_grad=True)
        results = package.scale(x, y), package.half(x)
        gradients = [library.autograd.grad(result.sum(), [x])[0].tolist() for result in results]
    finally:
        del sys.path[:2]
    assert gradients == [[3.0, 5.0], [0.5, 0.5]]
    return "ran"


@settings(max_examples=25)
@given(edit=edits("python"))
def test_an_edited_template_of_python(tmp_path_factory: pytest.TempPathFactory, edit: Edit) -> None:
    run("python", edit, tmp_path_factory.mktemp("edits"))


@pytest.mark.torch
@settings(max_examples=15)
@given(edit=edits("torch-python"))
def test_an_edited_template_of_torch_python(
    tmp_path_factory: pytest.TempPathFactory, edit: Edit
) -> None:
    run("torch-python", edit, tmp_path_factory.mktemp("edits"))


@pytest.mark.parametrize(
    ("line", "outcome"),
    [
        ('    _edit = {{ framework("zeros") }}', "ran"),
        ('    _edit = {{ framework("zeross") }}', "TG500"),
        ('    _edit = "{{ op.overload.flat | py.identifier }}"', "ran"),
        ('    _edit = "{{ op.overload.flat | py.identifer }}"', "TG500"),
    ],
)
def test_both_outcomes(line: str, outcome: str, tmp_path: Path) -> None:
    template = "python/autograd.py.j2"
    text = exported(template).split("\n")
    edit = Edit(template, text.index("{% if is_inplace %}") + 1, line)

    assert run("python", edit, tmp_path) == outcome


def test_a_macro_that_gives_no_python_is_where_the_mistake_is(tmp_path: Path) -> None:
    """And not the template of ours that calls it."""
    template = "python/autograd_values.py.j2"
    text = exported(template).split("\n")
    edit = Edit(
        template, text.index("    if _tangents:") + 2, '_edit = {{ framework("Gradients") }}'
    )

    assert run("python", edit, tmp_path) == "TG500"
