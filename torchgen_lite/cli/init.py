"""`init`: a project that runs, in this folder. Overwrites nothing, and writes nothing beside a configuration.

The files of a project are those of `templates/init/<name>`, where it is called `mylib`; `templates/init/<name>.txt` is
what is said at the end. There is one for each target of `STARTED`, and those that are called templates.
"""

from __future__ import annotations

import errno
import json
import keyword
from pathlib import Path

import click

from torchgen_lite.cli.exit_codes import FINE
from torchgen_lite.cli.json_schema import schema_of_yaml
from torchgen_lite.cli.session import Session, global_options, writing

STARTED = ("python", "cpp-torch", "cpp-torch-stable", "cpp-runtime", "torch-python")
# Each a device for PyTorch, which is called as the project is.
TEMPLATES = ("torch-backend-cpp",)
_IN_PYTHON = ("python", "torch-python")
_NAME = "mylib"
# What the first line of a schema file names, for editors that know JSON Schema.
_SCHEMA = "ops.schema.json"


@click.command("init")
@click.argument("name", required=False)
@click.option(
    "--target", type=click.Choice(STARTED), help="What the project generates (default: python)."
)
@click.option(
    "--template",
    type=click.Choice(TEMPLATES),
    help="A larger project, instead of that of a target: a device for PyTorch in C++.",
)
@click.option(
    "--layout",
    type=click.Choice(("flat", "src")),
    default="flat",
    help="Whether the Python package is in `src`.",
)
@global_options
@click.pass_obj
def init_command(
    session: Session, name: str | None, target: str | None, template: str | None, layout: str
) -> int:
    """Start a project in this folder: configuration, schema file, kernels and a test.

    NAME is that of the package and of the operators' namespace; by default it is that of the folder.

    \b
    torchgen-lite init && torchgen-lite generate
    torchgen-lite init --target torch-python --layout src mylib
    torchgen-lite init --template torch-backend-cpp
    """
    from torchgen_lite.emit.templates import find_templates
    from torchgen_lite.loader.config import find_in_folder

    configured = find_in_folder(Path(), [])
    if configured is not None:
        session.talk(f"`{configured}` configures this folder: nothing was written.")
        session.answer("init", "", files=[])
        return FINE
    if target is not None and template is not None:
        raise click.UsageError("`--target` and `--template` are two ways to say what is started.")
    started = template or target or "python"
    if layout == "src" and started not in _IN_PYTHON:
        raise click.UsageError(f"`--layout src` is for Python, and `{started}` is C++.")
    templates = find_templates() / "init"
    words = (
        {"@root@": "src", "@prefix@": "src/"}
        if layout == "src"
        else {"@root@": ".", "@prefix@": ""}
    )
    is_device = template is not None
    words[_NAME] = _checked(name, is_device) if name is not None else _usual_name(is_device)
    files = []
    with writing():
        for path in sorted((templates / started).rglob("*")):
            # An installer compiles every Python file that it installs, these too.
            if path.is_file() and path.parent.name != "__pycache__":
                inner = path.relative_to(templates / started)
                files.append(_write(inner, path.read_text("utf-8"), words))
        schema = json.dumps(schema_of_yaml(session.settings()[0]), indent=2) + "\n"
        files.append(_write(Path(_SCHEMA), schema, {}))
    for shown, status in files:
        session.talk(f"{status:<7}  {shown}")
    session.answer("init", "", files=[{"path": n, "status": s} for n, s in files])
    said = (templates / f"{started}.txt").read_text("utf-8")
    session.talk(f"\n{said.rstrip()}")
    return FINE


def _is_name(name: str, is_device: bool) -> bool:
    """Whether it can be a package, and a namespace in schemas and in C++; and a device, which has no digits."""
    from torchgen_lite.analysis.namespaces import TORCH_NAMESPACES
    from torchgen_lite.dialects.cpp_text import KEYWORDS

    taken = KEYWORDS | TORCH_NAMESPACES | {"std", "test", "tests", "torch", "torchgen_lite"}
    is_word = name.isidentifier() and name.isascii() and not keyword.iskeyword(name)
    if is_device and (any(map(str.isdigit, name)) or name in _devices_of_pytorch()):
        return False
    return is_word and "__" not in name and name[0] != "_" and name not in taken


def _devices_of_pytorch() -> set[str]:
    """Names that `rename_privateuse1_backend` refuses."""
    from torchgen_lite.key_tables import CURRENT

    return {backend.lower() for backend in CURRENT.backends}


def _checked(name: str, is_device: bool) -> str:
    if is_device and name in _devices_of_pytorch():
        raise click.UsageError(f"`{name}` is a device of PyTorch: give yours another name.")
    if not _is_name(name, is_device):
        what = "a package, a namespace and a device" if is_device else "a package and a namespace"
        raise click.UsageError(f"`{name}` cannot be the name of {what}.")
    return name


def _usual_name(is_device: bool) -> str:
    name = Path.cwd().name.replace("-", "_").lower()
    return name if _is_name(name, is_device) else _NAME


def _write(path: Path, text: str, words: dict[str, str]) -> tuple[str, str]:
    """Write a file unless it exists; to `.gitattributes` lines are added. The result is its name and what was done."""
    shown = path.as_posix()
    if shown.startswith(f"{_NAME}/"):
        shown = f"@prefix@{shown}"
    for word, value in words.items():
        shown, text = shown.replace(word, value), text.replace(word, value)
    place = Path(shown)
    if place.exists() and not place.is_file():
        raise OSError(errno.EINVAL, "not a regular file", str(place))
    old = place.read_text("utf-8") if place.exists() else ""
    done = "created"
    if place.exists():
        missing = [line for line in text.splitlines() if line not in old.splitlines()]
        done = "changed" if shown == ".gitattributes" and missing else "exists"
        text = "".join(f"{line}\n" for line in missing)
    if done != "exists":
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(old + ("" if not old or old.endswith("\n") else "\n") + text, "utf-8")
    return shown, done
