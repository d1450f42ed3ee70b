"""The project's configuration: `[tool.torchgen_lite]` of pyproject.toml, or torchgen_lite.toml."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from torchgen_lite.diagnostics import CODES, Diagnostic, Label, Source, Span, did_you_mean
from torchgen_lite.loader.sources import read_source
from torchgen_lite.loader.versions import contains, parse_range, parse_version

# The standard library has it from 3.11 on; `tomli` is the same module for 3.10.
tomllib: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

DEFAULT_SCHEMA = "native_functions.yaml"
_TABLE = "torchgen_lite"

# The keys and the shape of their values: text, texts (a list of them, or one), table, tables.
_KEYS = {
    "required-version": "text",
    "schema": "texts",
    "output-dir": "text",
    "targets": "texts",
    "template-dirs": "texts",
    "template-vars": "table",
    "check-message": "text",
    "extra-fields": "texts",
    "tags": "texts",
    "lint": "lint",
    "target": "tables",
}
_LINT_KEYS = ("select", "ignore")


@dataclass(frozen=True, slots=True)
class Config:
    """What the configuration says, with defaults filled in.

    `root` is the folder of the file; every path in it is relative to that. `path` is None without a
    file. `targets` is empty when all built-in defaults are meant.
    """

    root: Path
    path: Path | None = None
    schema: tuple[str, ...] = (DEFAULT_SCHEMA,)
    output_dir: str = "generated"
    targets: tuple[str, ...] = ()
    template_dirs: tuple[str, ...] = ()
    template_vars: Mapping[str, object] = field(default_factory=dict)
    check_message: str = ""
    required_version: str = ""
    extra_fields: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    target_options: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    lint_select: tuple[str, ...] = ("TG",)
    lint_ignore: tuple[str, ...] = ()
    source: Source | None = field(default=None, compare=False, repr=False)


Loaded = tuple[Config, tuple[Diagnostic, ...]]


def load_config(start: Path, explicit: Path | None = None) -> Loaded:
    """The configuration that governs `start`, or the file that was named. Never raises."""
    diagnostics: list[Diagnostic] = []
    path = explicit if explicit is not None else find_config(start, diagnostics)
    if path is None:
        return Config(root=start), tuple(diagnostics)
    root = path.parent
    source, unread = read_source(path, root)
    if source is None:
        found = [Diagnostic("TG001", d.message, d.label) for d in unread]
        return Config(root=root, path=path), tuple(diagnostics + found)
    return parse_config(source, path, diagnostics)


def find_config(start: Path, diagnostics: list[Diagnostic]) -> Path | None:
    """The nearest configuration at or above `start`, not going above the repository's root."""
    try:
        folder = start.resolve()
    except OSError:
        return None
    for candidate in (folder, *folder.parents):
        own, project = candidate / "torchgen_lite.toml", candidate / "pyproject.toml"
        has_table = project.is_file() and _has_table(project)
        if own.is_file() and has_table:
            message = f"both `{own.name}` and a table in `{project.name}` configure this folder"
            diagnostics.append(Diagnostic("TG004", message, help="remove one of them"))
        if own.is_file():
            return own
        if has_table:
            return project
        if (candidate / ".git").exists():
            return None
    return None


def _has_table(path: Path) -> bool:
    try:
        text = path.read_text("utf-8", "replace")
    except OSError:
        return False
    return re.search(rf"(?m)^\s*\[\s*tool\s*\.\s*{_TABLE}\b", text) is not None


def parse_config(source: Source, path: Path, diagnostics: list[Diagnostic]) -> Loaded:
    """Read the text of a configuration file."""
    root = path.parent
    try:
        data: Any = tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        diagnostics.append(_toml_error(source, str(error)))
        return Config(root=root, path=path), tuple(diagnostics)
    except RecursionError:
        diagnostics.append(Diagnostic("TG001", f"`{source.path}` is nested too deeply"))
        return Config(root=root, path=path), tuple(diagnostics)
    prefix = ""
    if path.name == "pyproject.toml":
        tool = data.get("tool", {})
        data = tool.get(_TABLE, {}) if isinstance(tool, dict) else {}
        prefix = f"tool.{_TABLE}"
    if not isinstance(data, dict):
        message = f"`{prefix}` has to be a table"
        return Config(root=root, path=path), (*diagnostics, Diagnostic("TG003", message))
    reader = _Reader(source, prefix, diagnostics)
    values = reader.read(data)
    return Config(root=root, path=path, source=source, **values), tuple(diagnostics)


def _toml_error(source: Source, text: str) -> Diagnostic:
    place = re.search(r"\(at line (\d+), column (\d+)\)", text)
    if place is None:
        offset = max(len(source.text) - 1, 0)
    else:
        line_starts = [0] + [m.end() for m in re.finditer("\n", source.text)]
        offset = line_starts[min(int(place[1]), len(line_starts)) - 1] + int(place[2]) - 1
    message = f"invalid TOML: {re.sub(r' ?[(]at .*', '', text).lower()}"
    return Diagnostic("TG001", message, Label(Span(source, offset, offset + 1), "here"))


