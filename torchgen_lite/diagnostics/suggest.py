"""Did you mean: the nearest known word."""

from __future__ import annotations

from collections.abc import Iterable

from .model import Help, Suggestion

_LONGEST = 100
_MANY = 200


def suggest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate most like `word`, or None if none is near.

    Letter case is tried first, since `cpu` for `CPU` is the commonest slip and scores low by ratio.
    A slip leaves the beginning or the end: `helper` is no `lerp`.
    """
    if len(word) > _LONGEST:
        return None
    names = list(candidates)
    folded = word.casefold()
    for name in names:
        if name.casefold() == folded and name != word:
            return name
    # `lnit` is `lint`, although `list` shares as many letters in the same order.
    for name in names:
        has_its_letters = sorted(word) == sorted(name)
        if has_its_letters and is_slip(word, name):
            return name
    names = [name for name in names if _affinity(word, name)]
    if len(names) > _MANY:
        # A comparison takes twenty microseconds, so only the most similar of many are compared.
        names = sorted(names, key=lambda name: -_affinity(word, name))[:_MANY]
    # Imported here: it costs a millisecond that a run without mistakes needn't pay.
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, names, n=1, cutoff=0.6)), None)


def is_slip(word: str, other: str) -> bool:
    """Whether one letter is too many, missing, another, or in the place of its neighbor."""
    shared = _affinity(word, other)
    longer = max(len(word), len(other))
    if word == other or shared >= longer - 1:
        return word != other
    if len(word) != len(other) or shared != longer - 2:
        return False
    differing = [index for index, pair in enumerate(zip(word, other)) if pair[0] != pair[1]]
    first = differing[0]
    swapped = word[first : first + 2][::-1]
    return other[first : first + 2] == swapped


def _affinity(word: str, name: str) -> int:
    """How many characters two words share at their beginnings and ends."""
    shorter = min(len(word), len(name))
    front = 0
    while front < shorter and word[front] == name[front]:
        front += 1
    back = 0
    while back < shorter - front and word[-1 - back] == name[-1 - back]:
        back += 1
    return front + back


def did_you_mean(word: str, candidates: Iterable[str]) -> Help | None:
    """A suggestion that names the nearest candidate, or None."""
    nearest = suggest(word, candidates)
    return None if nearest is None else meant(word, nearest)


def misspelled(name: str, candidates: Iterable[str]) -> Help | None:
    """`did_you_mean` for a function that may just as well be still to be written: a name that differs from the nearest
    one by a word is that of another function, as `gelu_backward` is not `gelu`.
    """
    nearest = suggest(name, candidates)
    if nearest is None:
        return None
    words = name.split("_")
    others = nearest.split("_")
    if "".join(words) == "".join(others):
        return meant(name, nearest)
    if len(words) != len(others):
        return None
    for word, other in zip(words, others):
        is_near = suggest(word, [other]) is not None
        if word != other and not is_near:
            return None
    return meant(name, nearest)


def meant(word: str, other: str) -> Help:
    """A suggestion for a word that probably means another."""
    return Suggestion(f"did you mean `{other}`?", word, other, is_safe=False)


def write_instead(word: str, other: str) -> Help:
    """A suggestion for a word that must be replaced by another."""
    return Suggestion(f"write `{other}`", word, other)
