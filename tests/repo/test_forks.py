"""A Python that is forked from another does what a new one does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cpp.compiling import needs_compiler
from tests.forks import CLIENT, COMPILING, run_forked, socket_of

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked here")
# These tests need no PyTorch.
IMPORTED = ("decimal",)
SHOWN = """\
import os, sys
print(sys.argv, sys.path[:2], __name__, os.getcwd(), os.environ.get("OF_THIS_TEST"), repr(sys.stdin.read()))
print(sorted(name for name in sys.modules if name.partition(".")[0] in ("tests", "shown", "fork_client")))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shown.py").write_text(SHOWN)
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "beside.py").write_text("print('beside')\n")
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ("-c", SHOWN, "an", "argument"),
        ("-m", "shown", "-W", "error"),
        ("shown.py", "-c", "x"),
        ("-c", "import beside"),
        ("-c", "import sys; sys.exit(3)"),
        ("-c", "import sys; sys.exit('said')"),
        ("-c", "import os; os.abort()"),
        ("-c", "import atexit; atexit.register(print, 'at exit'); 1 / 0"),
        ("-c", "class Kept:\n    def __del__(self):\n        print('let go')\nkept = Kept()"),
        ("-c", "import sys; sys.stdout.write('no end of a line'); kept = sys.stdout"),
        ("-c", "def f():\n    1 / 0\nf()"),
        ("-c", "import warnings; warnings.warn('said')"),
        ("-W", "error", "-c", "import warnings; warnings.warn('said')"),
        ("-W", "error", "-W", "ignore:sa", "-c", "import warnings; warnings.warn('said')"),
    ],
)
def test_it_does_what_a_new_one_does(arguments: tuple[str, ...], folder: Path) -> None:
    path = str(folder / "path")
    environment = {**os.environ, "PYTHONPATH": path, "OF_THIS_TEST": "yes"}
    found = run_forked(arguments, folder, environment, IMPORTED)
    wanted = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert (found.returncode, found.stdout, found.stderr) == (
        wanted.returncode,
        wanted.stdout,
        wanted.stderr,
    )


def test_no_process_sees_what_another_did(folder: Path) -> None:
    change = "import decimal, sys; sys.modules['of_this_test'] = decimal.of_this_test = decimal"
    assert run_forked(("-c", change), folder, os.environ, IMPORTED).returncode == 0
    look = "import decimal, sys; print('of_this_test' in sys.modules, hasattr(decimal, 'of_this_test'))"
    assert run_forked(("-c", look), folder, os.environ, IMPORTED).stdout == "False False\n"


def test_a_shell_calls_it_several_times_at_once(folder: Path) -> None:
    """Each of a pipeline waits for the others."""
    python = f"{sys.executable} -E -S {CLIENT} {socket_of(IMPORTED)}"
    writes = "print('x' * 1_000_000)"
    reads = "import sys; print(len(sys.stdin.read())); sys.exit(5)"
    command = f'{python} -c "{writes}" | {python} -c "{reads}"'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (5, "1000001\n", "")


ENDS = """\
#include <unistd.h>
struct Ends {
  ~Ends() {
    (void)!write(1, "ends", 4);
  }
} ends;
"""


@needs_compiler
def test_a_library_that_a_program_loads_ends_with_it(folder: Path) -> None:
    (folder / "ends.cpp").write_text(ENDS)
    command = ["g++", "-shared", "-fPIC", "ends.cpp", "-o", "libends.so"]
    subprocess.run(command, cwd=folder, check=True)
    load = "import ctypes; ctypes.CDLL('./libends.so')"
    assert run_forked(("-c", load), folder, os.environ, IMPORTED).stdout == "ends"


TRIES = """\
from torch._inductor.cpu_vec_isa import VecISA, valid_vec_isa_list
tried = []
VecISA.check_build = lambda one, code: tried.append(code) or True
print(bool(valid_vec_isa_list()), VecISA._avx_code in tried)
"""


@pytest.mark.torch
def test_no_instruction_set_is_tried(folder: Path) -> None:
    """That the processor has them is enough: to try them takes two seconds in each process that compiles."""
    done = run_forked(("-c", TRIES), folder, os.environ, COMPILING)
    assert done.stdout.endswith("False\n"), done.stdout + done.stderr
