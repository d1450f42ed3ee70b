"""Properties of the pages that the case `docs` does not show."""

from __future__ import annotations

import re
from pathlib import Path
from posixpath import dirname, join, normpath

import pytest

from torchgen_lite import Program, load
from torchgen_lite.analysis.computed_table import table
from torchgen_lite.loader.config.project import Config
from torchgen_lite.pipeline import generate_all
from torchgen_lite.targets.docs.facts import rows_of
from torchgen_lite.targets.docs.pages import page_paths
from torchgen_lite.targets.generation import generation_of
from torchgen_lite.targets.registered import registrations_of_program

OPS = """\
- func: lib::f(Tensor self) -> Tensor
  doc: What it is. And more.
  dispatch:
    CPU: f_cpu
- func: lib::f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  dispatch:
    CPU: f_out
- func: lib::g(Tensor self) -> Tensor
- func: other::h(Tensor self) -> Tensor
"""


def pages(folder: Path, yaml: str = OPS, **options: object) -> dict[str, str]:
    (folder / "native_functions.yaml").write_text(yaml)
    found = generate_all(
        load(config=Config(folder, target_options={"docs": options})), targets=["docs"]
    )
    assert found.diagnostics == ()
    return dict(found.files)


def test_a_change_of_an_operator_changes_its_page(tmp_path: Path) -> None:
    before = pages(tmp_path)
    after = pages(tmp_path, OPS.replace("f_cpu", "f_fast").replace("g(Tensor self)", "g(Tensor x)"))
    assert [path for path in before if before[path] != after[path]] == [
        "docs/lib/f.md",
        "docs/lib/g.md",
    ]
    more = pages(tmp_path, "# A line.\n- func: lib::a(Tensor self) -> Tensor\n" + OPS)
    assert [path for path in before if before[path] != more[path]] == ["docs/index.md"]


@pytest.mark.parametrize("format", ["markdown", "html"])
def test_every_link_leads_somewhere(tmp_path: Path, format: str) -> None:
    files = pages(tmp_path, format=format)
    found = set()
    for path, text in files.items():
        for link in re.findall(r'(?:href|src|action)="([^"]+)"|\]\(([^)]+)\)', text):
            found.add(normpath(join(dirname(path), "".join(link))))
    assert found <= set(files)
    assert {path for path in files if path.endswith((".md", ".html"))} <= found


def test_paths() -> None:
    names = [
        "lib::f",
        "lib::F",
        "lib::f.Out",
        "lib::index",
        "lib::index.x",
        "a::b::con",
        "con::x",
        "lib::README",
    ]
    assert list(page_paths(names, ".md").values()) == [
        "lib/f.md",
        "lib/F-1.md",
        "lib/f.Out.md",
        "lib/index-op.md",
        "lib/index.x.md",
        "a/b/con-op.md",
        "con-op/x.md",
        "lib/README-op.md",
    ]  # fmt: skip


def test_rows_are_the_computed_table(tmp_path: Path) -> None:
    """Each slot with a kernel is in one row, and the row says what the slot does."""
    (tmp_path / "native_functions.yaml").write_text(OPS)
    program = load(root=tmp_path)
    for one in registrations_of_program(program, generation_of(program).shown):
        cells = {cell.key: cell for cell in table(one)}
        order = list(cells)
        seen = {}
        for runs, cell in rows_of(one):
            for first, last in runs:
                for key in order[order.index(first) : order.index(last) + 1]:
                    assert key not in seen
                    seen[key] = (cell.origin, cell.label)
        assert seen == {k: (c.origin, c.label) for k, c in cells.items() if c.origin != "missing"}


def test_the_tables_are_those_of_the_target(tmp_path: Path) -> None:
    assert "`AutogradOther` to `AutogradCUDA`" in pages(tmp_path)["docs/lib/f.md"]
    assert "Autograd" not in pages(tmp_path, tables="python")["docs/lib/f.md"]


def test_an_operator_that_the_target_does_not_have(tmp_path: Path) -> None:
    (tmp_path / "native_functions.yaml").write_text(OPS)
    options = {
        "docs": {"tables": "cpp-runtime"},
        "cpp-runtime": {"tensor": "T", "skip": ["other::h"]},
    }
    program = load(config=Config(tmp_path, target_options=options))
    page = generate_all(program, targets=["docs"]).files["docs/other/h.md"]
    said = "target \\`cpp-runtime\\` does not have \\`other&#58;&#58;h\\`: \\`skip\\` names it."
    assert f"\nNone: {said}\n" in page


@pytest.mark.parametrize(("name", "code"), [("nobody", "TG008"), ("torch-stubs", "TG015")])
def test_tables_of_a_target_that_has_none(tmp_path: Path, name: str, code: str) -> None:
    (tmp_path / "native_functions.yaml").write_text(OPS)
    config = Config(tmp_path, target_options={"docs": {"tables": name}})
    found = generate_all(load(config=config), targets=["docs"])
    assert [d.code for d in found.diagnostics] == [code]
    assert not found.files


def test_no_path_of_this_machine(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "project").mkdir()
    (tmp_path / "lib" / "ops.yaml").write_text(OPS)
    program = load(tmp_path / "lib" / "ops.yaml", config=Config(tmp_path / "project"))
    files = generate_all(program, targets=["docs"]).files
    assert "- Declared in: `ops.yaml`\n" in files["docs/lib/f.md"]
    assert str(tmp_path) not in "".join(files.values())


@pytest.mark.parametrize("name", ["a-->b.yaml", "a*/b.yaml"])
def test_the_name_of_a_file_stays_in_its_comment(tmp_path: Path, name: str) -> None:
    path = tmp_path / name.replace("/", "\N{DIVISION SLASH}")
    path.write_text(OPS)
    options = {"docs": {"format": "html"}}
    program = load(path, config=Config(tmp_path, schema=(path.name,), target_options=options))
    for file, text in generate_all(program, targets=["docs"]).files.items():
        header = text.partition("\n")[0]
        for ending, mark in ((".html", "-->"), (".css", "*/")):
            assert not file.endswith(ending) or header.index(mark) == len(header) - len(mark)


@pytest.mark.torch
def test_all_of_pytorch(torch_program: Program) -> None:
    """Every declared or derived operator has a page, and every link leads to a page."""
    files = generate_all(torch_program, targets=["docs"]).files
    assert len(files) == len(torch_program.resolved.operators) + 1
    assert len({path.lower() for path in files}) == len(files)
    for path, text in files.items():
        for link in re.findall(r"\]\(([^)]+)\)", text):
            assert normpath(join(dirname(path), link)) in files


@pytest.fixture
def torch_program() -> Program:
    pytest.importorskip("torch")
    return load(torch=True)


def test_a_kernel_of_several_has_its_condition(tmp_path: Path) -> None:
    rows = "[{when: self.dim() <= 2, kernel: f_flat}, f_cpu]"
    page = pages(tmp_path, OPS.replace("CPU: f_cpu", f"CPU: {rows}"))["docs/lib/f.md"]
    kernels = page.partition("## Kernels\n\n")[2].partition("\n\n")[0]
    assert kernels == """\
| Key | Kernel | If |
|---|---|---|
| `CPU` | `f_flat` | self.dim() &lt;= 2 |
| `CPU` | `f_cpu` | the rest |"""
