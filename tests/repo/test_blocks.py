"""Blocks of all pages: YAML is linted, settings are read, Python compiled, commands parsed or run.

Pages that are worked through as a whole have tests of their own: tutorials and messages
(`test_tutorials.py`), the cookbook (`tests/torch_python`), the command line, moving over. C++ and CMake are in
`test_cpp_blocks.py`.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.blocks import PAGES, Block, commands, fences, matches, printed_by, reader
from tests.conftest import ROOT, Result
from torchgen_lite.cli.app import COMMANDS, cli
from torchgen_lite.loader.config.project import tomllib

# Parts of files, what is printed, settings of editors. Tests of their pages run some of them.
UNTESTED = {"", "elisp", "jinja", "lua", "markdown", "meson", "ninja", "text"}
TESTED = {"yaml", "toml", "json", "python", "diff", "console", "bash", "sh", "cmake", "cpp"}
# Pages whose files make projects, mistakes among them, which tests of their own generate.
WHOLE = re.compile("tutorial|troubleshooting|moving-over|cookbook")
OF_PROJECTS = {"yaml", "toml"}
# Operators that a part of an entry, shown without its operator, may belong to.
OPERATORS = (
    "mylib::f(Tensor x, Tensor boxes, SymInt n) -> Tensor",
    "mylib::f(Tensor x, SymInt n) -> (Tensor values, Tensor indices)",
    "mylib::f(Tensor x, Tensor? b=None, float s=1.0, int[] dims=[]) -> Tensor",
    "mylib::f(Tensor x, Tensor weight, float eps=1e-6) -> Tensor",
)
NATIVE = 'native = "torch"\n'
# What a file of a vendor begins with, where only its list is shown.
VENDOR = "backend: XLA\ncpp_namespace: torch_xla\n"
# What pages say beside an entry.
SETTINGS = {"add_sim": 'privateuse1 = "SIM"\n'}
# Entries of PyTorch's operators, or lists of them: only PyTorch knows these.
OF_PYTORCH = re.compile(
    r"^- func: [\w.]+(?: *#.*)?$|^- func: aten::|^(?:backend|supported):|^- op:", re.M
)


def found(*languages: str) -> list[Any]:
    """The blocks in these languages, each a case that is named by its page and line."""
    return [
        pytest.param(block, id=f"{page}:{block.line}")
        for page, text in PAGES.items()
        for block in fences(text)
        if block.language in languages and not (WHOLE.match(page) and block.language in OF_PROJECTS)
    ]


# PyTorch's operators are known where it is installed.
TOML = [
    pytest.param(*one.values, id=one.id, marks=[pytest.mark.torch] * (NATIVE in one.values[0].text))
    for one in found("toml")
]


def test_no_block_is_left_out() -> None:
    languages = {block.language for text in PAGES.values() for block in fences(text)}
    assert languages <= TESTED | UNTESTED


def is_schema(text: str) -> bool:
    return re.match(r"(?:#.*\n)*(?:- (?:func|op):|backend:|supported:)", text) is not None


def is_part(text: str) -> bool:
    return re.match(r"(?:fake|samples|vmap):", text) is not None


def is_pytorch_s(case: Any) -> bool:
    [block] = case.values
    return is_schema(block.text) and OF_PYTORCH.search(block.text) is not None


@pytest.fixture
def lint(run: Callable[..., Result], project: Path) -> Callable[[str, str], Result]:
    def lint(text: str, config: str = "") -> Result:
        (project / "torchgen_lite.toml").write_text(
            f'schema = ["ops.yaml"]\ntargets = []\n{config}'
        )
        (project / "ops.yaml").write_text(text)
        return run("lint")

    return lint


@pytest.mark.parametrize("block", found("yaml"))
def test_yaml(block: Block, lint: Callable[..., Result]) -> None:
    if is_part(block.text):
        for part in re.split(r"(?m)^(?=\w+:)", block.text)[1:]:
            entry = "".join(f"  {line}\n" for line in part.splitlines())
            results = [
                lint(f"- func: {operator}\n  dispatch: {{CPU: f}}\n{entry}")
                for operator in OPERATORS
            ]
            assert any(result.code == 0 for result in results), results[0].stderr
    elif not is_schema(block.text):
        assert yaml.safe_load(block.text) or block.text.startswith("#")
    elif not OF_PYTORCH.search(block.text):
        result = lint(block.text, "".join(SETTINGS[one] for one in SETTINGS if one in block.text))
        assert result.code == 0, result.stderr


@pytest.mark.torch
@pytest.mark.parametrize("block", [one for one in found("yaml") if is_pytorch_s(one)])
def test_yaml_that_speaks_of_pytorch_s_operators(block: Block, lint: Callable[..., Result]) -> None:
    vendor = VENDOR if block.text.startswith("supported:") else ""
    result = lint(vendor + block.text, NATIVE)
    assert result.code == 0, result.stderr


@pytest.mark.parametrize("block", TOML)
def test_toml(block: Block, run: Callable[..., Result], project: Path) -> None:
    tables = tomllib.loads(block.text)
    if not {"schema", "targets", "target", "output-dir"} & set(tables):
        return
    # A block may show the options of a target alone.
    named = "" if "targets" in tables else f"targets = {json.dumps([*tables.get('target', ())])}\n"
    (project / "torchgen_lite.toml").write_text(named + block.text)
    (project / "ops.yaml").write_text(
        "- func: mylib::f(Tensor x) -> Tensor\n  dispatch: {CPU: f, PrivateUse1: f}\n"
    )
    for module in re.findall(r'"(\w*kernels|mylib\.kernels)"', block.text):
        path = project / f"{module.replace('.', '/')}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text("def f(x):\n    return x\n")
    result = run("lint", "--schema", "ops.yaml")
    assert result.code == 0, result.stderr


@pytest.mark.parametrize("block", found("json"))
def test_json(block: Block) -> None:
    assert json.loads(block.text.replace("[...]", "[]"))


@pytest.mark.parametrize("block", found("python"))
def test_python(block: Block) -> None:
    prompts = re.findall(r"^(?:>>>|\.\.\.) ?(.*)$", block.text, re.M)
    lines = "\n".join(prompts) if ">>> " in block.text else block.text
    # What is left out of a dict.
    lines = re.sub(r"(?<=,\n) +\.\.\.\n", "", lines)
    compile(lines, "page", "exec")


def parse(line: str) -> None:
    """Raise click's error for a command or an option that there is not."""
    arguments = shlex.split(line, comments=True)[1:]
    context = click.Context(cli)
    while arguments and arguments[0] in ("-q", "-v", "--quiet", "--verbose"):
        del arguments[0]
    if not arguments or arguments[0].startswith("-"):
        return
    command = cli.get_command(context, arguments[0])
    assert isinstance(command, click.Command), f"no command {arguments[0]}"
    below = arguments[1:]
    if isinstance(command, click.Group) and below and not below[0].startswith("-"):
        command = command.get_command(context, below[0]) or command
        below = below[1:]
    command.make_parser(click.Context(command, ignore_unknown_options=False)).parse_args(below)


