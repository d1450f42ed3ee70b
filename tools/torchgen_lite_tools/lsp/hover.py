"""Hover: what a field, key, tag, kernel or operator is, and what is generated from it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from torchgen_lite.analysis.computed_table import Registrations
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.cli.tables.explain import render_table
from torchgen_lite.cli.tables.registrations import known_pytorchs
from torchgen_lite.diagnostics import documentation
from torchgen_lite.diagnostics.content import place as shown_place
from torchgen_lite.key_sets import key_sets
from torchgen_lite.key_tables import CURRENT
from torchgen_lite.loader.entry.dispatch_table import key_names
from torchgen_lite.loader.entry.fields import FIELDS
from torchgen_lite.targets.generation import generation_of
from torchgen_lite.targets.registered import adds_to_pytorch, registrations_of_program
from torchgen_lite_tools.lsp.analysis import Analysis, find_operator
from torchgen_lite_tools.lsp.names import Named, author_functions, named_at
from torchgen_lite_tools.lsp.places import Place

_LINK = re.compile(r"\[(?P<text>[^]]+)\]\((?P<target>[^)]+)\)")


def hover(analysis: Analysis, place: Place) -> str | None:
    """Markdown about what is under the cursor."""
    field = place.keys[0] if place.keys else ""
    named = named_at(analysis, place)
    if named is not None and named.kind == "argument":
        return _about_argument(analysis, named)
    if named is not None and named.kind == "function":
        return _about_function(analysis, named.name)
    if place.is_key:
        if not place.keys and place.word in FIELDS:
            return f"`{place.word}`: {_with_addresses(FIELDS[place.word].description)}"
        if field == "dispatch":
            return _about_key(analysis, place)
        return None
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


def _about_operator(analysis: Analysis, operator: Operator) -> str:
    function = operator.function
    parts = [f"**{operator.name}**, {operator.kind}"]
    parts += [function.doc.strip()] if function.doc else []
    generation = generation_of(analysis.program)
    for target in generation.targets:
        signatures = target.signatures_of(analysis.program, function)
        if signatures is not None and generation.has(target.name, operator):
            parts.append(_code(*signatures))
    for registrations in _registered(analysis, operator):
        # Where PyTorch's kernels are not known, the rest of the table is not either.
        of_package = registrations.own
        is_known = of_package is None or not registrations.kernels.keys() <= of_package
        only = () if is_known else of_package or ()
        parts.append(_code("text", [render_table(registrations, only)]))
    return "\n\n".join(parts)


def _registered(analysis: Analysis, operator: Operator) -> list[Registrations]:
    """What the package registers for an operator, over what PyTorch has."""
    program = analysis.program
    selection = generation_of(program).shown
    is_over = adds_to_pytorch(program, selection.policy)
    beneath = known_pytorchs(lambda _: None, program) if is_over else {}
    tables = registrations_of_program(program, selection, beneath)
    return [table for table in tables if table.name == operator.name]


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
        parts += [_code("text", [render_table(table, [name])]) for table in registered]
    return "\n\n".join(parts)


def _about_argument(analysis: Analysis, named: Named) -> str | None:
    operator = find_operator(analysis, named.operator, named.operator)
    if operator is None:
        return None
    [argument] = [one for one in operator.schema.arguments if one.name == named.name]
    return f"`{argument}`: an argument of {operator.name}"


def _about_function(analysis: Analysis, name: str) -> str | None:
    """About a function of the author: its declaration, what it serves, and where it is defined."""
    parts = []
    for function in author_functions(analysis, name):
        where = f", in `{function.place}`" if function.place else ""
        # A type that has no name in C++ leaves none.
        declared = _code(function.language, [function.declaration or function.name])
        parts.append(f"{declared}\n\n{', '.join(function.uses)}{where}")
    defined = analysis.defined_at(name)
    if not parts and defined is not None:
        parts.append(f"{_code('python', [defined.text])}\n\nin `{shown_place(defined)}`")
    return "\n\n".join(parts) or None


def _with_addresses(text: str) -> str:
    """A text of docs/schema.md, whose links lead to the site of the documentation, or are the names of pages."""

    def address(link: re.Match[str]) -> str:
        page, _, anchor = link["target"].partition("#")
        shown = link["text"] if page else "see schema.md"
        site = documentation()
        if not site:
            return shown
        return f"[{shown}]({site}/{(page or 'schema.md').removesuffix('.md')}/#{anchor})"

    return _LINK.sub(address, text)


def _code(language: str, lines: Sequence[str]) -> str:
    text = "\n".join(line.rstrip("\n") for line in lines)
    return f"```{language}\n{text}\n```"
