"""`add`: copies PyTorch entries to the author's schema file, for a backend's kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from torchgen_lite.analysis.program import Program
from torchgen_lite.cli.exit_codes import ATTENTION, FINE
from torchgen_lite.cli.pages import write_file
from torchgen_lite.cli.session import Session, command, require
from torchgen_lite.cli.tables.commands import canonical_keys
from torchgen_lite.diagnostics import Source
from torchgen_lite.diagnostics.text import counted, ended
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.loader.formats.earlier import Native
from torchgen_lite.loader.sources import shown_path
from torchgen_lite.loader.yaml.nodes import ListNode, ScalarNode, read_yaml
from torchgen_lite_tools.backends.calls import called
from torchgen_lite_tools.backends.native import (
    is_listed,
    keys_of_no_backend,
    load_with_native,
    native_options,
    overlay_of,
    require_right,
    unknown_keys,
    unknown_operators,
    whole_name,
)
from torchgen_lite_tools.backends.sources import input_option
from torchgen_lite_tools.backends.verdicts import SERVED, Covered, Verdict, coverage, kernels_of


@command("add")
@click.argument("operators", nargs=-1, metavar="[OPERATOR]...")
@click.option(
    "--dispatch",
    "key",
    default="PrivateUse1",
    metavar="KEY",
    help="The key (default: PrivateUse1).",
)
@click.option("--like", metavar="KEY", help="Add what PyTorch has kernels of this key for.")
@input_option(
    "--calls",
    metavar="SCRIPT|LOG",
    help="Add what a script or a log calls and no kernel serves, as `coverage --calls` finds it.",
)
@native_options
def add_command(
    session: Session,
    operators: tuple[str, ...],
    key: str,
    like: str | None,
    calls: Path | None,
    native: str,
    schema: tuple[str, ...],
) -> int:
    """Copy entries from PyTorch to the schema file, with kernels to write for KEY.

    For a variant of a structured operator, the out variant that it delegates to is copied too, as
    it has the kernel. Where `native` is configured, an entry is a name and a kernel.

    \b
    torchgen-lite add mm.out
    torchgen-lite add _copy_from empty.memory_format --dispatch PrivateUse1
    torchgen-lite add --like CUDA
    """
    if not operators and like is None and calls is None:
        raise click.UsageError("`add` needs operators, `--like` or `--calls`.")
    is_named = bool(session.settings()[0].native)
    program = load_with_native(session, schema or None, native)
    pytorch = {function.name: function for function in program.resolved.context}
    canonical, *others = canonical_keys(session, [key, *filter(None, [like])])
    wrong = [*unknown_keys(canonical, *others), *unknown_operators(program, operators)]
    require_right([*program.diagnostics, *wrong])
    if like is not None or calls is not None:
        require(keys_of_no_backend(canonical, *others))
        operators = (*operators, *_asked_for(session, program, canonical, others, calls))
    if schema:
        path = Path(schema[0])
    else:
        path = program.config.root / program.config.schema[0]
    there = {function.name for function in program.entries if not is_listed(function)}
    every = _with_delegates(pytorch, operators)
    # By name, only what has a kernel is an entry.
    every = [f for f in every if not is_named or f.structured_delegate is None]
    wanted = [f for f in every if f.name not in there]
    for function in every:
        if function.name in there:
            session.talk(f"{function.name} is already declared")
    entries = [(named if is_named else entry)(function, key) for function in wanted]
    before = program.sources[0].text if program.sources else ""
    if entries and not _takes_entries(path, before):
        shown = shown_path(path, Path.cwd())
        session.talk(f"{shown} takes no entries at its end: add these to a list of it")
        lines = ended(f"  - {function.func.local_name}" for function in wanted)
        session.answer("add", lines, added=[])
        return ATTENTION
    _append(session, path, before, entries)
    session.answer("add", "", added=[function.name for function in wanted])
    return FINE


def _takes_entries(path: Path, text: str) -> bool:
    """Whether entries are a file of their own or can follow those of a list that begins in the first column."""
    source = Source(str(path), text)
    node, _ = read_yaml(source)
    if node is None or (isinstance(node, ScalarNode) and node.is_null):
        return True
    return isinstance(node, ListNode) and source.line_column(node.start)[1] == 1


def _append(session: Session, path: Path, before: str, entries: Sequence[str]) -> None:
    """Add entries to a file, after an empty line."""
    if not entries:
        session.talk("0 operators added")
        return
    if before.endswith("\n\n"):
        end = ""
    elif before.endswith("\n"):
        end = "\n"
    else:
        end = "\n\n"
    text = before + (end if before else "") + "\n".join(entries)
    write_file(session, path, text, f"{counted(len(entries), 'operator')} added to")


def _asked_for(
    session: Session, program: Program, key: str, like: Sequence[str], calls: Path | None
) -> Iterator[str]:
    """The operators with a kernel at another key, and those that are called and are not served."""
    overlay = overlay_of(session, program, key, (), ())
    others = kernels_of(overlay.native, like[0]) if like else {}
    covered = {entry.operator.name: entry for entry in coverage(overlay, key)}
    unserved: list[Covered] = []
    if calls is not None:
        unserved, _, stopped = called(session, overlay, key, tuple(covered.values()), (), calls)
        if stopped:
            session.warn(stopped)
    unserved = [entry for entry in unserved if entry.verdict not in SERVED]
    for entry in [*(covered[name] for name in others if others[name] is Verdict.own), *unserved]:
        # A kernel for the operator that is called in the end serves those that call it.
        while entry.by in covered and covered[entry.by].verdict not in SERVED:
            entry = covered[entry.by]
        if not entry.operator.is_derived:
            yield entry.operator.name


def _with_delegates(pytorch: Native, names: Sequence[str]) -> list[NativeFunction]:
    """The functions without repeats, each with the one that has its kernel."""
    found: dict[str, NativeFunction] = {}
    for name in names:
        function = pytorch[whole_name(name)]
        delegate = pytorch.get(function.delegate or "", function)
        found |= {function.name: function, delegate.name: delegate}
    return list(found.values())


def named(function: NativeFunction, key: str) -> str:
    """An entry of a file whose schemas are those of `native`."""
    return f"- func: {function.func.local_name}\n  dispatch:\n    {key}: {_kernel(function)}\n"


def entry(function: NativeFunction, key: str) -> str:
    """An entry in canonical form: PyTorch's schema and one kernel, or none if it delegates."""
    schema = function.func
    lines = [f"- func: {schema.local_text}"]
    fields = {
        "device_check": function.device_check,
        "device_guard": None if function.device_guard else False,
        "use_const_ref_for_mutable_tensors": function.use_const_ref_for_mutable_tensors or None,
        "structured": function.structured or None,
        "structured_delegate": function.structured_delegate,
        "structured_inherits": function.structured_inherits,
    }
    lines += [f"{name}: {value}" for name, value in fields.items() if value is not None]
    if function.precomputed:
        lines += ["precomputed:", *(f"- {text}" for text in function.precomputed)]
    if function.structured_delegate is None:
        lines += ["dispatch:", f"  {key}: {_kernel(function)}"]
    tags = [tag for tag in function.tags if tag != "generated"]
    if tags:
        lines.append(f"tags: {tags[0] if len(tags) == 1 else '[' + ', '.join(tags) + ']'}")
    return "\n  ".join(lines) + "\n"


def _kernel(function: NativeFunction) -> str:
    """A structured kernel is a class, and overloads of an operator can't share one."""
    if function.structured:
        return function.func.flat_name
    return function.kernel_name