CALL = re.compile(r"torchgen-lite(?: [^\s`|&;)>]+)+")


@pytest.mark.parametrize("page", PAGES)
def test_commands_have_the_options_that_are_shown(page: str) -> None:
    shown = [one[1] for one in re.finditer(r"`(torchgen-lite [^`\n]+)`", PAGES[page])]
    for block in fences(PAGES[page]):
        if block.language in ("bash", "sh", "console"):
            lines = block.text.replace("\\\n", " ").splitlines()
            if block.language == "console":
                lines = [line[2:] for line in lines if line.startswith("$ ")]
            shown += [one for line in lines for one in CALL.findall(line)]
    for line in shown:
        name = line.split()[1]
        if name in COMMANDS or name not in ("...", "COMMAND"):
            try:
                parse(line)
            except click.UsageError as error:
                pytest.fail(f"{line}: {error.format_message()}")


@pytest.mark.tools
@pytest.mark.parametrize("block", found("bash", "sh"))
def test_shells_read_it(block: Block) -> None:
    done = subprocess.run(["sh", "-n"], input=block.text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def block_of(page: str, start: str) -> str:
    return next(one.text for one in fences(PAGES[page]) if one.text.startswith(start))


CPP_TORCH = 'schema = ["ops.yaml"]\ntargets = ["cpp-torch"]\n'
# Of each command in docs/backends.md, the files of its folder; the others run in the example.
FILES = {
    "table add_.Tensor --key XLA": {
        "ops.yaml": block_of("backends", "# xla.yaml"),
        "torchgen_lite.toml": f'native = "torch"\n{CPP_TORCH}',
    },
    "check --for-torch 2.12,2.13": {
        "ops.yaml": block_of("backends", "- func: chip::attention"),
        "torchgen_lite.toml": CPP_TORCH,
    },
}


# But for those that test a device, which has to be built for it.
CONSOLES = [
    pytest.param(page, block.text, id=f"{page}:{block.line}", marks=marks)
    for page, marks in (
        ("dispatch", []),
        ("start-library", []),
        ("backends", [pytest.mark.torch]),
    )
    for block in fences(PAGES[page])
    if block.language == "console" and " pytest " not in block.text
]


@pytest.mark.parametrize(("page", "text"), CONSOLES)
def test_consoles_show_what_commands_print(page: str, text: str, tmp_path: Path) -> None:
    environment = reader(tmp_path / "bin")
    folder = ROOT / "examples" / "torch_backend_cpp" if page == "backends" else ROOT
    for command, shown in commands(text):
        files = FILES.get(command.removeprefix("torchgen-lite "), {})
        for name, content in files.items():
            (tmp_path / name).write_text(content)
        (tmp_path / "model.py").write_text(block_of("backends", "# model.py"))
        command = command.replace("model.py", str(tmp_path / "model.py"))
        # What is said about the answer is shown after it.
        command = f"{command} 2>{tmp_path}/said; cat {tmp_path}/said"
        printed = printed_by(command, tmp_path if files else folder, environment)
        assert matches(shown, printed), printed


LINES = st.lists(st.sampled_from(["a", "ab", "b", "", "a.b"]), max_size=6)
SHOWN = st.lists(st.sampled_from(["a", "ab", "", "...", "a...", "...b", "a...b"]), max_size=5)


@given(SHOWN, LINES)
def test_what_is_shown_is_a_pattern(shown: list[str], printed: list[str]) -> None:
    """Short texts are compared with a pattern of the whole, which tries every way to split them."""
    parts = [
        "(?:.*\n)*?" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*?") + "\n"
        for line in shown
    ]
    texts = ["".join(f"{line}\n" for line in lines) for lines in (shown, printed)]
    assert matches(*texts) == (re.fullmatch("".join(parts), texts[1]) is not None)


def test_a_page_that_does_not_match_is_told_at_once() -> None:
    assert not matches("...\nx\n" * 30 + "y\n", "x\n" * 300)


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        ("a\n```cpp\nint x;\n", "line 2: the block of `cpp` does not end"),
        ("```cpp\nint x;\n\n```python\nx\n```\n", "line 4: `.*` in the block of line 1"),
        ("```cpp title=x\nint x;\n```\n", "line 1: `.*` as the head of a block"),
    ],
)
def test_a_block_without_its_end_is_not_skipped(page: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        [*fences(page)]
