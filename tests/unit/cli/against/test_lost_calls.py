"""A change after which calls fail, or are served by something weaker: `breaking` and `review` say the same about it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result

Run = Callable[..., Result]
TWICE = "- func: lib::twice(Tensor self) -> Tensor\n  dispatch:\n"
FORMULA = "  derivatives:\n    self: grad * 2\n"
# Without a configuration the operators are compared as PyTorch would register them.
TARGETS = ("", "torch-python", "cpp-torch")


def codes(result: Result) -> list[str]:
    """The breaking changes in a JSON document."""
    found = [one["code"] for one in json.loads(result.stdout)["diagnostics"]]
    return [code for code in found if code.startswith(("TG35", "TG36"))]


def compared(run: Run, project: Path, target: str, old: str, new: str) -> list[str]:
    """The codes that both commands report between two tables of `twice`."""
    if target:
        (project / "torchgen_lite.toml").write_text(f'targets = ["{target}"]\n')
    else:
        (project / "torchgen_lite.toml").unlink()
    (project / "old.yaml").write_text(TWICE + old)
    (project / "native_functions.yaml").write_text(TWICE + new)
    asked = ("--against", "old.yaml", "--output-format", "json")
    found, reviewed = run("breaking", *asked), run("review", *asked)
    assert codes(found) == codes(reviewed)
    assert (found.code, reviewed.code) == (1, 1)
    return codes(found)


@pytest.mark.parametrize("target", TARGETS)
def test_formulas_that_are_gone(run: Run, project: Path, target: str) -> None:
    kernel = "    CPU: twice\n"
    assert compared(run, project, target, kernel + FORMULA, kernel) == ["TG368"]


@pytest.mark.parametrize("target", [*TARGETS, "cpp-torch-stable"])
def test_a_composed_kernel_that_is_no_longer_composed(run: Run, project: Path, target: str) -> None:
    old = "    CompositeImplicitAutograd: twice\n"
    new = "    CompositeExplicitAutograd: twice\n"
    assert compared(run, project, target, old, new) == ["TG368"]
