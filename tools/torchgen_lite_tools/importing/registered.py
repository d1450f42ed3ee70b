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
    kernels_before = {table.name: table.kernels for table in registrations_of_torch()}
    for name in names:
        _load(torch, name)
    registered = dict[str, Registered]()
    for table in registrations_of_torch():
        # A fallback would change the table of every operator.
        if table.kernels != kernels_before.get(table.name):
            registered[table.name] = _registered(torch, table)
    return registered


def _load(torch: Any, name: str) -> None:
    if not name.endswith(SHARED_ENDINGS):
        return import_one(name)
    path = Path(name).absolute()
    try:
        torch.ops.load_library(str(path))
    except (OSError, RuntimeError) as error:
        raise ImportError(f"cannot load `{name}`: {error}") from error


def _registered(torch: Any, table: Registrations) -> Registered:
    definition, _, text = read_definition(torch, table.name)
    facts = dict[str, str]()
    for line in torch._C._dispatch_dump(table.name).splitlines():
        name, colon, value = line.partition(": ")
        if colon:
            facts[name] = value
    # `CONSERVATIVE (default)` is what nobody asked for, and means the same.
    aliasing = facts.get("alias analysis kind", "").removesuffix(" (default)")
    place = facts.get("debug", "")
    if definition is None:
        return Registered(text, (), aliasing, place, table)
    return Registered(definition.schema, definition.tags, aliasing, place, table)


def compare(
    before: Mapping[str, Registered], after: Mapping[str, Registered], generated: Generated
) -> Compared:
    """Every operator of two records, by name; the order of files and registrations does not matter."""
    differences = list[Diagnostic]()
    added = Counter[str]()
    inferred = 0
    names = sorted({*before, *after})
    for name in names:
        was = before.get(name)
        now = after.get(name)
        if was is None or now is None:
            what = "was not registered before" if now else "is no longer registered"
            differences.append(_differs(name, f"`{name}` {what}"))
            continue
        keys_of_generated = generated.added.get(name, ())
        added_cells = [cell for cell in _cells(was, now) if _is_added(cell, keys_of_generated)]
        added.update({cell.new.source for cell in added_cells})
        schema = _with_names(was.schema, now.schema)
        inferred += schema != was.schema or _is_spelled_out(was, now)
        named = was._replace(schema=schema)
        differences += _differences(name, named, now, keys_of_generated)
        if name in generated.moved:
            differences += _elsewhere(now, generated)
    added_by_key = dict(sorted(added.items()))
    absent = sorted(generated.moved.keys() - before.keys() - after.keys())
    return Compared(tuple(differences), len(names), inferred, added_by_key, tuple(absent))


def _differences(
    name: str, was: Registered, now: Registered, keys_of_generated: Collection[str]
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
    cells = [cell for cell in _cells(was, now) if not _is_added(cell, keys_of_generated)]
    if cells:
        rows = Changed(name, tuple(cells)).rows
        changes = [f"{keys}: {new}, before {old}" for keys, old, new in rows]
        help_ = "; ".join(changes)
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
        if not any(_is_same_file(path, file) for file in generated.files):
            message = f"generated code does not {what} `{name}`"
            yield _differs(name, message, f"it is {label}: does the build compile anew?")
            return


def _is_same_file(path: str, file: str) -> bool:
    """Whether a path of a compiler's is that of a file: one that runs in the folder of the file is given its name alone."""
    return path.endswith(file) or f"/{file}".endswith(f"/{path}")


def _differs(name: str, message: str, help_: str | None = None) -> Diagnostic:
    return Diagnostic("TG617", message, help=help_, operator=name)


def _listed(tags: Sequence[str]) -> str:
    return ", ".join(f"`{tag}`" for tag in tags) or "none"


def _cells(was: Registered, now: Registered) -> Sequence[CellChange]:
    old_table = _without_places(was.table)
    new_table = _without_places(now.table)
    changed = compare_tables([old_table], [new_table]).changed
    return changed[0].cells if changed else ()


def _without_places(table: Registrations) -> Registrations:
    kernels = _labels_without_places(table.kernels)
    fallbacks = _labels_without_places(table.fallbacks)
    return table._replace(kernels=kernels, fallbacks=fallbacks)


def _labels_without_places(labels: Mapping[str, str]) -> dict[str, str]:
    """What is registered at each key: a fallthrough, or a kernel, wherever it is."""
    return {key: FALLTHROUGH if is_fallthrough(label) else "" for key, label in labels.items()}


def _is_added(cell: CellChange, keys_of_generated: Collection[str]) -> bool:
    """Whether generated code fills a cell in which there was nothing but a fallback of PyTorch."""
    is_of_generated = cell.new.source in keys_of_generated
    return is_of_generated and cell.old.origin in (FALLBACK, MISSING)


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
    arguments = []
    for argument, named in zip(old.arguments, new.arguments):
        is_inferred = _INFERRED_NAME.fullmatch(argument.name)
        arguments.append(argument._replace(name=named.name) if is_inferred else argument)
    returns = []
    for result, named_result in zip(old.returns, new.returns):
        is_inferred = _INFERRED_NAME.fullmatch(result.name or "")
        returns.append(result._replace(name=named_result.name) if is_inferred else result)
    return replace(old, arguments=tuple(arguments), returns=tuple(returns))
