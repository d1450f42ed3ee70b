"""Whether `torchgen-lite import` names whatever a search for text finds in a library.

    python -m tests.conformance.named [--verbose] FOLDER...

Each folder is the source of a library. The search uses nothing of the reader: it looks in every file of C++ and of Python
for calls whose first argument is a literal name (`m.def("scale(Tensor x) -> Tensor")`, `m.impl(`, `.op(`, and in Python
`define`, `impl`, `custom_op` and what else registers), outside comments. A name is accounted for if an entry has it, if
a message quotes it, or if a message is about its line. A row of the table: files that have such calls, names in
C++ and in Python, how many of them are in entries, in messages, under a message about their line, and silent. The exit
code is 1 where a name is silent.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from torchgen_lite.cli import main as command_line

CPP = {".cc", ".cpp", ".cu", ".cuh", ".cxx", ".h", ".hh", ".hpp", ".inc", ".inl", ".mm"}
_COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', re.S)
_PYTHON_COMMENT = re.compile(r"""("{3}.*?"{3}|'{3}.*?'{3}|"[^"\n]*"|'[^'\n]*')|#[^\n]*""", re.S)
# What a schema or a name begins with: `ns::name.overload(`.
_NAME = r"(?:\w+::)?(\w+)"
# `m.def("name`, also in a macro around the schema. A method of a class follows a bracket, and not a word.
_IN_CPP = re.compile(
    rf'(?:\w\s*\.\s*(?:def|impl|impl_UNBOXED)|\.\s*op)\s*\(\s*(?:[\w:]+\s*\(\s*)?(?:R"\w*\()?"?\s*"?{_NAME}\b'
    rf'(?=[(.\s)]|"(?!\s*#))'
)
_IN_PYTHON = re.compile(
    r"\b(?:custom_op|triton_op|define|impl|register_fake|impl_abstract|register_kernel|def_|register_autograd)"
    rf"""\s*\(\s*(?:\w+\s*,\s*)?f?["']+{_NAME}\b"""
)
_LITERAL = re.compile(r'\(\s*(?:[\w:]+\s*\(\s*)?(?:R"|")')
# What makes a file one that may register: without a word of these, `x.def(` is about something else.
_ABOUT = re.compile(r"torch|pybind11|nanobind|PYBIND|NB_MODULE|c10|ATen", re.I)


class Found(NamedTuple):
    """A name, and where the search found it."""

    path: Path
    line: int
    name: str


def search(folder: Path) -> Iterator[Found]:
    """What a search for text finds, in C++ and in Python."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.suffix not in CPP | {".py"}:
            continue
        text = path.read_text("utf-8", "replace")
        if not _ABOUT.search(text):
            continue
        if path.suffix == ".py":
            yield from _matches(path, _blanked(text, _PYTHON_COMMENT), _IN_PYTHON)
        else:
            yield from _matches(path, _blanked(text, _COMMENT), _IN_CPP)


def _blanked(text: str, comments: re.Pattern[str]) -> str:
    """The text without comments, with its lines."""

    def kept(match: re.Match[str]) -> str:
        return match[1] or re.sub(r"[^\n]", " ", match[0])

    return comments.sub(kept, text)


def _matches(path: Path, text: str, pattern: re.Pattern[str]) -> Iterator[Found]:
    for match in pattern.finditer(text):
        if path.suffix == ".py" or _LITERAL.search(match[0]):
            yield Found(path, text.count("\n", 0, match.start(1)) + 1, match[1])


def report(folder: Path) -> tuple[str, str]:
    """The entries that `import` writes, and its messages, one a line."""
    entries, messages = StringIO(), StringIO()
    # As a build names it: without that a block of `TORCH_EXTENSION_NAME` is one message.
    word = re.sub(r"\W", "_", folder.name)
    named = f"TORCH_EXTENSION_NAME={word}"
    given = ["import", str(folder), "--macro", named, "--output-format", "concise"]
    command_line(given, entries, messages)
    return entries.getvalue(), messages.getvalue()


def accounted(found: Found, entries: str, messages: str) -> str:
    """Where the name is, or `silent`."""
    submodule = f"`{found.name}` is bound in a submodule"
    if submodule in entries or re.search(rf"^- func: [\w:]*::{found.name}\b", entries, re.M):
        return "entries"
    if any(re.search(rf"\b{found.name}\b", quoted) for quoted in re.findall("'[^'\n]*'", messages)):
        return "messages"
    if re.search(rf"{re.escape(found.path.as_posix())}:{found.line}:", messages):
        return "lines"
    return "silent"


def main(arguments: Sequence[str]) -> int:
    print("| library | files | names in C++ | in Python | entries | messages | lines | silent |")
    print("|---|---|---|---|---|---|---|---|")
    total = Counter[str]()
    for argument in arguments:
        if argument == "--verbose":
            continue
        folder = Path(argument)
        names = list(search(folder))
        entries, messages = report(folder)
        words = [(one, accounted(one, entries, messages)) for one in names]
        counts = Counter(word for _, word in words)
        counts["files"] = len({one.path for one in names})
        counts["Python"] = sum(one.path.suffix == ".py" for one in names)
        counts["C++"] = len(names) - counts["Python"]
        total += counts
        print(_row(folder.name, counts), flush=True)
        if "--verbose" in arguments:
            for one, word in words:
                if word == "silent":
                    print(f"silent: {one.path}:{one.line}: {one.name}")
    print(_row("all", total))
    return int(total["silent"] > 0)


def _row(name: str, counts: Counter[str]) -> str:
    columns = ("files", "C++", "Python", "entries", "messages", "lines", "silent")
    return f"| {name} | {' | '.join(str(counts[column]) for column in columns)} |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
