"""`init`: creates a working project in this folder, or in one of its own where this one has files. Overwrites nothing,
and writes nothing if there is a configuration already.

The files come from `templates/init/<name>`, where the project is called `mylib`; the closing
message is `templates/init/<name>.txt`. `<name>` is a target of `STARTED`, or a template.
"""

from __future__ import annotations

import errno
import json
import keyword
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import click

from torchgen_lite.cli.exit_codes import ATTENTION, FINE
from torchgen_lite.cli.json_schema import schema_of_yaml
from torchgen_lite.cli.plans import carry_out
from torchgen_lite.cli.session import Session, command, writing
from torchgen_lite.diagnostics import Source
from torchgen_lite.diagnostics.text import ended
from torchgen_lite.emit.plan import Change, Plan
from torchgen_lite.emit.templates import find_templates
from torchgen_lite.languages.cpp.reserved import KEYWORDS, LIBRARIES
from torchgen_lite.languages.python.reserved import STANDARD_LIBRARY
from torchgen_lite.loader.config.project import (
    CONFIG_FILES,
    Config,
    find_config,
    find_in_folder,
    parse_config,
)
from torchgen_lite.loader.entry.entry import TORCH_NAMESPACES
from torchgen_lite.loader.sources import shown_path
from torchgen_lite.schema.type_names import DEVICES
from torchgen_lite.targets.cpp.names import namespace_problem

STARTED = ("torch-python", "cpp-torch", "cpp-torch-stable", "python", "cpp-runtime")
# Each is a PyTorch device with the name of the project.
TEMPLATES = ("torch-backend-cpp",)
_IN_PYTHON = ("python", "torch-python")
_NAME = "mylib"
# Named in the first line of a schema file, for editors that know JSON Schema.
_SCHEMA = "ops.schema.json"
_CONFIG = CONFIG_FILES[0]
# What Python and builds leave beside the sources: nothing to check in.
_LEFT = "__pycache__/\n*.egg-info/\n*.so\n.venv/\nbuild/\ndist/\n"
_GIT_FILES = (".gitattributes", ".gitignore")
_STATUS = {"create": "created", "update": "changed", "keep": "exists"}


@command("init")
@click.argument("name", required=False)
@click.option(
    "--target",
    type=click.Choice(STARTED),
    help=f"What the project generates (default: {STARTED[0]}).",
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
    session: Session,
    name: str | None,
    target: str | None,
    template: str | None,
    layout: str,
) -> int:
    """Start a project: configuration, schema file, kernels and a test. By default, operators of Python for PyTorch.

    NAME is the name of the package and of the operators' namespace; by default that of the folder. The project is in
    this folder if that is empty but for hidden files, or if no NAME is given; otherwise in a new folder NAME.

    \b
    torchgen-lite init && torchgen-lite generate
    torchgen-lite init --target cpp-torch mylib
    torchgen-lite init --target python --layout src arrays
    torchgen-lite init --template torch-backend-cpp mychip
    """
    if target is not None and template is not None:
        raise click.UsageError("`--target` and `--template` exclude each other.")
    started = template or target or STARTED[0]
    if layout == "src" and started not in _IN_PYTHON:
        raise click.UsageError(f"`--layout src` is for Python, but `{started}` is C++.")
    templates = find_templates() / "init"
    is_named = name is not None
    if name is None:
        name = Path.cwd().name.replace("-", "_").lower()
        if _unsuited(name, started):
            name = _NAME
    problem = _unsuited(name, started)
    if problem:
        raise click.UsageError(problem)
    root, prefix = ("src", "src/") if layout == "src" else (".", "")
    words = {"@root@": root, "@prefix@": prefix, _NAME: name}
    files = list(_files(templates / started, words))
    is_here = not is_named or _has_room({shown.partition("/")[0] for shown, _ in files})
    home = Path() if is_here else Path(name)
    # A folder with files may be a part of a project: of its package, for example.
    is_part = is_here and not is_named and not _has_room(())
    configured = find_config(home, []) if is_part else find_in_folder(home, [])
    if configured is not None:
        shown = shown_path(configured, Path.cwd())
        session.talk(f"`{shown}` configures a project here: nothing was written.")
        other = _NAME if is_here else f"other_{name}"
        session.talk(f"`torchgen-lite init {other}` starts one in the folder `{other}`.")
        session.answer("init", "", files=[])
        return ATTENTION
    with writing():
        changes = [_change(home, shown, text) for shown, text in files]
    plan = Plan(home, changes, shown="" if home == Path() else home.as_posix())
    carry_out(plan)
    written = []
    for change in changes:
        path = plan.path(change.path)
        status = _STATUS[change.action]
        written.append({"path": path, "status": status})
        session.talk(f"{status:<7}  {path}")
    session.answer("init", "", files=written)
    next_steps = (templates / f"{started}.txt").read_text("utf-8")
    if home != Path():
        next_steps = next_steps.replace("Next:\n\n", f"Next:\n\n  cd {home}\n", 1)
    session.talk(f"\n{next_steps.rstrip()}")
    return FINE


