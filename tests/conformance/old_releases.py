"""Read the operator files of other PyTorch releases: load, print back, derive, generate.

    python -m tests.conformance.old_releases FOLDER...

Each folder holds the `native_functions.yaml` of one release, and its `tags.yaml` where there was one: what
`torchgen/packaged/ATen/native` of a wheel holds. A wheel need not be installed for that:

    pip download --no-deps --only-binary=:all: --platform macosx_11_0_arm64 --python-version 3.10 torch==2.5.1
    unzip -j torch-2.5.1-*.whl 'torchgen/packaged/ATen/native/*.yaml' -d 2.5.1

One line for each folder; the exit code is 1 if anything is not as it should be. tests/conformance/README.md has
the results.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import yaml

from torchgen_lite.analysis.program import build_program
from torchgen_lite.diagnostics import render_concise
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.entry.reader import Dialect
from torchgen_lite.loader.formats.native_functions import load_native_functions, load_schema_sources
from torchgen_lite.loader.torch.files import load_tags
from torchgen_lite.pipeline import generate_all
from torchgen_lite.targets import TARGETS

NATIVE = "native_functions.yaml"


class Result(NamedTuple):
    """What one release gave; `wrong` is empty if all is well."""

    entries: int
    warnings: int
    derived: int
    files: int
    wrong: tuple[str, ...]


def written_schemas(path: Path) -> list[str]:
    """Every `func` of the file, read by PyYAML, with white space normalized."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    entries = yaml.load(path.read_text("utf-8"), Loader=loader)
    return [" ".join(entry["func"].split()) for entry in entries]


def read_release(folder: Path) -> Result:
    """Everything that is claimed of a release, tried on its files."""
    paths = [folder / NATIVE]
    tags: dict[str, str] | None = None
    found = []
    if (folder / "tags.yaml").exists():
        sources, unread = load_schema_sources([folder / "tags.yaml"], folder)
        tags, wrong_tags = load_tags(sources[0])
        found += [*unread, *wrong_tags]
    sources, unread = load_schema_sources(paths, folder)
    functions, diagnostics = load_native_functions(sources, Dialect(tags))
    found += [*unread, *diagnostics]
    config = Config(
        folder, targets=("python",), target_options={"python": TARGETS["python"].torch_options()}
    )
    program = build_program(functions, config, diagnostics=found, tags=tags, sources=sources)
    errors = [d for d in program.diagnostics if d.severity == "error"]
    wrong = render_concise(errors).splitlines()
    written = written_schemas(paths[0])
    printed = [str(function.func) for function in functions]
    if len(written) != len(printed):
        wrong.append(f"{len(written)} entries in the file, {len(printed)} read")
    wrong += [f"{a}  is printed as  {b}" for a, b in zip(written, printed) if a != b]
    generated = generate_all(program)
    compile_all(generated.files, wrong)
    if not generated.files:
        wrong.append("nothing was generated")
    warnings = len(program.diagnostics) - len(errors)
    count = len(program.resolved.operators)
    return Result(len(functions), warnings, count, len(generated.files), tuple(wrong))


def compile_all(files: Mapping[str, str], wrong: list[str]) -> None:
    """Whether the generated modules are Python."""
    for name, text in files.items():
        if name.endswith((".py", ".pyi")):
            try:
                compile(text, name, "exec")
            except SyntaxError as error:
                wrong.append(f"{name}:{error.lineno}: {error.msg}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--show", type=int, default=10, help="how many mistakes to print")
    options = parser.parse_args()
    print("release      entries  derived  files  warnings  wrong")
    failed = False
    for folder in options.folders:
        result = read_release(folder)
        failed = failed or bool(result.wrong)
        print(
            f"{folder.name:12s} {result.entries:7d}  {result.derived:7d}  {result.files:5d}"
            f"  {result.warnings:8d}  {len(result.wrong):5d}"
        )
        for line in result.wrong[: options.show]:
            print(f"    {line}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
