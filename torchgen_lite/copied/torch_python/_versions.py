"""What a package needs of the torch that is installed, checked before anything is registered."""

from __future__ import annotations

import re
from collections.abc import Sequence

import torch

from ._library import Operator, RegistrationError


def check_versions(operators: Sequence[Operator]) -> None:
    """Check that every operator is for this torch."""
    numbers = re.match(r"[0-9]+(\.[0-9]+)*", torch.__version__)
    version: tuple[int, ...] = ()
    if numbers is not None:
        version = tuple(map(int, numbers[0].split(".")))
    for operator in operators:
        for sign, wanted in operator.torch:
            if not _holds(sign, version, wanted):
                number = ".".join(map(str, wanted))
                text = f"{sign.rstrip('*')}{number}"
                raise RegistrationError(
                    f"{operator.place}: `{operator.name}` is for torch {text}, but this is {torch.__version__}"
                )


def _holds(sign: str, version: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    if sign == "!=*":
        return version[: len(wanted)] != wanted
    length = max(len(version), len(wanted))
    left = version + (0,) * (length - len(version))
    right = wanted + (0,) * (length - len(wanted))
    return {
        ">=": left >= right,
        "<=": left <= right,
        ">": left > right,
        "<": left < right,
        "==": left == right,
        "!=": left != right,
    }[sign]


def check_calls(*calls: tuple[str, str]) -> None:
    """Check that this torch has all functions that derivatives call, with places."""
    for place, name in calls:
        if not hasattr(torch, name):
            message = f"a formula calls `{name}`, which is not a function of torch"
            raise RegistrationError(f"{place}: {message} {torch.__version__}")
