"""What a built library registers in PyTorch, before its registrations move and after, and where the two differ.

Note [The same but for its kernels' places]
A table is compared by what fills each cell, not by the place where that was registered: every kernel that moves gets
another one. Two things are new on purpose, and are counted: names of arguments where PyTorch had inferred a schema, and
kernels that generated code adds where nothing but a fallback of PyTorch was.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from torchgen_lite.analysis.computed_table import FALLTHROUGH, Registrations, is_fallthrough
from torchgen_lite.cli.tables.compare import CellChange, Changed, compare_tables
from torchgen_lite.cli.tables.registrations import registrations_of_torch
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.runtime.table import FALLBACK, MISSING
from torchgen_lite.schema import FunctionSchema, parse_schema
from torchgen_lite_tools.importing.torch_module import import_one, read_definition

SHARED_ENDINGS = (".dll", ".dylib", ".pyd", ".so")
_INFERRED_NAME = re.compile(r"_\d+")
_PLACE = re.compile(r"registered at (.*):\d+")


class Registered(NamedTuple):
    """An operator in PyTorch: its schema, its tags, what PyTorch assumes that it writes to, where it is defined, and
    its kernels."""

    schema: str
    tags: tuple[str, ...]
    aliasing: str
    place: str
    table: Registrations


class Generated(NamedTuple):
    """What generated code is to register: the keys of the operators that moved, those of its own with which it adds to
    what the library has, and the paths of its files."""

    moved: Mapping[str, Collection[str]]
    added: Mapping[str, Collection[str]]
    files: Collection[str]


class Compared(NamedTuple):
    """How what is registered differs, and what is counted: operators, those of them whose schema was inferred, keys of
    added kernels. `absent` are operators that moved and that this build registered neither before nor after.
    """

    differences: tuple[Diagnostic, ...]
    operators: int
    inferred: int
    added: Mapping[str, int]
    absent: tuple[str, ...]


def read_registered(torch: Any, names: Sequence[str]) -> dict[str, Registered]:
    """What modules and shared libraries register, or add to. Raises ImportError for one that cannot be loaded."""
    before = {one.name: one.kernels for one in registrations_of_torch()}
    for name in names:
        _load(torch, name)
    after = registrations_of_torch()
    # A fallback would change the table of every operator.
    added = [one for one in after if one.kernels != before.get(one.name)]
    return {one.name: _registered(torch, one) for one in added}


def _load(torch: Any, name: str) -> None:
    if not name.endswith(SHARED_ENDINGS):
        return import_one(name)
    try:
        torch.ops.load_library(str(Path(name).absolute()))
    except (OSError, RuntimeError) as error:
        raise ImportError(f"cannot load `{name}`: {error}") from error


def _registered(torch: Any, table: Registrations) -> Registered:
    definition, _, text = read_definition(torch, table.name)
    lines = torch._C._dispatch_dump(table.name).splitlines()
    said = dict(line.split(": ", 1) for line in lines if ": " in line)
    # `CONSERVATIVE (default)` is what nobody asked for, and means the same.
    aliasing = said.get("alias analysis kind", "").removesuffix(" (default)")
    schema, tags = (definition.schema, definition.tags) if definition else (text, ())
    return Registered(schema, tags, aliasing, said.get("debug", ""), table)


def compare(
    before: Mapping[str, Registered], after: Mapping[str, Registered], generated: Generated
) -> Compared:
    """Every operator of two records, by name; the order of files and registrations does not matter."""
    found = list[Diagnostic]()
    added = Counter[str]()
    inferred = 0
    for name in sorted({*before, *after}):
        was = before.get(name)
        now = after.get(name)
        if was is None or now is None:
            if now:
                said = "was not registered before"
            else:
                said = "is no longer registered"
            found.append(_differs(name, f"`{name}` {said}"))
            continue
        own = generated.added.get(name, ())
        keys = {one.new.source for one in _cells(was, now) if _is_added(one, own)}
        added.update(keys)
        schema = _with_names(was.schema, now.schema)
        inferred += schema != was.schema or _is_spelled_out(was, now)
        found += _differences(name, was._replace(schema=schema), now, own)
        if name in generated.moved:
            found += _elsewhere(now, generated)
    absent = sorted(generated.moved.keys() - before.keys() - after.keys())
    number = len({*before, *after})
    return Compared(tuple(found), number, inferred, dict(sorted(added.items())), tuple(absent))


def _differences(
    name: str, was: Registered, now: Registered, own: Collection[str]
) -> Iterator[Diagnostic]:
    if was.schema != now.schema:
        help_ = f"it is `{now.schema}`, and was `{was.schema}`"
        yield _differs(name, f"`{name}` has another schema", help_)
    if was.tags != now.tags:
        help_ = f"they are {_listed(now.tags)}, and were {_listed(was.tags)}"
        yield _differs(name, f"`{name}` has other tags", help_)
    if was.aliasing != now.aliasing and not _is_spelled_out(was, now):
        help_ = f"it is {now.aliasing}, and was {was.aliasing}"
        yield _differs(name, f"`{name}` has another alias analysis", help_)
    cells = [one for one in _cells(was, now) if not _is_added(one, own)]
    if cells:
        rows = Changed(name, tuple(cells)).rows
        help_ = "; ".join(f"{keys}: {new}, before {old}" for keys, old, new in rows)
        yield _differs(name, f"`{name}` has another dispatch table", help_)


def _elsewhere(now: Registered, generated: Generated) -> Iterator[Diagnostic]:
    """An operator that moved and that generated code does not define, or not with its kernels: the build has not compiled
    anew, or not that. Kernels at other keys are those of Python, which stay where they are."""
    name = now.table.name
    places = {"define": now.place}
    for key in generated.moved[name]:
        if key in now.table.kernels:
            places[f"register a kernel at {key} of"] = now.table.kernels[key]
    for what, label in places.items():
        place = _PLACE.search(label)
        path = place[1].replace("\\", "/") if place else ""
        # A compiler that runs in the folder of the file is given its name alone.
        if not any(path.endswith(one) or f"/{one}".endswith(f"/{path}") for one in generated.files):
            message = f"generated code does not {what} `{name}`"
            yield _differs(name, message, f"it is {label}: does the build compile anew?")
            return


def _differs(name: str, message: str, help_: str | None = None) -> Diagnostic:
    return Diagnostic("TG617", message, help=help_, operator=name)


def _listed(tags: Sequence[str]) -> str:
    return ", ".join(f"`{one}`" for one in tags) or "none"


def _cells(was: Registered, now: Registered) -> Sequence[CellChange]:
    changed = compare_tables([_without_places(was.table)], [_without_places(now.table)]).changed
    return changed[0].cells if changed else ()


def _without_places(table: Registrations) -> Registrations:
    kernels, fallbacks = (
        {key: FALLTHROUGH if is_fallthrough(label) else "" for key, label in labels.items()}
        for labels in (table.kernels, table.fallbacks)
    )
    return table._replace(kernels=kernels, fallbacks=fallbacks)


def _is_added(one: CellChange, own: Collection[str]) -> bool:
    return one.new.source in own and one.old.origin in (FALLBACK, MISSING)


def _is_spelled_out(was: Registered, now: Registered) -> bool:
    """Whether PyTorch had inferred the schema, and so believed none of it: TG615 says when that matters."""
    return (was.aliasing, now.aliasing) == ("CONSERVATIVE", "FROM_SCHEMA")


def _with_names(was: str, now: str) -> str:
    """A schema that PyTorch had inferred, with the names that it has now; else as it was."""
    old, _ = parse_schema(was) if was else (None, ())
    new, _ = parse_schema(now) if now else (None, ())
    if old is None or new is None or len(old.arguments) != len(new.arguments):
        return was
    if len(old.returns) == len(new.returns):
        return str(_named(old, new))
    return was


def _named(old: FunctionSchema, new: FunctionSchema) -> FunctionSchema:
    arguments = [
        one._replace(name=now.name) if _INFERRED_NAME.fullmatch(one.name) else one
        for one, now in zip(old.arguments, new.arguments)
    ]
    returns = [
        one._replace(name=now.name) if one.name and _INFERRED_NAME.fullmatch(one.name) else one
        for one, now in zip(old.returns, new.returns)
    ]
    return replace(old, arguments=tuple(arguments), returns=tuple(returns))
