"""`functions.py`: plain functions with the typed signatures that `torch.ops` lacks.

def muladd(a: Tensor, b: Tensor, s: float) -> Tensor:
    return _op_muladd(a, b, s)
"""

from __future__ import annotations

from torchgen_lite.languages.python import torch_library, torch_ops
from torchgen_lite.languages.python.names import free_name
from torchgen_lite.schema.grouped import names_of
from torchgen_lite.targets.output import OutputFile
from torchgen_lite.targets.torch_python.model import Package


def build_functions(package: Package) -> OutputFile:
    """One function for each of the package's own operators."""
    schemas = []
    hidden = set[str]()
    taken = set[str]()
    for operator in package.own:
        schema = operator.schema
        schemas.append(schema)
        hidden.add(operator.flat)
        # An argument hides a type in the annotation of the result.
        hidden |= torch_ops.returns_type(schema).names.intersection(names_of(schema.arguments))
        taken |= {operator.flat, *operator.names.values()}
    shadowed = frozenset(torch_ops.TYPE_MODULES).intersection(hidden)
    # The names that the operators are bound to when the module is imported.
    bound = [free_name(f"_op_{operator.flat}", taken) for operator in package.own]
    scriptable = ""
    if package.options.torchscript:
        scriptable = free_name("_scriptable", {*taken, *bound})
    context = {
        "imports": torch_library.type_imports(schemas, ["Callable"] if schemas else [], shadowed),
        "functions": list(zip(package.own, bound)),
        "is_given": package.is_given,
        "scriptable": scriptable,
        "hidden": shadowed,
    }
    return OutputFile(f"{package.root}/functions.py", "torch_python/functions.py.j2", context)
