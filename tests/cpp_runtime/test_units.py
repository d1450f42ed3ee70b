"""The unit tests of the C++ runtime, as users compile it and under the sanitizers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cpp.compiling import needs_compiler
from tests.cpp_runtime.building import ADDRESS, HERE, build, require_sanitizer, run, together


@pytest.mark.slow("compiled with the sanitizers")
@needs_compiler
@pytest.mark.parametrize(
    "flags",
    [("-std=c++20", "-O0", "-fno-rtti", "-fvisibility=hidden"), ("-std=c++17", *ADDRESS)],
    ids=["without type information", "sanitized"],
)
def test_unit(tmp_path: Path, flags: tuple[str, ...]) -> None:
    if ADDRESS[-1] in flags:
        require_sanitizer(ADDRESS, tmp_path)
    main = HERE / "unit" / "main.cpp"
    others = together(
        [path for path in sorted(main.parent.glob("*.cpp")) if path != main], tmp_path
    )
    # Apart: a function of the headers that is not inline is then defined twice.
    found = run(build([main, others], tmp_path / "unit", flags))
    assert int(found.split()[0]) > 300
