"""The names that C++ has, and those that generated C++ has: `reserved.txt`, by where a name of an author would clash."""

from __future__ import annotations

from typing import NamedTuple

from torchgen_lite.loader.sources import words_beside

_WORDS = words_beside(__file__)
KEYWORDS = _WORDS["keywords"]
MACROS = _WORDS["macros"]
HIDDEN_BY_PARAMETERS = _WORDS["hidden by parameters"]
FUNCTIONS = _WORDS["functions"]
LIBRARIES = _WORDS["libraries"]
OF_METHODS = _WORDS["of methods"]


class Scope(NamedTuple):
    """What is taken in the namespace of a library: the `namespaces` in it, and what declarations of calls spell."""

    namespaces: frozenset[str]
    spelled: frozenset[str]


def _scope(dialect: str) -> Scope:
    return Scope(_WORDS[f"namespaces, {dialect}"], _WORDS[f"spelled, {dialect}"])


TORCH = _scope("torch")
STABLE = _scope("stable")
RUNTIME = _scope("runtime")
