"""ARCHITECTURE.md says which files an operator goes through, and how many: both are traced here."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "torchgen_lite"
PAGE = (ROOT / "ARCHITECTURE.md").read_text()
WALK = PAGE.partition("## The walk\n")[2].partition("\n## ")[0]

# Comprehensions are left out: only until Python 3.11 are they functions.
TRACE = """
import collections, importlib, json, os, pkgutil, sys
import torchgen_lite
from torchgen_lite import generate, load

root = os.path.dirname(torchgen_lite.__file__) + os.sep
for module in pkgutil.walk_packages([root], "torchgen_lite."):
    if not module.name.endswith("__main__") and ".copied" not in module.name:
        importlib.import_module(module.name)
ONE = "- func: scale(Tensor x, float factor) -> Tensor\\n  dispatch:\\n    CPU: scale_cpu\\n"
TWO = ONE + "- func: shift(Tensor y, float amount) -> Tensor\\n  dispatch:\\n    CPU: shift_cpu\\n"
INLINED = {"<module>", "<listcomp>", "<setcomp>", "<dictcomp>"}

def calls(text):
    with open("ops.yaml", "w") as file:
        file.write(text)
    found = collections.Counter()
    def count(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(root) and code.co_name not in INLINED:
            found[code.co_filename[len(root):].replace(os.sep, "/"), code.co_firstlineno] += 1
    sys.setprofile(count)
    generated = generate(load(schema="ops.yaml"), targets=["cpp-torch"])
    sys.setprofile(None)
    assert any('m.impl("scale"' in text for text in generated.values())
    return found

whole, one, two = calls(ONE), calls(ONE), calls(TWO)
more = [file for (file, line), count in two.items() if count > one[file, line]]
print(json.dumps([sorted({file for file, _ in whole}), sorted(set(more))]))
"""


def paths_of(what: str) -> set[str]:
    """The files that a part of the walk names."""
    section = WALK.partition(f"**One {what}**")[2].partition("\n**One")[0]
    return set(re.findall(r"`([\w/]+/[\w./]+\.(?:py|pyi\.j2|cpp\.j2))`", section))


@pytest.mark.parametrize(
    ("what", "most"), [("operator", 11), ("error", 5), ("new field", 8), ("new target", 3)]
)
def test_each_part_of_the_walk_is_short_and_names_files_that_exist(what: str, most: int) -> None:
    assert 0 < len(paths_of(what)) <= most
    for path in paths_of(what):
        assert ((ROOT if path.startswith("templates/") else PACKAGE) / path).is_file(), path


def traced(more: int, whole: int) -> str:
    return rf"enters {more} files\1enters {whole}"


def test_an_operator_goes_through_as_many_files_as_the_page_says(tmp_path: Path) -> None:
    """The page has two numbers: the files of one more operator, and those of a whole run."""
    done = subprocess.run(
        [sys.executable, "-c", TRACE], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    whole, more = json.loads(done.stdout)
    said = re.sub(
        r"enters \d+ files(.*?)enters \d+", traced(len(more), len(whole)), PAGE, flags=re.S
    )
    if os.environ.get("UPDATE_EXPECT"):
        (ROOT / "ARCHITECTURE.md").write_text(said)
    else:
        assert said == PAGE, "\n".join(more)
    assert len(more) <= 60
    named = {path for path in paths_of("operator") if not path.startswith("templates/")}
    assert sorted(named - set(whole)) == []