def _has_room(names: Collection[str]) -> bool:
    """Whether this folder has nothing but hidden files and those with these names, which another run may have written."""
    return all(path.name.startswith(".") or path.name in names for path in Path().iterdir())


def _unsuited(name: str, started: str) -> str:
    """Why a name suits no package and no namespace, of schemas and of C++, or no device, which a template has; else
    empty. `rename_privateuse1_backend` refuses digits and the names of PyTorch's backends.
    """
    is_device = started in TEMPLATES
    if is_device and name in DEVICES:
        return f"PyTorch already has a device `{name}`: choose another name."
    taken = KEYWORDS | LIBRARIES | TORCH_NAMESPACES | {"test", "tests"}
    is_word = name.isidentifier() and name.isascii() and not keyword.iskeyword(name)
    is_name = is_word and "__" not in name and name[0] != "_" and name not in taken
    if not is_device and not is_name:
        return f"`{name}` cannot be the name of a package and a namespace."
    if is_device and (not is_name or any(map(str.isdigit, name))):
        return f"`{name}` cannot be the name of a package, a namespace and a device."
    if name in STANDARD_LIBRARY:
        return f"`{name}` is a module of Python, which would be imported in its place: choose another name."
    problem = "" if started in _IN_PYTHON else namespace_problem(name)
    return f"{problem}: choose another name." if problem else ""


def _files(folder: Path, words: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The paths and texts of a project's files, with these words in place of the template's."""
    config: Config | None = None
    for path in sorted(folder.rglob("*")):
        # Installers compile every Python file that they install, templates included.
        if not path.is_file() or path.parent.name == "__pycache__":
            continue
        shown = path.relative_to(folder).as_posix()
        text = path.read_text("utf-8")
        if shown.startswith(f"{_NAME}/"):
            shown = f"@prefix@{shown}"
        for word, value in words.items():
            shown = shown.replace(word, value)
            text = text.replace(word, value)
        if shown == _CONFIG:
            config, _ = parse_config(Source(shown, text), Path(shown).resolve(), [])
        yield shown, text
    assert config is not None
    yield ".gitignore", _LEFT
    yield _SCHEMA, json.dumps(schema_of_yaml(config), indent=2) + "\n"


def _change(home: Path, shown: str, text: str) -> Change:
    """Write a file unless it exists; append lines to what git reads."""
    place = home / shown
    for above in place.parents:
        if above.exists() and not above.is_dir():
            raise OSError(errno.ENOTDIR, "a file is where a folder should be", str(above))
    if not place.exists():
        return Change(shown, "create", None, text)
    if not place.is_file():
        raise OSError(errno.EINVAL, "not a regular file", str(place))
    old = place.read_text("utf-8")
    missing = [line for line in text.splitlines() if line not in old.splitlines()]
    if shown not in _GIT_FILES or not missing:
        return Change(shown, "keep", old, old)
    end = "" if not old or old.endswith("\n") else "\n"
    return Change(shown, "update", old, old + end + ended(missing))
