"""The headers that each library has a copy of are whole by themselves, and copies of two libraries get along."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.cpp.compiling import check_syntax, long_include, needs_compiler, with_header, write_files
from torchgen_lite.emit.render import render_files
from torchgen_lite.targets.cpp.layout import Layout, copied_files

pytestmark = [pytest.mark.torch, needs_compiler]

COPIED = ROOT / "torchgen_lite" / "copied"
# The headers of every target.
SHARED = Path("cpp")
ALL = {path.relative_to(COPIED): path.read_text() for path in COPIED.rglob("*.h")}


def precompiled(path: Path) -> str | None:
    """The header of PyTorch that precedes one of ours when that is compiled alone."""
    folders = (path.parent, SHARED)
    beside = {other.name: text for other, text in ALL.items() if other.parent in folders}
    return long_include(ALL[path], beside)


def opened(path: Path, name: str) -> Path:
    """The header that another one includes: a library has those of its target and the shared ones in one folder."""
    beside = path.with_name(name)
    return beside if beside in ALL else SHARED / name


# What another one includes before anything else is compiled alone with that, unless more precedes that.
OPENINGS = {path: re.search(r'#include (?:<.*>|"(.*)")', text) for path, text in ALL.items()}
PAIRS = {(path, opened(path, match[1])) for path, match in OPENINGS.items() if match and match[1]}
FIRST = {first for path, first in PAIRS if precompiled(path) == precompiled(first)}
HEADERS = sorted(path.as_posix() for path in ALL if path not in FIRST)


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_compiles_alone(name: str, tmp_path: Path) -> None:
    (tmp_path / "alone.cpp").write_text(f'#include "{name}"\n')
    compiler = with_header(precompiled(Path(name)))
    includes = [COPIED, COPIED / SHARED, ROOT / "torchgen_lite/cpp/include"]
    done = check_syntax(tmp_path, "alone.cpp", compiler=compiler, includes=includes)
    assert (done.ok, done.messages) == (True, "")


def test_what_is_precompiled_is_always_included() -> None:
    """Not under a condition, nor by a header that is not ours."""
    name = "ATen/core/dispatch/Dispatcher.h"
    include = f"#include <{name}>\n"
    assert long_include(include, {}) == name
    assert long_include('#include "ours.h"\n', {"ours.h": include}) == name
    assert long_include('#include "theirs.h"\n', {"ours.h": include}) is None
    assert long_include(f"#if 1\n{include}#endif\n", {}) is None
    assert long_include(f"#include <map>\n#if 1\n{include}#endif\n", {}) is None


BOTH = """\
#include <one/call_operator.h>
#include <two/parts/call_operator.h>

using One = one::detail::Calls<int, int()>;
using Two = two::parts::detail::Calls<int, int()>;

#ifdef TORCHGEN_LITE_NAMESPACE
#error "the name of a library is left behind"
#endif
"""


def test_two_libraries_in_one_file(tmp_path: Path) -> None:
    for folder, namespace in (("one", "one"), ("two/parts", "two::parts")):
        layout = Layout("out", folder, namespace, (None,))
        files = list(copied_files(layout, "cpp_torch", "call_operator.h"))
        write_files(tmp_path, render_files(files, "ops.yaml"))
    (tmp_path / "both.cpp").write_text(BOTH)
    include = tmp_path / "out" / "include"
    compiler = with_header(precompiled(Path("cpp_torch/call_operator.h")))
    done = check_syntax(tmp_path, "both.cpp", compiler=compiler, includes=[include])
    assert (done.ok, done.messages) == (True, "")
