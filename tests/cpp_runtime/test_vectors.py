"""The C++ runtime says what the Python one says."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

from tests.cpp.compiling import needs_compiler
from tests.cpp_runtime.building import ADDRESS, HERE, build, require_sanitizer, run
from tests.cpp_runtime.write_vectors import vectors


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The vectors, written again by the Python runtime."""
    path = tmp_path_factory.mktemp("vectors") / "vectors.txt"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # The scripts override kernels on purpose.
        path.write_text(vectors())
    return path


@pytest.mark.slow("compiled with the sanitizers")
@needs_compiler
@pytest.mark.parametrize(
    "flags", [("-std=c++17", "-O1"), ("-std=c++20", *ADDRESS)], ids=["plain", "sanitized"]
)
def test_vectors(lines: Path, tmp_path: Path, flags: tuple[str, ...]) -> None:
    if ADDRESS[-1] in flags:
        require_sanitizer(ADDRESS, tmp_path)
    found = run(build([HERE / "vectors.cpp"], tmp_path / "vectors", flags), str(lines))
    counts = {what: int(count) for what, count in re.findall(r"(.*): (\d+)\n", found)}
    text = lines.read_text()
    for what in ("key", "former", "backend", "named", "set", "state", "table", "call"):
        assert counts[what] == len(re.findall(rf"^{what} ", text, flags=re.M)) > 0, what
    assert counts["callBoxed"] == counts["call"] > 2000
    # Enough of the calls run kernels, or end as they must.
    ends = [line.rpartition(" ")[2] for line in text.splitlines() if line.startswith("call ")]
    assert sum("@" in end for end in ends) > 500
    assert {"missing", "ambiguous", "error"} <= set(ends)
