"""What an entry names and a release of PyTorch that the project is for has not got."""

from __future__ import annotations

from collections.abc import Iterator

from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.kernels import own_kernels
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import Diagnostic, Span
from torchgen_lite.key_tables import CURRENT, RELEASES, Release, registrable_keys, table_of
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.loader.known_tags import TAGS_SINCE
from torchgen_lite.loader.versions import contains, parse_range

# So many bug fixes a release has at most.
_PATCHES = range(10)


def check_releases(resolved: Resolved, project: str) -> Iterator[Diagnostic]:
    """TG340: keys and tags, against the releases in the project's range and in the entry's own."""
    keys = {release: set(registrable_keys(table_of(release))) for release in RELEASES}
    every = set(registrable_keys(CURRENT))
    for function in resolved.functions:
        releases = [r for r in RELEASES if _is_in(r, project) and _is_in(r, function.torch or "")]
        for kernel in own_kernels(function):
            without = [r for r in releases if kernel.key in every and kernel.key not in keys[r]]
            if without:
                yield _missing(function, f"dispatch key `{kernel.key}`", without, kernel.key_span)
        for tag in function.tags:
            without = [r for r in releases if r < TAGS_SINCE.get(tag, r)]
            if without:
                yield _missing(function, f"tag `{tag}`", without, function.place("tags"))


def _is_in(release: Release, text: str) -> bool:
    clauses = parse_range(text) if text else ()
    return clauses is None or any(contains(clauses, (*release, patch)) for patch in _PATCHES)


def _missing(
    function: NativeFunction, what: str, without: list[Release], span: Span | None
) -> Diagnostic:
    first, last = (".".join(map(str, r)) for r in (without[0], without[-1]))
    where = first if first == last else f"{first} to {last}"
    after = f">={without[-1][0]}.{without[-1][1] + 1}"
    hint = f'add `torch: "{after}"` to the entry, or set `torch = "{after}"` in the configuration'
    message = f"PyTorch {where} has no {what}, and is in the range of `torch`"
    return finding(function, "TG340", message, span, "not there yet", hint)
