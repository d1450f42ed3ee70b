"""All tests share one stub package and one mypy cache, since PyTorch takes long to read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.torch_stubs.checkers import environment_with
from torchgen_lite import load
from torchgen_lite.emit.plan import build_plan
from torchgen_lite.emit.write import write_plan
from torchgen_lite.loader.config.project import load_config
from torchgen_lite.pipeline import ask_torch, generate

EXAMPLE = ROOT / "examples" / "torch_ops"


@pytest.fixture(scope="session")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that declares every operator of PyTorch's file again, in the namespace `copy`.

    Operators on named tensors, which 2.13 removed, are left out: only PyTorch can register their type.
    """
    folder = tmp_path_factory.mktemp("copies")
    functions = [f for f in load(torch=True).functions if "Dimname" not in str(f.func)]
    lines = [f"- func: |\n    copy::{f.func}\n  dispatch: {{CPU: kernel}}\n" for f in functions]
    (folder / "copies.yaml").write_text("".join(lines))
    (folder / "torchgen_lite.toml").write_text(
        'schema = ["copies.yaml"]\n[target.torch-python]\ndefines = true\n'
    )
    return folder


@pytest.fixture(scope="session")
def stubs(copies: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`generate --torch --schema ops.yaml --target torch-stubs`: the operators of an example and PyTorch's."""
    folder = tmp_path_factory.mktemp("stubs")
    schemas = [EXAMPLE / "ops.yaml", copies / "copies.yaml"]
    # The copies have the schemas of the installed release; the example's range of releases does not apply.
    config = replace(load_config(EXAMPLE)[0], torch="")
    program = ask_torch(load(schemas, root=EXAMPLE, config=config, torch=True))
    write_plan(build_plan(generate(program, targets=["torch-stubs"]), folder, "stubs"))
    return folder


@pytest.fixture(scope="session")
def packages() -> tuple[Path, ...]:
    """The folders of the example's own packages."""
    return EXAMPLE / "python", EXAMPLE / "generated" / "torch-python"


@pytest.fixture(scope="session")
def python(
    stubs: Path, packages: tuple[Path, ...], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    return environment_with(tmp_path_factory.mktemp("environment"), stubs, *packages)


@pytest.fixture(scope="session")
def mypy_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mypy")
