"""The unit tests of the C++ runtime, as users compile it and under the sanitizers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cpp.compiling import QUICK, check_syntax, needs_compiler
from tests.cpp_runtime.building import (
    ADDRESS,
    HERE,
    INCLUDE,
    build,
    require_sanitizer,
    run,
    together,
)

MAIN = HERE / "unit" / "main.cpp"
# They use no type information where there is none, and hide what need not be seen.
PLAIN = ("-std=c++20", "-O0", "-fno-rtti", "-fvisibility=hidden")


@needs_compiler
def test_unit_without_type_information(tmp_path: Path) -> None:
    check_units(tmp_path, PLAIN, QUICK)


@pytest.mark.skipif(QUICK == "g++", reason="the test above asks it")
@needs_compiler
def test_gcc_takes_what_clang_does(tmp_path: Path) -> None:
    """What it makes of them runs under the sanitizers."""
    everything = together(sorted(MAIN.parent.glob("*.cpp")), tmp_path)
    done = check_syntax(tmp_path, everything.name, flags=PLAIN, includes=[INCLUDE])
    assert done == (True, "")


@pytest.mark.slow("compiled with the sanitizers")
@needs_compiler
def test_unit_under_sanitizers(tmp_path: Path) -> None:
    require_sanitizer(ADDRESS, tmp_path)
    check_units(tmp_path, ("-std=c++17", *ADDRESS), "g++")


def check_units(tmp_path: Path, flags: tuple[str, ...], compiler: str) -> None:
    """All of the checks pass, and there are more than 300."""
    others = together(
        [path for path in sorted(MAIN.parent.glob("*.cpp")) if path != MAIN], tmp_path
    )
    # Apart: a function of the headers that is not inline is then defined twice.
    found = run(build([MAIN, others], tmp_path / "unit", flags, compiler))
    assert int(found.split()[0]) > 300
