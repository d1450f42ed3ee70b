"""`schema`: the JSON Schema (Draft-07) that editors read."""

from __future__ import annotations

import json
from pathlib import Path

import click

from torchgen_lite.cli.exit_codes import FINE
from torchgen_lite.cli.pages import output_option, write_report
from torchgen_lite.cli.session import Session, command, require
from torchgen_lite.diagnostics.json_format import json_format_schema
from torchgen_lite.loader.config.options import Json
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.entry.fields import build_json_schema
from torchgen_lite.loader.entry.known_tags import KNOWN_TAGS
from torchgen_lite.loader.entry.reader import Dialect
from torchgen_lite.targets.configuration import configuration_schema


@command("schema")
@click.option(
    "--of",
    type=click.Choice(("yaml", "config", "output")),
    default="yaml",
    help="Which schema (default: yaml).",
)
@output_option("--output", help="Write to this file instead of stdout.")
def schema_command(session: Session, of: str, output: Path | None) -> int:
    """Print the JSON Schema of native_functions.yaml, of the configuration, or of `--output-format
    json`.

    \b
    torchgen-lite schema --output native_functions.schema.json
    torchgen-lite schema --of config --output torchgen_lite.schema.json
    """
    if of == "output":
        data = json_format_schema()
    elif of == "config":
        data = configuration_schema()
    else:
        config, diagnostics = session.settings()
        require(diagnostics)
        data = schema_of_yaml(config)
    text = json.dumps(data, indent=2) + "\n"
    if output is None:
        click.echo(text, nl=False)
    else:
        write_report(session, output, text, "1 schema written to")
    return FINE


def schema_of_yaml(config: Config) -> Json:
    """The schema of a project's schema files, with the tags and the fields that its configuration adds."""
    tags = {**KNOWN_TAGS, **dict.fromkeys(config.tags, "")}
    return build_json_schema(Dialect(tags, config.extra_fields, privateuse1=config.privateuse1))
