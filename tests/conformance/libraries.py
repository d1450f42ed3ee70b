"""How much of existing libraries `torchgen-lite import` understands.

    python -m tests.conformance.libraries [--verbose] [MACRO=TEXT]... FOLDER...

Each folder is the source of a library. A row of the table: calls of `def` and `impl` that a search for text finds in files
that register, the registrations that `import` met (macros may make several of one call), how many of these it reported as
errors, the names that the search found and `import` says nothing of, the operators it wrote, and the codes of what it
reported.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from torchgen_lite.analysis.namespaces import TORCH_NAMESPACES
from torchgen_lite.diagnostics import Diagnostic, render_concise, sort_diagnostics
from torchgen_lite_tools.importing.cpp_files import ENDINGS, read_cpp
from torchgen_lite_tools.importing.cpp_preprocessor import parse_macro
from torchgen_lite_tools.importing.cpp_registrations import has_registrations
from torchgen_lite_tools.importing.entries import write_entries

# Behind a word: what follows a call is a method of a class more often than not, and the class is listed.
_CALL = re.compile(
    r"(?:\w\s*\.\s*(?:def|impl)|\.\s*op)\s*\((?:\s*[A-Z_]+\()?\s*(?:R?\"\(?([\w:]+))?"
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)


def found_by_search(folder: Path) -> list[str]:
    """The calls that a search finds in files that register, by the last part of their names; "" for no literal."""
    found: list[str] = []
    for path in folder.rglob("*"):
        if path.suffix in ENDINGS and path.is_file():
            text = path.read_text("utf-8", "replace")
            if has_registrations(text):
                names = _CALL.findall(_COMMENT.sub("", text))
                found += [name.rpartition("::")[2] for name in names]
    return found


def main(arguments: Sequence[str]) -> int:
    given = [parse_macro(one) for one in arguments if "=" in one]
    macros = {macro.name: macro for macro in given if macro is not None}
    folders = [Path(one) for one in arguments if "=" not in one and not one.startswith("-")]
    print(
        "| library | calls found | registrations met | not understood | silent | operators | seconds | reported |"
    )
    print("|---|---|---|---|---|---|---|---|")
    said: list[Diagnostic] = []
    for folder in folders:
        started = perf_counter()
        library = read_cpp([folder], macros)
        yaml, operators, problems = write_entries(library, TORCH_NAMESPACES)
        seconds = perf_counter() - started
        found = sort_diagnostics([*library.diagnostics, *problems])
        codes = Counter(one.code for one in found)
        listed = ", ".join(f"{count} {code}" for code, count in sorted(codes.items()))
        errors = sum(one.code in ("TG601", "TG604", "TG614") for one in found)
        words = set(re.findall(r"\w+", yaml + render_concise(found)))
        searched = found_by_search(folder)
        row = (
            len(searched),
            library.statements,
            errors,
            sum(not any(word.startswith(name) for word in words) for name in searched if name),
            operators,
            f"{seconds:.1f}",
            listed,
        )
        print(f"| {folder.name} | {' | '.join(map(str, row))} |")
        said += found
    if "--verbose" in arguments:
        print(render_concise(said))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
