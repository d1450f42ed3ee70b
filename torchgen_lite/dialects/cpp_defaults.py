"""Default values of the schema as C++ expressions."""

from __future__ import annotations

from torchgen_lite.schema import BaseType, ListType, OptionalType, Type
from torchgen_lite.schema.model import bare_type

_CONSTANTS = {
    "False": "false",
    "True": "true",
    "None": "::std::nullopt",
    "Mean": "at::Reduction::Mean",
    "[]": "{}",
    "contiguous_format": "c10::MemoryFormat::Contiguous",
    "long": "at::kLong",
    "inf": "::std::numeric_limits<double>::infinity()",
    "-inf": "-::std::numeric_limits<double>::infinity()",
    "nan": "::std::numeric_limits<double>::quiet_NaN()",
    "preserve_format": "c10::MemoryFormat::Preserve",
    "channels_last": "c10::MemoryFormat::ChannelsLast",
    "channels_last_3d": "c10::MemoryFormat::ChannelsLast3d",
    "strided": "c10::Layout::Strided",
}


def default_expression(default: str, type_: Type, *, symint: bool) -> str:
    """`[0,1]` -> `{0, 1}`, `None` -> `::std::nullopt`, `'mean'` -> `"mean"`.

    A tensor that is not given is an undefined one, `{}`. A fixed-size list may have one number for all.
    """
    if default == "None" and bare_type(type_) == "Tensor?":
        return "{}"
    if isinstance(type_, OptionalType):
        if default == "None":
            return "::std::nullopt"
        return default_expression(default, type_.elem, symint=symint)
    if isinstance(type_, BaseType) and type_.name == "str" and default.startswith("'"):
        return double_quoted(default)
    if isinstance(type_, ListType):
        if default.startswith("[") and default.endswith("]"):
            items = [item.strip() for item in default[1:-1].split(",")]
            return f"{{{', '.join([_CONSTANTS.get(item, item) for item in items])}}}"
        if symint and default.isdigit() and bare_type(type_.elem) == "SymInt":
            return f"c10::SymInt({default})"
    return _CONSTANTS.get(default, default)


def double_quoted(literal: str) -> str:
    """A single-quoted literal with double quotes; other escapes mean the same in C++ and stay.

    >>> print(double_quoted("'mean'"), double_quoted("'say \\"x\\"'"), double_quoted(r"'it\\'s'"))
    "mean" "say \\"x\\"" "it's"
    """
    body: list[str] = []
    characters = iter(literal[1:-1])
    for character in characters:
        if character == "\\":
            escaped = next(characters, "")
            body.append("'" if escaped == "'" else f"\\{escaped}")
        else:
            body.append('\\"' if character == '"' else character)
    return f'"{"".join(body)}"'
