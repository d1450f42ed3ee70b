"""The configuration of a run: `--config` names a file, or gives one setting in TOML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path

from torchgen_lite.diagnostics import Diagnostic, Source
from torchgen_lite.loader.config.project import Config, load_config, parse_config, put_over


def split_options(options: Sequence[str]) -> tuple[list[str], list[str]]:
    """The configuration files that `--config` names, and the settings that it gives."""
    files = [option for option in options if "=" not in option or Path(option).exists()]
    return files, [option for option in options if option not in files]


def load_settings(start: Path, options: Sequence[str]) -> tuple[Config, tuple[Diagnostic, ...]]:
    """The configuration of the named file, overridden by each `--config 'key = value'` in turn."""
    files, settings = split_options(options)
    config, diagnostics = load_config(start, (start / files[-1]).resolve() if files else None)
    problems = list(diagnostics)
    if len(files) > 1:
        message = f"`--config` names {len(files)} files, but this command applies to one project"
        problems.append(
            Diagnostic("TG015", message, help=f"leave out `{files[0]}` or `{files[-1]}`")
        )
    for setting in settings:
        source = Source("--config", setting)
        given, wrong = parse_config(source, config.root / "torchgen_lite.toml", [])
        config = _put_over(config, given)
        problems += wrong
    return config, tuple(problems)


def _put_over(config: Config, given: Config) -> Config:
    """`config` overridden by what `given` sets; target options are overridden one by one."""
    plain = Config(root=given.root, path=given.path)
    changed = {}
    for field in fields(Config):
        if getattr(given, field.name) != getattr(plain, field.name):
            changed[field.name] = getattr(given, field.name)
    if given.target_options:
        changed["target_options"] = put_over(config.target_options, given.target_options)
        changed["asked_options"] = put_over(config.asked_options, given.target_options)
    return replace(config, **changed)
