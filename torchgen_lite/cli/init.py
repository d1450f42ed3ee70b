"""`init`: a configuration, a first schema file and the lines that git wants. Overwrites nothing."""

from __future__ import annotations

import errno
from pathlib import Path

import click

from torchgen_lite.cli.exit_codes import CANNOT_RUN, FINE
from torchgen_lite.cli.session import Session, global_options
from torchgen_lite.diagnostics import Diagnostic

CONFIG = """\
schema = ["native_functions.yaml"]
output-dir = "generated"
targets = ["python"]

[target.python]
package = "ops"
"""

SCHEMA = """\
# Operators of this project; `torchgen-lite generate` reads this file.

- func: mylib::scale(Tensor self, Scalar factor=2) -> Tensor
  dispatch:
    CPU: scale_cpu
"""

ATTRIBUTES = "generated/** linguist-generated=true text eol=lf -merge\n"
HOOK = """\
To check in pre-commit, add this to .pre-commit-config.yaml:

  - repo: local
    hooks:
      - id: torchgen-lite-check
        name: torchgen-lite check
        entry: torchgen-lite check
        language: system
        pass_filenames: false

and in CI run `torchgen-lite check --output-format github`.
"""


@click.command("init")
@global_options
@click.pass_obj
def init_command(session: Session) -> int:
    """Start a project in this folder: configuration, first schema file, .gitattributes.

    \b
    torchgen-lite init && torchgen-lite generate
    """
    try:
        files = {
            "torchgen_lite.toml": _create(Path("torchgen_lite.toml"), CONFIG),
            "native_functions.yaml": _create(Path("native_functions.yaml"), SCHEMA),
            ".gitattributes": _append(Path(".gitattributes"), ATTRIBUTES),
        }
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        found = Diagnostic("TG009", f"cannot write `{error.filename}`: {reason}")
        session.report([found], kind="init")
        return CANNOT_RUN
    for name, status in files.items():
        session.talk(f"{status:<7}  {name}")
    session.answer("init", "", files=[{"path": n, "status": s} for n, s in files.items()])
    session.talk(HOOK.rstrip())
    return FINE


def _create(path: Path, text: str) -> str:
    """Write a file unless it exists; a project with a pyproject.toml table needs no file of its own."""
    project = Path("pyproject.toml")
    has_table = project.is_file() and "[tool.torchgen_lite" in project.read_text("utf-8")
    if path.exists() or (path.suffix == ".toml" and has_table):
        return "exists"
    path.write_text(text, "utf-8")
    return "created"


def _append(path: Path, line: str) -> str:
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    text = path.read_text("utf-8") if path.exists() else ""
    if line in text:
        return "exists"
    path.write_text(text + ("" if not text or text.endswith("\n") else "\n") + line, "utf-8")
    return "changed" if text else "created"
