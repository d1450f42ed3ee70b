"""Wheels, and fresh environments with nothing but what a test installs."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path


def build_wheel(project: Path, to: Path) -> Path:
    before = set(to.glob("*.whl"))
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(to)]
    subprocess.run(command, cwd=project, check=True, capture_output=True)
    [wheel] = set(to.glob("*.whl")) - before
    return wheel


class Environment:
    """A fresh environment with these wheels and nothing else, or with what they require beside them."""

    def __init__(self, folder: Path, *wheels: Path, requirements: bool = False) -> None:
        venv.EnvBuilder(with_pip=False, symlinks=os.name != "nt").create(folder)
        self.python = folder / "bin" / "python"
        [self.site] = folder.glob("lib/python*/site-packages")
        pip = [sys.executable, "-m", "pip", "--python", str(self.python), "install", "--quiet"]
        compiles = [] if requirements else ["--no-compile"]
        subprocess.run([*pip, "--no-index", "--no-deps", *compiles, *wheels], check=True)
        if requirements:
            # Those of this environment, behind what was installed, and without what is linked here.
            (self.site / "requirements.pth").write_text(f"{sysconfig.get_path('purelib')}\n")

    def run(self, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        command = [str(self.python), "-I", "-B", *arguments]
        return subprocess.run(command, cwd=cwd or self.site, capture_output=True, text=True)

    def prints(self, program: str) -> str:
        done = self.run("-c", program)
        assert done.returncode == 0, done.stderr
        return done.stdout
