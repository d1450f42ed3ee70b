"""What registers in the text of a C++ file: a quick look, and what has not been read in the end."""

from __future__ import annotations

import re

from torchgen_lite.diagnostics import Diagnostic, Label
from torchgen_lite_tools.importing.cpp_blocks import Reader
from torchgen_lite_tools.importing.cpp_preprocessor import without_quoted

HEAD = re.compile(
    r"\b(?:(?:STABLE_)?TORCH_LIBRARY(_IMPL|_FRAGMENT)?(?:_EXPAND|_THIS_API_IS_FOR_PER_OP_REGISTRATION_ONLY)?"
    r"|PYBIND11_MODULE|NB_MODULE)\b"
)
# PyTorch's macros that are read by name.
PYTORCH_MACROS = frozenset(
    f"{abi}TORCH_LIBRARY{kind}{more}"
    for abi in ("", "STABLE_")
    for kind in ("", "_IMPL", "_FRAGMENT")
    for more in ("", "_EXPAND", "_THIS_API_IS_FOR_PER_OP_REGISTRATION_ONLY")
) | {
    "MAKE_TORCH_LIBRARY",
    "MAKE_TORCH_LIBRARY_IMPL",
    "NB_MODULE",
    "PYBIND11_MODULE",
    "TORCH_BOX",
    "TORCH_FN",
    "TORCH_SELECTIVE_NAME",
    "TORCH_SELECTIVE_SCHEMA",
}
LEGACY = "RegisterOperators"
# A parameter that registers.
_TAKEN = r"\b(?:Library\s*&|module_?(?:\s*&|\b))\s*\w+\s*[,)]"
_HELPER = re.compile(rf"(?:\b\w+|\])\s*\([^(){{}};]*{_TAKEN}[^(){{}};]*\{{")
# A class for TorchScript that is registered outside of blocks.
_CLASS = r"\b(?:torch|jit)\s*::\s*class_\b"
# Registrations that ask the dispatcher itself.
_DISPATCHER = r"(?:\.|->)\s*register(?:Def|Impl|Library|Fallback)\b(?=\s*\()"
_REGISTERS = re.compile(
    rf"TORCH_LIBRARY|PYBIND11_MODULE|NB_MODULE|{LEGACY}|\bLibrary::(?:DEF|IMPL|FRAGMENT)\b|{_TAKEN}"
    rf"|{_CLASS}|{_DISPATCHER}"
)
# Objects that register, where they are made: what is called on them may stand anywhere.
_OBJECT = re.compile(
    rf"\bMAKE_TORCH_LIBRARY\w*|\bLibrary::(?:DEF|IMPL|FRAGMENT)\b|\b{LEGACY}\b(?=\s*[({{]|\s+\w+\s*[({{=;])"
)
# The variable of such an object, right in front of it.
_MADE = re.compile(r"\b(\w+)\s*[=({]\s*(?:::)?(?:\w+\s*::\s*)*\Z")
# Others that are told by their name.
_CALLED = re.compile(rf"{_CLASS}|{_DISPATCHER}")


def has_registrations(text: str) -> bool:
    """Whether a text may register operators, by a quick look."""
    return _REGISTERS.search(text) is not None


def report_unread(reader: Reader, read: list[tuple[int, int]]) -> None:
    """Report blocks and objects that stand where no part of the text has been read, and functions that were not."""
    tree = reader.tree
    path = reader.tree.text.source.path
    rest = list[str]()
    at = 0
    for start, end in sorted(read):
        rest += [tree.text.text[at:start], " " * (end - max(at, start))]
        at = max(at, end)
    text = without_quoted("".join([*rest, tree.text.text[at:]]))
    for pattern, problem, here in (
        (HEAD, "cannot be read as the head of a block", "this block"),
        (_OBJECT, "makes an object that registers, which is not read", "this object"),
        (_CALLED, "registers without a block, and is not read", "this"),
        (_HELPER, "takes what registers, and no block that is read calls it", "this function"),
    ):
        for match in pattern.finditer(text):
            start = text.rfind("\n", 0, match.start()) + 1
            is_using = text[start : match.start()].lstrip().startswith("using")
            # Where a name for such a class is made, its uses may stand anywhere.
            if is_using and pattern is not _CALLED:
                continue
            if (path, str(match.end() - 1)) in reader.read:
                continue
            word = match[0]
            if pattern is _HELPER:
                word = word.partition("(")[0].strip()
            what = "a lambda" if word == "]" else f"`{word}`"
            names = _names(reader, pattern, match, text)
            listed = f": it has {', '.join(names)}" if names else ""
            help_ = "register in a `TORCH_LIBRARY` block, or give the built library: `--module`"
            label = Label(tree.text.span(match.start(), match.start() + len(word)), here)
            reader.library.diagnostics.append(
                Diagnostic(
                    "TG601",
                    f"{what} {problem}{listed}",
                    label,
                    help=help_ if pattern is _OBJECT else None,
                )
            )


def _names(reader: Reader, pattern: re.Pattern[str], match: re.Match[str], text: str) -> list[str]:
    """The names that a function registers, or that an object does in its file."""
    if pattern is _HELPER:
        return _registered_in(reader, r"\w+", match.end() - 1, _closing(text, match))
    made = _MADE.search(text, 0, match.start()) if pattern is _OBJECT else None
    return _registered_in(reader, made[1], 0, len(text)) if made else []


def _closing(text: str, match: re.Match[str]) -> int:
    """Where the brace is closed that ends a match; `text` has no quoted ones."""
    depth = 1
    for at in range(match.end(), len(text)):
        depth += (text[at] == "{") - (text[at] == "}")
        if not depth:
            return at
    return len(text)


def _registered_in(reader: Reader, variable: str, start: int, end: int) -> list[str]:
    """The names in calls of what registers in a part of a file, but for those that are read in blocks."""
    names_read = [definition.name for definition in reader.library.definitions]
    names_read += [implementation.name for implementation in reader.library.implementations]
    read = {name.rpartition("::")[2] for name in names_read}
    call = re.compile(rf'\b{variable}\s*\.\s*(?:def|impl)\s*\(\s*"(?:\w+::)?(\w+)')
    calls = call.findall(reader.tree.text.text, start, end)
    names = dict.fromkeys(calls)
    return [f"`{name}`" for name in names if name not in read]
