"""The project's configuration: `[tool.torchgen_lite]` of pyproject.toml, or torchgen_lite.toml."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from torchgen_lite.diagnostics import (
    Diagnostic,
    Diagnostics,
    Help,
    Label,
    Source,
    Span,
    begins_code,
    code_names,
    did_you_mean,
    not_compared,
    write_instead,
)
from torchgen_lite.key_tables import CURRENT, dispatch_keys
from torchgen_lite.loader.config.options import (
    NAME,
    PATH,
    TABLE,
    TEXT,
    Option,
    matching,
    one_or_more,
    option,
    options_of,
    read_options,
)
from torchgen_lite.loader.entry.dispatch_table import key_names, renamed_keys
from torchgen_lite.loader.sources import read_source
from torchgen_lite.loader.versions import contains, parse_range, parse_version
from torchgen_lite.schema.grouped import names_of
from torchgen_lite.schema.type_names import DEVICES

# `tomllib` is in the standard library from 3.11 on; `tomli` is the same module for 3.10.
tomllib: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

TargetOptions = Mapping[str, Mapping[str, object]]

DEFAULT_SCHEMA = "native_functions.yaml"
SOURCE_ROOTS = (".", "src")
# Reading a key takes tomllib the square of the number of its parts, `a.b.c`.
_MAX_PARTS = 100
_PART = r"(?:[\w-]+|\"[^\"\n]*\"|'[^'\n]*')"
_CROWDED = re.compile(rf"(?:^|[{{,\[])[ \t]*(?:{_PART}[ \t]*\.[ \t]*){{{_MAX_PARTS}}}", re.M)
CONFIG_FILES = ("torchgen_lite.toml", "pyproject.toml")
_TABLE = "torchgen_lite"
# Headers of the table in pyproject.toml, also spelled as the distribution is. A string may have such a line, too.
_HEADERS = re.compile(r"(?m)^\s*\[\s*tool\s*\.\s*(torchgen[_-]lite)(?![\w-])")
# The tables of the configuration, besides those of targets.
TABLES = ("lint", "workspace")

_NAMESPACE = matching(rf"{NAME}(?:::{NAME})*", "is not a namespace")
_RELEASE = matching(r"\d+\.\d+(?:\.\d+)?", "is not a release")


def _is_new_device(text: str) -> bool:
    """Whether PyTorch has no device of that name, and no key is called as one of this device's would be.

    PyTorch calls the device of `CUDA` as the key, in small letters.
    """
    taken = {*DEVICES, *dispatch_keys(CURRENT), *key_names()}
    return taken.isdisjoint((text.lower(), *renamed_keys(text)))


_DEVICE = matching(NAME, "is the name of a device or a dispatch key already", _is_new_device)
_CODES = one_or_more(
    matching(
        "[A-Z0-9]+",
        "begins no diagnostic code",
        begins_code,
        help=lambda text: did_you_mean(text, code_names()),
    )
)
_MEMBER = matching(
    r"(?!.*\*\*)[^/\\\x00-\x1f\x7f][^\\\x00-\x1f\x7f]*",
    "is not the path of a folder from here, with `/` between its parts and perhaps a `*` in them",
)
_RANGE = matching(
    ".*",
    "is not a version range",
    lambda text: parse_range(text) is not None,
    help=lambda text: 'write comparisons joined by commas, such as ">=0.4,<0.5"',
)


@dataclass(frozen=True, slots=True)
class Config:
    """What the configuration says, with defaults filled in.

    `root` is the folder of the configuration file, and paths in the file are relative to it. `path`
    is None if there is no file. An empty `targets` stands for the built-in defaults.
    """

    root: Path
    path: Path | None = None
    schema: tuple[str, ...] = option(
        "The schema files, in the order in which they are read.",
        one_or_more(PATH),
        (DEFAULT_SCHEMA,),
    )
    output_dir: str = option("The folder for all outputs.", PATH, "generated")
    targets: tuple[str, ...] = option(
        "The targets to generate.", one_or_more(TEXT), (), shown='`["python"]`'
    )
    source_roots: tuple[str, ...] = option(
        "The folders that modules of the project are imported from. Modules that options name "
        "are looked for there, then among installed packages.",
        one_or_more(PATH),
        SOURCE_ROOTS,
    )
    template_dirs: tuple[str, ...] = option(
        "Folders with templates that replace built-in ones.", one_or_more(PATH), ()
    )
    template_vars: Mapping[str, object] = option(
        "Variables for templates, which find them under `vars`: `{{ vars.copyright }}`.", TABLE, {}
    )
    check_message: str = option(
        "An additional message of `check` when files are out of date.", TEXT, ""
    )
    required_version: str = option(
        "The versions of torchgen-lite that the project works with.", _RANGE, "", shown="any"
    )
    namespace: str = option(
        "The namespace of operators whose schema has none.", _NAMESPACE, "", shown="`aten`"
    )
    privateuse1: str = option(
        "The name of your own device on `PrivateUse1`, such as `SIM`: schema files may use `SIM` "
        "and `AutogradSIM`, and target `python` uses it in errors.",
        _DEVICE,
        "",
        shown="`PrivateUse1`",
    )
    native: str = option(
        "Whose operators the schema files refer to: `torch` for those of the installed PyTorch, "
        "or the path of a native_functions.yaml, of a checkout or of a wheel. Entries inherit "
        "schemas, tags and variants from them; they are neither generated nor checked.",
        PATH,
        "",
        shown="none",
    )
    for_torch: str = option(
        "The release of PyTorch that the entries are read for: what their ranges `torch`, or "
        "those in files of vendors (`[v2.1, newest]`), leave out is not checked, listed or "
        "served.",
        _RELEASE,
        "",
        shown="that of `native`, else the newest in the file",
    )
    torch: str = option(
        "The releases of PyTorch that the project supports. A dispatch key, a type or a tag that "
        "one of them lacks is a diagnostic (TG340), unless the entry's own `torch:` leaves that "
        "release out.",
        _RANGE,
        "",
        shown="any",
    )
    extra_fields: tuple[str, ...] = option(
        "Fields of a vendor, which entries may have and which are ignored.", one_or_more(TEXT), ()
    )
    tags: tuple[str, ...] = option(
        "Your own tags, in addition to those of PyTorch; they are not passed to libtorch.",
        one_or_more(matching(NAME, "is not a name")),
        (),
    )
    target_options: Mapping[str, Mapping[str, object]] = option(
        "The options of each target, below.", TABLE, {}, name="target"
    )
    lint_select: tuple[str, ...] = option(
        "Codes to report, or prefixes of codes; those of other packages are always reported.",
        _CODES,
        ("TG",),
        name="select",
        table="lint",
    )
    lint_ignore: tuple[str, ...] = option(
        "Codes not to report, or prefixes of codes; the longer prefix wins.",
        _CODES,
        (),
        name="ignore",
        table="lint",
    )
    members: tuple[str, ...] = option(
        "Folders of projects that `check`, `lint`, `generate`, `diff`, `breaking` and `fmt` then "
        "run in, one after the other. `examples/*` is every folder there that has a "
        "configuration, and `.` is this one.",
        one_or_more(_MEMBER),
        (),
        table="workspace",
    )
    source: Source | None = not_compared()
    # Options from the command line, which apply to any schema file that it names.
    asked_options: TargetOptions = field(default_factory=dict)
    # Whose operators are read. Configured kernels and names apply only to the project's.
    operators: Literal["project", "others", "torch"] = "project"

    @property
    def template_folders(self) -> tuple[str, ...]:
        return tuple([str(self.root / folder) for folder in self.template_dirs])

    @property
    def opaque(self) -> Collection[str]:
        """The classes of Python that schemas may name, declared for a target that registers them."""
        declared = [options.get("opaque") for options in self.target_options.values()]
        return [name for classes in declared if isinstance(classes, dict) for name in classes]


Loaded = tuple[Config, Diagnostics]


def load_config(start: Path, explicit: Path | None = None) -> Loaded:
    """The configuration that governs `start`, or the file that was named. Never raises."""
    diagnostics: list[Diagnostic] = []
    path = explicit if explicit is not None else find_config(start, diagnostics)
    if path is None:
        return Config(root=start), tuple(diagnostics)
    source, unread = read_source(path, path.parent)
    if source is None:
        problems = [Diagnostic("TG001", d.message, d.label) for d in unread]
        return Config(root=path.parent, path=path), tuple(diagnostics + problems)
    # Editors on Windows write a byte order mark, which is not part of the text.
    text = source.text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")
    return parse_config(Source(source.path, text), path, diagnostics)


def find_config(start: Path, diagnostics: list[Diagnostic]) -> Path | None:
    """The nearest configuration at or above `start`, not going above the repository's root."""
    try:
        folder = start.resolve()
    except OSError:
        return None
    for candidate in (folder, *folder.parents):
        path = find_in_folder(candidate, diagnostics)
        if path is not None or (candidate / ".git").exists():
            return path
    return None


