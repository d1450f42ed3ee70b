"""How long `generate --watch` takes from a save to the last output, with our own native_functions.yaml.

    python bench/watch.py [--runs N]

The time is from the modification of the schema file to that of the newest output. Needs watchfiles.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
OLD, NEW = "negative_slope=0.01", "negative_slope=0.02"


def set_up(folder: Path) -> Path:
    """A copy of the project: its schema file and its configuration."""
    text = (ROOT / "pyproject.toml").read_text()
    table = text.partition("[tool.torchgen_lite]\n")[2].partition("\n[tool.black]")[0]
    (folder / "torchgen_lite.toml").write_text(table.replace("[tool.torchgen_lite.", "["))
    schema = folder / "native_functions.yaml"
    schema.write_text((ROOT / schema.name).read_text())
    return schema


def wait(process: subprocess.Popen[str]) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("watching "):
            return
    raise SystemExit("it has ended")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as name:
        schema = set_up(Path(name))
        text = schema.read_text()
        command = [sys.executable, "-m", "torchgen_lite", "generate", "--watch"]
        with subprocess.Popen(command, cwd=name, stderr=subprocess.PIPE, text=True) as process:
            wait(process)
            times = []
            for index in range(runs):
                schema.write_text(text.replace(OLD, OLD if index % 2 else NEW))
                saved = schema.stat().st_mtime
                wait(process)
                files = (Path(name) / "generated").rglob("*.py*")
                times.append(max(path.stat().st_mtime for path in files) - saved)
            process.kill()
    operators = text.count("- func:")
    print(f"{operators} operators, {runs} saves: median {statistics.median(times):.3f} s, ", end="")
    print(f"fastest {min(times):.3f} s, slowest {max(times):.3f} s")


if __name__ == "__main__":
    main()
