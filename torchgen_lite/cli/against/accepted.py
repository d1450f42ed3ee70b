"""Changes that the authors accept, each written down with a reason: `breaking.toml`, beside the configuration.

    [[accepted]]
    code = "TG357"
    operator = "mylib::scale"
    change = "`mylib::scale`: the default of argument `factor` changed from `1.0` to `2.0`"
    reason = "2.0 was announced in release 1.3"

An entry accepts what it says and nothing else, so another default is reported again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import NamedTuple

from torchgen_lite.analysis.comparison.compare import Level
from torchgen_lite.cli.session import Refused, require, write_content
from torchgen_lite.diagnostics import Diagnostic, Label, Source, Span
from torchgen_lite.diagnostics.text import counted, ended
from torchgen_lite.loader.config.options import matching, option, options_of, read_options
from torchgen_lite.loader.config.project import tomllib
from torchgen_lite.loader.sources import read_source

FILE = "breaking.toml"
# Where the findings of a code are; the others are all at `source`.
_WIDEST = {"TG366": "kernel"}
_TEXT = matching(r"(?s).*\S.*", "says nothing")


@dataclass(frozen=True, slots=True)
class Accepted:
    code: str = option("the code of the finding", _TEXT, is_required=True)
    operator: str = option("the full name of the operator", _TEXT, is_required=True)
    change: str = option("what the finding says", _TEXT, is_required=True)
    reason: str = option("why it is accepted", _TEXT, is_required=True)


class Judged(NamedTuple):
    """The findings that are left, with those about entries that accept none, and how many are accepted.

    `unstable` are findings of which callers were told to rely on nothing.
    """

    found: Sequence[Diagnostic]
    accepted: int
    unstable: Sequence[Diagnostic] = ()

    @property
    def changes(self) -> list[Diagnostic]:
        """Those that are about the two versions."""
        return [finding for finding in self.found if finding.effect]

    @property
    def summary(self) -> str:
        """`2 breaking changes and 1 change that may matter, 1 accepted`; empty for nothing."""
        may = sum(change.effect == "may change" for change in self.changes)
        breaks = len(self.changes) - may
        parts = [counted(breaks, "breaking change")] if breaks else []
        parts += [f"{counted(may, 'change')} that may matter"] if may else []
        text = " and ".join(parts)
        accepted = f"{self.accepted} accepted" if self.accepted else ""
        unstable = ""
        if self.unstable:
            unstable = f"{counted(len(self.unstable), 'note')} on unstable operators"
        return ", ".join(filter(None, (text, accepted, unstable)))


def judge(
    every: Sequence[Diagnostic],
    root: Path,
    level: Level,
    unstable: Collection[str],
) -> Judged:
    """Leave out what the project accepts, and what is said of `unstable` operators. Raises Refused if what it accepts
    cannot be read.

    Only at the widest level that has the finding of an entry is it known that there is none.
    """
    entries = _entries(_text(root))
    # What was accepted while an operator was stable is still there when it is not.
    known = set(map(identity, every))
    accepted = set()
    stale = []
    for entry, place in entries:
        if _said(entry) in known:
            accepted.add(_said(entry))
        elif level == _WIDEST.get(entry.code, "source"):
            message = f"`{FILE}` accepts what is not there: {entry.change}"
            stale.append(Diagnostic("TG383", message, place))
    notes = []
    promised = []
    for finding in every:
        if identity(finding) in accepted:
            continue
        if finding.operator in unstable:
            notes.append(finding)
        else:
            promised.append(finding)
    return Judged((*promised, *stale), len(accepted), notes)


def accept(findings: Sequence[Diagnostic], root: Path, reason: str) -> None:
    """Write an entry for each of these findings that has none, from another run for example. Raises Refused."""
    source = _text(root)
    there = {_said(entry) for entry, _ in _entries(source)}
    old = source.text
    texts = [old.rstrip("\n") + "\n"] if old.strip() else []
    for finding in findings:
        if identity(finding) not in there:
            entry = Accepted(*identity(finding), reason)
            lines = [f"{name} = {_quoted(value)}" for name, value in asdict(entry).items()]
            texts.append(ended(["[[accepted]]", *lines]))
    write_content(root / FILE, "\n".join(texts))


def _quoted(text: str) -> str:
    valid = text.encode("utf-8", "replace").decode("utf-8")
    return json.dumps(valid, ensure_ascii=False).replace("\x7f", "\\u007f")


def identity(diagnostic: Diagnostic) -> tuple[str, str, str]:
    """What a diagnostic says, regardless of its place."""
    return diagnostic.code, diagnostic.operator, diagnostic.message


def _said(entry: Accepted) -> tuple[str, str, str]:
    return entry.code, entry.operator, entry.change


def _text(root: Path) -> Source:
    """The file, which is empty if there is none. Raises Refused."""
    path = root / FILE
    source, unread = read_source(path, root) if path.exists() else (None, ())
    require([replace(diagnostic, code="TG384") for diagnostic in unread])
    return source or Source(FILE, "")


def _entries(source: Source) -> Iterator[tuple[Accepted, Label | None]]:
    """The entries and their places. Raises Refused."""
    try:
        data = tomllib.loads(source.text)
    except (ValueError, RecursionError) as error:
        raise Refused(Diagnostic("TG384", f"`{FILE}` is not TOML: {str(error).lower()}")) from None
    places = []
    for match in re.finditer(r"(?m)^[ \t]*\[\[.*", source.text):
        places.append(match.span())
    entries = data.get("accepted", [])
    if data.keys() - {"accepted"} or not isinstance(entries, list):
        raise Refused(Diagnostic("TG384", f"`{FILE}` has something else than `[[accepted]]`"))
    for number, entry in enumerate(entries):
        known = len(places) == len(entries)
        place = Label(Span(source, *places[number])) if known else None
        yield _entry(entry, number + 1, place), place


def _entry(entry: object, number: int, place: Label | None) -> Accepted:
    options = options_of(Accepted)
    given: Mapping[str, object] = entry if isinstance(entry, dict) else {}
    values, problems = read_options(options, given)
    wrong = [problem.message for problem in problems]
    wrong += [f"unknown key `{key}`" for key in given if key not in options]
    if wrong:
        message = f"entry {number} of `{FILE}`: {', '.join(wrong)}"
        raise Refused(Diagnostic("TG384", message, place))
    return Accepted(**values)
