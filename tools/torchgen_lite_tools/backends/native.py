"""What commands for backends read: the author's files, over the operators of a PyTorch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click

from torchgen_lite.analysis.program import Program
from torchgen_lite.cli.session import Session, options, require, schema_options, unknown
from torchgen_lite.cli.tables.commands import keys_of_no_tensor
from torchgen_lite.cli.tables.registrations import registrations_of_torch
from torchgen_lite.diagnostics import Diagnostic, did_you_mean
from torchgen_lite.key_sets import key_sets
from torchgen_lite.key_tables import CURRENT, registrable_keys
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.loader.torch.releases import INSTALLED
from torchgen_lite.pipeline import load
from torchgen_lite.targets.generation import generation_of
from torchgen_lite_tools.backends.sources import scanned
from torchgen_lite_tools.backends.verdicts import Overlay, pytorchs

# Mistakes that depend on the release, or that do not matter for coverage.
_ABOUT_PYTORCH = frozenset({"TG304", "TG305", "TG309", "TG312", "TG315", "TG316", "TG317"})


# The options that name the author's files and PyTorch's.
native_options = options(
    schema_options,
    click.option(
        "--native",
        default="",
        metavar="RELEASE",
        help="Which PyTorch: a version, a wheel or a path (default: as configured, else the installed one).",
    ),
)


def load_with_native(session: Session, schema: Sequence[str] | None, native: str) -> Program:
    """The program with its context; with None, of the configured schema files, and of none without any."""
    # Paths on the command line are relative to this folder, configured ones to the project's.
    here = Path.cwd() / native
    given = str(here) if native and here.exists() else native
    wanted = given or session.settings()[0].native or INSTALLED
    if schema is None or schema:
        return session.load(schema, native=wanted)
    settings, wrong = session.settings()
    require(wrong)
    return load((), config=replace(settings, native=wanted))


def require_right(found: Iterable[Diagnostic]) -> None:
    """Raise Refused for mistakes, but not for those that `lint` and `upgrade` report of a release."""
    require([diagnostic for diagnostic in found if diagnostic.code not in _ABOUT_PYTORCH])


def unknown_keys(*keys: str | None) -> Iterator[Diagnostic]:
    """Those of the keys that no kernel can be registered for."""
    known = registrable_keys(CURRENT)
    return (unknown("dispatch key", key, known) for key in keys if key and key not in known)


def keys_of_no_backend(*keys: str | None) -> list[Diagnostic]:
    """Those, or else the keys that no tensor has, such as aliases."""
    named = list(filter(None, keys))
    return [*unknown_keys(*named)] or [*keys_of_no_tensor(key_sets(), named)]


def whole_name(operator: str) -> str:
    """`aten::add.Tensor` of `add.Tensor`; `add.default` means `add`."""
    return f"aten::{operator.removeprefix('aten::').removesuffix('.default')}"


def unknown_operators(program: Program, names: Iterable[str]) -> Iterator[Diagnostic]:
    """Those that PyTorch does not have."""
    known = [one.name for one in program.resolved.context]
    for name in names:
        if whole_name(name) not in known:
            near = did_you_mean(name, [one.removeprefix("aten::") for one in known])
            yield Diagnostic("TG012", f"PyTorch has no operator `{name}`", help=near)


def is_listed(function: NativeFunction) -> bool:
    """Whether nothing names the operator but the rules of a backend, `autocast: like CUDA`."""
    return function.autocast is not None and function.autocast.span == function.func.name_span


def key_of(program: Program) -> str:
    """The key of a backend: the one with the most kernels."""
    keys = []
    for f in program.functions:
        for entry in f.dispatch:
            if not entry.key.startswith("Autograd") and entry.key not in CURRENT.aliases:
                keys.append(entry.key)
    return max(sorted(set(keys)), key=keys.count, default="PrivateUse1")


def overlay_of(
    session: Session, program: Program, key: str, modules: Sequence[str], folders: Sequence[Path]
) -> Overlay:
    """PyTorch under the kernels of the backend, from where they are to be read."""
    overlay = pytorchs(program.config, program.resolved.context, program.tags)
    if modules:
        loaded = {table.name: table for table in registrations_of_torch(modules, program.config)}
        tables = {name: loaded.get(name, table) for name, table in overlay.tables.items()}
        return overlay._replace(tables=tables)
    if not folders:
        return overlay.with_program(program, generation_of(program).of_backend)
    scan = scanned(folders, key)
    for place in scan.unread:
        session.warn(f"{place}: the name of an operator is computed, so a registration is not read")
    overlay = overlay.with_kernels(scan.kernels)
    for fallback in sorted(scan.fallbacks):
        overlay = overlay.with_fallback(fallback)
    return overlay
