"""Each cell of the matrix is as recorded. `UPDATE_EXPECT=1` records what is found, and writes docs/composability.md."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.compose.build import BY_HAND, COLUMNS, IN_CPP, build
from tests.compose.page import PAGE, RELEASE, Column, Matrix, page, record, recorded
from tests.conftest import SOURCES
from tests.cpp.compiling import HAS_COMPILER
from tests.forks import COMPILING, run_forked

# What is left to refuse: PyTorch itself has no way.
MOST_REFUSED = 4


def probe(column: str, folder: Path) -> Column:
    """The cells of a column, from a process that has only this library."""
    folder.mkdir()
    build(column, folder)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(SOURCES)}
    # Columns share the C++ that inductor has compiled, which is most of its time.
    environment["TORCHINDUCTOR_CACHE_DIR"] = str(folder.parent / "inductor")
    command = ["-m", "tests.compose.cells", str(folder)]
    done = run_forked(command, folder, environment, COMPILING)
    assert done.returncode == 0, done.stderr
    found: Column = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Matrix:
    """What is found in each column, two at a time; the one that compiles longest is the first."""
    import torch

    if torch.__version__.partition("+")[0] != RELEASE:
        pytest.skip(f"the matrix is recorded for PyTorch {RELEASE}")
    folder = tmp_path_factory.mktemp("compose")
    chosen = [one for one in COLUMNS if HAS_COMPILER or one not in IN_CPP]
    chosen.sort(key=["cpp-torch", "torch-python", "cpp-torch-stable", BY_HAND].index)
    with ThreadPoolExecutor(2) as pool:
        running = {one: pool.submit(probe, one, folder / one) for one in chosen}
    return {one: running[one].result() for one in COLUMNS if one in running}


@pytest.mark.torch
def test_each_cell_is_as_recorded(matrix: Matrix) -> None:
    if os.environ.get("UPDATE_EXPECT"):
        record(matrix)
    known = recorded()
    assert matrix == {column: known[column] for column in matrix}


def test_no_generated_cell_is_wrong_and_few_are_refused() -> None:
    for column, found in recorded().items():
        if column != BY_HAND:
            others = [cell for cell in found["rows"].values() if not cell.startswith("works")]
            assert all(cell.startswith("refused: ") for cell in others), column
            assert len(others) <= MOST_REFUSED, column


def test_no_generated_cell_is_wrong_with_other_inputs() -> None:
    for column, found in recorded().items():
        for row, cells in found["inputs"].items():
            wrong = {kind: cell for kind, cell in cells.items() if cell.startswith("wrong")}
            assert column == BY_HAND or wrong == {}, (column, row)


def test_the_page_is_what_is_recorded() -> None:
    assert PAGE.read_text("utf-8") == page(recorded())
