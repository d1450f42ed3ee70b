"""What README and the pages to start from show is what the programs print."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.blocks import PAGES, blocks
from tests.conftest import ROOT, SOURCES

# Programs are run as after the README's installation, wherever the tests run from.
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(SOURCES)}
README = PAGES["README"]
LIBRARY = PAGES["start-library"]
OPERATORS = ROOT / "examples" / "torch_ops"


def test_the_readme_is_read_to_its_end() -> None:
    assert README.count("\n") <= 110


def test_the_entry_of_the_readme_replaces_as_many_lines_as_it_says() -> None:
    """tests/cpp/test_torch_ops_cmake.py builds the version by hand, and compares it."""
    annotated = blocks(README, "yaml")[0]
    entry = re.sub(r" +#.*", "", annotated)
    assert entry in (OPERATORS / "ops.yaml").read_text()
    by_hand = sum(path.read_text().count("\n") for path in (OPERATORS / "by_hand").glob("*.*"))
    assert f"These {entry.count(chr(10))} lines replace the {by_hand} of" in README
    assert f"complete: {by_hand} lines" in PAGES["why"]


def test_the_glossary_is_in_order() -> None:
    _, _, glossary = PAGES["dispatch"].partition("## Glossary\n")
    words = [word.lower() for word in re.findall(r"^\| ([^|]+?) \|", glossary, re.M)[1:]]
    assert len(words) > 30 and words == sorted(words)


def test_the_two_commands_of_the_readme_are_what_ci_runs() -> None:
    ci = (ROOT / ".ci" / "run").read_text().partition("\nesac\n")[2]
    first, second = blocks(README, "bash")[:2]
    ci = re.sub(r'environment "\$work/\w+"', "install", ci)
    ci = ci.replace('"${ours[@]}"', "-e ./runtime -e ./reference -e ./tools")
    ci = ci.replace('"$work/use/bin/torchgen-lite"', "torchgen-lite")
    for step in (
        "install -e . -e ./runtime -e ./reference",
        "torchgen-lite generate",
        "examples/tour.py",
    ):
        assert step in first and step in ci
    for step in (
        'install -e ".[test]" -e ./runtime -e ./reference -e ./tools',
        "-m pytest -n auto",
    ):
        assert step in second and step in ci


def test_the_tour_prints_what_is_shown() -> None:
    done = subprocess.run(
        [sys.executable, "examples/tour.py"],
        cwd=ROOT,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() + "\n" in blocks(LIBRARY, "")


def test_a_call_that_no_kernel_serves_raises_what_readme_shows() -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import torchgen_lite_reference as tl\ntl.exp(tl.tensor([1.0]).to_sparse())",
        ],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    _, _, message = done.stderr.partition("Could not run")
    shortened = message.replace(str(ROOT / "generated" / "python"), "...")
    assert "Could not run" + shortened in blocks(LIBRARY, "")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The project of three files, written from the page's blocks, with its bindings generated."""
    schema, kernels, config = (
        next(block for block in blocks(LIBRARY, language) if block.startswith(f"# {name}"))
        for language, name in (
            ("yaml", "ops.yaml"),
            ("python", "my_kernels.py"),
            ("toml", "torchgen_lite.toml"),
        )
    )
    (tmp_path / "ops.yaml").write_text(schema)
    (tmp_path / "my_kernels.py").write_text(kernels)
    (tmp_path / "torchgen_lite.toml").write_text(config)
    generate = [sys.executable, "-m", "torchgen_lite", "generate"]
    subprocess.run(generate, cwd=tmp_path, env=ENVIRONMENT, check=True)
    return tmp_path


