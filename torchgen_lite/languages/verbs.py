"""The verbs that templates call: `{{ kernel.schema | py.forwarded | join(", ") }}`.

Note [Verbs]
A template calls the language on what a target has decided: a schema, an entry, an argument. So no
view carries the text that a verb returns, and who reads the template sees what is printed. Verbs are
pure functions of values that compare by value, because `generate --watch` renders a file again only
if its context differs. The languages have the same verbs under the same names, if they have them
(`parameters`, `forwarded`, `returns`, `identifier`, `quote`); the prefix is the language.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from torchgen_lite.languages.cpp import text
from torchgen_lite.languages.python import runtime, torch_library, torch_ops
from torchgen_lite.languages.python.names import free_name, identifier, is_reserved
from torchgen_lite.languages.python.signature import Annotation, Parameter, returned, unshadowed
from torchgen_lite.languages.text import (
    doc_lines,
    doc_text,
    lengthened,
    one_line,
    quote,
    quoted,
    tuple_display,
)
from torchgen_lite.schema import Argument, FunctionSchema
from torchgen_lite.schema.grouped import names_of
from torchgen_lite.schema.model import bare_type

if TYPE_CHECKING:
    from torchgen_lite.loader.entry.samples import Sample


def returns(schema: FunctionSchema) -> str:
    """The annotation of the results: `Tensor`, `tuple[Tensor, Tensor]`, `None`."""
    return str(returned(runtime.returns(schema.returns)))


def shown(
    parameters: Sequence[Parameter],
    hidden: frozenset[str],
    first: Parameter | None = None,
) -> Sequence[Parameter]:
    """The parameters in a module that hides types, behind a `first` one, whose name none of them has."""
    if first is not None:
        name = free_name(first.name, names_of(parameters))
        parameters = [Parameter(name, *first[1:]), *parameters]
    return unshadowed(parameters, hidden)


def result(types: Sequence[Annotation], hidden: frozenset[str] = frozenset()) -> Annotation:
    """The annotation of these results in a module that hides types."""
    return returned([type_.unshadowed(hidden) for type_ in types])


def bare_types(arguments: Iterable[Argument]) -> str:
    """The types without annotations as a tuple of literals: `("Tensor", "Scalar")`."""
    return quoted([bare_type(argument.type) for argument in arguments])


def docstring(doc: str | None) -> str:
    """The docstring of a `doc:`, or empty."""
    lines = doc_lines(doc)
    return doc_text(lines) if lines else ""


def sampled(schema: FunctionSchema, sample: Sample) -> str:
    """The arguments of a call. Few projects have samples, whose expressions take time to import."""
    from torchgen_lite.languages.python.torch_expressions import call_arguments

    return call_arguments(schema, sample)


def torch_parameters(schema: FunctionSchema, hidden: frozenset[str]) -> Sequence[Parameter]:
    """The parameters of a function for an operator of PyTorch, in a module that hides types."""
    return unshadowed(torch_library.parameters(schema), hidden)


def torch_returns(schema: FunctionSchema, hidden: frozenset[str] = frozenset()) -> Annotation:
    """The annotation of the results in PyTorch's types."""
    return torch_ops.returns_type(schema).unshadowed(hidden)


VERBS: Mapping[str, Callable[..., object]] = {
    "cpp.defaults": text.defaulted_list,
    "cpp.doc": text.doc_comment,
    "cpp.forwarded": text.forwarded,
    "cpp.free_name": lengthened,
    "cpp.function": text.function_name,
    "cpp.identifier": text.identifier,
    "cpp.line": one_line,
    "cpp.message": text.message,
    "cpp.parameters": text.parameter_list,
    "cpp.quote": text.quote,
    "py.adapter_parameters": runtime.adapter_parameters,
    "py.annotated": runtime.annotated,
    "py.bare_types": bare_types,
    "py.dictionary": torch_library.dictionary,
    "py.docstring": docstring,
    "py.forwarded": runtime.forwarded,
    "py.free_name": free_name,
    "py.given": torch_library.given,
    "py.identifier": identifier,
    "py.is_reserved": is_reserved,
    "py.parameters": runtime.parameters,
    "py.quote": quote,
    "py.quoted": quoted,
    "py.reference": torch_library.reference,
    "py.returned": result,
    "py.returns": returns,
    "py.sampled": sampled,
    "py.shown": shown,
    "py.torch_forwarded": torch_library.forwarded,
    "py.torch_parameters": torch_parameters,
    "py.torch_returns": torch_returns,
    "py.tuple": tuple_display,
    "py.version_clauses": torch_library.version_clauses,
}
