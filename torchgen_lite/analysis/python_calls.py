"""Whether a Python function can be called in one way, from its signature alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torchgen_lite.diagnostics.text import counted
from torchgen_lite.loader.python.kernel_modules import PythonSignature
from torchgen_lite.schema.grouped import names_of


class Passed(NamedTuple):
    """An argument of a call. `is_left_out` says that some calls leave it to the function's default."""

    name: str
    by_keyword: bool = False
    is_left_out: bool = False


def disagreement(signature: PythonSignature, passed: Sequence[Passed]) -> str | None:
    """What keeps a function from taking these arguments, or None."""
    positional = [a for a in passed if not a.by_keyword]
    keywords = [a for a in passed if a.by_keyword]
    name = f"`{signature.name}`"
    taken = signature.positional
    if len(taken) < len(positional) and not signature.takes_more:
        most = counted(len(taken), "positional argument")
        return f"{name} takes {most}, but `{positional[len(taken)].name}` is one more"
    names = set(names_of(keywords))
    for parameter in signature.required[len(positional) :]:
        # A keyword may be given to a parameter that is also positional.
        if parameter not in names:
            return f"{name} needs `{parameter}`, which is not passed"
    for argument in keywords:
        problem = _keyword(signature, argument)
        if problem:
            return f"{name} {problem}"
    for keyword, has_default in signature.by_keyword:
        if keyword not in names and not has_default:
            return f"{name} needs `{keyword}`, which is not passed"
    for index, argument in enumerate(positional[: len(signature.required)]):
        # Only arguments at the end can be left out.
        if all(later.is_left_out for later in positional[index:]):
            return f"{name} has no default for `{argument.name}`, but the schema has one"
    return None


def misplaced(signature: PythonSignature, passed: Sequence[Passed]) -> tuple[str, str] | None:
    """A parameter that is named after one argument and gets another, and which it gets. Names that no argument has
    are the author's own; an unused parameter may have an underscore.
    """
    names = set(names_of(passed))
    positional = [argument.name for argument in passed if not argument.by_keyword]
    for parameter, name in zip(signature.positional, positional):
        meant = parameter if parameter in names else parameter.lstrip("_")
        if meant in names and meant != name:
            return parameter, name
    return None


def _keyword(signature: PythonSignature, argument: Passed) -> str | None:
    by_keyword = dict(signature.by_keyword)
    nameable = signature.positional[signature.positional_only :]
    if (
        argument.name not in by_keyword
        and argument.name not in nameable
        and not signature.takes_keywords
    ):
        return f"does not take `{argument.name}`, which is given by name"
    if argument.is_left_out and not by_keyword.get(argument.name, True):
        return f"has no default for `{argument.name}`, but the schema has one"
    return None
