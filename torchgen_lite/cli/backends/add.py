"""`add`: copies PyTorch entries to the author's schema file, for a backend's kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from torchgen_lite.cli.backends.native import (
    load_with_native,
    native_options,
    require_right,
    unknown_keys,
)
from torchgen_lite.cli.backends.pages import write_file
from torchgen_lite.cli.exit_codes import FINE
from torchgen_lite.cli.session import Session, global_options
from torchgen_lite.diagnostics import Diagnostic, did_you_mean
from torchgen_lite.diagnostics.text import counted
from torchgen_lite.loader.earlier import Native
from torchgen_lite.loader.entry import NativeFunction


@click.command("add")
@click.argument("operators", nargs=-1, required=True, metavar="OPERATOR...")
@click.option(
    "--dispatch",
    "key",
    default="PrivateUse1",
    metavar="KEY",
    help="The key of the kernels (default: PrivateUse1).",
)
@native_options
@global_options
@click.pass_obj
def add_command(
    session: Session, operators: tuple[str, ...], key: str, native: str, schema: tuple[str, ...]
) -> int:
    """Copy entries from PyTorch to the schema file, with kernels to write for KEY.

    For a variant of a structured operator, the out variant that it delegates to is copied too, as
    it has the kernel.

    \b
    torchgen-lite add mm.out
    torchgen-lite add _copy_from empty.memory_format --dispatch PrivateUse1
    """
    program = load_with_native(session, schema or None, native)
    pytorch = {function.name: function for function in program.resolved.context}
    require_right(program, [*unknown_keys(key), *_unknown(pytorch, operators)])
    path = Path(schema[0]) if schema else program.config.root / program.config.schema[0]
    there = {function.name for function in program.entries}
    wanted = [f for f in _with_delegates(pytorch, operators) if f.name not in there]
    before = program.sources[0].text if program.sources else ""
    gap = "" if not before or before.endswith("\n\n") else "\n" if before.endswith("\n") else "\n\n"
    text = before + (gap if wanted else "") + "\n".join(entry(f, key) for f in wanted)
    for name in dict.fromkeys(f.name for f in _with_delegates(pytorch, operators)):
        if name in there:
            session.talk(f"{name} is already declared")
    session.talk(f"{counted(len(wanted), 'operator')} added")
    session.answer("add", "", added=[function.name for function in wanted])
    if wanted:
        write_file(session, path, text)
    return FINE


def _unknown(pytorch: Native, names: Sequence[str]) -> Iterator[Diagnostic]:
    known = [name.removeprefix("aten::") for name in pytorch]
    for name in names:
        local = name.removeprefix("aten::")
        if local not in known:
            yield Diagnostic(
                "TG012", f"PyTorch has no operator `{name}`", help=did_you_mean(local, known)
            )


def _with_delegates(pytorch: Native, names: Sequence[str]) -> Iterator[NativeFunction]:
    """The functions without repeats, each after the one that has its kernel."""
    seen: set[str] = set()
    for name in names:
        function = pytorch[f"aten::{name.removeprefix('aten::')}"]
        delegate = pytorch.get(function.delegate or "")
        for one in (function, delegate):
            if one is not None and one.name not in seen:
                seen.add(one.name)
                yield one


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
        # A structured kernel is a class, and overloads of an operator can't share one.
        kernel = schema.flat_name if function.structured else function.kernel_name
        lines += ["dispatch:", f"  {key}: {kernel}"]
    return "\n  ".join(lines) + "\n"
