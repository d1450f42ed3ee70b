"""`functions.py`: plain functions with the typed signatures that `torch.ops` lacks.

def muladd(a: Tensor, b: Tensor, s: float) -> Tensor:
    return _op_muladd(a, b, s)
"""

from __future__ import annotations

from collections.abc import Iterator

from torchgen_lite.languages.python import torch_library, torch_ops
from torchgen_lite.languages.python.names import free_name
from torchgen_lite.targets.output import OutputFile
from torchgen_lite.targets.torch_python.model import Package


def build_functions(package: Package) -> OutputFile:
    """One function for each of the package's own operators."""
    names = [operator.flat for operator in package.own]
    shadowed = frozenset(torch_ops.TYPE_MODULES).intersection([*names, *_hidden(package)])
    schemas = [operator.schema for operator in package.own]
    # The names that the operators are bound to when the module is imported.
    bound = [free_name(f"_op_{o.flat}", {*names, *o.names.values()}) for o in package.own]
    context = {
        "imports": torch_library.type_imports(schemas, ["Callable"] if names else [], shadowed),
        "functions": list(zip(package.own, bound)),
        "hidden": shadowed,
    }
    return OutputFile(f"{package.root}/functions.py", "torch_python/functions.py.j2", context)


def _hidden(package: Package) -> Iterator[str]:
    """Types in a function's result annotation that an argument's name hides."""
    for operator in package.own:
        names = torch_ops.returns_type(operator.schema).names
        yield from names.intersection(a.name for a in operator.schema.arguments)
