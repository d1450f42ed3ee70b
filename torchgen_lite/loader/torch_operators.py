"""The operators that are registered in the installed PyTorch: more than its YAML declares.

PyTorch's C++ and Python register a fifth of them by hand (`quantized::`, `prims::`,
`_c10d_functional::` ...), so only PyTorch itself can list them. It runs in a separate process,
because importing it takes seconds and hundreds of megabytes.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.loader.torch_files import installed_path, read_torch_stubs
from torchgen_lite.schema import FunctionSchema, parse_schema

# Otherwise Python puts the current folder first on its path (`-P` is new in Python 3.11).
_SCRIPT = """
import sys
sys.path[:] = sys.argv[1:]
import torch
names = set(torch._C._dispatch_get_all_op_names())
for schema in torch._C._jit_get_all_schemas():
    name = schema.name + ("." + schema.overload_name if schema.overload_name else "")
    if name in names:
        print(str(schema).replace("\\n", " "))
"""


class InstalledTorch(NamedTuple):
    """Every schema in the dispatcher of the installed PyTorch, sorted by name, and its stub files.

    A stub file is a path below `torch/` and a text.
    """

    operators: tuple[FunctionSchema, ...]
    stubs: tuple[tuple[str, str], ...]


def load_installed_torch() -> tuple[InstalledTorch | None, tuple[Diagnostic, ...]]:
    """The operators and stub files of the installed PyTorch; TG011 if it can't be asked."""
    # Imported here: most runs do not ask PyTorch.
    import subprocess

    command = [sys.executable, "-c", _SCRIPT, *installed_path()]
    found = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    if found.returncode != 0:
        said = found.stderr.strip().rpartition("\n")[2]
        message = "the operators of the installed PyTorch cannot be read"
        return None, (Diagnostic("TG011", message, help=said or "check that `import torch` works"),)
    schemas: list[FunctionSchema] = []
    diagnostics: list[Diagnostic] = []
    for line in sorted(set(found.stdout.splitlines())):
        schema, problems = parse_schema(line)
        diagnostics += problems
        if schema is not None:
            schemas.append(schema)
    errors = tuple(d for d in diagnostics if d.severity == "error")
    return InstalledTorch(tuple(schemas), read_torch_stubs()), errors
