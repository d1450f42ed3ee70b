"""Options of a target: how one of any kind is read, and what is said of a wrong one."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from torchgen_lite.diagnostics import suggest


class OptionError(ValueError):
    """A wrong option of a target: `option` names it, `help` says what to do."""

    def __init__(self, option: str, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.option = option
        self.help = help


def check_known(values: Mapping[str, object], target: str, known: Collection[str]) -> None:
    """Raise `OptionError` for an option that the target does not have."""
    for option in values:
        if option not in known:
            near = suggest(option, known)
            help_ = f"the options are {', '.join(known)}" if known else "the target has no options"
            if near:
                help_ = f"did you mean `{near}`?"
            message = f"unknown option `{option}` of target `{target}`"
            raise OptionError(option, message, help_)


def text_option(values: Mapping[str, object], option: str, default: str) -> str:
    """An option that is a text."""
    value = values.get(option, default)
    if not isinstance(value, str):
        raise OptionError(option, f"`{option}` is not a text")
    return value


def texts_option(values: Mapping[str, object], option: str) -> tuple[str, ...]:
    """An option that is a list of texts."""
    found = values.get(option, ())
    if not isinstance(found, (list, tuple)) or not all(isinstance(text, str) for text in found):
        raise OptionError(option, f"`{option}` is not a list of texts")
    return tuple(map(str, found))


def flag_option(values: Mapping[str, object], option: str, default: bool) -> bool:
    """An option that is true or false."""
    value = values.get(option, default)
    if not isinstance(value, bool):
        raise OptionError(option, f"`{option}` is neither true nor false")
    return value


def shards_option(values: Mapping[str, object]) -> int:
    """Into how many files what is long is split; 0 leaves that to the target."""
    shards = values.get("shards", 0)
    if not isinstance(shards, int) or isinstance(shards, bool) or not 0 <= shards <= 256:
        raise OptionError("shards", "`shards` is not a number from 0 to 256")
    return shards
