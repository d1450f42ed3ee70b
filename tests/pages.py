"""Tables of docs/ that are written from what the package declares.

`UPDATE_EXPECT=1` with the tests of the pages writes them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from torchgen_lite.loader.config.options import Option
from torchgen_lite.loader.config.project import TABLES, general_options
from torchgen_lite.loader.entry.fields import Field
from torchgen_lite.targets import TARGETS, Target

_INTRODUCTION = """\
# The configuration

The configuration is the table `[tool.torchgen_lite]` of the nearest `pyproject.toml`, or the file `torchgen_lite.toml`,
where the names of tables have no prefix (`[target.python]` for `[tool.torchgen_lite.target.python]`). Paths are
relative to the folder of the file. A list with one string may be written as that string. `--config 'KEY = VALUE'`
overrides a setting; options of targets that are set this way also apply with `--schema` and `--torch`. An unknown key
is an error (TG002), as is a value of the wrong type (TG003), or an unknown or invalid option of a target (TG510).

`torchgen-lite schema --of config` prints a JSON Schema for editors; this page is generated from the same declarations.

"""


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
        settings = ", ".join(f"`{name} = {json.dumps(value)}`" for name, value in given.items())
        lines.append(f"\n`--torch` sets {settings}.")
    return "\n".join(lines) + "\n"


def options_page(options: Iterable[Option]) -> str:
    """The options as a table in Markdown."""
    rows = ["| option | takes | default | meaning |", "|---|---|---|---|"]
    for option in options:
        default = "required" if option.is_required else f"`{json.dumps(option.default)}`"
        cells = (f"`{option.name}`", option.kind.name, option.shown or default, option.doc)
        rows.append(f"| {' | '.join(cells)} |")
    return "".join(f"{row}\n" for row in rows)


def fields_page(fields: Iterable[Field]) -> str:
    """The fields as a table in Markdown, without retired ones."""
    rows = [f"| `{field.name}` | {field.description} |" for field in fields if not field.retired]
    return "\n".join(["| field | meaning |", "|---|---|", *rows, ""])