def find_in_folder(folder: Path, diagnostics: list[Diagnostic]) -> Path | None:
    """The configuration in a folder. A folder that has one is the root of a project."""
    own_file, project = (folder / name for name in CONFIG_FILES)
    # Not `Path.is_file`, which raises for some paths from configurations and command lines.
    is_own = os.path.isfile(own_file)
    has_table = os.path.isfile(project) and _has_table(project)
    if is_own and has_table:
        diagnostics.append(
            Diagnostic(
                "TG004",
                f"both `{own_file.name}` and a table in `{project.name}` configure this folder",
                help="remove one of them",
            )
        )
    if is_own:
        return own_file
    return project if has_table else None


def _has_table(path: Path) -> bool:
    try:
        return _HEADERS.search(path.read_text("utf-8-sig", "replace")) is not None
    except OSError:
        return False


def parse_config(source: Source, path: Path, diagnostics: list[Diagnostic]) -> Loaded:
    """Read the text of a configuration file."""
    config = Config(root=path.parent, path=path)
    data = _read_toml(source, diagnostics)
    prefix = _prefix(source)
    if prefix and data is not None:
        tool = data["tool"] if isinstance(data.get("tool"), dict) else {}
        data = tool.get(_TABLE, {})
        if not isinstance(data, dict):
            diagnostics.append(Diagnostic("TG003", f"`{prefix}` must be a table"))
        if "torchgen-lite" in tool:
            diagnostics += _other_table(source)
    if isinstance(data, dict):
        values = _read_tables(source, data, diagnostics)
        config = replace(config, source=source, **values)
    return config, tuple(diagnostics)


