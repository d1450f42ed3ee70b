"""Commands agree on input that is incomplete or contradicts itself: what `lint` refuses has no verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.conftest import Result

Run = Callable[..., Result]
OPERATOR = "- func: my::f(Tensor x) -> Tensor\n  dispatch: {CPU: f}\n  fake: {like: x}\n"
ANOTHER = OPERATOR.replace("f(", "g(").replace(": f}", ": g}")
CONFIGURATION = """\
schema = ["ops.yaml", "more.yaml"]
targets = ["torch-python"]

[target.torch-python]
kernels = ["kernels"]
"""
PROJECT = {
    "ops.yaml": OPERATOR,
    "more.yaml": ANOTHER,
    "torchgen_lite.toml": CONFIGURATION,
    "kernels.py": "def f(x): return x\ndef g(x): return x\n",
}
# What is wrong with a project, the files that differ (None: there is none), and what `lint` exits with.
STATES: tuple[tuple[str, Mapping[str, str | bytes | None], int], ...] = (
    ("nothing", {}, 0),
    ("no operators", {"ops.yaml": "[]\n", "more.yaml": "# none\n"}, 0),
    ("a file is missing", {"ops.yaml": None}, 2),
    ("the second file is missing", {"more.yaml": None}, 2),
    ("no configuration", {"torchgen_lite.toml": None}, 2),
    ("no project", dict.fromkeys(PROJECT), 2),
    ("declared twice", {"ops.yaml": OPERATOR + OPERATOR}, 1),
    ("another schema", {"more.yaml": OPERATOR.replace("x)", "x, int n=1)")}, 1),
    ("the second file is broken", {"more.yaml": "- func: my::g(Tensor x -> Tensor\n"}, 1),
    ("the second file is no YAML", {"more.yaml": "- func: [\n"}, 1),
    ("no list", {"ops.yaml": "func: f\n"}, 1),
    ("no UTF-8", {"more.yaml": b"# \xe9\n"}, 1),
    ("a kernel is missing", {"kernels.py": "def g(x): return x\n"}, 1),
    ("a module is missing", {"kernels.py": None}, 1),
    ("a module is no Python", {"kernels.py": "def f(:\n"}, 1),
    ("no TOML", {"torchgen_lite.toml": "schema = [\n"}, 2),
    ("an unknown target", {"torchgen_lite.toml": CONFIGURATION.replace("-py", "-yp")}, 2),
    ("an unknown option", {"torchgen_lite.toml": f"{CONFIGURATION}nonsense = 1\n"}, 2),
)
VERDICTS = (
    "generate --dry-run",
    "check",
    "diff",
    "diff --against ../right",
    "review --against ../right",
    "breaking --against ../right",
    "list outputs",
    "templates check",
    "audit ../library.whl --since ../right",
)
# These find that an operator is gone.
GONE = ("breaking --against ../right", "review --against ../right")
# These show what is declared, whether somebody has written it or not.
FACTS = (
    "table my::g",
    "table --html tables.html",
    "table --against ../right",
    "why my::g CPU",
    "kernels",
)
# These read schema files, and no options of targets.
DECLARED = ("list ops", "list inputs")


def write(folder: Path, changes: Mapping[str, str | bytes | None]) -> None:
    folder.mkdir()
    for name, content in {**PROJECT, **changes}.items():
        if content is not None:
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.mark.parametrize(("state", "changes", "code"), STATES, ids=[state[0] for state in STATES])
def test_what_lint_refuses_has_no_verdict(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    state: str,
    changes: Mapping[str, str | bytes | None],
    code: int,
) -> None:
    write(tmp_path / "right", {})
    write(tmp_path / "project", changes)
    with ZipFile(tmp_path / "library.whl", "w") as wheel:
        wheel.writestr("my/__init__.py", "")
    monkeypatch.chdir(tmp_path / "project")
    assert run("lint").code == code
    if code == 0:
        assert run("generate").code == 0
    is_declared = state == "a kernel is missing"
    codes = {command: run(*command.split()).code for command in (*VERDICTS, *FACTS, *DECLARED)}
    wanted = dict.fromkeys(VERDICTS, code)
    wanted |= dict.fromkeys(FACTS, 0 if is_declared else code)
    wanted |= dict.fromkeys(DECLARED, 0 if is_declared or state == "an unknown option" else code)
    if state == "no operators":
        # Both operators of `right` are gone, and a fact about one of them cannot be asked for.
        wanted |= dict.fromkeys(GONE, 1) | {"table my::g": 2, "why my::g CPU": 2}
    assert codes == wanted


@pytest.mark.parametrize(("state", "changes", "code"), STATES, ids=[state[0] for state in STATES])
def test_nothing_is_compared_with_what_has_errors(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    state: str,
    changes: Mapping[str, str | bytes | None],
    code: int,
) -> None:
    """A folder without a configuration has files of the current one, and a kernel that was missing hides nothing."""
    write(tmp_path / "old", changes)
    write(tmp_path / "project", {})
    monkeypatch.chdir(tmp_path / "project")
    is_read = code == 0 or state == "no configuration"
    for command in ("diff", "review", "breaking", "table"):
        result = run(command, "--against", "../old").code
        is_shown = is_read or (state == "a kernel is missing" and command in ("breaking", "table"))
        assert (result == 2) is not is_shown, command
