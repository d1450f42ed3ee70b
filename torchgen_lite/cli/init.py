"""`init`: creates a working project in this folder. Overwrites nothing, and writes nothing
if there is a configuration already.

The files come from `templates/init/<name>`, where the project is called `mylib`; the closing
message is `templates/init/<name>.txt`. `<name>` is a target of `STARTED`, or a template.
"""

from __future__ import annotations

import errno
import json
import keyword
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from torchgen_lite.analysis.namespaces import TORCH_NAMESPACES
from torchgen_lite.cli.exit_codes import FINE
from torchgen_lite.cli.json_schema import schema_of_yaml
from torchgen_lite.cli.session import Refused, Session, command, writing
from torchgen_lite.diagnostics import Diagnostic, Source
from torchgen_lite.emit.plan import Change, Plan
from torchgen_lite.emit.templates import find_templates
from torchgen_lite.emit.write import WriteError, write_plan
from torchgen_lite.key_tables import CURRENT
from torchgen_lite.languages.cpp.text import KEYWORDS
from torchgen_lite.loader.config import CONFIG_FILES, Config, find_in_folder, parse_config

STARTED = ("python", "cpp-torch", "cpp-torch-stable", "cpp-runtime", "torch-python")
# Each is a PyTorch device with the name of the project.
TEMPLATES = ("torch-backend-cpp",)
_IN_PYTHON = ("python", "torch-python")
_NAME = "mylib"
# Named in the first line of a schema file, for editors that know JSON Schema.
_SCHEMA = "ops.schema.json"
_CONFIG = CONFIG_FILES[0]
# What Python and builds leave beside the sources: nothing to check in.
_LEFT = "__pycache__/\n*.egg-info/\n*.so\nbuild/\ndist/\n"
_GIT_FILES = (".gitattributes", ".gitignore")
_STATUS = {"create": "created", "update": "changed", "keep": "exists"}


@command("init")
@click.argument("name", required=False)
@click.option(
    "--target", type=click.Choice(STARTED), help="What the project generates (default: python)."
)
@click.option(
    "--template",
    type=click.Choice(TEMPLATES),
    help="Start from this larger template instead of a target: a device for PyTorch in C++.",
)
@click.option(
    "--layout",
    type=click.Choice(("flat", "src")),
    default="flat",
    help="Whether the Python package is in `src`.",
)
def init_command(
    session: Session, name: str | None, target: str | None, template: str | None, layout: str
) -> int:
    """Start a project in this folder: configuration, schema file, kernels and a test.

    NAME is the name of the package and of the operators' namespace; by default that of the folder.

    \b
    torchgen-lite init && torchgen-lite generate
    torchgen-lite init --target torch-python --layout src mylib
    torchgen-lite init --template torch-backend-cpp
    """
    configured = find_in_folder(Path(), [])
    if configured is not None:
        session.talk(f"`{configured}` configures this folder: nothing was written.")
        session.answer("init", "", files=[])
        return FINE
    if target is not None and template is not None:
        raise click.UsageError("`--target` and `--template` exclude each other.")
    started = template or target or "python"
    if layout == "src" and started not in _IN_PYTHON:
        raise click.UsageError(f"`--layout src` is for Python, but `{started}` is C++.")
    templates = find_templates() / "init"
    suits = _is_name if template is None else _is_device
    if name is None:
        folder = Path.cwd().name.replace("-", "_").lower()
        name = folder if suits(folder) else _NAME
    elif template is not None and name in _devices_of_pytorch():
        raise click.UsageError(f"PyTorch already has a device `{name}`: choose another name.")
    elif not suits(name):
        and_device = "a package, a namespace and a device"
        what = "a package and a namespace" if template is None else and_device
        raise click.UsageError(f"`{name}` cannot be the name of {what}.")
    root, prefix = ("src", "src/") if layout == "src" else (".", "")
    words = {"@root@": root, "@prefix@": prefix, _NAME: name}
    with writing():
        changes = [_change(shown, text) for shown, text in _files(templates / started, words)]
    try:
        write_plan(Plan(Path(), tuple(changes)))
    except WriteError as error:
        raise Refused(Diagnostic("TG009", str(error))) from None
    files = [{"path": change.path, "status": _STATUS[change.action]} for change in changes]
    for file in files:
        session.talk(f"{file['status']:<7}  {file['path']}")
    session.answer("init", "", files=files)
    said = (templates / f"{started}.txt").read_text("utf-8")
    session.talk(f"\n{said.rstrip()}")
    return FINE


def _is_name(name: str) -> bool:
    """Whether a name suits a package and a namespace, of schemas and of C++."""
    taken = KEYWORDS | TORCH_NAMESPACES | {"std", "test", "tests", "torch", "torchgen_lite"}
    is_word = name.isidentifier() and name.isascii() and not keyword.iskeyword(name)
    return is_word and "__" not in name and name[0] != "_" and name not in taken


def _is_device(name: str) -> bool:
    """Whether a name suits a device, too: it has no digits, and is not PyTorch's."""
    digits = any(map(str.isdigit, name))
    return _is_name(name) and not digits and name not in _devices_of_pytorch()


def _devices_of_pytorch() -> set[str]:
    """Names that `rename_privateuse1_backend` refuses."""
    return {backend.lower() for backend in CURRENT.backends}


def _files(folder: Path, words: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The paths and texts of a project's files, with these words in place of the template's."""
    config: Config | None = None
    for path in sorted(folder.rglob("*")):
        # Installers compile every Python file that they install, templates included.
        if not path.is_file() or path.parent.name == "__pycache__":
            continue
        shown, text = path.relative_to(folder).as_posix(), path.read_text("utf-8")
        if shown.startswith(f"{_NAME}/"):
            shown = f"@prefix@{shown}"
        for word, value in words.items():
            shown, text = shown.replace(word, value), text.replace(word, value)
        if shown == _CONFIG:
            config, _ = parse_config(Source(shown, text), Path(shown).resolve(), [])
        yield shown, text
    assert config is not None
    yield ".gitignore", _LEFT
    yield _SCHEMA, json.dumps(schema_of_yaml(config), indent=2) + "\n"


def _change(shown: str, text: str) -> Change:
    """Write a file unless it exists; append lines to what git reads."""
    place = Path(shown)
    if not place.exists():
        return Change(shown, "create", None, text)
    if not place.is_file():
        raise OSError(errno.EINVAL, "not a regular file", str(place))
    old = place.read_text("utf-8")
    missing = [line for line in text.splitlines() if line not in old.splitlines()]
    if shown not in _GIT_FILES or not missing:
        return Change(shown, "keep", old, old)
    end = "" if not old or old.endswith("\n") else "\n"
    return Change(shown, "update", old, old + end + "".join(f"{line}\n" for line in missing))
