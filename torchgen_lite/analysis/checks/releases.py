"""Ranges of releases: what an entry names that some release in the project's range lacks, and ranges without any."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchgen_lite.analysis.finding import Findings, Found, Reported, finding
from torchgen_lite.analysis.kernels import own_kernels
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import Span
from torchgen_lite.key_tables import CURRENT, RELEASES, Release, registrable_keys, table_of
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.loader.entry.known_tags import TAGS_SINCE
from torchgen_lite.loader.versions import has_release, meet, version_text
from torchgen_lite.schema import BaseType, walk_type
from torchgen_lite.schema.type_names import TYPES_SINCE, TYPES_UNTIL


def check_releases(resolved: Resolved, project: str) -> Reported:
    """TG340: keys, types and tags, against the releases in the project's and the entry's range."""
    keys = {release: set(registrable_keys(table_of(release))) for release in RELEASES}
    every = set(registrable_keys(CURRENT))
    for function in resolved.functions:
        releases = releases_of(function, project)
        for kernel in own_kernels(function):
            having = [r for r in RELEASES if kernel.key in keys[r] or kernel.key not in every]
            what = f"dispatch key `{kernel.key}`"
            yield from missing(function, what, releases, having, kernel.key_span)
        for name, span in _types(function):
            last = TYPES_UNTIL.get(name, RELEASES[-1])
            having = [r for r in RELEASES if TYPES_SINCE.get(name, r) <= r <= last]
            yield from missing(function, f"type `{name}`", releases, having, span)
        # PyTorch's own operators have whatever tags the release gives them.
        if not function.is_pytorchs:
            for tag in function.tags:
                having = [r for r in RELEASES if r >= TAGS_SINCE.get(tag, r)]
                yield from missing(
                    function, f"tag `{tag}`", releases, having, function.place("tags")
                )


def empty_range(function: NativeFunction) -> Findings:
    """TG412: `torch: ">=2.9,<2.6"`."""
    if not meet(function.torch):
        yield Found(
            "TG412",
            f"no version of PyTorch is in `{function.torch}`",
            function.place("torch"),
            "empty",
        )


def releases_of(function: NativeFunction, project: str) -> list[Release]:
    """The releases in the project's range that the entry applies to."""
    return [r for r in RELEASES if has_release(project, r) and function.is_for(r)]


def _types(function: NativeFunction) -> Iterator[tuple[str, Span | None]]:
    places = [(a.type, a.type_span) for a in function.func.arguments]
    places += [(r.type, r.span) for r in function.func.returns]
    for type_, span in places:
        for part in walk_type(type_):
            if isinstance(part, BaseType):
                yield part.name, span or function.func.span


def missing(
    function: NativeFunction,
    what: str,
    releases: Sequence[Release],
    having: Sequence[Release],
    span: Span | None,
) -> Reported:
    """TG340 if some release is not among the consecutive releases `having` it."""
    without = [r for r in releases if r not in having]
    if not without:
        return
    is_new = without[0] < having[0]
    range_ = f">={version_text(having[0])}" if is_new else f"<{having[-1][0]}.{having[-1][1] + 1}"
    yield finding(
        function,
        "TG340",
        f"PyTorch {release_span(without)} has no {what}, but is in the range of `torch`",
        span,
        "not there",
        f'add `torch: "{range_}"` to the entry, or set `torch = "{range_}"` in the configuration',
    )


def release_span(releases: Sequence[Release]) -> str:
    """`2.6 to 2.9`."""
    first = version_text(releases[0])
    last = version_text(releases[-1])
    if first == last:
        return first
    return f"{first} to {last}"
