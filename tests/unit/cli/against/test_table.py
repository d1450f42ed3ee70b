"""`table --against`: the cells of the computed tables that change."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import Result
from tests.unit.cli.against.conftest import NEW, OLD, git
from torchgen_lite.analysis.computed_table import Registrations, table
from torchgen_lite.cli.tables.compare import compare_tables

Run = Callable[..., Result]
TEXT = """\
2 operators lose their Meta kernel: lib::shift, lib::twist
lib::turn: CPU: kernel `turn` -> kernel `turn2`
new: lib::fresh
gone: lib::gone
"""
SAID = "3 operators change in 3 cells, 1 is new, 1 is gone against main\n"


def test_the_cells_that_change(run: Run, changed: Path) -> None:
    assert run("table", "--against", "main") == Result(0, TEXT, SAID)
    (changed / "native_functions.yaml").write_text(OLD)
    nothing = Result(0, "", "0 operators change in 0 cells against main\n")
    assert run("table", "--against", "main") == nothing


def test_one_operator_and_some_keys(run: Run, changed: Path) -> None:
    one = run("table", "turn", "--against", "main")
    assert one.stdout == "lib::turn: CPU: kernel `turn` -> kernel `turn2`\n"
    gone = run("table", "gone", "--against", "main")
    assert gone.stdout == "gone: lib::gone\n"
    meta = run("table", "--against", "main", "--key", "CPU")
    assert "Meta" not in meta.stdout and "lib::turn: CPU" in meta.stdout
    assert run("table", "--against", "main", "--key", "CPUU").code == 2
    assert run("table", "turm", "--against", "main").code == 2


def test_neighbors_that_change_alike_are_one_line(run: Run, changed: Path) -> None:
    path = changed / "native_functions.yaml"
    explicit = "  dispatch:\n    CompositeExplicitAutograd: turn\n"
    path.write_text(OLD + explicit)
    lines = run("table", "--against", "main").stdout.splitlines()
    assert lines[0] == "lib::gone"
    assert (
        "  CPU .. SparseCsrMeta (69): CompositeImplicitAutograd `gone` -> CompositeExplicitAutograd `turn`"
        in lines
    )
    assert (
        "  NestedTensorCPU .. AutogradNestedTensor (34): CompositeImplicitAutograd `gone` -> missing"
        in lines
    )


def test_json_and_markdown(run: Run, changed: Path) -> None:
    data = json.loads(run("table", "--against", "main", "--output-format", "json").stdout)
    assert [change["operator"] for change in data["changes"]] == [
        "lib::shift",
        "lib::twist",
        "lib::turn",
    ]
    [slot] = data["changes"][0]["slots"]
    assert slot["old"]["key"] == slot["new"]["key"] == "Meta"
    assert (slot["old"]["kernel"], slot["new"]["kernel"]) == ("shift", None)
    assert (data["added"], data["removed"]) == (["lib::fresh"], ["lib::gone"])
    page = run("table", "--against", "main", "--output-format", "markdown").stdout
    assert page.startswith("## Tables against main: 3 operators change in 3 cells")
    assert "**2 operators lose their Meta kernel**" in page
    assert "| lib::turn | CPU | kernel `turn` | kernel `turn2` |" in page


def test_the_other_side_has_its_own_configuration_and_kernels(run: Run, changed: Path) -> None:
    (changed / "native_functions.yaml").write_text(OLD.replace("CPU: turn", "CPU: other"))
    (changed / "kernels.py").write_text("from elsewhere import *\n")
    config = changed / "torchgen_lite.toml"
    config.write_text(config.read_text() + 'skip = ["lib::shift"]\n')
    result = run("table", "--against", "main")
    assert result.stdout == "lib::turn: CPU: kernel `turn` -> kernel `other`\ngone: lib::shift\n"


def test_a_file_and_a_folder(run: Run, changed: Path, tmp_path: Path) -> None:
    (changed / "old").mkdir()
    (changed / "old/native_functions.yaml").write_text(OLD)
    for place in ("old/native_functions.yaml", "old"):
        assert run("table", "--against", place).stdout == TEXT
    (changed / "old/torchgen_lite.toml").write_text('[target.python]\nskip = ["lib::gone"]\n')
    assert "gone: lib::gone" not in run("table", "--against", "old").stdout


def test_a_project_in_a_folder_of_the_repository(
    run: Run, changed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = changed / "sub folder é"
    inner.mkdir()
    (changed / "native_functions.yaml").write_text(OLD)
    git(changed, "mv", "kernels.py", "native_functions.yaml", "torchgen_lite.toml", inner.name)
    git(changed, "commit", "-qm", "moved")
    monkeypatch.chdir(inner)
    (inner / "native_functions.yaml").write_text(NEW)
    assert run("table", "--against", "HEAD").stdout == TEXT
    assert run("table", "--against", "HEAD~1").code == 2, "it was not there"


def test_files_beside_the_project(run: Run, changed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (changed / "native_functions.yaml").write_text(OLD)
    (changed / "inner").mkdir()
    git(changed, "mv", "torchgen_lite.toml", "inner")
    config = changed / "inner/torchgen_lite.toml"
    beside = 'schema = ["../native_functions.yaml"]\nsource-roots = [".."]\n'
    config.write_text(beside + config.read_text())
    git(changed, "add", ".")
    git(changed, "commit", "-qm", "beside")
    (changed / "native_functions.yaml").write_text(NEW)
    monkeypatch.chdir(changed / "inner")
    assert run("table", "--against", "HEAD").stdout == TEXT


@pytest.mark.parametrize("against", ["nonsense", "", "-x", "main:x", "torch:0.1"])
def test_no_such_version(run: Run, changed: Path, against: str) -> None:
    result = run("table", "--against", against)
    assert result.code == 2
    assert "error[TG01" in result.stderr


def test_errors_of_the_other_side(run: Run, changed: Path) -> None:
    path = changed / "native_functions.yaml"
    path.write_text("- func: lib::shift(Tensr self) -> Tensor\n")
    git(changed, "commit", "-qam", "wrong")
    path.write_text(NEW)
    result = run("table", "--against", "HEAD", "--output-format", "concise")
    assert result.code == 2
    assert result.stderr.startswith("HEAD:native_functions.yaml:1:20: error[TG202]")
    assert "'HEAD' has errors, so nothing can be compared with it" in result.stderr


def test_a_release_of_pytorch(run: Run, changed: Path) -> None:
    """The schema file of the command line is compared with a release's wheel."""
    place = "torchgen/packaged/ATen/native/native_functions.yaml"
    with zipfile.ZipFile(changed / "torch-2.9.1-py3-none-any.whl", "w") as wheel:
        wheel.writestr(place, OLD)
    (changed / "new.yaml").write_text(NEW)
    for against in ("torch:2.9", "torch-2.9.1-py3-none-any.whl"):
        result = run("table", "--schema", "new.yaml", "--against", against)
        assert "2 operators lose their Meta kernel: lib::shift, lib::twist\n" not in result.stdout
        assert "kernel `turn` -> kernel `turn2`" in result.stdout, result
        assert "gone: lib::gone" in result.stdout


