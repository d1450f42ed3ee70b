"""One source may include the headers of the classic and of the stable target: only PyTorch's are shared.

PyTorch's headers are empty here, and the compiler stops behind the preprocessor.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.cpp.compiling import needs_compiler, write_files
from torchgen_lite import generate, load

FILES = {
    "ops.yaml": """\
- func: demo::muladd(Tensor a, Tensor b, float s=1.0) -> Tensor
  torch: ">=2.10"
  dispatch:
    CPU: muladd_cpu
""",
    "torchgen_lite.toml": """\
schema = ["ops.yaml"]
targets = ["cpp-torch", "cpp-torch-stable"]
[target.cpp-torch]
namespace = "classic"
[target.cpp-torch-stable]
namespace = "stable"
""",
}


@needs_compiler
@pytest.mark.parametrize("order", [("classic", "stable"), ("stable", "classic")])
def test_headers_of_both_in_one_source(tmp_path: Path, order: tuple[str, str]) -> None:
    write_files(tmp_path, FILES)
    files = generate(load(root=tmp_path))
    write_files(tmp_path, files)
    includes = {
        header for text in files.values() for header in re.findall(r"#include <(.+)>", text)
    }
    foreign = {f"stubs/{name}": "" for name in includes if not name.startswith(order)}
    both = "".join(
        f"#include <{one}/functions.h>\n#include <{one}/verify_kernels.h>\n" for one in order
    )
    write_files(tmp_path, {**foreign, "both.cpp": both})
    folders = ("cpp-torch/include", "cpp-torch-stable/include", "stubs")
    macros = (
        "TORCH_FEATURE_VERSION=1",
        "TORCH_ABI_VERSION=1",
        "TORCH_VERSION_MAJOR=2",
        "TORCH_VERSION_MINOR=10",
    )
    options = [*(f"-I{folder}" for folder in folders), *(f"-D{macro}" for macro in macros)]
    command = ["g++", "-E", "-Werror", *options, "both.cpp"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # The condition of the classic target is about libtorch, 2.10, that of the stable one about its ABI, which is older.
    assert done.stdout.count("struct muladd") == 1
