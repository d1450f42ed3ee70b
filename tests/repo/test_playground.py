"""The playground in a browser, as built for the site, and what its worker calls."""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.browser import CHROMIUM, in_a_browser
from tests.conftest import ROOT

FOLDER = ROOT / "docs" / "playground"
EXAMPLES = sorted((FOLDER / "examples").glob("*.yaml"))
TARGETS = {
    "operators": ("torch-python", "cpp-torch", "torch-stubs", "docs"),
    "backend": ("cpp-torch", "device-tests"),
    "library": ("python", "cpp-runtime"),
}
pytest.importorskip("hatchling", reason="needs the extra `docs`")
pytestmark = pytest.mark.xdist_group("playground")
needs_node = pytest.mark.skipif(
    shutil.which("node") is None or not (FOLDER / "node_modules").is_dir(),
    reason="needs Node.js, and `npm ci` in docs/playground",
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("playground")
    subprocess.run([sys.executable, FOLDER / "build.py", folder], check=True)
    return folder


@pytest.fixture
def module(built: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(built))
    import playground

    yield playground
    del sys.modules["playground"]


def ask(project: Any, text: str, target: str, view: str = "files", *keys: str) -> Any:
    asked = {"text": text, "target": target, "view": view, "operator": "", "keys": keys}
    return json.loads(project.answer(json.dumps(asked)))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_have_no_mistake(built: Path, module: Any, path: Path) -> None:
    for target in TARGETS[path.stem]:
        answer = ask(module.Playground(str(built)), path.read_text("utf-8"), target)
        assert not answer["diagnostics"] and answer["files"]


def test_examples_have_their_answer(built: Path, module: Any) -> None:
    """So that the page shows files before Python has loaded."""
    for path in EXAMPLES:
        example = json.loads((built / "examples" / f"{path.stem}.json").read_text("utf-8"))
        text, target = path.read_text("utf-8"), TARGETS[path.stem][0]
        assert (example["text"], example["target"]) == (text, target)
        assert example["answer"] == ask(module.Playground(str(built)), text, target)
        assert [name for name, _ in example["targets"]][:2] == ["python", "cpp-torch"]


def test_without_pyodide_the_page_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    import build

    monkeypatch.setattr(build, "PYODIDE", tmp_path / "none")
    build.build(tmp_path / "page")
    page = (tmp_path / "page" / "index.html").read_text("utf-8")
    assert build.MISSING in page and build.LOADING not in page
    for name in ("build", "playground"):
        sys.modules.pop(name, None)


def test_a_mistake_is_where_javascript_finds_it(built: Path, module: Any) -> None:
    text = '# \U0001f600\n- func: my::f(Tnsor x) -> Tensor\n  doc: "é"\n'
    answer = ask(module.Playground(str(built)), text, "python")
    [one] = answer["diagnostics"]
    assert (one["code"], one["line"], answer["files"]) == ("TG202", 2, {})
    start, end = (2 * at for at in one["span"])
    assert text.encode("utf-16-le")[start:end].decode("utf-16-le") == "Tnsor"
    assert one["fix"] == [*one["span"], "Tensor"]


def test_operators_of_pytorch_are_left_to_pytorch(built: Path, module: Any) -> None:
    project = module.Playground(str(built))
    answer = ask(
        project, "- func: relu\n  dispatch: {PrivateUse1: relu}\n", "cpp-torch", "dispatch"
    )
    assert "known where torch is installed" in answer["table"] and not answer["why"]
    own = "- func: my::f(Tensor x) -> Tensor\n  dispatch: {CPU: f_cpu}\n"
    answer = ask(project, own, "cpp-torch", "dispatch", "CPU", "AutogradCPU")
    assert "=> kernel: f_cpu" in answer["why"]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture
def server(built: Path) -> Iterator[str]:
    handler = functools.partial(Quiet, directory=str(built))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/index.html"
        server.shutdown()


@needs_node
@in_a_browser
def test_in_a_browser(server: str) -> None:
    script = ROOT / "tests" / "repo" / "playground.mjs"
    done = subprocess.run(
        ["node", script, str(CHROMIUM), server], capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stderr[:5000]
    assert "first output: " in done.stdout


def test_the_lock_names_no_place() -> None:
    """npm takes packages from where it is configured to."""
    lock = json.loads((FOLDER / "package-lock.json").read_text())
    packages = [one for path, one in lock["packages"].items() if path]
    assert packages and all("integrity" in one and "resolved" not in one for one in packages)
