"""Version ranges: `>=2.6,<2.9`, as in `torch:` fields and `required-version`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain
from operator import eq, ge, gt, le, lt, ne
from typing import NamedTuple

_CLAUSE = re.compile(r"\s*(>=|<=|==|!=|~=|<|>)\s*([0-9]+(?:\.[0-9]+)*(?:\.\*)?)\s*", re.ASCII)

Version = tuple[int, ...]

NEWEST: Version = (10**9,)
"""A release after all others."""

_COMPARED = {">=": ge, "<=": le, "==": eq, "!=": ne, ">": gt, "<": lt}
# No release has more bug-fix versions than this.
_PATCHES = range(10)


class Clause(NamedTuple):
    """One comparison. A `wildcard` is `!=2.9.*`."""

    operator: str
    version: Version
    wildcard: bool = False


def parse_version(text: str) -> Version:
    """The leading numbers of a version: `2.13.0+cpu` gives (2, 13, 0)."""
    match = re.match(r"[0-9]+(?:\.[0-9]+)*", text)
    if match is None:
        return ()
    return tuple(int(part[:9]) for part in match[0].split("."))


def version_text(version: Version) -> str:
    """`2.13` for (2, 13)."""
    return ".".join(map(str, version))


def parse_range(text: str) -> tuple[Clause, ...] | None:
    """The comparisons of a range, or None if it isn't one. `==2.9.*` and `~=2.9` are two each.

    >>> [(one.operator, one.version) for one in parse_range("~=2.9.1") or ()]
    [('>=', (2, 9, 1)), ('<', (2, 10))]
    """
    clauses = []
    for part in text.split(","):
        match = _CLAUSE.fullmatch(part)
        if match is None or len(part) > 80:
            return None
        operator, number = match.groups()
        version = parse_version(number)
        wildcard = number.endswith(".*")
        if wildcard and operator not in ("==", "!="):
            return None
        # `~= 2` would allow any version: PEP 440 asks for two numbers.
        if operator == "~=" and len(version) < 2:
            return None
        are_two = operator == "~=" or (wildcard and operator == "==")
        if not are_two:
            clauses.append(Clause(operator, version, wildcard))
            continue
        kept = version if wildcard else version[:-1]
        clauses.append(Clause(">=", version))
        clauses.append(Clause("<", next_version(kept)))
    return tuple(clauses)


def clauses_of(text: str | None) -> tuple[Clause, ...]:
    """The comparisons of a field; one that is not there leaves no version out."""
    if not text:
        return ()
    return parse_range(text) or ()


def meet(*texts: str | None) -> bool:
    """Whether some version is in all ranges.

    It is enough to try each bound, a version just above it, and one below and one above all bounds,
    because the answer doesn't change between two bounds.
    """
    clauses = tuple(chain.from_iterable(map(clauses_of, texts)))
    return any(contains(clauses, version) for version in _tries(clauses))


def is_within(some: Iterable[str], others: Iterable[str]) -> bool:
    """Whether each version in one of some ranges is in one of the others."""
    inner = [clauses_of(text) for text in some]
    outer = [clauses_of(text) for text in others]
    clauses = tuple(chain.from_iterable([*inner, *outer]))
    in_inner = [version for version in _tries(clauses) if _is_in(inner, version)]
    return all(_is_in(outer, version) for version in in_inner)


def _is_in(ranges: Iterable[tuple[Clause, ...]], version: Version) -> bool:
    return any(contains(clauses, version) for clauses in ranges)


def bounds(texts: Iterable[str | None]) -> list[Version]:
    """Versions that ranges can be told apart by: each answer about them is given by one of these."""
    clauses = tuple(chain.from_iterable(map(clauses_of, texts)))
    return sorted(set(_tries(clauses)))


def _tries(clauses: tuple[Clause, ...]) -> list[Version]:
    tries: list[Version] = [(0,), NEWEST]
    for clause in clauses:
        version = clause.version
        just_above = (*version, 0, 0, 1)
        end = next_version(version) if clause.wildcard else version
        tries += [version, just_above, end]
    return tries


def has_release(text: str | None, release: Version) -> bool:
    """Whether a range has a release. Two numbers stand for all its bug-fix versions, none for any release.

    >>> has_release(">=2.9.1", (2, 9)), has_release(">=2.9.1", (2, 9, 0)), has_release("<2", ())
    (True, False, True)
    """
    clauses = clauses_of(text)
    if not clauses or not release:
        return True
    versions = [release]
    if len(release) == 2:
        versions = [(*release, patch) for patch in _PATCHES]
    return any(contains(clauses, version) for version in versions)


def next_version(version: Version) -> Version:
    """The first version after all that begin with these numbers: (2, 10) for (2, 9)."""
    return (*version[:-1], version[-1] + 1)


def contains(clauses: tuple[Clause, ...], version: Version) -> bool:
    return all(_holds(clause, version) for clause in clauses)


def _holds(clause: Clause, version: Version) -> bool:
    length = max(len(version), len(clause.version))
    left = _padded(version, length)
    if clause.wildcard:
        return left[: len(clause.version)] != clause.version
    compared = _COMPARED[clause.operator]
    return bool(compared(left, _padded(clause.version, length)))


def _padded(version: Version, length: int) -> Version:
    zeros = (0,) * (length - len(version))
    return version + zeros
