"""Which files an edit of the YAML compiles, by ninja: the table of docs/cpp-build.md.

The compiler stops behind the preprocessor, and headers that are not here are empty, so that libtorch is not needed: what
a file is compiled again for is known by then.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.cpp.compiling import needs_compiler
from tests.cpp.torch_ops import copy_example, has_programs, run
from torchgen_lite import generate, load

pytestmark = [
    needs_compiler,
    pytest.mark.skipif(not has_programs("ninja"), reason="ninja is not installed"),
]
TARGETS = {"cpp-torch": "csrc", "cpp-torch-stable": "csrc_stable"}
RELU = """\
- func: torch_ops::relu(Tensor self) -> Tensor
  dispatch:
    CPU: relu_cpu
"""
# What is replaced in ops.yaml, and what by; each is the row of the table that begins with its name.
EDITS = {
    "a comment": ("- func: torch_ops::scale(", "# A comment.\n- func: torch_ops::scale("),
    "`doc`": ("doc: self * s.", "doc: The product."),
    "`samples`": ("(tensor([3, 1, 2]))", "(tensor([3, 1, 4]))"),
    "`fake`": ("memory_format: contiguous_format", "memory_format: preserve_format"),
    "a default": ("float eps=1e-06", "float eps=1e-05"),
    "a formula": ("b: grad * a", "b: a * grad"),
    "a type": ("float eps=1e-06", "float? eps=1e-06"),
    "a kernel's name": ("CPU: minmax_cpu", "CPU: extremes_cpu"),
    "a new operator": ("- func: torch_ops::scale(", f"{RELU}- func: torch_ops::scale("),
}
NINJA = """\
rule compile
  command = g++ -E -MD -MF $out.d -MT $out -DTORCH_VERSION_MAJOR=2 -DTORCH_VERSION_MINOR=13 -DTORCH_FEATURE_VERSION=0x20D000000000000 -DTORCH_ABI_VERSION=0x20D000000000000 -I$include -Istubs $in -o $out
  depfile = $out.d
  deps = gcc
"""


def project(tmp_path: Path) -> Path:
    """A copy of the example, with a build file, and an empty header for each that neither it nor g++ has."""
    folder = copy_example(tmp_path)
    lines = [NINJA]
    for target, kernels in TARGETS.items():
        generated = folder / "generated" / target
        for source in [
            *sorted((generated / "src").glob("*.cpp")),
            *sorted((folder / kernels).iterdir()),
        ]:
            name = source.relative_to(folder)
            lines.append(f"build out/{name}.o: compile {name}\n  include = {generated}/include\n")
    (folder / "build.ninja").write_text("".join(lines))
    for path in [*folder.rglob("*.h"), *folder.rglob("*.cpp")]:
        for header in re.findall(r"#include <(.*\.h)>", path.read_text()):
            if not list(folder.glob(f"generated/*/include/{header}")):
                stub = folder / "stubs" / header
                stub.parent.mkdir(parents=True, exist_ok=True)
                stub.write_text("#pragma once\n")
    run(folder, "ninja")
    return folder


def compiled(folder: Path, before: tuple[str, str]) -> set[str]:
    """What ninja compiles after an edit."""
    schema = folder / "ops.yaml"
    text = schema.read_text()
    assert before[0] in text
    schema.write_text(text.replace(*before))
    for path, new in generate(load(root=folder), targets=list(TARGETS)).items():
        file = folder / "generated" / path
        if not file.exists() or file.read_text() != new:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(new)
    said = run(folder, "ninja", "-n", "-v")
    schema.write_text(text)
    return set(re.findall(r"-o out/(\S+)\.o", said))


def table() -> dict[str, list[str]]:
    """The rows of the page: the edit, and the files of target `cpp-torch`."""
    page = (ROOT / "docs" / "cpp-build.md").read_text().partition("## What an edit compiles")[2]
    rows = re.findall(r"^\| (.*?) \|(.*?)\|", page.partition("\n## ")[0], flags=re.M)
    return {edit: re.findall(r"`(\w+\.cpp)`", files) for edit, files in rows[1:]}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """What each edit compiles, one after another; each is undone."""
    folder = project(tmp_path_factory.mktemp("rebuilds"))
    outcomes = {}
    for name, edit in EDITS.items():
        outcomes[name] = compiled(folder, edit)
        compiled(folder, ("- func", "- func"))
        run(folder, "ninja")
    return outcomes


def test_the_page_has_every_edit() -> None:
    assert list(table()) == list(EDITS)


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("target", TARGETS)
def test_an_edit_compiles_what_the_page_says(
    found: dict[str, set[str]], edit: str, target: str
) -> None:
    own = {
        path
        for path in found[edit]
        if path.startswith((f"generated/{target}/", f"{TARGETS[target]}/"))
    }
    assert len({Path(path).name for path in own}) == len(own)
    expected = set(table()[edit])
    if target == "cpp-torch-stable":
        expected -= {"register_autograd.cpp"}
    assert {Path(path).name for path in own} == expected
