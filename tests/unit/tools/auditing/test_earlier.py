"""The next version, by what an earlier build registers and this one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Result
from tests.unit.tools.auditing.test_artefact import wheel
from torchgen_lite_tools.auditing.earlier import bump_since_build
from torchgen_lite_tools.auditing.registry import Facts

Run = Callable[..., Result]
OP = Facts("lib::f(Tensor x, int n=1) -> Tensor", ("Autograd", "CPU"), (), "fake", "formulas")
OTHER = Facts("lib::g(Tensor x) -> Tensor", ("CUDA",), (), "fake", "refused")
BOTH = {"lib::f": OP, "lib::g": OTHER}
# What became of the first operator, or of all; the part, and what is said of it.
CHANGES: list[tuple[Facts | None, str, list[str]]] = [
    (OP, "patch", []),
    (None, "major", ["`lib::f` is gone"]),
    (
        OP._replace(schema="lib::f(Tensor x, int n) -> Tensor"),
        "major",
        ["`lib::f`: argument `n` lost its default `1`"],
    ),
    (
        OP._replace(schema="lib::f(Tensor x, int n=1, bool b=False) -> Tensor"),
        "minor",
        [
            "`lib::f`: `f(Tensor x, int n=1) -> Tensor` is now "
            "`f(Tensor x, int n=1, bool b=False) -> Tensor`"
        ],
    ),
    (OP._replace(compiles="composed", differentiates="composed"), "patch", []),
    (OP._replace(keys=("Autograd", "CPU", "MPS")), "minor", ["`lib::f`: it has a kernel for MPS"]),
    (
        OP._replace(keys=("Autograd", "CUDA")),
        "minor",
        ["`lib::f`: it has a kernel for CUDA"],
    ),
    (
        OP._replace(compiles="no"),
        "major",
        ["`lib::f`: it has no fake any more, and `torch.compile` stops there"],
    ),
    (
        OP._replace(differentiates="refused"),
        "major",
        ["`lib::f`: it has no gradient any more"],
    ),
]


@pytest.mark.parametrize(("now", "part", "said"), CHANGES)
def test_the_part_of_a_version(now: Facts | None, part: str, said: list[str]) -> None:
    after = {"lib::f": now, "lib::g": OTHER} if now is not None else {"lib::g": OTHER}
    bump, _ = bump_since_build(BOTH, after, "old.whl", "", has_all=True)
    assert (bump.part, [*bump.changes]) == (part, said)


@pytest.mark.parametrize("field", ["compiles", "differentiates"])
def test_what_a_build_does_not_have_with_it_is_not_lost(field: str) -> None:
    after = {**BOTH, "lib::f": OP._replace(**{field: "no"})}
    bump, unseen = bump_since_build(BOTH, after, "old.so", "", has_all=False)
    assert bump.part == "patch"
    assert any("elsewhere" in text for text in unseen)


def test_a_device_that_one_build_was_made_without() -> None:
    after = {**BOTH, "lib::g": OTHER._replace(keys=("CPU",))}
    bump, unseen = bump_since_build(BOTH, after, "old.whl", "", has_all=True)
    assert (bump.part, bump.changes) == ("minor", ("`lib::g`: it has a kernel for CPU",))
    assert unseen[1:] == ["kernels for CUDA: this build has none, and the earlier one has"]
    # Where another operator has kernels for it, the loss is one of the operator.
    after["lib::f"] = OP._replace(keys=("Autograd", "CPU", "CUDA"))
    bump, unseen = bump_since_build(BOTH, after, "old.whl", "", has_all=True)
    assert (bump.part, len(unseen)) == ("major", 1)
    assert "`lib::g`: it has no kernel for CUDA any more" in bump.changes


def test_namespaces_that_builds_have_given() -> None:
    after = {name.replace("lib", "lib_2"): facts for name, facts in BOTH.items()}
    after = {
        name: facts._replace(schema=facts.schema.replace("lib", "lib_2"))
        for name, facts in after.items()
    }
    assert bump_since_build(BOTH, after, "old.whl", "", has_all=True)[0].part == "major"
    assert bump_since_build(BOTH, after, "old.whl", "lib_2", has_all=True)[0].part == "patch"


LIBRARY = """\
import torch

lib = torch.library.Library("lib", "DEF")
lib.define("f(Tensor x, int n=1) -> Tensor")
lib.impl("f", lambda x, n=1: x * n, "CPU")
lib.define("g(Tensor x) -> Tensor")
lib.impl("g", lambda x: x + 1, "CompositeImplicitAutograd")
"""


@pytest.mark.torch
@pytest.mark.usefixtures("forked_python")
def test_wheels(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    wheel(tmp_path / "old.whl", {"lib/__init__.py": LIBRARY})
    wheel(tmp_path / "same.whl", {"lib/__init__.py": LIBRARY})
    wheel(
        tmp_path / "new.whl", {"lib/__init__.py": LIBRARY.replace("int n=1) ->", "float n=1) ->")}
    )
    wheel(tmp_path / "empty.whl", {"lib/__init__.py": ""})
    wheel(tmp_path / "broken.whl", {"lib/__init__.py": "raise ValueError"})

    def answer(*arguments: str) -> tuple[int, Any]:
        done = run("audit", *arguments, "--output-format", "json")
        return done.code, json.loads(done.stdout)

    code, found = answer("same.whl", "--load", "--since", "old.whl")
    assert (code, found["bump"]["part"]) == (0, "patch")
    code, found = answer("new.whl", "--load", "--since", "old.whl")
    assert (code, found["bump"]["part"]) == (0, "major")
    assert found["bump"]["changes"][0].startswith("`lib::f`: ")
    assert "\n  `lib::f`: " in run("audit", "new.whl", "--load", "--since", "old.whl").stdout
    code, found = answer("new.whl", "--load", "--since", "broken.whl")
    assert (code, found["bump"], found["diagnostics"][0]["code"]) == (2, None, "TG012")
    # Nothing is said of what is not known, not that everything is new.
    code, found = answer("new.whl", "--load", "--since", "empty.whl")
    assert (code, found["bump"]) == (0, None)
    assert "what has changed: empty.whl registers nothing, or nothing loads it" in found["unseen"]
    done = run("audit", "new.whl", "--since", "old.whl")
    assert (done.code, "`--load`" in done.stderr) == (2, True)
