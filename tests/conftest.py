"""What every test may use."""

from __future__ import annotations

import gc
import importlib.util
import io
import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
# The folders that editable installs of the four distributions put on the path.
FOLDERS = (".", "runtime", "reference", "tools", "generated/python")
SOURCES = [str(ROOT / folder) for folder in FOLDERS]

# How long an example takes is the machine's affair; in CI the examples are the same at each run.
settings.register_profile("project", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("project")


# Before PyTorch compiles C++ for the processor, it tries each instruction set that this one says it has: with a dozen
# programs for each of its caches, and with another Python in each process. With this it believes what the processor says.
os.environ.setdefault("TORCHINDUCTOR_VEC_ISA_OK", "1")

# `git init` copies no examples of hooks: twenty files in each repository of a test.
os.environ["GIT_TEMPLATE_DIR"] = ""

# The variable with a folder for what the processes of one run of tests share; it is gone after the run.
SHARED_FOLDER = "TORCHGEN_LITE_TESTS_FOLDER"


# Where files are in memory, if the system has such a folder.
MEMORY = "/dev/shm"
ROOM = 8 << 30


def has_memory() -> bool:
    """Whether programs may run from there, and there is room for more than tests without PyTorch make."""
    if not os.access(MEMORY, os.W_OK | os.X_OK):
        return False
    memory = os.statvfs(MEMORY)
    return memory.f_bavail * memory.f_frsize > ROOM and not memory.f_flag & os.ST_NOEXEC


_PREFIX = "torchgen_lite_tests_"
# A file in a folder that a run uses, which is locked while that run lives. The number of a process would not say so: another
# process may have it by now, and one of another container is not seen.
_HELD = ".torchgen_lite_held"


def hold(folder: Path) -> None:
    """Say that this process uses a folder until it ends. The file is locked before it is in its place."""
    if sys.platform == "win32":
        return
    import fcntl

    descriptor, made = tempfile.mkstemp(prefix=_PREFIX, dir=folder.parent)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    os.rename(made, folder / _HELD)


def is_held(file: Path) -> bool:
    """Whether the process that locked such a file lives, or this one may not know."""
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        with file.open() as opened:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    return False


def remove_what_killed_runs_left(memory: Path, temporary: Path) -> None:
    """The folders of dead processes, which pytest itself keeps for three days."""
    files = [*memory.glob(f"pytest-of-*/pytest-*/{_HELD}"), *temporary.glob(f"{_PREFIX}*/{_HELD}")]
    for file in files:
        if not is_held(file):
            shutil.rmtree(file.parent, ignore_errors=True)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Processes of pytest-xdist find the folders in the environment, which they inherit.

    Those of single tests are in memory, if they can be: a disk takes milliseconds to let go of each.
    """
    if SHARED_FOLDER in os.environ:
        return
    if config.option.markexpr != "torch" and has_memory():
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)
        remove_what_killed_runs_left(Path(MEMORY), Path(tempfile.gettempdir()))
        # The plugin `tmpdir` has made this before, and pytest-xdist asks it the same.
        base = config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        hold(base)
        # What a run that ends keeps for its author is nobody's to remove.
        config.add_cleanup(lambda: (base / _HELD).unlink(missing_ok=True))
    folder = tempfile.TemporaryDirectory(prefix=_PREFIX)
    hold(Path(folder.name))
    os.environ[SHARED_FOLDER] = folder.name
    config.add_cleanup(folder.cleanup)


# Collecting makes a million objects, and all of them stay: to look through them for garbage takes a quarter of the time.
gc.disable()


def pytest_collection_finish() -> None:
    """From here on there is garbage; what has been collected is none. Little of it is worth looking for often."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


HAS_TORCH = importlib.util.find_spec("torch") is not None
# A file all of whose tests need PyTorch says so at its head.
_NEEDS_TORCH = re.compile(r"^pytestmark = (?:pytest\.mark\.torch$|\[[^]]*\bmark\.torch\b)", re.M)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """To import a file takes longer than to read it, so those of which no test would run are not imported."""
    if not collection_path.name.startswith("test_") or collection_path.suffix != ".py":
        return None
    text = collection_path.read_text("utf-8")
    wants_torch = config.option.markexpr == "torch"
    is_left_out = "mark.torch" not in text if wants_torch else _is_skipped(text)
    return True if is_left_out else None


def _is_skipped(text: str) -> bool:
    return not HAS_TORCH and _NEEDS_TORCH.search(text) is not None


def pytest_report_header() -> str | None:
    return None if HAS_TORCH else "PyTorch is not installed: files that need it are left out"


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Tests that hold something against PyTorch need it."""
    if HAS_TORCH:
        return
    skip = pytest.mark.skip(reason="PyTorch is not installed")
    for item in items:
        if item.get_closest_marker("torch"):
            item.add_marker(skip)


def pytest_addoption(parser: pytest.Parser) -> None:
    help = "the seconds of a processor that a test without the mark `slow` may take in CI"
    parser.addini("slow_seconds", help, default="20")
    help = "say at the end how long the tests of each folder took"
    parser.addoption("--by-folder", action="store_true", help=help)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """`python -m tests.times` reads these lines."""
    if not config.getoption("by_folder"):
        return
    seconds: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                seconds["/".join(report.nodeid.split("/")[:2])] += report.duration
    for folder, taken in seconds.most_common():
        terminalreporter.write_line(f"{folder}: {taken:.1f} s")


def processor_seconds() -> float:
    """What this process has used so far, and the programs that it ran to their end."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """In CI, a test that takes long says why, in the mark `slow`.

    This is no assertion of speed: what has no mark takes half of the limit at most. How long one waits is the machine's
    affair and that of its other work, so what counts is the time of processors. Fixtures do not count, since
    others share them; nor do tests with PyTorch, whose headers alone take most of the limit.
    """
    before = processor_seconds()
    result = yield
    used = processor_seconds() - before
    is_marked = item.get_closest_marker("slow") or item.get_closest_marker("torch")
    most = float(item.config.getini("slow_seconds"))
    if "CI" in os.environ and not is_marked and used > most:
        pytest.fail(
            f"it used a processor for {used:.0f} s: make it faster, or mark it `slow`", False
        )
    return result


# Folders whose files share what takes longer than they do.
SHARING = ("tests/shipping/", "tests/torch_stubs/")


def scope_of(test: str) -> str:
    """The file or the folder whose tests stay in one process: they share what it builds."""
    file = test.partition("::")[0]
    return next((folder for folder in SHARING if file.startswith(folder)), file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Where tests run in parallel, those of a scope stay together.

    Files go in their order, which has those that compile at the front.
    """
    if config.getoption("dist") != "load":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return scope_of(nodeid)

    config.option.loadscopereorder = False
    return Scheduling(config, log)


class Result(NamedTuple):
    """How a command ended."""

    code: int
    stdout: str
    stderr: str


@pytest.fixture
def run() -> Callable[..., Result]:
    """Run a command line in this process."""

    def run_command(*arguments: str) -> Result:
        from torchgen_lite.cli import main

        stdout, stderr = io.StringIO(), io.StringIO()
        code = main(arguments, stdout, stderr)
        return Result(code, stdout.getvalue(), stderr.getvalue())

    return run_command


@pytest.fixture
def forked_python(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that starts Python to ask PyTorch has one that has imported PyTorch before."""
    from tests.forks import PLAIN, forking_python

    if hasattr(os, "fork"):
        python = tmp_path_factory.mktemp("bin") / "python"
        forking_python(python, PLAIN)
        monkeypatch.setattr(sys, "executable", str(python))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small project, and the current directory in it."""
    (tmp_path / "torchgen_lite.toml").write_text('[target.python]\npackage = "ops"\n')
    (tmp_path / "native_functions.yaml").write_text(
        "- func: relu(Tensor self) -> Tensor\n  variants: function, method\n"
    )
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "TORCHGEN_LITE_OUTPUT_FORMAT"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path
