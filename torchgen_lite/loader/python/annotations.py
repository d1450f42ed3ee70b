"""What annotations of Python take, read from their text without importing anything.

Note [Annotations as words]
An annotation is a set of words: `Tensor | None` is {Tensor, None}. What a list holds has a star, whichever kind of sequence
it is, so that `Sequence[int] | None` is {*int, None}. A word that is not in `KNOWN`, such as a class of the author's or a type
variable, may be what it likes: who compares annotations says nothing then.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

_NUMBERS = ("bool", "int", "float", "complex")
_NAMES = (*_NUMBERS, "str", "None", "Tensor", "Generator", "device", "dtype", "layout")
KNOWN = frozenset([*_NAMES, *[f"*{name}" for name in _NAMES], "*?"])
_LISTS = ("list", "List", "tuple", "Tuple", "Sequence", "Collection", "Iterable")
# A list that does not say of what is one of anything.
_SAME = {"SymInt": "int", "SymFloat": "float", "SymBool": "bool", "Number": "complex"}
_SAME |= dict.fromkeys(_LISTS, "*?")
_INNERMOST = re.compile(r"(\w*)\[([^][]*)\]")
_DOTTED = re.compile(r"[\w.]+")
# Quotes, and modules in front of names.
_AROUND = re.compile(r"['\"]|\w+\.(?=\w)")
_BETWEEN = re.compile(r"[\s|]+")


def meanings(statements: Iterable[ast.stmt]) -> dict[str, str]:
    """What other names in annotations of a module stand for. A class is none of the types that are known."""
    known = {}
    for node in statements:
        if isinstance(node, ast.ClassDef):
            known[node.name] = "?"
        elif isinstance(node, ast.ImportFrom):
            known |= {alias.asname: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value:
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            known[ast.unparse(target)] = ast.unparse(node.value)
    return known


def plain(text: str, names: Mapping[str, str]) -> str:
    """An annotation without strings, modules, and aliases of aliases."""
    if text.isidentifier() and text not in names:
        return text  # Most annotations are one name that the module gives no other meaning.
    for _ in range(2):
        text = _DOTTED.sub(lambda match: names.get(match[0], match[0]), text)
    return _AROUND.sub("", text)


@lru_cache(maxsize=1024)
def words_of(text: str) -> frozenset[str]:
    """The words of an annotation that is plain."""
    before = ""
    while before != text:
        before = text
        text = _INNERMOST.sub(_without_brackets, text)
    return frozenset([_SAME.get(word, word) for word in _BETWEEN.split(text)])


def _without_brackets(match: re.Match[str]) -> str:
    name, inner = match.groups()
    words = [word for word in re.split(r"[\s|,]+", inner) if word not in ("", "...")]
    if name == "Annotated":
        return str(inner.partition(",")[0])
    if name in ("Optional", "Union"):
        return "|".join([*words, "None"] if name == "Optional" else words)
    return "|".join([f"*{_SAME.get(word, word)}" for word in words]) if name in _LISTS else "?"


def takes(words: Iterable[str], word: str) -> bool:
    """Whether these words have each value of a word. As in Python, `float` takes an `int`, and `int` a `bool`. What a device
    or a dtype is, a framework decides, and strings are common.
    """
    base = word.strip("*")
    wider = _NUMBERS[_NUMBERS.index(base) :] if base in _NUMBERS else (base,)
    if base in ("device", "dtype", "layout"):
        wider = (base, "str")
    others = {word.replace(base, other) for other in wider}
    return not (others | {"*?"} if base != word else others).isdisjoint(words)


def parts_of(text: str) -> int | None:
    """How many values a plain annotation says that a tuple has."""
    inner = re.fullmatch(r"[tT]uple\[(.*)\]", text)
    if inner is None or "..." in text:
        return None
    return _INNERMOST.sub("", inner[1]).count(",") + 1
