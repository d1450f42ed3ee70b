"""How much of existing libraries `torchgen-lite import` understands.

    python -m tests.conformance.libraries [--verbose] [MACRO=TEXT]... FOLDER...

Each folder is the source of a library. A row of the table: calls of `def` and `impl` that a search for text finds in files
that register, the registrations that `import` met (macros may make several of one call), how many of these it reported as
errors, the names that the search found and `import` says nothing of, the operators it wrote, and the codes of what it
reported.

    python -m tests.conformance.libraries --corpus [--verbose] CHECKOUT...

Each checkout has the name of a file of facts in `tests/adopt/corpus`: what its sources register, as it was counted there. A
row: the operators and bound functions that are there, and how many of them `import` gives with the same keys, gives
differently, refuses by name, and is silent about. The exit code is 1 where something is wrong or silent.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import yaml

from torchgen_lite.diagnostics import Diagnostic, render_concise, sort_diagnostics
from torchgen_lite.languages.cpp.torch_types import Conventions, argument_type
from torchgen_lite.languages.cpp.types import unrooted
from torchgen_lite.loader.config.project import tomllib
from torchgen_lite.loader.entry.entry import TORCH_NAMESPACES
from torchgen_lite.schema import FunctionSchema, parse_schema
from torchgen_lite_tools.importing.cpp_files import ENDINGS, read_cpp, sources_of
from torchgen_lite_tools.importing.cpp_preprocessor import parse_macro
from torchgen_lite_tools.importing.cpp_unread import has_registrations
from torchgen_lite_tools.importing.entries import write_entries
from torchgen_lite_tools.importing.library import Implementation, Library
from torchgen_lite_tools.importing.merge import name_kernels
from torchgen_lite_tools.importing.python_registrations import read_python

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


# What a parameter of the usual type is written like: `const at::Tensor &`, `at::IntArrayRef`, `int64_t`.
_NAMESPACES = re.compile(r"\bconst\b|\b(?:at|c10|std|torch)::|\s+")
CORPUS = Path(__file__).parents[1] / "adopt" / "corpus"


def converts(one: Implementation, schema: FunctionSchema) -> bool:
    """Whether a kernel takes an argument in another type than generated code declares, which libtorch converts to."""
    types = [argument_type(a.type, a.is_write, Conventions()) for a in schema.arguments]
    usual = [_NAMESPACES.sub("", str(unrooted(type_))) for type_ in types]
    taken = [[_NAMESPACES.sub("", t) for t in f.parameters if t != "void"] for f in one.functions]
    return bool(taken) and usual not in taken


class Verdict(NamedTuple):
    """What `import` says of one operator or bound function: right, wrong, refused or silent."""

    name: str
    word: str


def compared(facts: dict[str, Any], library: Library) -> Iterator[Verdict]:
    """The facts of a library against what `import` makes of a checkout."""
    text, _, problems = write_entries(library, TORCH_NAMESPACES)
    messages = [one.message for one in [*library.diagnostics, *problems]]
    entries = {}
    for entry in yaml.safe_load(text) or ():
        keys = [key.strip() for keys in entry["dispatch"] for key in keys.split(",")]
        entries[entry["func"].partition("(")[0]] = sorted(keys)
    bound = Counter(one.name.rpartition("::")[2] for one in library.definitions if one.binder)
    given = {one.name for one in library.definitions if one.binder}
    operators: dict[str, list[str]] = facts.get("operators", {})
    for name, keys in operators.items():
        if entries.get(name) == sorted(keys):
            yield Verdict(name, "right")
        elif any(f"`{name}`" in one or f"::{name}`" in one for one in messages):
            yield Verdict(name, "refused")
        else:
            yield Verdict(name, "wrong" if name in entries else "silent")
    yield from (Verdict(one, "wrong") for one in entries.keys() - operators.keys() - given)
    refused = Counter(one.split("`")[1] for one in messages if " is bound with " in one)
    for names in facts.get("bound", {}).values():
        for name in names:
            word = "right" if bound[name] else "refused" if refused[name] else "silent"
            yield Verdict(name, word)
            bound[name] -= word == "right"
            refused[name] -= word == "refused"


def check_corpus(checkouts: Sequence[Path], verbose: bool) -> int:
    print(
        "| library | revision | operators | bound | converts | right | wrong | refused | silent |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    words, total = ("right", "wrong", "refused", "silent"), Counter[str]()
    for checkout in checkouts:
        facts = tomllib.loads((CORPUS / f"{checkout.name}.toml").read_text("utf-8"))
        paths = [checkout / path for path in facts["paths"]]
        library = read_cpp(paths, {})
        read_python(sources_of(paths, (".py",), library.diagnostics), library)
        library = name_kernels(library)
        verdicts = list(compared(facts, library))
        operators = [one for one in library.definitions if not one.binder]
        parsed = {one.name: parse_schema(one.schema)[0] for one in operators}
        kernels = [(one, parsed.get(one.name)) for one in library.implementations]
        converted = sum(converts(one, schema) for one, schema in kernels if schema)
        counts = Counter(one.word for one in verdicts)
        total += counts
        there = len(facts.get("operators", {})), sum(map(len, facts.get("bound", {}).values()))
        given = f"{converted} of {facts['conversions']}" if "conversions" in facts else ""
        row = (checkout.name, facts["revision"], *there, given, *(counts[word] for word in words))
        print(f"| {' | '.join(map(str, row))} |", flush=True)
        if verbose:
            print(*(f"{one.word}: {one.name}" for one in verdicts if one.word != "right"), sep="\n")
    print("|", " | ".join(["all", "", "", "", "", *(str(total[word]) for word in words)]), "|")
    return int(total["wrong"] + total["silent"] > 0)


def main(arguments: Sequence[str]) -> int:
    given = [parse_macro(one) for one in arguments if "=" in one]
    macros = {macro.name: macro for macro in given if macro is not None}
    folders = [Path(one) for one in arguments if "=" not in one and not one.startswith("-")]
    if "--corpus" in arguments:
        return check_corpus(folders, "--verbose" in arguments)
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
