"""The whole configuration, as it is declared: its JSON Schema, and docs/configuration.md."""

from __future__ import annotations

from torchgen_lite.loader.config import TABLES, general_options
from torchgen_lite.loader.options import Json, options_page, table_schema, toml_text
from torchgen_lite.targets import TARGETS, Target

_INTRODUCTION = """\
# The configuration

The configuration is the table `[tool.torchgen_lite]` of the nearest `pyproject.toml`, or the file `torchgen_lite.toml`,
where the names of tables have no prefix (`[target.python]` for `[tool.torchgen_lite.target.python]`). Paths are relative
to the folder of the file. A list with one string may be written as that string. `--config 'KEY = VALUE'` overrides a
setting; options of targets that are set this way also apply with `--schema` and `--torch`. An unknown key is an error
(TG002), as is a value of the wrong type (TG003), or an unknown or invalid option of a target (TG510).

`torchgen-lite schema --of config` prints a JSON Schema for editors; this page is generated from the same declarations.

"""


def configuration_schema() -> Json:
    """The JSON Schema (Draft-07) of `torchgen_lite.toml` and of `[tool.torchgen_lite]`."""
    targets = {
        name: {"description": target.summary, **table_schema(target.declared_options().values())}
        for name, target in TARGETS.items()
    }
    closed: Json = {"type": "object", "additionalProperties": False}
    tables = {name: table_schema(general_options(name).values()) for name in TABLES}
    tables["target"] = {**closed, "properties": targets}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "torchgen_lite.toml",
        "description": "The configuration of torchgen-lite.",
        **table_schema(general_options().values(), **tables),
    }


def render_configuration_page() -> str:
    """docs/configuration.md."""
    parts = [
        _INTRODUCTION + options_page(general_options().values()),
        *[
            f"## `[tool.torchgen_lite.{name}]`\n\n" + options_page(general_options(name).values())
            for name in TABLES
        ],
    ]
    return "\n".join([*parts, *map(_target_section, TARGETS.values())])


def _target_section(target: Target) -> str:
    options, given = target.declared_options().values(), target.torch_options()
    lines = [f"## `[tool.torchgen_lite.target.{target.name}]`", ""]
    lines += [f"{target.summary[0].upper()}{target.summary[1:]}.", ""]
    lines.append(options_page(options).rstrip() if options else "No options.")
    if given:
        settings = ", ".join(f"`{name} = {toml_text(value)}`" for name, value in given.items())
        lines.append(f"\n`--torch` sets {settings}.")
    return "\n".join(lines) + "\n"
