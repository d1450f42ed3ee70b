"""Entries that the stable ABI does not support: a diagnostic instead of a compile error or an abort."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchgen_lite.analysis.checks.releases import missing, release_span, releases_of
from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.diagnostics import Span
from torchgen_lite.key_tables import RELEASES
from torchgen_lite.languages.cpp import stable
from torchgen_lite.languages.cpp.stable import FIRST_HEADERS, Release
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.loader.sources import words_beside
from torchgen_lite.loader.versions import version_text
from torchgen_lite.schema import FunctionSchema, Type
from torchgen_lite.targets.cpp.selection import check_structured
from torchgen_lite.targets.output import Findings

_WORDS = words_beside(__file__)
UNREAD_KEYS = _WORDS["keys"]
SUPPORTED_TAGS = _WORDS["tags"]
# The release whose stable ABI can define an operator with tags.
TAGS_SINCE: Release = (2, 12)
_INSTEAD = {
    "Scalar": "take a `float`, an `int`, or a `Tensor` without dimensions",
    "complex": "take two `float`s",
    "SymBool": "take a `bool`",
    "Storage": "take a `Tensor`",
    "Dimname": "take an `int`",
}


def check_entry(operator: Operator, project: str = "", target: Release | None = None) -> Findings:
    """Everything in one entry that the stable ABI does not support, or not in one of the releases that the library has to
    run with: `project` is `torch` of the configuration, and `target` is `target-version`."""
    function = operator.function
    schema = operator.schema
    first = target or FIRST_HEADERS
    is_asked = project or target is not None
    releases = []
    if is_asked:
        releases = [r for r in releases_of(function, project) if r >= first]
    yield from check_types(operator)
    for part, type_, what, span in _types(schema):
        if part is not None:
            continue
        since = stable.since(type_)
        if target is None:
            having = [r for r in RELEASES if r >= since]
            yield from missing(function, f"`{type_}` in its stable ABI", releases, having, span)
        elif any(r < since for r in releases):
            message = f"`{type_}` is supported from libtorch {version_text(since)} on"
            help_ = f'`target-version` is "{version_text(target)}": raise it, or use `skip`'
            yield finding(function, "TG532", message, span, f"the type of {what}", help_)
    yield from check_structured(operator, "TG531", "the stable ABI has no structured kernels")
    for entry in operator.own_kernels:
        if entry.key in UNREAD_KEYS:
            message = f"libtorch cannot look up the key `{entry.key}` by name"
            yield finding(function, "TG533", message, entry.key_span, "here")
    yield from _check_tags(function, releases)


def check_types(operator: Operator) -> Findings:
    """TG530 for the types that no release has in its stable ABI."""
    for part, _, what, span in _types(operator.schema):
        if part is not None:
            message = f"the stable ABI does not support `{part}`"
            instead = _INSTEAD.get(part, "use another type")
            help_ = f"{instead}, or leave the operator out with `skip`"
            yield finding(operator.function, "TG530", message, span, f"the type of {what}", help_)


def _types(schema: FunctionSchema) -> Iterator[tuple[str | None, Type, str, Span | None]]:
    """The types of a schema, each after what the stable ABI does not support in it, and before what it is of."""
    for a in schema.arguments:
        yield stable.unsupported(a.type), a.type, f"argument `{a.name}`", a.type_span or schema.span
    for r in schema.returns:
        yield stable.unsupported_result(r.type), r.type, "result", r.span or schema.span


def _check_tags(function: NativeFunction, releases: Sequence[Release]) -> Findings:
    if function.is_pytorchs:
        return
    place = function.place("tags")
    for tag in function.tags:
        if tag not in SUPPORTED_TAGS:
            message = f"the stable ABI has no tag `{tag}`"
            yield finding(function, "TG534", message, place, "left out")
    without = [r for r in releases if r < TAGS_SINCE]
    if without and function.tags:
        message = f"the stable ABI of PyTorch {release_span(without)} has no tags"
        yield finding(function, "TG534", message, place, "left out there")
