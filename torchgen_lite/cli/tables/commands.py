"""`table` and `why`: computed dispatch tables and the rules behind them, without importing a kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click

from torchgen_lite.analysis.computed_table import Registrations
from torchgen_lite.analysis.program import Program
from torchgen_lite.analysis.selection.explain import inputs_from
from torchgen_lite.cli.against.version import other_version
from torchgen_lite.cli.exit_codes import FINE
from torchgen_lite.cli.pages import output_option, render_markdown, write_report
from torchgen_lite.cli.session import (
    Refused,
    Session,
    command,
    options,
    require,
    schema_options,
    unknown,
)
from torchgen_lite.cli.tables.compare import (
    compare_tables,
    comparison_data,
    comparison_sections,
    render_comparison,
)
from torchgen_lite.cli.tables.explain import (
    LocalSets,
    Why,
    of_a_new_thread,
    render_table,
    render_why,
    table_data,
    why,
    why_data,
)
from torchgen_lite.cli.tables.html import Before, Details, details_of, details_of_torch, render_html
from torchgen_lite.cli.tables.registrations import (
    pytorchs_of,
    pytorchs_of_both,
    registrations_of_torch,
    selection_of,
)
from torchgen_lite.cli.tables.rows import Rows, render_rows, rows_at, rows_data
from torchgen_lite.diagnostics import Diagnostic, did_you_mean
from torchgen_lite.diagnostics.text import counted, quoted
from torchgen_lite.key_sets import KeySets
from torchgen_lite.key_tables import registrable_keys
from torchgen_lite.loader.entry.dispatch_table import renamed_keys
from torchgen_lite.schema.grouped import by_name, names_of
from torchgen_lite.targets.output import Selection
from torchgen_lite.targets.registered import (
    Beneath,
    adds_to_pytorch,
    registrations_of_program,
    why_absent,
)

# Where registrations come from.
_SOURCE = options(
    schema_options,
    click.option(
        "--target",
        metavar="NAME",
        help="The registrations of this target alone (default: the package).",
    ),
    click.option("--torch", is_flag=True, help="The registrations of the installed PyTorch."),
    click.option(
        "--import",
        "modules",
        multiple=True,
        metavar="MODULE",
        help="With --torch: first import this module, which registers your operators; repeatable.",
    ),
    click.option(
        "--fallback",
        "fallbacks",
        multiple=True,
        metavar="KEY",
        help="For kernels of PyTorch's operators: assume that the backend has a fallback for this key; repeatable.",
    ),
)


class _Asked(NamedTuple):
    """The operator, if one is named, its keys, and the values of the options of `_SOURCE`."""

    operator: str | None
    keys: Sequence[str]
    schema: Sequence[str]
    target: str | None
    torch: bool
    modules: Sequence[str]
    fallbacks: Sequence[str]


@command("table", more_formats=("markdown",))
@click.argument("operator", required=False)
@click.option(
    "--key", "keys", multiple=True, metavar="KEY", help="Only the slot of this key; repeatable."
)
@click.option("--all", "everything", is_flag=True, help="Also list the keys that nothing serves.")
@output_option("--html", help="Write the tables of all operators, or of one, as an HTML page.")
@click.option(
    "--against",
    metavar="REF|PATH|torch:VERSION",
    help="Show the cells that changed since another version, for all operators or one.",
)
@_SOURCE
def table_command(
    session: Session,
    /,
    operator: str | None,
    keys: Sequence[str],
    everything: bool,
    html: Path | None,
    against: str | None,
    **asked: Any,
) -> int:
    """Show the computed dispatch table of an operator: which kernel serves each key, and by which rule.

    Schema files do not name backend fallbacks: for targets for PyTorch they are PyTorch's, and for
    target `python` those that the framework declares. With --against, both sides are read from
    schema files, even with --torch.

    \b
    torchgen-lite table aten::add.Tensor
    torchgen-lite table add.Tensor --key CPU --key AutogradCPU
    torchgen-lite table --html tables.html
    torchgen-lite table --against main
    """
    if operator is None and html is None and against is None:
        raise click.UsageError("`table` needs an operator, or --html or --against for all of them.")
    wanted = _Asked(operator, canonical_keys(session, keys), **asked)
    if everything and (keys or html or against):
        raise click.UsageError("`--all` excludes --key, --html and --against.")
    if html and keys:
        raise click.UsageError("`--html` shows every key: give it without --key.")
    if against is not None:
        return _compare(session, against, html, wanted)
    if session.output_format == "markdown":
        raise click.UsageError("`--output-format markdown` needs `--against`.")
    tables, details, _ = _registrations(session, wanted)
    if html is not None:
        return _write_page(session, tables, html, _title(wanted, tables), details())
    text = ""
    operators = []
    for table in tables:
        shown = table.sets.slots if everything else wanted.keys
        text += render_table(table, shown, session.width)
        operators.append(table_data(table, wanted.keys))
    session.answer("table", text, operators=operators)
    return FINE


def _compare(
    session: Session,
    against: str,
    html: Path | None,
    asked: _Asked,
) -> int:
    """`--against`: the cells that change."""
    if asked.modules:
        raise click.UsageError("`--import` and `--against` exclude each other.")
    if asked.fallbacks:
        raise click.UsageError("`--fallback` and `--against` exclude each other.")
    program = session.load(schema=asked.schema or None, torch=asked.torch)
    require(program.diagnostics)
    # `--torch` reads one file, not the configured ones.
    schema = asked.schema or (("native_functions.yaml",) if asked.torch else ())
    with other_version(session, against, program, schema) as before:
        beneath = pytorchs_of_both(session, before.program, program)
        new = tables_of_program(program, asked.target, beneath)
        old = tables_of_program(before.program, asked.target, beneath)
    _require_keys(new, asked.keys)
    if asked.operator is not None:
        names = names_of(_of_name([*new, *old], asked.operator))
        old = [table for table in old if table.name in names]
        new = [table for table in new if table.name in names]
    comparison = compare_tables(old, new, asked.keys, beneath)
    if html is not None:
        title = f"{_title(asked, new)} against {against}"
        return _write_page(session, new, html, title, details_of(program), Before(against, old))
    if session.output_format == "markdown":
        title = f"Tables against {against}: {comparison.summary}"
        click.echo(render_markdown(title, comparison_sections(comparison)), nl=False)
    else:
        whose = selection_of(program, asked.target).policy.speaks_of
        session.answer(
            "table", render_comparison(comparison), **comparison_data({whose: comparison})
        )
    session.talk(f"{comparison.summary} against {against}")
    return FINE


def _title(asked: _Asked, tables: Sequence[Registrations]) -> str:
    """What a page of tables is called: after the operator, PyTorch, or the namespaces."""
    if asked.operator is not None:
        return f"Dispatch table of {asked.operator}"
    namespaces = dict.fromkeys(table.name.partition("::")[0] for table in tables)
    return f"Dispatch tables of {'PyTorch' if asked.torch else ', '.join(namespaces)}"


def _write_page(
    session: Session,
    tables: list[Registrations],
    path: Path,
    title: str,
    details: Mapping[str, Details],
    before: Before | None = None,
) -> int:
    page = render_html(tables, title, details, before)
    write_report(session, path, page, f"{counted(len(tables), 'operator')} written to")
    session.answer("table", "", files=[{"path": str(path), "status": "changed"}])
    return FINE


@command("why")
@click.argument("operator")
@click.argument("keys", nargs=-1, metavar="KEY...")
@click.option(
    "--include", multiple=True, metavar="KEY", help="The local state adds this key; repeatable."
)
@click.option(
    "--exclude", multiple=True, metavar="KEY", help="The local state removes this key; repeatable."
)
@click.option(
    "--autocast", "devices", multiple=True, metavar="DEVICE", help="Under `torch.autocast(DEVICE)`."
)
@click.option("--inference", is_flag=True, help="Under `torch.inference_mode()`.")
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="[NAME=]VALUE",
    help="An argument, such as `half[4, 12]` or `n=3`, for keys with several kernels; repeatable.",
)
@_SOURCE
def why_command(
    session: Session,
    /,
    operator: str,
    keys: Sequence[str],
    include: Sequence[str],
    exclude: Sequence[str],
    devices: Sequence[str],
    inference: bool,
    inputs: Sequence[str],
    **asked: Any,
) -> int:
    """Show rule by rule why a call whose arguments have these keys runs that kernel.

    The keys are those of the arguments. A thread has keys of its own, which it adds to each call, and others that it
    takes away: guards, modes and `torch.autocast` change these two sets, as the options do here.

    \b
    torchgen-lite why add.Tensor CPU AutogradCPU
    torchgen-lite why mm CPU AutogradCPU AutocastCPU --autocast cpu --torch
    torchgen-lite why add.Tensor CPU AutogradCPU --exclude Autograd
    torchgen-lite why add.Tensor Meta --torch
    torchgen-lite why mylib::muladd CPU --torch --import mylib
    torchgen-lite why mylib::rms_norm CUDA --input "half[4, 4096]"
    """
    if not keys:
        example = f"torchgen-lite why {operator} CPU"
        raise click.UsageError(f"`why` needs the dispatch keys of the arguments: `{example}`.")
    keys = canonical_keys(session, keys)
    tables, _, program = _registrations(session, _Asked(operator, keys, **asked))
    if tables:
        require(list(keys_of_no_tensor(tables[0].sets, keys)))
    state = _State(
        canonical_keys(session, include), canonical_keys(session, exclude), devices, inference
    )
    answers = [(table, why(table, keys, _local_sets(table, state))) for table in tables]
    chosen = [_rows_of(program, table, answer, inputs) for table, answer in answers]
    if inputs and not any(chosen):
        raise click.UsageError("`--input` is for keys with several kernels, and here each has one.")
    text = ""
    calls = []
    for answer, rows in zip(answers, chosen):
        data = why_data(*answer)
        shown = ""
        if rows is not None:
            data["rows"] = rows_data(rows)
            shown = render_rows(rows, session.width)
        text += render_why(*answer, shown)
        calls.append(data)
    session.answer("why", text, calls=calls)
    return FINE


def _rows_of(
    program: Program | None, registrations: Registrations, answer: Why, inputs: Sequence[str]
) -> Rows | None:
    """The rows among which the last kernel of a chain is chosen, and the input that is asked about, if any."""
    if program is None:
        return None
    rows = rows_at(program, registrations.name, answer.steps[-1].cell)
    if not rows.rows:
        return None
    function = program.resolved.by_name[registrations.name].function
    try:
        return rows._replace(values=inputs_from(inputs, function.func))
    except ValueError as wrong:
        raise click.UsageError(f"--input: {wrong}.") from None


class _State(NamedTuple):
    """What the options of `why` say of the running thread."""

    include: Sequence[str]
    exclude: Sequence[str]
    devices: Sequence[str]
    inference: bool


def _local_sets(registrations: Registrations, state: _State) -> LocalSets:
    """The sets of a thread in this state. Raises Refused for what is no key, or no device of autocast."""
    _require_keys([registrations], [*state.include, *state.exclude])
    sets = registrations.sets
    included, excluded = of_a_new_thread(sets)
    if state.inference:
        # c10 `InferenceMode` records nothing, and counts no versions.
        included -= {"ADInplaceOrView"}
        excluded |= sets.members["Autograd"]
    for device in state.devices:
        excluded -= {_autocast_key(sets, device)}
    included |= _runtime_keys(sets, state.include)
    excluded |= _runtime_keys(sets, state.exclude)
    return LocalSets(included, excluded)


def _runtime_keys(sets: KeySets, names: Sequence[str]) -> frozenset[str]:
    """These keys, with the members of an alias in its place."""
    keys = frozenset[str]()
    for name in map(sets.parse, names):
        keys |= sets.members.get(name, {name})
    return keys


def _autocast_key(sets: KeySets, device: str) -> str:
    keys = {key.removeprefix("Autocast").casefold(): key for key in sets.autocast}
    key = keys.get(device.casefold())
    if key is None:
        help_ = did_you_mean(device, keys) or f"the devices are {', '.join(keys)}"
        raise Refused(Diagnostic("TG012", f"autocast has no device `{device}`", help=help_))
    return key


def keys_of_no_tensor(sets: KeySets, keys: Sequence[str]) -> Iterator[Diagnostic]:
    """Keys that no argument has: aliases, and the building blocks of others."""
    for key in map(sets.parse, keys):
        if key in sets.members:
            message = f"`{key}` is an alias key, which no tensor has"
            yield Diagnostic(
                "TG012", message, help="name runtime keys, such as `CPU` or `AutogradCPU`"
            )
        elif key in sets.building_blocks:
            message = f"`{key}` is a building block of keys, which no tensor has alone"
            yield Diagnostic(
                "TG012", message, help="name a key of one backend, such as `CPU` or `SparseCPU`"
            )


def _registrations(
    session: Session, asked: _Asked
) -> tuple[list[Registrations], Callable[[], dict[str, Details]], Program | None]:
    """The requested operators, a function for the other details that a page shows, and the program that has them.

    Raises Refused if they, one of the keys or the schema can't be found.
    """
    if asked.modules and not asked.torch:
        raise click.UsageError("`--import` needs `--torch`.")
    if asked.torch and asked.fallbacks:
        raise click.UsageError("`--torch` and `--fallback` exclude each other.")
    program = None
    if asked.torch:
        every = registrations_of_torch(asked.modules, session.settings()[0])
        tables = every if asked.operator is None else _of_name(every, asked.operator)
        details = partial(details_of_torch, names_of(tables))
    else:
        program = session.load(schema=asked.schema or None)
        require(program.diagnostics)
        selection = selection_of(program, asked.target)
        beneath = _beneath(session, program, selection, asked)
        over = ", over those of PyTorch" if beneath else ""
        session.talk(f"registrations of {selection.policy.speaks_of}{over}")
        details = partial(details_of, program)
        of_program = by_name(registrations_of_program(program, selection, beneath))
        if asked.operator is None:
            return list(of_program.values()), details, program
        every = list({**of_program, **beneath, **of_program}.values())
        tables = _of_name(every, asked.operator, partial(why_absent, program, selection))
    _require_keys(tables, asked.keys)
    return tables, details, program


def _beneath(
    session: Session,
    program: Program,
    selection: Selection,
    asked: _Asked,
) -> Beneath:
    """What PyTorch has under the program's kernels, if the answer depends on it."""
    fallbacks = canonical_keys(session, asked.fallbacks)
    _require_keys([Registrations("", {}, {})], fallbacks)
    name = asked.operator
    known = program.resolved.find(name.removesuffix(".default")) if name else None
    is_own = known is not None and not known.function.is_pytorchs
    if is_own or not adds_to_pytorch(program, selection.policy):
        return {}
    return pytorchs_of(program, fallbacks)


