"""Verbs of languages in templates."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite.diagnostics import render_concise
from torchgen_lite.emit.render import build_environment, render_files
from torchgen_lite.emit.template_errors import RenderError
from torchgen_lite.languages.verbs import VERBS
from torchgen_lite.schema import FunctionSchema
from torchgen_lite.targets.output import OutputFile

ADD = FunctionSchema.parse("add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")


def test_a_template_calls_the_language() -> None:
    text = """\
def add({{ op | py.parameters | join(", ") }}) -> {{ op | py.returns }}:
    return _add({{ op | py.forwarded | join(", ") }})
"""
    assert build_environment().from_string(text).render(op=ADD) == """\
def add(self: Tensor, other: Tensor, *, alpha: Number = 1) -> Tensor:
    return _add(self, other, alpha=alpha)
"""


WHERE = FunctionSchema.parse("where(Tensor condition, Tensor self, int[2] from=1) -> Tensor[]")


@pytest.mark.parametrize(
    ("call", "printed"),
    [
        ("op | py.adapter_parameters | join(', ')", "self: Any, condition: Any, from_: Any = 1"),
        (
            "op.arguments | py.annotated | join(', ')",
            "condition: Tensor, self: Tensor, from_: tuple[int, ...]",
        ),
        ("op.arguments | py.bare_types", '("Tensor", "Tensor", "int[2]")'),
        ("'\\n Twice.\\n' | py.docstring", '"""Twice."""'),
        ("none | py.docstring", ""),
        ("op | py.forwarded | join(', ')", "condition, self, from_"),
        ("'from' | py.identifier", "from_"),
        ("'from' | py.is_reserved", "True"),
        ("'a\"b' | py.quote", "'a\"b'"),
        ("['a'] | py.quoted", '("a",)'),
        ("[(op | py.parameters)[0].annotation] | py.returned(hidden)", "_Tensor"),
        ("op | py.returns", "list[Tensor]"),
        (
            "op | py.parameters | py.shown(hidden, (op | py.parameters)[0]) | join(', ')",
            "_condition: _Tensor, condition: _Tensor, self: _Tensor, from_: int | Sequence[int] = (1, 1)",
        ),
        ("op | py.torch_forwarded | join(', ')", "condition, self, from_"),
        (
            "op | py.torch_parameters(hidden) | join(', ')",
            "condition: _Tensor, self: _Tensor, from_: int | Sequence[int] = 1",
        ),
        ("op | py.torch_returns", "list[Tensor]"),
        ("op | py.torch_returns(hidden)", "list[_Tensor]"),
        ("['a', 'b'] | py.tuple", "(a, b)"),
        ("'_kernel' | py.free_name(['_kernel'])", "__kernel"),
        ("'>=2.6' | py.version_clauses", '((">=", (2, 6)),)'),
    ],
)
def test_what_a_verb_of_python_prints(call: str, printed: str) -> None:
    template = build_environment().from_string("{{ " + call + " }}")
    assert template.render(op=WHERE, hidden=frozenset({"Tensor"})) == printed


def test_a_verb_has_its_language_before_it() -> None:
    assert {name.partition(".")[0] for name in VERBS} == {"cpp", "py"}


@pytest.mark.parametrize(
    "call", ["{{ op | py.forwardd }}", "{% if op %}{{ op | py.forwardd }}{% endif %}"]
)
def test_an_unknown_verb_stops_where_it_is_called(call: str, tmp_path: Path) -> None:
    """Jinja finds a verb in a branch when it comes to it."""
    template = f"{{#- template-api: 1 -#}}\ndef f():\n    {call}\n"
    (tmp_path / "own.py.j2").write_text(template)
    with pytest.raises(RenderError) as caught:
        render_files(
            [OutputFile("own.py", "own.py.j2", {"op": ADD})],
            "ops.yaml",
            (str(tmp_path),),
            root=tmp_path,
        )
    assert render_concise(caught.value.diagnostics) == (
        f"own.py.j2:3:{call.index('py') + 5}: error[TG500] there is no verb 'py.forwardd': called here "
        "(did you mean 'py.forwarded'?)\n"
    )
