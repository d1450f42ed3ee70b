"""Diagnostic codes. Each is a page of Markdown, which is read when the code is first reported or asked for.

A code keeps its meaning forever; a retired one is not used again. 0xx configuration and command line, 1xx YAML and
keys, 2xx schema syntax, 3xx across entries, 4xx lint: overloads, aliasing, dispatch, 5xx templates and targets,
6xx imported libraries, 9xx internal.

Note [Codes of other packages]
A package with targets of its own may have codes of its own, such as `RST001`. It names itself in the group
`torchgen_lite.codes` of its entry points, under the letters of its codes, and has their pages in its folder `codes`.
It is not imported to read them. The letters `TG` are ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple, cast

Severity = Literal["error", "warning"]

GROUP = "torchgen_lite.codes"
_OURS = "TG"
_OWN_PAGES = Path(__file__).with_name("codes")
_LETTERS = "[A-Z]{2,8}"
# The letters of other packages' codes; none of our codes can match, now or later.
_OF_OTHERS = f"(?!{_OURS}){_LETTERS}"
_EXAMPLE = r"\n\n```(?:yaml|console)\n(.*?)\n?```\n"
_PAGE = re.compile(
    rf"---\n(.*?)---\n\n## What it means\n\n(.*?)\n## Why it is wrong\n\n(.*?)\n(?:## What to do\n\n(.*?)\n)?"
    rf"## Bad{_EXAMPLE}\n## Good{_EXAMPLE}",
    re.DOTALL,
)


class Code(NamedTuple):
    """What a page says. `explanation` is what the code means, `reason` why that is wrong, `help` what to do: one
    sentence, which ends each diagnostic that has no help of its own.

    `bad` shows the mistake, `good` the correction. An example is a file of operators, on which `lint` is run, or a
    small project, whose files begin with `-- PATH --` and whose commands begin with `$ `. A test runs every example.
    `where` says what else the bad example needs; the test has to provide it. `since` is the first release with the
    code. `effect` is what a difference between two versions does: `breaks callers`, `changes results`, `breaks
    promises` (to compilers, checkpoints or counters), `may change`; it is empty for a code that compares none.
    """

    code: str
    title: str
    severity: Severity
    since: str
    explanation: str
    reason: str
    help: str
    bad: str
    good: str
    where: str
    effect: str


@cache
def read_code(name: str) -> Code:
    """What the page of a code says. Raises KeyError if it has none, ValueError if the page is not in the form."""
    path = find_page(name)
    if path is None:
        raise KeyError(f"the diagnostic code `{name}` has no page")
    return _read_page(path)


@cache
def find_page(name: str) -> Path | None:
    match = re.fullmatch(rf"({_LETTERS})[0-9]{{3}}", name)
    folder = _folder(match[1]) if match else None
    path = folder / f"{name}.md" if folder else None
    return path if path is not None and path.is_file() else None


def page_uri(name: str) -> str:
    """The address of a page: on the site of the documentation if pyproject.toml says where that is, else of its file."""
    path = find_page(name)
    if path is None:
        return ""
    site = documentation() if path.parent == _OWN_PAGES else ""
    return f"{site}/diagnostics/{name}/" if site else path.as_uri()


@cache
def documentation() -> str:
    """The address of the site of the documentation, if pyproject.toml says where that is."""
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        listed: list[str] = metadata("torchgen-lite").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    urls = dict(entry.split(", ", 1) for entry in listed)
    return urls.get("Documentation", "").rstrip("/")


def _read_page(path: Path) -> Code:
    match = _PAGE.fullmatch(path.read_text("utf-8"))
    fields = dict(re.findall(r'^(\w+): "?(.*?)"?$', match[1], re.MULTILINE)) if match else {}
    if match is None or fields.get("severity") not in ("error", "warning"):
        raise ValueError(f"`{path}` is not the page of a diagnostic code")
    return Code(
        path.stem,
        fields["title"],
        cast(Severity, fields["severity"]),
        fields["since"],
        _unwrapped(match[2]),
        _unwrapped(match[3]),
        _unwrapped(match[4] or ""),
        match[5],
        match[6],
        fields.get("where", ""),
        fields.get("effect", ""),
    )


def _unwrapped(text: str) -> str:
    """Each paragraph on one line."""
    return "\n\n".join(" ".join(part.split("\n")) for part in text.strip().split("\n\n"))


@cache
def code_names() -> tuple[str, ...]:
    """Our codes, in order."""
    return tuple(_names(_OURS))


def every_code() -> Iterator[Code]:
    """All codes, ours first, then those of other packages."""
    from importlib.metadata import entry_points

    yield from map(read_code, code_names())
    for letters in sorted({entry.name for entry in entry_points(group=GROUP)}):
        if re.fullmatch(_OF_OTHERS, letters):
            yield from map(read_code, _names(letters))


def _names(letters: str) -> list[str]:
    """The codes with pages that begin with these letters."""
    folder = _folder(letters)
    pages = folder.glob(f"{letters}[0-9][0-9][0-9].md") if folder else ()
    return sorted(path.stem for path in pages)


@cache
def _folder(letters: str) -> Path | None:
    """The folder with the pages of codes that begin with these letters."""
    if letters == _OURS:
        return _OWN_PAGES
    from importlib.metadata import entry_points
    from importlib.util import find_spec

    for entry in entry_points(group=GROUP, name=letters):
        try:
            spec = find_spec(entry.value)
        except (ImportError, ValueError):
            continue
        if spec is not None and spec.origin:
            return Path(spec.origin).with_name("codes")
    return None


def is_of_others(code: str) -> bool:
    """Whether a code may belong to another package, which need not be installed."""
    return re.fullmatch(_OF_OTHERS + "[0-9]{3}", code) is not None


def begins_code(text: str) -> bool:
    """Whether one of our codes begins with this text, or a code of another package may."""
    may_be_theirs = re.fullmatch(_OF_OTHERS + "[0-9]{0,3}", text) is not None
    return may_be_theirs or any(code.startswith(text) for code in code_names())


def explain(code: Code) -> str:
    """The page of a code for the terminal."""
    text = f"{code.code}: {code.title} ({code.severity})\n\n{code.explanation}\n\n{code.reason}\n"
    text += f"\nWhat to do: {code.help}\n" if code.help else ""
    bad = f"Bad, {code.where}" if code.where else "Bad"
    for title, example in ((bad, code.bad), ("Good", code.good)):
        indented = "\n".join(f"    {line}".rstrip() for line in example.splitlines())
        text += f"\n{title}:\n\n{indented}\n"
    return text
