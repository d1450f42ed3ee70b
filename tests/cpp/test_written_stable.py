"""Every form in which an operator writes compiles for the stable ABI: calls, kernels, the proof and registrations."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cpp.compiling import needs_compiler
from tests.cpp.stable_library import check, generate_stable
from tests.cpp.written_forms import WRITES, entries

pytestmark = [pytest.mark.torch, needs_compiler]


def test_every_form_compiles(tmp_path: Path) -> None:
    forms = tuple([form._replace(more="") for form in WRITES])
    files = generate_stable(tmp_path, entries(forms))
    header = files["stable/include/wr/kernels.h"]
    declared = re.findall(r"\b(\w+_kernel)\(", header)
    assert sorted(declared) == sorted(form.kernel for form in forms)
    sources = sorted(path for path in files if path.endswith(".cpp"))
    bodies = header.replace("#pragma once", "#include <stdexcept>")
    bodies = re.sub(r"\);$", ') { throw std::runtime_error("no kernel"); }', bodies, flags=re.M)
    includes = [f'#include "{path}"' for path in sources]
    compiled = check(tmp_path, "\n".join([*includes, "#include <wr/functions.h>", bodies]))
    assert compiled.ok, compiled.messages