class _Reader:
    """Checks the keys of the table and gives the values by the attribute's name."""

    def __init__(self, source: Source, prefix: str, diagnostics: list[Diagnostic]) -> None:
        self.source = source
        self.prefix = prefix
        self.diagnostics = diagnostics

    def read(self, data: dict[str, Any]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key, value in data.items():
            shape = _KEYS.get(key)
            if shape is None:
                self.unknown(key, "", _KEYS)
            elif shape == "lint":
                self.read_lint(value, values)
            elif shape == "tables":
                values["target_options"] = self.read_targets(value)
            elif shape == "table":
                if self.check(key, "", isinstance(value, dict), "a table"):
                    values[key.replace("-", "_")] = value
            elif shape == "texts":
                texts = self.texts(key, "", value)
                if texts is not None:
                    values[key.replace("-", "_")] = texts
            elif self.check(key, "", isinstance(value, str), "text"):
                values[key.replace("-", "_")] = value
        required = values.get("required_version")
        if required and parse_range(required) is None:
            hint = 'write comparisons joined by commas, such as ">=0.4,<0.5"'
            self.report(
                "TG003", "`required-version` is no version range", "required-version", "", hint
            )
            del values["required_version"]
        return values

    def read_lint(self, value: object, values: dict[str, Any]) -> None:
        if not self.check("lint", "", isinstance(value, dict), "a table"):
            return
        assert isinstance(value, dict)
        for key, item in value.items():
            if key not in _LINT_KEYS:
                self.unknown(key, "lint", _LINT_KEYS)
                continue
            texts = self.texts(key, "lint", item)
            if texts is not None:
                values[f"lint_{key}"] = texts
                self.check_codes(key, texts)

    def check_codes(self, key: str, prefixes: tuple[str, ...]) -> None:
        """Each has to be a code, or the beginning of one."""
        for prefix in prefixes:
            if not any(code.startswith(prefix) for code in CODES):
                message = f"`{prefix}` in `{key}` begins no diagnostic code"
                self.report("TG003", message, key, "lint", did_you_mean(prefix, CODES))

    def read_targets(self, value: object) -> dict[str, dict[str, object]]:
        options: dict[str, dict[str, object]] = {}
        if self.check("target", "", isinstance(value, dict), "a table"):
            assert isinstance(value, dict)
            for name, table in value.items():
                if self.check(name, "target", isinstance(table, dict), "a table"):
                    options[name] = table
        return options

    def texts(self, key: str, table: str, value: object) -> tuple[str, ...] | None:
        if isinstance(value, str):
            return (value,)
        good = isinstance(value, list) and all(isinstance(item, str) for item in value)
        if not self.check(key, table, good, "a list of texts"):
            return None
        assert isinstance(value, list)
        return tuple(value)

    def check(self, key: str, table: str, good: bool, wanted: str) -> bool:
        if not good:
            self.report("TG003", f"`{key}` takes {wanted}", key, table)
        return good

    def unknown(self, key: str, table: str, known: Mapping[str, str] | tuple[str, ...]) -> None:
        hint = did_you_mean(key, known)
        self.report("TG002", f"unknown configuration key `{key}`", key, table, hint)

    def report(
        self, code: str, message: str, key: str, table: str, help: str | None = None
    ) -> None:
        span = find_key(self.source, ".".join(filter(None, (self.prefix, table))), key)
        self.diagnostics.append(Diagnostic(code, message, Label(span, "here"), help=help))


def locate_option(config: Config, table: str, key: str) -> Label | None:
    """Where the configuration sets `key` of a table such as `target.python`; None without a file."""
    if config.source is None:
        return None
    own = config.path is not None and config.path.name != "pyproject.toml"
    prefix = "" if own else f"tool.{_TABLE}"
    return Label(find_key(config.source, ".".join(filter(None, (prefix, table))), key), "here")


def find_key(source: Source, table: str, key: str) -> Span:
    """Where a key stands in a TOML text: on a line of its table, or in a table's header.

    The TOML reader of the standard library gives no positions, so this looks for the words; it is only
    used to point at a mistake.
    """
    text = source.text
    quoted = rf'["\']?{re.escape(key)}["\']?'
    current = ""
    for match in re.finditer(r"(?m)^[ \t]*(\[+[^\]\n]*\]+|[^=\n#]+(?==)).*$", text):
        head = match[1].strip()
        if head.startswith("["):
            current = head.strip("[] ").replace(" ", "")
            if re.search(rf"(?:^|\.){quoted}$", current) and current.startswith(table):
                return _at(source, match.start(1), key)
        elif (current == table and re.match(rf"{quoted}(?:\s*\.|\s*$)", head)) or (
            head.startswith(table[len(current) :].lstrip(".")) and key in head
        ):
            return _at(source, match.start(1), key)
    return Span(source, 0, max(min(len(text), 1), 0))


def _at(source: Source, start: int, key: str) -> Span:
    position = source.text.find(key, start)
    return Span(source, position, position + len(key))


def check_required_version(config: Config, version: str) -> tuple[Diagnostic, ...]:
    """TG005 if the installed version is outside `required-version`."""
    clauses = parse_range(config.required_version) if config.required_version else None
    if not clauses or contains(clauses, parse_version(version)):
        return ()
    message = f"this is torchgen-lite {version}, and `{config.required_version}` is required"
    return (Diagnostic("TG005", message, help="install a version in that range"),)
