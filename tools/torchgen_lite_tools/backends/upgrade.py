"""`upgrade`: what another release of PyTorch means for the author of a backend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click

from torchgen_lite.analysis.comparison.compare import compare_operators
from torchgen_lite.analysis.comparison.sides import Side
from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.implementing import SAID, Difference, Rank, compare_kernels
from torchgen_lite.analysis.native import read_native
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.overlay import entries_for
from torchgen_lite.analysis.program import Program
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.cli.pages import Row, Section, html_option, write_file
from torchgen_lite.cli.session import Session, command, require, schema_options
from torchgen_lite.diagnostics import Diagnostic, Edit, apply_edits, pick_edits
from torchgen_lite.diagnostics.text import counted
from torchgen_lite.languages.cpp import public
from torchgen_lite.loader.entry.derivatives import DEFAULT
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.loader.entry.known_tags import KNOWN_TAGS
from torchgen_lite.loader.entry.reader import Dialect
from torchgen_lite.loader.formats.native_functions import load_native_functions
from torchgen_lite.loader.torch.releases import INSTALLED, read_release
from torchgen_lite.targets.generation import generation_of
from torchgen_lite_tools.backends.answers import FINDING, Answer, finding_rows, show_answer
from torchgen_lite_tools.backends.fetch import NEWEST, fetch_release
from torchgen_lite_tools.backends.native import (
    is_listed,
    key_of,
    keys_of_no_backend,
    load_with_native,
    require_right,
)
from torchgen_lite_tools.backends.verdicts import Overlay, Verdict, coverage, pytorchs

_DEAD = "kernels that are never called, or abort when they are loaded"
_CALLERS = "what callers of your operators notice"
_GRADIENTS = "gradients: a backward pass calls other operators"
# An entry of the author for an operator of PyTorch, and the operator before and after.
Entry = tuple[NativeFunction, Operator | None, Operator | None]


@command("upgrade", more_formats=("markdown",))
@click.option("--from", "old", required=True, metavar="RELEASE", help="The old PyTorch.")
@click.option(
    "--to", "new", default=INSTALLED, metavar="RELEASE", help="The new one (default: installed)."
)
@click.option(
    "--key", metavar="KEY", help="The dispatch key of the backend (default: that of its kernels)."
)
@click.option(
    "--fetch", is_flag=True, help="Fetch what is read of releases that are not here, with pip."
)
@schema_options
@click.option("--fix", is_flag=True, help="Update the schemas in your `func:` lines.")
@html_option
def upgrade_command(
    session: Session,
    old: str,
    new: str,
    key: str | None,
    fetch: bool,
    schema: tuple[str, ...],
    fix: bool,
    html: Path | None,
) -> int:
    """Show what a new PyTorch changes for a backend. Exit 1 if there are kernels that are never
    called, or that abort the process that loads them.

    RELEASE is a version that is installed, or whose wheel is in this folder; or the path of a
    wheel, a checkout or a native_functions.yaml. With --fetch it is any version, or `newest`: pip downloads
    the wheel, and a small one stays in this folder, with the files that are read.

    \b
    torchgen-lite upgrade --from 2.9 --to 2.10 --schema xla_native_functions.yaml
    torchgen-lite upgrade --from torch-2.9.1-py3-none-any.whl --to 2.10 --output-format markdown
    torchgen-lite upgrade --from 2.13 --to newest --fetch
    """
    if fetch:
        old, new = (fetch_release(session, release, Path.cwd()) for release in (old, new))
    elif NEWEST in (old, new):
        raise click.UsageError("`newest` needs `--fetch`: which one it is says the package index.")
    program = load_with_native(session, schema or None, old)
    after = read_native(new, Path.cwd())
    require_right([*program.diagnostics, *after.diagnostics])
    context = tuple(after.functions.values())
    tags = after.tags or program.tags
    releases = (
        pytorchs(program.config, program.resolved.context, program.tags),
        pytorchs(program.config, context, tags),
    )
    was, now = (release.native.resolved.by_name for release in releases)
    declared = entries_for(program.functions, after.version)
    if program.elsewhere or any(diagnostic.code == "TG346" for diagnostic in program.diagnostics):
        # What an entry names is looked up in the releases that it is for.
        added = load_with_native(session, schema or None, new).functions
        declared += tuple([function for function in added if not function.is_for(program.release)])
    later = replace(program, resolved=Resolved(declared, program.tags, program.resolved.context))
    entries = [
        (function, was.get(function.name), now.get(function.name))
        for function in declared
        # Each release has a list of its own.
        if function.namespace == "aten" and not is_listed(function)
    ]
    require(keys_of_no_backend(key))
    key = key or key_of(program)
    # Entries that name operators missing from the old release, too.
    unknown = [diagnostic for diagnostic in program.diagnostics if diagnostic.code == "TG312"]
    problems = [*unknown, *_changed(entries)]
    every = [Section(_CALLERS, _of_callers(later, releases), FINDING)]
    every += [*_kernel_sections(entries), *_composites((program, later), releases, key)]
    formulas = _gradients(session, old, new, program.config.root)
    every.append(Section(_GRADIENTS, formulas, ("operator", "gradient", "formula")))
    sections = [section for section in every if section.rows]
    data = {section.title: list(map(list, section.rows)) for section in sections}
    if not sections and not problems:
        sections = [Section(f"nothing changes for {key} from {old} to {new}", ())]
    answer = Answer("upgrade", f"{key}: PyTorch {old} to {new}", sections, {"changes": data})
    show_answer(session, answer, html, _DEAD, problems)
    if fix:
        _fix(session, program, entries)
        problems = [diagnostic for diagnostic in problems if diagnostic.code != "TG372"]
    return session.exit_code(problems)


def _changed(entries: Sequence[Entry]) -> Iterator[Diagnostic]:
    """TG371 and TG372."""
    for function, _, new in entries:
        name = function.func.local_name
        place = function.place("func")
        if new is None:
            yield finding(function, "TG371", f"PyTorch no longer has operator `{name}`", place)
        else:
            difference = compare_kernels(function, new.function)
            if difference.rank is Rank.aborts:
                yield _aborts(function, new, difference)


def _aborts(function: NativeFunction, new: Operator, difference: Difference) -> Diagnostic:
    is_symbolic = any(entry.kernel.endswith("_symint") for entry in function.dispatch)
    kernel = public.dispatched(new.function, "SymInt" if is_symbolic else "int")
    name = function.func.local_name
    message = f"`{name}` now takes a kernel of a different type: loading the old one aborts"
    at_fault = difference.old.span if difference.old is not None else None
    span = function.place("func")
    if at_fault is not None and _is_own(function):
        span = at_fault
    if difference.new is not None:
        label = f"now `{difference.new}`"
    else:
        label = "not any more"
    hint = f"`{new.schema.local_text}`, whose kernel is `{kernel}`"
    return finding(function, "TG372", message, span, label, hint)


def _is_own(function: NativeFunction) -> bool:
    """Whether the author wrote the whole schema and not just the name."""
    place = function.place("func")
    schema = function.func.span
    return place is not None and schema is not None and "(" in place.text


def _kernel_sections(entries: Sequence[Entry]) -> Iterator[Section]:
    """Operators whose kernels still work."""
    milder = []
    structured = []
    for function, old, new in entries:
        if new is None:
            continue
        name = function.func.local_name
        rank = compare_kernels(function, new.function).rank
        if rank in (Rank.names, Rank.symint):
            milder.append((name, SAID[rank], new.schema.local_text))
        was = _structure(old or new)
        now = _structure(new)
        if was != now:
            structured.append((name, f"{was} before, {now} now"))
    yield Section("different names, defaults or SymInt", milder, ("operator", "what", "schema"))
    yield Section("structured or delegated differently", structured, ("operator", "how"))


def _of_callers(program: Program, releases: tuple[Overlay, Overlay]) -> list[Row]:
    """What `breaking` says about the operators with kernels here; those that are gone are TG371.

    Of what may change, such as tags, a release has too much.
    """
    with_kernels = {function.name for function in program.functions}
    sides = []
    for release in releases:
        operators = release.native.resolved.operators
        sides.append(Side([operator for operator in operators if operator.name in with_kernels]))
    changes = []
    old, new = sides
    for change in compare_operators(old, new):
        is_gone = change.code in ("TG350", "TG351")
        if change.severity == "error" and not is_gone:
            changes.append(change)
    return finding_rows(changes)


def _structure(operator: Operator) -> str:
    function = operator.function
    if function.structured_delegate:
        return f"delegates to {function.structured_delegate}"
    return "structured" if function.structured else "plain"


def _composites(
    programs: tuple[Program, Program], releases: tuple[Overlay, Overlay], key: str
) -> Iterator[Section]:
    """Operators that became or stopped being composite, and new ones."""
    old_program, new_program = programs
    old_release, new_release = releases
    before = _verdicts(old_release, key)
    after = _verdicts(new_release, key)
    with_kernels = {function.name for function in new_program.functions if function.dispatch}
    gained = []
    for name in with_kernels:
        is_composite_now = after.get(name) is Verdict.composite
        was_nothing = before.get(name) is Verdict.nothing
        if is_composite_now and was_nothing:
            gained.append(name)
    yield Section("now composed of other operators: your kernel may be unnecessary", _names(gained))
    was = _verdicts_with(old_release, old_program, key)
    now = _verdicts_with(new_release, new_program, key)
    not_served = [name for name, verdict in now.items() if verdict is Verdict.nothing]
    lost = [name for name in not_served if was.get(name, Verdict.nothing) is not Verdict.nothing]
    yield Section("no longer served: a kernel is needed", _names(lost))
    rows: list[Row] = []
    for name in sorted(not_served):
        keys = {kernel.key for kernel in new_release.native.resolved.by_name[name].kernels}
        keys_of_pytorch = [key for key in ("CPU", "CUDA") if key in keys]
        if name not in was and keys_of_pytorch:
            rows.append((name.removeprefix("aten::"), ", ".join(keys_of_pytorch)))
    heads = ("operator", "kernels")
    yield Section("new operators that CPU or CUDA have kernels for", rows, heads)


def _verdicts_with(release: Overlay, program: Program, key: str) -> dict[str, Verdict]:
    """The verdicts on the operators of a release under the kernels of a program."""
    policy = generation_of(program).of_backend
    return _verdicts(release.with_program(program, policy), key)


def _verdicts(overlay: Overlay, key: str) -> dict[str, Verdict]:
    return {one.operator.name: one.verdict for one in coverage(overlay, key)}


def _gradients(session: Session, old: str, new: str, root: Path) -> list[Row]:
    """The formulas of derivatives.yaml that change, and what they are now."""
    was = _formulas(old, root)
    now = _formulas(new, Path.cwd())
    if was is None or now is None:
        which = old if was is None else new
        tell = session.note if was is now else session.warn
        tell(f"gradients are not compared: `{which}` comes without derivatives.yaml")
        return []
    return [
        (name.removeprefix("aten::"), " of ".join(key), now.get((name, *key), "no formula"))
        for name, *key in sorted({**was, **now})
        if was.get((name, *key)) != now.get((name, *key))
    ]


def _formulas(release: str, root: Path) -> dict[tuple[str, ...], str] | None:
    """The text of each formula, by operator, names and key."""
    files = read_release(release, root)
    if files.source is None or files.formulas is None:
        return None
    functions, _ = load_native_functions([files.source, files.formulas], Dialect(KNOWN_TAGS))
    texts = dict[tuple[str, ...], str]()
    for function in functions:
        if function.derivatives is None:
            continue
        for key, formulas in function.derivatives.variants:
            of_key = () if key == DEFAULT else (key,)
            for formula in formulas:
                names = ", ".join(formula.names)
                which = (function.name, names, *of_key)
                texts[which] = formula.text
    return texts


def _names(names: Sequence[str]) -> list[tuple[str]]:
    return [(name.removeprefix("aten::"),) for name in sorted(names)]


def _fix(session: Session, program: Program, entries: Sequence[Entry]) -> None:
    """Update the PyTorch schemas that the author's file repeats."""
    edits = []
    for function, _, new in entries:
        span = function.func.span
        if new is None or span is None or not _is_own(function):
            continue
        if function.func.local_text != new.schema.local_text:
            if function.func.namespace:
                prefix = f"{function.func.namespace}::"
            else:
                prefix = ""
            edits.append(Edit(span, f"{prefix}{new.schema.local_text}"))
    for source in program.sources:
        if of_source := pick_edits(edits, source.path):
            text = apply_edits(source.text, of_source)
            message = f"{counted(len(of_source), 'schema')} updated in"
            write_file(session, program.config.root / source.path, text, message)