def _prefix(source: Source) -> str:
    """The table that all others are in, if they are in one."""
    return f"tool.{_TABLE}" if Path(source.path).name == "pyproject.toml" else ""


def _other_table(source: Source) -> Iterator[Diagnostic]:
    """TG002 for the first `[tool.torchgen-lite]`, which nothing reads."""
    for header in _HEADERS.finditer(source.text):
        if header[1] != _TABLE:
            yield Diagnostic(
                "TG002",
                f"`tool.{header[1]}` is not the table of torchgen-lite",
                Label(Span(source, *header.span(1)), "here"),
                help=did_you_mean(header[1], [_TABLE]),
            )
            return


def _read_toml(source: Source, diagnostics: list[Diagnostic]) -> Any:
    if crowded := _CROWDED.search(source.text):
        diagnostics.append(
            Diagnostic(
                "TG001",
                f"a key has more than {_MAX_PARTS} parts",
                Label(Span(source, *crowded.span()).first_line, "here"),
            )
        )
        return None
    try:
        return tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        diagnostics.append(_toml_error(source, str(error)))
    except RecursionError:
        diagnostics.append(Diagnostic("TG001", f"`{source.path}` is nested too deeply"))
    return None


def _toml_error(source: Source, text: str) -> Diagnostic:
    place = re.search(r"\(at line (\d+), column (\d+)\)", text)
    offset = max(len(source.text) - 1, 0)
    if place is not None:
        offset = source.line_start(int(place[1])) + int(place[2]) - 1
    if wrong := _targets_table(source):
        return wrong
    bare = re.compile(r"[A-Za-z][\w./-]*").match(source.text, offset)
    if bare is not None and "invalid value" in text.lower():
        return Diagnostic(
            "TG001",
            "a string without quotes",
            Label(Span(source, *bare.span()), "not in quotes"),
            help=write_instead(bare[0], f'"{bare[0]}"'),
        )
    return Diagnostic(
        "TG001",
        f"invalid TOML: {re.sub(r' ?[(]at .*', '', text).lower()}",
        Label(Span(source, offset, offset + 1), "here"),
    )


def _targets_table(source: Source) -> Diagnostic | None:
    """TG003 for `[targets.python]` instead of `[target.python]`: `targets` is a list of names."""
    header = re.search(rf"(?m)^[ \t]*\[((?:tool\.{_TABLE}\.)?)targets\.([\w-]+)", source.text)
    if header is None:
        return None
    return Diagnostic(
        "TG003",
        f"`targets` is a list of names, and `{header[2]}` a table in it",
        Label(Span(source, header.start(1), header.end()), "not a table"),
        help=f"options of a target go in `[{header[1]}target.{header[2]}]`",
    )


