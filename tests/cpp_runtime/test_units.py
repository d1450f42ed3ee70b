"""The unit tests of the C++ runtime, as users compile it and under the sanitizers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cpp.compiling import COMPILERS, needs_compiler
from tests.cpp_runtime.building import ADDRESS, HERE, build, require_sanitizer, run, together

# They use no type information where there is none, and hide what need not be seen.
PLAIN = ("-std=c++20", "-O0", "-fno-rtti", "-fvisibility=hidden")


@needs_compiler
@pytest.mark.parametrize("compiler", COMPILERS)
def test_unit_without_type_information(tmp_path: Path, compiler: str) -> None:
    check_units(tmp_path, PLAIN, compiler)


@pytest.mark.slow("compiled with the sanitizers")
@needs_compiler
def test_unit_under_sanitizers(tmp_path: Path) -> None:
    check_units(tmp_path, ("-std=c++17", *ADDRESS), "g++")


def check_units(tmp_path: Path, flags: tuple[str, ...], compiler: str) -> None:
    """All of the checks pass, and there are more than 300."""
    if ADDRESS[-1] in flags:
        require_sanitizer(ADDRESS, tmp_path)
    main = HERE / "unit" / "main.cpp"
    others = together(
        [path for path in sorted(main.parent.glob("*.cpp")) if path != main], tmp_path
    )
    # Apart: a function of the headers that is not inline is then defined twice.
    found = run(build([main, others], tmp_path / "unit", flags, compiler))
    assert int(found.split()[0]) > 300