def tables_of_program(
    program: Program, target: str | None, beneath: Beneath
) -> list[Registrations]:
    """What a target registers for every operator of a program, over what PyTorch has. Raises Refused."""
    return list(registrations_of_program(program, selection_of(program, target), beneath))


def canonical_keys(session: Session, names: Sequence[str]) -> tuple[str, ...]:
    """The canonical keys, for a project that renames PrivateUse1."""
    renamed = renamed_keys(session.settings()[0].privateuse1)
    return tuple(renamed.get(name, name) for name in names)


def _require_keys(tables: Sequence[Registrations], keys: Sequence[str]) -> None:
    """Raise Refused for what is no key of the release that operators are registered with."""
    wrong = []
    for table in tables[:1]:
        for key in keys:
            try:
                table.sets.parse(key)
            except ValueError:
                hint = "`torchgen-lite list keys` lists them"
                wrong.append(unknown("dispatch key", key, registrable_keys(table.keys), hint))
    require(wrong)


def _of_name(
    tables: list[Registrations],
    operator: str,
    why_absent: Callable[[str], str] = lambda name: "",
) -> list[Registrations]:
    """The operators of a name: `aten::add.Tensor`, `add.Tensor`; `add.default` means `add`."""
    wanted = operator.removesuffix(".default")
    exact = [table for table in tables if wanted in (table.name, table.name.partition("::")[2])]
    if exact:
        return [table for table in exact if table.name.startswith("aten::")] or exact
    if reason := why_absent(wanted):
        raise Refused(Diagnostic("TG012", reason))
    names = [table.name if "::" in operator else table.name.partition("::")[2] for table in tables]
    help_ = did_you_mean(operator, names) or "`torchgen-lite list ops` lists them"
    overloads = [name for name in names if name.partition(".")[0] == wanted]
    if overloads:
        listed = quoted(dict.fromkeys(overloads))
        if len(overloads) == 1:
            help_ = f"did you mean {listed}?"
        else:
            help_ = f"its overloads are {listed}"
    raise Refused(Diagnostic("TG012", f"no operator `{operator}`", help=help_))
