"""Which configuration governs a run: `--config` names a file, or gives one setting in TOML."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

from torchgen_lite.diagnostics import Diagnostic, Source
from torchgen_lite.loader.config import Config, load_config, parse_config


def load_settings(start: Path, option: str | None) -> tuple[Config, tuple[Diagnostic, ...]]:
    """The configuration, with the setting of `--config 'key = value'` put over the file's."""
    if option is None:
        return load_config(start)
    if "=" not in option or Path(option).exists():
        return load_config(start, (start / option).resolve())
    config, diagnostics = load_config(start)
    source = Source("--config", option)
    given, found = parse_config(source, config.root / "torchgen_lite.toml", [])
    plain = Config(root=given.root, path=given.path)
    changed = {
        field.name: getattr(given, field.name)
        for field in fields(Config)
        if getattr(given, field.name) != getattr(plain, field.name)
    }
    return replace(config, **changed), (*diagnostics, *found)
