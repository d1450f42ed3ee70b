"""`functions.py`: plain functions with the signatures that `torch.ops` does not show.

def muladd(a: Tensor, b: Tensor, s: float) -> Tensor:
    result: Tensor = torch.ops.torch_ops.muladd.default(a, b, s)
    return result
"""

from __future__ import annotations

from collections.abc import Iterator

from torchgen_lite.dialects import python, torch_library, torch_ops
from torchgen_lite.dialects.python_names import type_words, unshadowed
from torchgen_lite.dialects.text import bracketed, docstring
from torchgen_lite.targets.output import OutputFile
from torchgen_lite.targets.torch_python.fakes import FunctionView
from torchgen_lite.targets.torch_python.model import Operator, Package


def build_functions(package: Package) -> OutputFile:
    """One function for each operator of the package's own."""
    names = [operator.flat for operator in package.own]
    shadowed = frozenset(torch_ops.TYPE_MODULES).intersection([*names, *_hidden(package)])
    schemas = [operator.schema for operator in package.own]
    context = {
        "imports": torch_library.type_imports(schemas, shadowed=shadowed),
        "functions": [_view(operator, shadowed) for operator in package.own],
        "names": names,
    }
    return OutputFile(f"{package.root}/functions.py", "torch_python/functions.py.j2", context)


def _hidden(package: Package) -> Iterator[str]:
    """Types that a function's result has and an argument's name hides, where the result is annotated."""
    for operator in package.own:
        words = type_words(torch_ops.returns_type(operator.schema))
        yield from words.intersection(a.name for a in operator.schema.arguments)


def _view(operator: Operator, shadowed: frozenset[str]) -> FunctionView:
    schema = operator.schema
    annotation = unshadowed(torch_ops.returns_type(schema), shadowed)
    parameters = python.unshadow(torch_library.parameters(schema), shadowed)
    doc = operator.function.doc
    return FunctionView(
        operator.flat,
        python.signature(parameters),
        annotation,
        torch_library.doc_text(doc) if doc else docstring(str(schema)),
        tuple(_body(operator, annotation)),
    )


def _body(operator: Operator, annotation: str) -> Iterator[str]:
    schema = operator.schema
    taken = {a.name for a in schema.arguments}
    local = "result"
    while local in taken:
        local = f"_{local}"
    head = f"{local}: {annotation} = " if schema.returns else ""
    call = bracketed(f"{head}{operator.handle}(", python.forwarded(schema), indent=4)
    yield from call.split("\n    ")
    if schema.returns:
        yield f"return {local}"
