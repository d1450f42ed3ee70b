"""The JSON Schema of the whole configuration, as it is declared."""

from __future__ import annotations

from torchgen_lite.loader.config.options import Json, table_schema
from torchgen_lite.loader.config.project import TABLES, general_options
from torchgen_lite.targets import TARGETS


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
