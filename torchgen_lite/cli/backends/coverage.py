"""`coverage`: which PyTorch operators a backend has, and what happens to calls of the others."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import partial
from pathlib import Path

import click

from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.program import Program
from torchgen_lite.cli.backends.native import (
    backend_policy,
    load_with_native,
    native_options,
    require_right,
    unknown_keys,
)
from torchgen_lite.cli.backends.pages import (
    Answer,
    Section,
    html_option,
    output_option,
    show_answer,
    write_file,
)
from torchgen_lite.cli.backends.sources import (
    called_names,
    input_option,
    loaded_kernels,
    read_any_text,
    scanned_kernels,
)
from torchgen_lite.cli.backends.verdicts import (
    ORDER,
    Covered,
    Kernels,
    Verdict,
    coverage,
    native_program,
    program_kernels,
)
from torchgen_lite.cli.session import Session, global_options, unknown
from torchgen_lite.diagnostics import Diagnostic, Label, Source, Span
from torchgen_lite.diagnostics.text import counted

_SERVED = (Verdict.own, Verdict.through, Verdict.composite)


@click.command("coverage")
@click.option("--key", required=True, metavar="KEY", help="The dispatch key of the backend.")
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
    help='Read C++ with `m.impl("...")` instead of a schema file; repeatable.',
)
@click.option(
    "--only", metavar="TAG", help="Only operators with this tag, such as core or pointwise."
)
@input_option(
    "--calls",
    metavar="LOG",
    help="Only operators that a profile, a fallback log or an exported graph names.",
)
@click.option("--like", metavar="KEY", help="Only operators that this key has kernels for.")
@click.option(
    "--fallback", is_flag=True, help="Assume that the backend has a fallback, to CPU for example."
)
@click.option(
    "--show",
    multiple=True,
    type=click.Choice([verdict.name for verdict in Verdict]),
    help="List the operators with this verdict; repeatable.",
)
@output_option("--write", help="Write the verdicts to this file.")
@input_option("--against", help="Exit 1 if an operator has a worse verdict than in this file.")
@html_option
@partial(global_options, more_formats=("markdown",))
@click.pass_obj
def coverage_command(
    session: Session,
    key: str,
    schema: tuple[str, ...],
    native: str,
    modules: tuple[str, ...],
    folders: tuple[Path, ...],
    only: str | None,
    calls: Path | None,
    like: str | None,
    fallback: bool,
    show: tuple[str, ...],
    write: Path | None,
    against: Path | None,
    html: Path | None,
) -> int:
    """Show what a backend covers: a verdict on each operator of PyTorch, including derived ones.

    An operator has its own kernel, or is served by the kernel of a variant (add_.Tensor by
    add.out), or is composed of other operators, or uses the fallback of the backend, or is not
    served at all.

    \b
    torchgen-lite coverage --key XLA --schema xla_native_functions.yaml
    torchgen-lite coverage --key PrivateUse1 --only core --show nothing --write coverage.json
    torchgen-lite coverage --key PrivateUse1 --against coverage.json
    """
    # A project needs no schema files if its kernels come from elsewhere.
    # What a module or a folder registers has no schema files.
    files = () if modules or folders else schema or None
    program = load_with_native(session, files, native)
    is_known = only is None or only in program.tags
    wrong = [] if is_known else [unknown("tag", only or "", program.tags)]
    require_right(program, [*unknown_keys(key, like), *wrong])
    kernels = _kernels(program, modules, folders)
    if fallback:
        kernels = kernels._replace(fallbacks=kernels.fallbacks | {key})
    pytorch = native_program(program.config, program.resolved.context, program.tags)
    selected = _select(coverage(pytorch, key, kernels), pytorch, only, calls, like)
    worse = list(_compare(program, selected, against)) if against is not None else []
    # For a selection of the operators with a tag, the number served says little.
    tags = () if calls or like else (only,) if only else ("core", "pointwise")
    sections = [*_totals(key, selected, tags), *_lists(selected, show), *_beside(key, kernels)]
    rows = [(one.operator.name, one.verdict.name, one.by) for one in selected]
    data = [{"name": name, "verdict": verdict, "by": by} for name, verdict, by in rows]
    answer = Answer(
        "coverage", f"Coverage of {key}", sections, rows, {"key": key, "operators": data}
    )
    show_answer(session, answer, html, "served worse than before", worse)
    if write is not None:
        kept = {"key": key, "verdicts": {name: verdict for name, verdict, _ in rows}}
        write_file(session, write, json.dumps(kept, indent=1, sort_keys=True) + "\n")
    return session.exit_code(worse)


def _kernels(program: Program, modules: Sequence[str], folders: Sequence[Path]) -> Kernels:
    if modules:
        return loaded_kernels(modules, program.config)
    if folders:
        return scanned_kernels(folders)
    return program_kernels(program, backend_policy(program))


def _select(
    every: list[Covered],
    pytorch: Program,
    only: str | None,
    calls: Path | None,
    like: str | None,
) -> list[Covered]:
    selected = every
    if only is not None:
        selected = [one for one in selected if only in one.operator.tags]
    if calls is not None:
        names = called_names(read_any_text(calls))
        selected = [one for one in selected if _is_called(one.operator.name, names)]
    if like is not None:
        theirs = coverage(pytorch, like, Kernels({}))
        has = {one.operator.name for one in theirs if one.verdict in (Verdict.own, Verdict.through)}
        selected = [one for one in selected if one.operator.name in has]
    return selected


def _is_called(name: str, called: Collection[str]) -> bool:
    """Whether a log names the operator, or its base name without an overload."""
    base, _, overload = name.partition(".")
    return base in called or name in called or (not overload and f"{name}.default" in called)


def _totals(key: str, selected: Sequence[Covered], tags: Sequence[str]) -> list[Section]:
    counts = Counter(one.verdict for one in selected)
    rows = [
        (
            verdict.name,
            str(counts[verdict]),
            f"{100 * counts[verdict] / max(len(selected), 1):.1f} %",
            verdict.value,
        )
        for verdict in Verdict
    ]
    title = f"{key}: {counted(len(selected), 'operator')}"
    tagged = []
    for tag in tags:
        own = [one for one in selected if tag in one.operator.tags]
        served = sum(one.verdict in _SERVED for one in own)
        if own:
            tagged.append((f"{served} of {len(own)} {tag} operators are served",))
    return [Section(title, rows), *([Section("", tagged)] if tagged else [])]


def _lists(selected: Sequence[Covered], show: Sequence[str]) -> list[Section]:
    return [
        Section(
            f"{verdict.name}: {verdict.value}",
            [(one.operator.name, one.by) for one in selected if one.verdict is verdict],
        )
        for verdict in Verdict
        if verdict.name in show
    ]


def _beside(key: str, kernels: Kernels) -> list[Section]:
    """The number of kernels at the backend's other keys: autograd, autocast, sparse."""
    counts = Counter(
        other
        for own in kernels.of.values()
        for other in own
        if other != key and other.endswith(key.removeprefix("Autograd"))
    )
    rows = [(other, str(counts[other])) for other in sorted(counts)]
    return [Section("kernels at other keys of the backend", rows)] if rows else []


def _compare(program: Program, selected: Sequence[Covered], against: Path) -> Iterable[Diagnostic]:
    text = read_any_text(against)
    try:
        before = dict(json.loads(text)["verdicts"])
    except (ValueError, KeyError, TypeError, RecursionError):
        help_ = "`torchgen-lite coverage --write FILE` writes one"
        yield Diagnostic("TG014", f"`{against}` has no verdicts", help=help_)
        return
    own = {function.name: function for function in program.functions}
    kept = Source(against.as_posix(), text)
    for one in selected:
        name, now = one.operator.name, one.verdict
        was = Verdict.__members__.get(str(before.get(name)))
        if was is None or ORDER[now] <= ORDER[was]:
            continue
        message = f"`{name}` is served worse: {was.value} before, {now.value} now"
        if name in own:
            yield finding(own[name], "TG370", message, own[name].place("dispatch"), now.name)
        else:
            # It has no line in the schema file, but it has one in the saved report.
            start = text.find(f'"{name}"')
            place = Label(Span(kept, start, start + len(name) + 2), now.name)
            yield Diagnostic("TG370", message, place if start >= 0 else None, operator=name)
