"""Which configuration governs a run: `--config` names a file, or gives one setting in TOML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path

from torchgen_lite.diagnostics import Diagnostic, Source
from torchgen_lite.loader.config import Config, load_config, parse_config


def load_settings(start: Path, options: Sequence[str]) -> tuple[Config, tuple[Diagnostic, ...]]:
    """The configuration of the last file named, with each `--config 'key = value'` put over it in turn."""
    is_file = {option: "=" not in option or Path(option).exists() for option in options}
    files = [option for option in options if is_file[option]]
    config, diagnostics = load_config(start, (start / files[-1]).resolve() if files else None)
    found = list(diagnostics)
    for option in options:
        if not is_file[option]:
            source = Source("--config", option)
            given, wrong = parse_config(source, config.root / "torchgen_lite.toml", [])
            config = _put_over(config, given)
            found += wrong
    return config, tuple(found)


def _put_over(config: Config, given: Config) -> Config:
    """What `given` sets, in place of what `config` says; of a target's options, those it names."""
    plain = Config(root=given.root, path=given.path)
    changed = {
        field.name: getattr(given, field.name)
        for field in fields(Config)
        if getattr(given, field.name) != getattr(plain, field.name)
    }
    if given.target_options:
        targets = dict(config.target_options)
        for name, values in given.target_options.items():
            targets[name] = {**targets.get(name, {}), **values}
        changed["target_options"] = targets
    return replace(config, **changed)
