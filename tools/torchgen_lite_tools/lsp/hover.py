"""Hover: what a field, key, tag, kernel or operator is, and what is generated from it."""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_lite.analysis.computed_table import Registrations
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.cli.tables.explain import render_table
from torchgen_lite.cli.tables.registrations import known_pytorchs
from torchgen_lite.key_sets import key_sets
from torchgen_lite.key_tables import CURRENT
from torchgen_lite.loader.entry.dispatch_table import key_names
from torchgen_lite.loader.entry.fields import FIELDS
from torchgen_lite.targets.generation import generation_of
from torchgen_lite.targets.registered import adds_to_pytorch, registrations_of_program
from torchgen_lite_tools.lsp.analysis import Analysis
from torchgen_lite_tools.lsp.places import Place


def hover(analysis: Analysis, place: Place) -> str | None:
    """Markdown about what is under the cursor."""
    field = place.keys[0] if place.keys else ""
    if place.is_key:
        if not place.keys and place.word in FIELDS:
            return f"`{place.word}`: {FIELDS[place.word].description}"
        if field == "dispatch":
            return _about_key(analysis, place)
        return None
    if field == "dispatch":
        return _about_kernel(analysis, place.word)
    if field == "tags":
        text = analysis.program.tags.get(place.word)
        if text:
            return f"`{place.word}`: {' '.join(text.split())}"
        return None
    is_other = field in ("structured_delegate", "autogen")
    if is_other:
        name = place.word
    elif field in ("func", "op"):
        name = place.operator
    else:
        name = ""
    if name:
        operator = find_operator(analysis, name, place.operator)
    else:
        operator = None
    if operator is None:
        return None
    return _about_operator(analysis, operator)


def find_operator(analysis: Analysis, name: str, beside: str) -> Operator | None:
    """The operator with this name; the namespace of the surrounding entry may be omitted."""
    namespace = beside.rpartition("::")[0] or analysis.program.config.namespace
    resolved = analysis.program.resolved
    if namespace and "::" not in name:
        whole = f"{namespace}::{name}"
    else:
        whole = name
    return resolved.find(whole) or resolved.find(name)


def _about_operator(analysis: Analysis, operator: Operator) -> str:
    function = operator.function
    parts = [f"**{operator.name}**, {operator.kind}"]
    parts += [function.doc.strip()] if function.doc else []
    for target in generation_of(analysis.program).targets:
        signatures = target.signatures_of(analysis.program, function)
        parts += [_code(*signatures)] if signatures is not None else []
    for one in _registered(analysis, operator):
        # Where PyTorch's kernels are not known, the rest of the table is not either.
        is_known = one.own is None or not one.kernels.keys() <= one.own
        parts.append(_code("text", [render_table(one, () if is_known else one.own or ())]))
    return "\n\n".join(parts)


def _registered(analysis: Analysis, operator: Operator) -> list[Registrations]:
    """What the package registers for an operator, over what PyTorch has."""
    program = analysis.program
    selection = generation_of(program).shown
    is_over = adds_to_pytorch(program, selection.policy)
    beneath = known_pytorchs(lambda _: None, program) if is_over else {}
    found = registrations_of_program(program, selection, beneath)
    return [one for one in found if one.name == operator.name]


def _about_key(analysis: Analysis, place: Place) -> str | None:
    name = key_names(analysis.program.config.privateuse1).get(place.word)
    if name is None:
        return None
    sets = key_sets()
    if name in CURRENT.aliases:
        kind = "an alias of several keys"
    else:
        kind = "a dispatch key"
    parts = [f"`{name}`: {kind}"]
    operator = find_operator(analysis, place.operator, place.operator)
    if operator is not None and name in sets.slots:
        registered = _registered(analysis, operator)
        parts += [_code("text", [render_table(one, [name])]) for one in registered]
    return "\n\n".join(parts)


def _about_kernel(analysis: Analysis, name: str) -> str | None:
    """About a kernel: its declaration, what it serves, and where it is defined."""
    parts = []
    for target in generation_of(analysis.program).targets:
        for one in target.author_functions(analysis.program)[0]:
            if name in (one.name, f"{one.namespace}::{one.name}"):
                where = f", in `{one.place}`" if one.place else ""
                parts.append(
                    f"{_code(one.language, [one.declaration])}\n\n{', '.join(one.uses)}{where}"
                )
    return "\n\n".join(parts) or None


def _code(language: str, lines: Sequence[str]) -> str:
    text = "\n".join(line.rstrip("\n") for line in lines)
    return f"```{language}\n{text}\n```"