def run(folder: Path, program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = ['.', 'generated/python']\n{program}"],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_project_of_three_files_runs(project: Path) -> None:
    printed = run(
        project,
        "import my_ops, torchgen_lite_reference as tl\n"
        "x = tl.tensor([-1.0, 2.0])\n"
        "print(my_ops.clamp_below(x, 0.5))\n"
        "print(my_ops.clamp_below(x.to('meta')).shape)\n",
    )
    assert printed == "tensor([0.5000, 2.0000])\nSize([2])\n"


@pytest.mark.tools
def test_a_type_checker_reads_its_stubs(project: Path) -> None:
    (project / "use.py").write_text(
        "import my_ops\nimport torchgen_lite_reference as tl\n\n"
        'my_ops.clamp_below(tl.ones([2]), "half")\n'
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "use.py"],
        cwd=project,
        env={**ENVIRONMENT, "MYPYPATH": f"generated/python:{ENVIRONMENT['PYTHONPATH']}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    shown = next(line for line in done.stdout.splitlines() if line.startswith("use.py:4"))
    assert shown in LIBRARY


def test_mistakes_are_shown_as_readme_shows_them(project: Path) -> None:
    schema = project / "ops.yaml"
    schema.write_text(schema.read_text().replace("float", "flaot"))
    done = subprocess.run(
        [sys.executable, "-m", "torchgen_lite", "check"],
        cwd=project,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr in blocks(README, "")


def start(folder: Path, page: str) -> list[str]:
    """Run the first command of a page in a folder; the prompts that it shows for what was made."""
    init, _, rest = blocks(page, "sh")[0].partition(" && ")
    assert rest.splitlines()[0].startswith("torchgen-lite generate")
    for command in (init.split()[1:], ["generate"]):
        subprocess.run(
            [sys.executable, "-m", "torchgen_lite", "--quiet", *command],
            cwd=folder,
            env=ENVIRONMENT,
            check=True,
        )
    schema = (folder / "ops.yaml").read_text()
    assert all(text in schema for text in blocks(page, "yaml")[:1])
    return [line[4:] for line in "".join(blocks(page, "python")).splitlines() if ">>> " in line]


def printed_by(folder: Path, prompts: list[str]) -> str:
    *statements, shown = prompts
    return run(folder, "\n".join([*statements, f"print(repr({shown}))"]))


def test_a_library_of_your_own(tmp_path: Path) -> None:
    prompts = start(tmp_path, LIBRARY)
    assert f">>> {prompts[-1]}\n{printed_by(tmp_path, prompts)}```" in LIBRARY


@pytest.mark.torch
def test_operators_for_pytorch(tmp_path: Path) -> None:
    page = PAGES["start-operators"]
    prompts = start(tmp_path, page)
    assert f">>> {prompts[-1]}\n{printed_by(tmp_path, prompts)}```" in page


def test_a_backend_is_built_as_init_says() -> None:
    page = PAGES["start-backend"]
    said = (ROOT / "templates" / "init" / "torch-backend-cpp.txt").read_text()
    build = blocks(page, "sh")[0].split("\n", 1)[1]
    assert " ".join(build.split()) in " ".join(said.split())


EVERY_PAGE = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def unnamed_columns(page: Path) -> Iterator[str]:
    """Heads of tables with an empty cell."""
    heads = re.findall(r"^(\|.*\|)\n\|(?: *:?-+:? *\|)+$", page.read_text(), flags=re.M)
    for head in heads:
        if not all(map(str.strip, head[1:-1].split("|"))):
            yield f"{page.name}: {head}"


def test_columns_have_names() -> None:
    assert len(EVERY_PAGE) > 40
    assert [head for page in EVERY_PAGE for head in unnamed_columns(page)] == []


@cache
def anchors(page: Path) -> set[str]:
    """What the titles of a page are called in addresses."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def broken_links(page: Path) -> Iterator[str]:
    """Links to a file, or to a title of a page, that is not there."""
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        is_page = there.suffix == ".md"
        if not there.exists() or (anchor and is_page and anchor not in anchors(there)):
            yield f"{page.name}: {target}"


def test_links_lead_somewhere() -> None:
    assert [link for page in EVERY_PAGE for link in broken_links(page)] == []
