"""The stub package `torch-stubs`: `_ops.pyi`, and one module for each namespace.

It is a partial stub package (PEP 561): a type checker takes `torch._ops` from here and everything
else from PyTorch. Installed next to PyTorch, the folder gives types for `torch.ops.<namespace>`.

Note [Stub files of PyTorch]
If a partial stub package is installed, pyright looks for `.pyi` files only there, so what PyTorch
describes in such files (`torch._C`, and with it `torch.dtype`) would be unknown. The package
therefore has copies of them if they are known: with `--torch`, which generates the package for the
PyTorch in this environment.
"""

from __future__ import annotations

from torchgen_lite.analysis.program import Program
from torchgen_lite.loader.torch.files import InstalledTorch
from torchgen_lite.targets.options import NoOptions
from torchgen_lite.targets.output import Files, OutputFile, TargetResult
from torchgen_lite.targets.torch_stubs.views import build_namespace, group_by_namespace

ROOT = "torch-stubs"
MODULES = f"{ROOT}/_ops_stubs"


def build_torch_stubs(program: Program, options: NoOptions) -> TargetResult:
    """Every file of the package. Operators of schema files take precedence over PyTorch's own."""
    return TargetResult(_files(program))


def _files(program: Program) -> Files:
    installed = program.installed or InstalledTorch((), ())
    schemas = []
    docs = {}
    for function in program.functions:
        schemas.append((function.namespace, function.func))
        docs[function.name] = function.doc
    schemas += [(schema.namespace, schema) for schema in installed.operators]
    modules: dict[str, str] = {}
    for name, of_namespace in group_by_namespace(schemas).items():
        module, context = build_namespace(name, of_namespace, modules, docs)
        yield OutputFile(f"{MODULES}/{module}.pyi", "torch_stubs/namespace.pyi.j2", context)
    yield OutputFile(f"{ROOT}/py.typed", "torch_stubs/py.typed.j2", {}, is_marked=False)
    yield OutputFile(f"{ROOT}/_ops.pyi", "torch_stubs/ops.pyi.j2", {"modules": modules})
    yield OutputFile(f"{MODULES}/__init__.pyi", "torch_stubs/package.pyi.j2", {})
    for path, text in installed.stubs:
        if path != "_ops.pyi":
            copied = {"text": text}
            yield OutputFile(f"{ROOT}/{path}", "torch_stubs/copied.pyi.j2", copied, is_copied=True)
