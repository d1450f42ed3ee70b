"""`functions.py`: plain functions with the typed signatures that `torch.ops` lacks.

def muladd(a: Tensor, b: Tensor, s: float) -> Tensor:
    result: Tensor = torch.ops.torch_ops.muladd.default(a, b, s)
    return result
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from torchgen_lite.languages.python import torch_library, torch_ops
from torchgen_lite.languages.python.names import free_name
from torchgen_lite.languages.python.signature import Annotation, Parameter, unshadowed
from torchgen_lite.languages.text import doc_lines, doc_text
from torchgen_lite.targets.output import OutputFile
from torchgen_lite.targets.torch_python.model import Package, PackagedOperator


class FunctionView(NamedTuple):
    """One function, and the name and type that its operator is `bound` to when the module is
    imported."""

    name: str
    parameters: Sequence[Parameter]
    returns: Annotation
    doc: str
    bound: str
    type: Annotation
    handle: str
    arguments: Sequence[str]
    has_result: bool


def build_functions(package: Package) -> OutputFile:
    """One function for each of the package's own operators."""
    names = [operator.flat for operator in package.own]
    shadowed = frozenset(torch_ops.TYPE_MODULES).intersection([*names, *_hidden(package)])
    schemas = [operator.schema for operator in package.own]
    context = {
        "imports": torch_library.type_imports(schemas, ["Callable"] if names else [], shadowed),
        "functions": [_view(operator, shadowed, names) for operator in package.own],
    }
    return OutputFile(f"{package.root}/functions.py", "torch_python/functions.py.j2", context)


def _hidden(package: Package) -> Iterator[str]:
    """Types in a function's result annotation that an argument's name hides."""
    for operator in package.own:
        names = torch_ops.returns_type(operator.schema).names
        yield from names.intersection(a.name for a in operator.schema.arguments)


def _view(
    operator: PackagedOperator, shadowed: frozenset[str], functions: Sequence[str]
) -> FunctionView:
    schema = operator.schema
    returns = torch_ops.returns_type(schema)
    return FunctionView(
        operator.flat,
        unshadowed(torch_library.parameters(schema), shadowed),
        returns.unshadowed(shadowed),
        doc_text(doc_lines(operator.function.doc) or [str(schema)]),
        free_name(f"_op_{operator.flat}", {*functions, *operator.names.values()}),
        Annotation("Callable", (Annotation("..."), returns)).unshadowed(shadowed),
        operator.handle,
        torch_library.forwarded(schema),
        bool(schema.returns),
    )
