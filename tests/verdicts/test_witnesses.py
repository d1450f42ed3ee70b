"""Every witness of `scenarios.toml` runs on both sides: it works before, and fails or gives something else after."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.cpp.compiling import check_syntax, needs_compiler, quick_torch, write_files
from tests.forks import COMPILING, run_forked
from tests.verdicts.test_reach import PAGE
from tests.verdicts.test_scenarios import SCENARIOS, write
from torchgen_lite import generate, load
from torchgen_lite.analysis.program import Program
from torchgen_lite.targets.generation import generation_of

SIDE = Path(__file__).with_name("side_of_torch.py")
SIDE_OF_FRAMEWORK = Path(__file__).with_name("side_of_framework.py")
_WITNESS = re.compile(r"witness: '(.*)'; effect")


def witnesses(scenario: Mapping[str, Any]) -> list[str]:
    found = [_WITNESS.search(line) for line in scenario["lines"]]
    return [one[1] for one in found if one is not None]


def test_findings_without_a_witness_have_a_reason() -> None:
    """Those of the scenarios are in the table of the page, and nothing else is."""
    without = set()
    for scenario in SCENARIOS:
        lines = [line for line in scenario["lines"] if not line.startswith("note[")]
        found = [line for line in lines if _WITNESS.search(line) is None]
        without |= {line.partition("[")[2].partition("]")[0] for line in found}
    _, _, page = PAGE.read_text("utf-8").partition("These findings have none:")
    assert sorted(without) == re.findall(r"^\| (TG\d+) \|", page, re.M)


def is_cpp(line: str) -> bool:
    return line.endswith(";")


def of_kind(kind: str) -> list[Mapping[str, Any]]:
    """The scenarios with a line of C++, or of Python with or without PyTorch."""
    return [one for one in SCENARIOS if lines_of(one, kind)]


def lines_of(scenario: Mapping[str, Any], kind: str) -> list[str]:
    found = []
    for line in witnesses(scenario):
        own = (
            "python"
            if '"python"' in f"{scenario.get('config', '')}{scenario.get('before', '')}"
            else "torch"
        )
        if kind == ("cpp" if is_cpp(line) else own):
            found.append(line)
    return found


def sides(project: Path, scenario: Mapping[str, Any]) -> list[Path]:
    write(project / "old", scenario, "old", "before")
    write(project / "new", scenario, "new", "after")
    return [project / "old", project / "new"]


def name_of(scenario: Mapping[str, Any]) -> str:
    return str(scenario["name"])


@pytest.mark.torch
@pytest.mark.parametrize("scenario", of_kind("torch"), ids=name_of)
def test_a_line_for_pytorch(project: Path, scenario: Mapping[str, Any]) -> None:
    lines = [line for line in lines_of(scenario, "torch") if can_run(line)]
    if not lines:
        pytest.skip("there is no such device")
    found = [read_side(side) for side in sides(project, scenario)]
    if not any(side.is_defined for side in found):
        # The library in C++ is another project.
        found = [side._replace(is_library=True) for side in found]
    if not any(side.is_in_python for side in found):
        for side in found:
            rename_target(side.folder)
    hold(lines, *[outcomes(side, lines) for side in found])


def hold(lines: Sequence[str], before: Sequence[Any], after: Sequence[Any]) -> None:
    """Each line works before, and fails or gives something else after."""
    for line, was, now in zip(lines, before, after):
        assert was[0] == "works", f"{line}: {was[1]}"
        assert now != was, f"{line}: {now[1]}"


def can_run(line: str) -> bool:
    """Whether the device is there; of plain calls the dispatcher can tell without it."""
    import torch

    is_call = line.startswith("torch.ops.")
    return is_call or '.to("cuda")' not in line or torch.cuda.is_available()


class SideOfTorch(NamedTuple):
    """One side of a pair. `is_library`: C++ defines the operators, which `is_registering` says of kernels. `modules` are
    those that a build makes.
    """

    folder: Path
    is_in_python: bool
    is_defined: bool
    is_library: bool
    is_registering: bool
    modules: Sequence[str]


def read_side(folder: Path) -> SideOfTorch:
    config = folder / "torchgen_lite.toml"
    # The entries for older releases are there, too.
    config.write_text(f'for-torch = "2.8"\n{config.read_text()}')
    program = load(root=folder)
    generation = generation_of(program)
    options = [target.read_options(program.config)[0] for target in generation.registering]
    loaded = [one.load for one in options if getattr(one, "load", "")]
    is_library = bool(generation.libraries or loaded)
    is_defining = any(getattr(one, "is_defining", False) for one in options)
    return SideOfTorch(
        folder,
        is_in_python=any(target.loads_library for target in generation.registering),
        is_defined=is_library or is_defining,
        is_library=is_library,
        is_registering=not any(getattr(one, "calls_only", False) for one in options),
        modules=[*loaded, *[one.module for one in options if getattr(one, "module", "")]],
    )


def rename_target(folder: Path) -> None:
    """Have Python tell PyTorch what C++ would tell it."""
    config = folder / "torchgen_lite.toml"
    config.write_text(re.sub(r'"cpp-torch(-stable)?"', '"torch-python"', config.read_text()))


def outcomes(side: SideOfTorch, lines: Sequence[str]) -> Any:
    """What the lines give on one side."""
    folder = side.folder
    program = load(root=folder)
    files = generate(program)
    write_files(folder / "generated", files)
    write_files(folder, dict.fromkeys([f"{name}.py" for name in side.modules], ""))
    roots = [folder, *[folder / root for root in program.config.source_roots]]
    packages = [path.parent for path in folder.glob("generated/torch-python/*/__init__.py")]
    data = {
        "definitions": definitions(program, side.is_registering) if side.is_library else [],
        "packages": [path.name for path in packages],
        "path": [*map(str, roots), str(folder / "generated" / "torch-python")],
        "lines": lines,
    }
    (folder / "side.json").write_text(json.dumps(data))
    done = run_forked([str(SIDE), str(folder / "side.json")], folder, {}, COMPILING)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def definitions(program: Program, is_registering: bool) -> list[dict[str, object]]:
    """What a library in C++ tells PyTorch of each operator."""
    found = []
    for operator in program.resolved.operators:
        kernels = []
        for entry in operator.author_kernels if is_registering else ():
            kernels.append((entry.key, entry.kernel))
        definition: dict[str, object] = {
            "namespace": operator.function.namespace,
            "schema": operator.schema.local_text,
            "tags": list(operator.tags),
            "kernels": kernels,
        }
        found.append(definition)
    return found


@pytest.mark.parametrize("scenario", of_kind("python"), ids=name_of)
def test_a_line_for_a_framework(project: Path, scenario: Mapping[str, Any]) -> None:
    lines = lines_of(scenario, "python")
    hold(lines, *[outcomes_without_torch(side, lines) for side in sides(project, scenario)])


def outcomes_without_torch(folder: Path, lines: Sequence[str]) -> Any:
    """What the lines give on one side, where every name is that of a tensor."""
    program = load(root=folder)
    write_files(folder / "generated", generate(program))
    data = {"path": [str(folder), str(folder / "generated" / "python")], "lines": lines}
    command = [sys.executable, str(SIDE_OF_FRAMEWORK), json.dumps(data)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@needs_compiler
@pytest.mark.torch
@pytest.mark.parametrize("scenario", of_kind("cpp"), ids=name_of)
def test_a_line_of_cpp(project: Path, scenario: Mapping[str, Any]) -> None:
    """It compiles with the headers of one side alone."""
    lines = lines_of(scenario, "cpp")
    before, after = sides(project, scenario)
    assert compiles(before, lines) == ""
    for line in lines:
        assert compiles(after, [line]) != "", line


def compiles(folder: Path, lines: Sequence[str]) -> str:
    """What the compiler says of the lines."""
    write_files(folder / "generated", generate(load(root=folder)))
    headers = sorted(folder.glob("generated/*/include/**/functions.h"))
    body = "\n".join(lines)
    includes = "\n".join(f'#include "{path}"' for path in headers)
    write_files(folder, {"line.cpp": f"{includes}\nvoid call() {{\n{body}\n}}\n"})
    roots = [folder, *folder.glob("generated/*/include")]
    return check_syntax(folder, "line.cpp", compiler=quick_torch(), includes=roots).messages
