"""The four distributions: what each wheel has and needs, and where editable installs find their packages."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from email import message_from_bytes
from pathlib import Path

import numpy
import pytest

from tests.conftest import ROOT, SOURCES
from tests.shipping.environment import Environment
from torchgen_lite.diagnostics import code_names
from torchgen_lite.version import __version__

FOLDERS = (ROOT, ROOT / "runtime", ROOT / "reference", ROOT / "tools")
CONTENTS = {
    "torchgen_lite.runtime": {"torchgen_lite"},
    "torchgen_lite_runtime": {"torchgen_lite_runtime"},
    "torchgen_lite_reference": {"torchgen_lite_reference", "torchgen_lite_ops"},
    "torchgen_lite_tools": {"torchgen_lite_tools"},
}
REQUIREMENTS = {
    "torchgen_lite.runtime": {"pyyaml", "jinja2", "black", "click", "tomli"},
    "torchgen_lite_runtime": set(),
    "torchgen_lite_reference": {"numpy", "torchgen-lite-runtime"},
    "torchgen_lite_tools": {"torchgen-lite", "click", "pygls", "tree-sitter", "tree-sitter-cpp"},
}
USE = """\
import sys
import torchgen_lite_reference as tl

x = tl.tensor([1.0, 2.0], requires_grad=True)
with tl.inference_mode():
    print((x * x).requires_grad)
(x * x).sum().backward()
print(x.grad, tl.dispatcher.__class__.__module__)
print(*sorted({name.split(".")[0] for name in sys.modules} & {"black", "jinja2", "torchgen_lite", "yaml"}))
"""


@pytest.mark.parametrize("name", CONTENTS)
def test_a_wheel_has_its_packages_and_says_what_they_need(
    distributions: dict[str, Path], name: str
) -> None:
    with zipfile.ZipFile(distributions[name]) as wheel:
        tops = {path.partition("/")[0] for path in wheel.namelist()}
        [about] = [path for path in wheel.namelist() if path.endswith(".dist-info/METADATA")]
        metadata = message_from_bytes(wheel.read(about))
        code = [wheel.read(path) for path in wheel.namelist() if path.endswith((".py", ".pyi"))]
    assert {top for top in tops if not top.endswith(".dist-info")} == CONTENTS[name]
    required = [one for one in metadata.get_all("Requires-Dist", []) if "extra ==" not in one]
    assert {re.split(r"[^\w-]", one)[0] for one in required} == REQUIREMENTS[name]
    ours = {one for one in required if one.startswith("torchgen-lite")}
    names = {one for one in REQUIREMENTS[name] if one.startswith("torchgen-lite")}
    assert ours == {f"{one}=={__version__}" for one in names}
    uses_numpy = [text for text in code if re.search(rb"^ *(?:import|from) numpy\b", text, re.M)]
    assert bool(uses_numpy) == (name == "torchgen_lite_reference")


@pytest.mark.parametrize("name", ["torchgen_lite.runtime", "torchgen_lite_runtime"])
def test_a_wheel_that_reports_diagnostics_has_the_pages_of_their_codes(
    distributions: dict[str, Path], name: str
) -> None:
    """The parser of schemas, which is in both, asks a page whether its code is an error."""
    with zipfile.ZipFile(distributions[name]) as wheel:
        pages = [path for path in wheel.namelist() if "/diagnostics/codes/" in path]
    assert sorted(Path(page).stem for page in pages) == list(code_names())


def test_the_reference_operators_run_on_the_runtime_alone_or_on_that_of_the_tool(
    distributions: dict[str, Path], tmp_path: Path
) -> None:
    wheels = [distributions["torchgen_lite_runtime"], distributions["torchgen_lite_reference"]]
    alone = Environment(tmp_path / "alone", *wheels)
    beside = Environment(tmp_path / "beside", *wheels, distributions["torchgen_lite.runtime"])
    for environment in (alone, beside):
        (environment.site / "numpy").symlink_to(Path(numpy.__file__).parent)
    said = "False\ntensor([2., 4.]) {}.dispatcher\n{}\n"
    assert alone.prints(USE) == said.format("torchgen_lite_runtime._own.runtime", "")
    assert beside.prints(USE) == said.format("torchgen_lite.runtime", "torchgen_lite")


def test_editable_installs_find_the_packages_in_the_checkout(tmp_path: Path) -> None:
    """No folder has a copy of what is generated, which would hide what `generate` writes."""
    build = "import sys, hatchling.build; print(hatchling.build.build_editable(sys.argv[1]))"
    found = []
    for folder in FOLDERS:
        command = [sys.executable, "-c", build, str(tmp_path)]
        name = subprocess.check_output(command, cwd=folder, text=True).split()[-1]
        with zipfile.ZipFile(tmp_path / name) as wheel:
            [listed] = [path for path in wheel.namelist() if path.endswith(".pth")]
            found += wheel.read(listed).decode().splitlines()
            assert "torchgen_lite_ops/__init__.py" not in wheel.namelist()
    assert sorted(found) == sorted(SOURCES)