@cache
def general_options(table: str = "") -> dict[str, Option]:
    """The options of one table of the configuration, keyed by attribute of `Config`."""
    return {name: option for name, option in options_of(Config).items() if option.table == table}


def _read_tables(
    source: Source, data: Mapping[str, Any], diagnostics: list[Diagnostic]
) -> dict[str, Any]:
    """The values by attribute name; keys that are unknown and values that are wrong are reported."""

    def report(code: str, message: str, key: str, table: str, help: Help | None = None) -> None:
        diagnostics.append(Diagnostic(code, message, _place_of(source, table, key), help=help))

    values: dict[str, Any] = {}
    for table in ("", *TABLES):
        given = data.get(table, {}) if table else data
        if not isinstance(given, dict):
            report("TG003", f"`{table}` takes a table", table, "")
            continue
        options = general_options(table)
        names = names_of(options.values())
        if not table:
            names += TABLES
        for key in given:
            if key not in names:
                hint = did_you_mean(key, names)
                if key == "tool" and not _prefix(source):
                    hint = f"in this file tables have no `tool.{_TABLE}.` before their names"
                report("TG002", f"unknown configuration key `{key}`", key, table, hint)
        read, problems = read_options(options, given)
        values |= read
        for problem in problems:
            if problem.option == "targets" and (wrong := _targets_table(source)):
                diagnostics.append(wrong)
                continue
            hint = "`targets` lists the names of targets" if problem.option == "target" else None
            report("TG003", problem.message, problem.option, table, problem.help or hint)
    targets: dict[str, Any] = values.get("target_options", {})
    for name in [name for name, table in targets.items() if not isinstance(table, dict)]:
        report("TG003", f"`{name}` takes a table", name, "target")
        del targets[name]
    return values


def put_over(options: TargetOptions, given: TargetOptions) -> TargetOptions:
    """The options of targets, with some of them replaced."""
    over = {name: {**options.get(name, {}), **values} for name, values in given.items()}
    return {**options, **over}


def locate_option(config: Config, table: str, key: str) -> Label | None:
    """Where the configuration sets `key` in a table like `target.python`; None without a file."""
    return None if config.source is None else _place_of(config.source, table, key)


def locate_value(config: Config, table: str, key: str, value: str) -> Label | None:
    """Where the configuration lists `value` under `key`; None if it is not found."""
    place = locate_option(config, table, key)
    if place is None:
        return None
    source = place.span.source
    begin = place.span.end
    following = re.compile(r"(?m)^[ \t]*\[+[A-Za-z]").search(source.text, begin)
    written = re.compile(rf"""(["']){re.escape(value)}\1""")
    match = written.search(source.text, begin, following.start() if following else len(source.text))
    return Label(Span(source, match.start(), match.end()), "here") if match else None


def _place_of(source: Source, table: str, key: str) -> Label:
    """Where a key is in TOML text: on a line of its table, or in a table's header.

    The standard library's TOML reader gives no positions, so this searches the text. The result is
    only used to point at a mistake.
    """
    text = source.text
    table = f"{_prefix(source)}.{table}".strip(".")
    quoted = rf'["\']?{re.escape(key)}["\']?'
    current = ""
    for match in re.finditer(r"(?m)^[ \t]*(\[+[^\]\n]*\]+|[^=\n#]+(?==)).*$", text):
        head = match[1].strip()
        if head.startswith("["):
            current = head.strip("[] ").replace(" ", "")
            is_first = not table and current.split(".")[0] == key
            is_last = re.search(rf"(?:^|\.){quoted}$", current) and current.startswith(table)
            is_here = is_first or is_last
        else:
            is_alone = current == table and re.match(rf"{quoted}(?:\s*\.|\s*$)", head)
            is_here = is_alone or head.startswith(table[len(current) :].lstrip(".")) and key in head
        if is_here:
            position = text.find(key, match.start(1))
            return Label(Span(source, position, position + len(key)), "here")
    return Label(Span(source, 0, min(len(text), 1)), "here")


def check_required_version(config: Config, version: str) -> Diagnostics:
    """TG005 if the installed version is outside `required-version`."""
    clauses = parse_range(config.required_version) if config.required_version else None
    if not clauses or contains(clauses, parse_version(version)):
        return ()
    return (
        Diagnostic(
            "TG005",
            f"this is torchgen-lite {version}, but `{config.required_version}` is required",
            help="install a version in that range",
        ),
    )
