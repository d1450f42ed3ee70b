"""One answer about what a project registers: from every command, and in whichever order the targets are named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result
from tests.together import ALONE, ORDERS, write_together
from torchgen_lite import generate, load
from torchgen_lite.analysis.policy import Origin
from torchgen_lite.targets.generation import Generation, generation_of

Run = Callable[..., Result]
# Operators that `why` explains, each called with these keys.
CALLS = {
    "demo::plain": ("AutogradCPU", "CPU"),
    "demo::faked": ("Meta",),
    "demo::auto": ("AutogradCPU", "CPU"),
    "demo::mapped": ("FuncTorchBatched",),
}


def answers(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What the commands say of every operator."""
    monkeypatch.chdir(project)
    said = {name: run("why", name, *keys).stdout for name, keys in CALLS.items()}
    said["table"] = run("table", "demo::cast").stdout
    exported = json.loads(run("list", "ops", "--output-format", "json").stdout)
    said["export"] = json.dumps([exported["targets"], exported["ops"]])
    run("table", "--html", "tables.html")
    said["html"] = (project / "tables.html").read_text()
    return said


def test_the_order_of_targets_says_nothing(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *others = [
        answers(run, write_together(tmp_path / str(i), targets), monkeypatch)
        for i, targets in enumerate(ORDERS)
    ]
    assert "a fake" in first["demo::faked"]
    assert "casts" in first["table"]
    assert "`vmap` names" in first["demo::mapped"]
    assert "records the call" in first["demo::auto"]
    for other in others:
        assert other == first


def test_pages_say_what_tables_say(tmp_path: Path) -> None:
    """Of the page of an operator each section, in both orders."""
    pages = []
    for i, targets in enumerate(order for order in ORDERS if "docs" in order):
        files = generate(load(root=write_together(tmp_path / str(i), targets)), targets=["docs"])
        pages.append(files)
    assert pages[0].keys() == pages[1].keys()
    page = pages[0]["docs/demo/auto.md"]
    assert "| `Meta` | a fake: what is returned when only shapes are known | kernel |" in page
    assert "not-implemented" not in page
    tables = [text.partition("## Dispatch table")[2] for text in pages[0].values()]
    assert tables == [text.partition("## Dispatch table")[2] for text in pages[1].values()]


@pytest.mark.parametrize("targets", [ORDERS[0], *ALONE])
def test_each_registration_has_a_target(tmp_path: Path, targets: tuple[str, ...]) -> None:
    program = load(root=write_together(tmp_path, targets))
    shown = generation_of(program).shown
    by_target: dict[str, set[Origin]] = {}
    for one in shown.registrations(program):
        by_target.setdefault(one.target, set()).add(one.origin)
    assert set(by_target) <= set(targets)
    if targets == ORDERS[0]:
        assert Origin.fake in by_target["torch-python"]
        assert {Origin.formulas, Origin.vmap, Origin.axes} <= by_target["torch-python"]
        assert {Origin.written, Origin.autograd, Origin.autocast} <= by_target["cpp-torch"]
        assert Origin.autocast not in by_target["torch-python"]


def named(generation: Generation) -> list[tuple[str, ...]]:
    return [package.policy.names for package in generation.packages]


@pytest.mark.parametrize(
    ("targets", "options", "packages"),
    [
        (["torch-python"], "", [("torch-python",)]),
        (["cpp-torch", "torch-python"], "", [("cpp-torch", "torch-python")]),
        (
            ["torch-python", "cpp-torch-stable", "cpp-torch"],
            "",
            [("cpp-torch", "torch-python"), ("cpp-torch-stable", "torch-python")],
        ),
        (
            ["torch-python", "cpp-torch"],
            "[target.torch-python]\ndefines = true\n",
            [("cpp-torch",), ("torch-python",)],
        ),
        (
            ["cpp-torch", "torch-python"],
            "[target.cpp-torch]\ncalls-only = true\n",
            [("torch-python",), ("cpp-torch",)],
        ),
        (
            ["python", "docs", "torch-python", "cpp-torch"],
            "",
            [("python",), ("cpp-torch", "torch-python")],
        ),
        (["docs"], "", []),
    ],
)
def test_what_is_loaded_together(
    tmp_path: Path, targets: list[str], options: str, packages: list[tuple[str, ...]]
) -> None:
    (tmp_path / "ops.yaml").write_text("- func: demo::f(Tensor x) -> Tensor\n")
    config = f'schema = ["ops.yaml"]\ntargets = {json.dumps(targets)}\n{options}'
    (tmp_path / "torchgen_lite.toml").write_text(config)
    assert named(generation_of(load(root=tmp_path))) == packages


def test_it_is_made_once(tmp_path: Path) -> None:
    program = load(root=write_together(tmp_path, ORDERS[0]))
    assert generation_of(program) is generation_of(program)