@pytest.mark.torch
def test_the_installed_pytorch_is_like_itself(run: Run, changed: Path) -> None:
    import torch

    against = f"torch:{torch.__version__.partition('+')[0]}"
    same = Result(0, "", f"0 operators change in 0 cells against {against}\n")
    assert run("table", "--torch", "--against", against) == same


@pytest.mark.torch
def test_the_page_of_the_installed_pytorch_has_schemas(run: Run, changed: Path) -> None:
    assert run("table", "aten::relu", "--torch", "--html", "relu.html").code == 0
    assert '"aten::relu(Tensor self) -> Tensor"' in (changed / "relu.html").read_text()


def test_links_and_filters_of_a_revision(run: Run, changed: Path) -> None:
    """Symbolic links are not followed, and filters in `.gitattributes` are not run."""
    (changed / "outside.yaml").symlink_to("/etc/passwd")
    (changed / ".gitattributes").write_text("*.yaml filter=trap\n")
    (changed / "native_functions.yaml").write_text(OLD)
    git(changed, "add", ".")
    git(changed, "commit", "-qm", "trap")
    git(changed, "config", "filter.trap.smudge", f"touch {changed}/ran && cat")
    (changed / "native_functions.yaml").write_text(NEW)
    assert run("table", "--against", "HEAD").stdout == TEXT
    assert not (changed / "ran").exists()


KEYS = ("CPU", "CUDA", "Meta", "Autograd", "CompositeImplicitAutograd", "CompositeExplicitAutograd")
LABELS = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(("a", "b", "fallthrough")))


@given(LABELS, LABELS)
def test_every_cell_that_differs_and_no_other(
    before: dict[str, str], after: dict[str, str]
) -> None:
    old, new = Registrations("f", before, {}), Registrations("f", after, {})
    found = compare_tables([old], [new])
    cells = {cell.new.key for one in found.changed for cell in one.cells}
    assert cells == {b.key for a, b in zip(table(old), table(new)) if a[2:] != b[2:]}
    assert sum(len(run) for one in found.changed for run in one.runs) == len(cells)
    assert not any(compare_tables([new], [new]))
