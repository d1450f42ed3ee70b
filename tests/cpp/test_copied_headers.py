"""The headers that each library has a copy of are whole by themselves, and copies of two libraries get along."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.cpp.compiling import check_syntax, needs_compiler, torch_flags, write_files
from torchgen_lite.emit.render import render_files
from torchgen_lite.targets.cpp.layout import Layout, copied_files

pytestmark = [pytest.mark.torch, needs_compiler]

COPIED = ROOT / "torchgen_lite" / "copied"
ALL = {path.relative_to(COPIED): path.read_text() for path in COPIED.rglob("*.h")}
# What another one includes before anything else is compiled alone with that.
OPENINGS = {path: re.search(r'#include (?:<.*>|"(.*)")', text) for path, text in ALL.items()}
FIRST = {path.with_name(match[1]) for path, match in OPENINGS.items() if match and match[1]}
HEADERS = sorted(path.as_posix() for path in ALL if path not in FIRST)


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_compiles_alone(name: str, tmp_path: Path) -> None:
    (tmp_path / "alone.cpp").write_text(f'#include "{name}"\n')
    done = check_syntax(tmp_path, "alone.cpp", flags=torch_flags(), includes=[COPIED])
    assert (done.ok, done.messages) == (True, "")


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
    done = check_syntax(tmp_path, "both.cpp", flags=torch_flags(), includes=[include])
    assert (done.ok, done.messages) == (True, "")
