"""A kernel for each dispatch key that the YAML may name registers under that key."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import torchgen_lite
from tests.cpp.compiling import QUICK, needs_compiler, write_files
from tests.cpp_runtime.building import build, run
from tests.cpp_runtime.test_wrong_kernels import TENSOR
from torchgen_lite.analysis.program import Program
from torchgen_lite.key_tables import CURRENT
from torchgen_lite.loader.config.project import Config
from torchgen_lite.runtime.keys import DispatchKey

PROGRAM = """\
#include <iostream>
#include <demo/kernels.h>
{kernels}
{sources}
int main() {{
  auto& dispatcher = torchgen_lite::Dispatcher::singleton();
  int found = 0;
  const auto check = [&](const char* name, torchgen_lite::DispatchKey key) {{
    found += dispatcher.findSchemaOrThrow(name, "").hasKernelForDispatchKey(key);
  }};
  {checks}
  std::cout << found << "\\n";
}}
"""


def schema(names: Sequence[str]) -> str:
    return "".join(
        f"- func: demo::f{i}(Tensor x) -> Tensor\n  dispatch:\n    {name}: f{i}\n"
        for i, name in enumerate(names)
    )


def load(folder: Path, names: Sequence[str]) -> Program:
    write_files(folder, {"ops.yaml": schema(names), "tensor.h": TENSOR})
    options = {"cpp-runtime": {"tensor": "demo::Tensor", "headers": ["tensor.h"]}}
    config = Config(root=folder, schema=("ops.yaml",), target_options=options)
    return torchgen_lite.load(config=config)


def valid_names(folder: Path) -> list[str]:
    """Present and former names; a functionality without a backend is not a name of a key."""
    names = [*DispatchKey.__members__, *(former for former, _ in CURRENT.former_names)]
    errors = [d for d in load(folder, names).diagnostics if d.severity == "error"]
    assert {d.code for d in errors} == {"TG103"}
    wrong = {(d.start()[0] - 1) // 3 for d in errors}
    return [name for index, name in enumerate(names) if index not in wrong]


@needs_compiler
def test_every_key(tmp_path: Path) -> None:
    names = valid_names(tmp_path)
    assert len(names) > 140 and {"Math", "CPU", "AutogradMeta", "Autograd"} <= set(names)
    program = load(tmp_path, names)
    keys = [entry.key for function in program.functions for entry in function.dispatch]
    files = torchgen_lite.generate(program, targets=["cpp-runtime"])
    write_files(tmp_path, files)
    prototypes = re.findall(
        r"^demo::Tensor f\d+\([^;]*(?=;)", files["cpp-runtime/include/demo/kernels.h"], flags=re.M
    )
    assert len(prototypes) == len(keys)
    text = PROGRAM.format(
        kernels="\n".join(
            f"{p.replace('Tensor f', 'Tensor demo::f').replace(' dispatchKeySet', '')} {{ return x; }}"
            for p in prototypes
        ),
        sources="\n".join(f'#include "{path}"' for path in files if path.endswith(".cpp")),
        checks="\n  ".join(
            f'check("demo::f{i}", torchgen_lite::DispatchKey::{key});' for i, key in enumerate(keys)
        ),
    )
    write_files(tmp_path, {"all.cpp": text})
    includes = (f"-I{tmp_path}", f"-I{tmp_path / 'cpp-runtime' / 'include'}")
    binary = build(
        [tmp_path / "all.cpp"], tmp_path / "all", ("-std=c++17", "-O0", *includes), QUICK
    )
    assert run(binary) == f"{len(keys)}\n"
