"""`coverage`: which PyTorch operators a backend has, and what happens to calls of the others."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import click

from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.program import Program
from torchgen_lite.cli.exit_codes import ATTENTION, FINE
from torchgen_lite.cli.pages import Row, Section, html_option, output_option, write_report
from torchgen_lite.cli.session import Session, command, require_places, unknown
from torchgen_lite.cli.tables.commands import canonical_keys
from torchgen_lite.diagnostics import Diagnostic, Label, Source, Span
from torchgen_lite.diagnostics.text import counted
from torchgen_lite.pipeline import lint_targets
from torchgen_lite_tools.backends.answers import Answer, show_answer
from torchgen_lite_tools.backends.calls import called, show_operator
from torchgen_lite_tools.backends.native import (
    key_of,
    keys_of_no_backend,
    load_with_native,
    native_options,
    overlay_of,
    require_right,
    unknown_operators,
    whole_name,
)
from torchgen_lite_tools.backends.sources import input_option, read_any_text
from torchgen_lite_tools.backends.tested import claims_of
from torchgen_lite_tools.backends.verdicts import (
    FAILED,
    ORDER,
    SERVED,
    Covered,
    Overlay,
    Verdict,
    coverage,
    kernels_of,
)


@command("coverage", more_formats=("markdown",))
@click.argument("operator", required=False)
@click.option(
    "--key", metavar="KEY", help="The dispatch key of the backend (default: that of its kernels)."
)
@native_options
@click.option(
    "--import",
    "modules",
    multiple=True,
    metavar="MODULE",
    help="Import this module and ask PyTorch what is registered, instead of reading a schema file; repeatable.",
)
@click.option(
    "--scan",
    "folders",
    multiple=True,
    metavar="DIR",
    type=click.Path(exists=True, path_type=Path),
    help="Read C++ with `m.impl` and Python with `torch.library.impl` instead of a schema file; repeatable.",
)
@click.option("--only", metavar="TAG", help="Only operators with this tag, such as core.")
@input_option(
    "--calls",
    metavar="SCRIPT|LOG",
    help="Only what a script (`.py`, which is run) calls in the end, or what a profile, a fallback log or an exported graph names.",
)
@click.option("--like", metavar="KEY", help="Only operators that this key has kernels for.")
@click.option("--fallback", is_flag=True, help="Assume a fallback, to CPU for example.")
@click.option(
    "--show",
    multiple=True,
    type=click.Choice([verdict.name for verdict in Verdict]),
    help="List the operators with this verdict; repeatable.",
)
@input_option(
    "--tests", help="The JUnit report of the device-tests, which verifies declared dtypes."
)
@output_option("--output", help="Write the verdicts to this file, for `--against`.")
@input_option("--against", help="Exit 1 if an operator has a worse verdict than in this file.")
@html_option
def coverage_command(
    session: Session,
    operator: str | None,
    key: str | None,
    schema: tuple[str, ...],
    native: str,
    modules: tuple[str, ...],
    folders: tuple[Path, ...],
    only: str | None,
    calls: Path | None,
    like: str | None,
    fallback: bool,
    show: tuple[str, ...],
    tests: Path | None,
    output: Path | None,
    against: Path | None,
    html: Path | None,
) -> int:
    """Show what a backend covers: a verdict on each operator of PyTorch, including derived ones.

    An operator has its own kernel, or is served by the kernel of a variant (add_.Tensor by
    add.out), or is composed of other operators, or uses the fallback of the backend, or fails, or
    is wrong. For one operator the calls below it are shown; those of composed ones are seen in a
    run. With --calls, exit 1 if something that is called fails or is wrong.

    \b
    torchgen-lite coverage --key XLA --schema xla_native_functions.yaml
    torchgen-lite coverage mm.out --fallback
    torchgen-lite coverage --calls train.py --fallback
    torchgen-lite coverage --key PrivateUse1 --only core --show nothing --output coverage.json
    torchgen-lite coverage --key PrivateUse1 --against coverage.json
    """
    if operator and any((only, calls, like, show, tests, output, against, html)):
        raise click.UsageError("options that choose among operators need no OPERATOR.")
    require_places({"--output": output, "--html": html})
    # What a module or a folder registers has no schema files.
    files = () if modules or folders else schema or None
    program = load_with_native(session, files, native)
    named = canonical_keys(session, (key or "", like or ""))
    # An operator whose kernel is missing would be one that is served; what a module registers is there.
    found = program.diagnostics if files == () else lint_targets(program)
    wrong = [*keys_of_no_backend(*named), *_unknown_choice(program, operator, only)]
    require_right([*found, *wrong])
    key = named[0] or key_of(program)
    like = named[1] or None
    overlay = overlay_of(session, program, key, modules, folders)
    overlay = overlay.with_fallback(key) if fallback else overlay
    every = coverage(overlay, key)
    if operator is not None:
        return show_operator(session, overlay, key, every, whole_name(operator))
    selected = _select(overlay, every, only, like)
    selected, leaves, stopped = called(session, overlay, key, selected, modules, calls)
    worse = [] if against is None else list(_compare(program, selected, against))
    tags = () if calls or like else _counted_tags(only)
    claimed, claims = claims_of(program, key, tests)
    sections = [*_totals(key, selected, tags), *_lists(selected, show, leaves)]
    sections += _beside(key, overlay)
    if tests or not calls:
        sections += claimed
    rows = [(entry.operator.name, entry.verdict.name, entry.by) for entry in selected]
    data = {"key": key, "operators": list(_data(rows, leaves, claims))}
    page = Section("all operators", rows, ("operator", "verdict", "served by"))
    answer = Answer("coverage", f"Coverage of {key}", sections, data, [page])
    show_answer(session, answer, html, "served worse than before", worse)
    if output is not None:
        _keep(session, output, key, selected)
    if stopped:
        session.warn(stopped)
    fails = calls is not None and any(entry.verdict in FAILED for entry in selected)
    return max(session.exit_code(worse), ATTENTION if fails or stopped else FINE)


def _unknown_choice(
    program: Program, operator: str | None, only: str | None
) -> Iterator[Diagnostic]:
    """A tag or an operator that is asked for, and that there is not."""
    if only not in (None, *program.tags):
        yield unknown("tag", only or "", program.tags)
    yield from unknown_operators(program, [operator] if operator else [])


def _keep(session: Session, output: Path, key: str, selected: Sequence[Covered]) -> None:
    """Write the verdicts for a later `--against`."""
    kept = {"key": key, "verdicts": {one.operator.name: one.verdict.name for one in selected}}
    text = json.dumps(kept, indent=1, sort_keys=True) + "\n"
    write_report(session, output, text, f"{counted(len(selected), 'verdict')} written to")


def _select(
    overlay: Overlay, every: Sequence[Covered], only: str | None, like: str | None
) -> list[Covered]:
    selected = [one for one in every if only is None or only in one.operator.tags]
    has = kernels_of(overlay.native, like) if like is not None else ()
    return [one for one in selected if like is None or one.operator.name in has]


def _data(
    rows: Sequence[Row], leaves: Mapping[str, int], claims: Mapping[str, Mapping[str, object]]
) -> Iterator[dict[str, object]]:
    """Each operator, with the number of its calls and what tests say of it, if they were asked."""
    for name, verdict, by in rows:
        data: dict[str, object] = {"name": name, "verdict": verdict, "by": by}
        if name in leaves:
            data["calls"] = leaves[name]
        yield data | dict(claims.get(name, {}))


def _counted_tags(only: str | None) -> tuple[str, ...]:
    """The tags whose operators are counted: of a selection by a tag, the other numbers say little."""
    if only is not None:
        return (only,)
    return ("core", "pointwise")


def _totals(key: str, selected: Sequence[Covered], tags: Sequence[str]) -> list[Section]:
    counts = Counter(entry.verdict for entry in selected)
    shares = {
        verdict: f"{100 * counts[verdict] / max(len(selected), 1):.1f} %" for verdict in Verdict
    }
    rows = [
        (verdict.name, str(counts[verdict]), share, verdict.value)
        for verdict, share in shares.items()
    ]
    title = f"{key}: {counted(len(selected), 'operator')}"
    sections = [Section(title, rows, ("verdict", "operators", "share", "what serves them"))]
    tagged: list[Row] = []
    for tag in tags:
        with_tag = [entry for entry in selected if tag in entry.operator.tags]
        served = [entry for entry in with_tag if entry.verdict in SERVED]
        if with_tag:
            tagged.append((f"{len(served)} of {len(with_tag)} {tag} operators are served",))
    if tagged:
        sections.append(Section("", tagged, ("operators with a tag",)))
    return sections


def _lists(
    selected: Sequence[Covered], show: Sequence[str], leaves: Mapping[str, int]
) -> list[Section]:
    """The operators with a verdict; with leaves, all, and how often each is called."""
    sections = []
    for verdict in Verdict:
        # A leaf that is composed is a kernel of PyTorch for all backends, and calls nothing.
        is_end = leaves and verdict is Verdict.composite
        if is_end:
            meaning = "kernels of PyTorch that call no other operator"
        else:
            meaning = verdict.value
        heads: tuple[str, ...] = ("operator", "served by")
        with_verdict = [entry for entry in selected if entry.verdict is verdict]
        rows: list[Row] = [(entry.operator.name, entry.by) for entry in with_verdict]
        if leaves:
            heads = ("calls", *heads)
            most_called_first = sorted(rows, key=lambda row: -leaves[row[0]])
            rows = [(counted(leaves[row[0]], "call"), *row) for row in most_called_first]
        if verdict.name in show or (leaves and rows):
            sections.append(Section(f"{verdict.name}: {meaning}", rows, heads))
    return sections


def _beside(key: str, overlay: Overlay) -> list[Section]:
    """The number of kernels at the backend's other keys: autograd, autocast, sparse."""
    counts: Counter[str] = Counter()
    backend = key.removeprefix("Autograd")
    for table in overlay.tables.values():
        kernels = table.kernels if table.own is None else table.own
        counts.update(other for other in kernels if other != key and other.endswith(backend))
    rows = [(other, str(counts[other])) for other in sorted(counts)]
    title = "kernels at other keys of the backend"
    if rows:
        return [Section(title, rows, ("key", "kernels"))]
    return []


def _compare(program: Program, selected: Sequence[Covered], against: Path) -> Iterable[Diagnostic]:
    text = read_any_text(against)
    try:
        before = dict(json.loads(text)["verdicts"])
    except (ValueError, KeyError, TypeError, RecursionError):
        help_ = "`torchgen-lite coverage --output FILE` writes one"
        yield Diagnostic("TG014", f"`{against}` has no verdicts", help=help_)
        return
    functions = {function.name: function for function in program.functions}
    kept = Source(against.as_posix(), text)
    for entry in selected:
        name = entry.operator.name
        now = entry.verdict
        was = Verdict.__members__.get(str(before.get(name)))
        if was is None or ORDER[now] <= ORDER[was]:
            continue
        message = f"`{name}` is served worse: {was.value} before, {now.value} now"
        if name in functions:
            yield finding(
                functions[name], "TG370", message, functions[name].place("dispatch"), now.name
            )
        else:
            # It has no line in the schema file, but it has one in the saved report.
            start = text.find(f'"{name}"')
            place = Label(Span(kept, start, start + len(name) + 2), now.name)
            yield Diagnostic("TG370", message, place if start >= 0 else None, operator=name)
