"""One operator in Python: types, defaults, parameters, calls.

    add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor

is, as a signature,

    (self: Tensor, other: Tensor, *, alpha: Number = 1) -> Tensor

and, as a call that passes everything on, `kernel(self, other, alpha=alpha)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from torchgen_lite.languages.python.names import identifier
from torchgen_lite.languages.python.signature import (
    ANY,
    STAR,
    Annotation,
    Parameter,
    optional,
    tuple_of,
)
from torchgen_lite.languages.python.types import TYPES, Annotations
from torchgen_lite.languages.text import literal
from torchgen_lite.schema import Argument, FunctionSchema, NamedConstant, Return, default_value
from torchgen_lite.schema.defaults import INT_CONSTANTS, as_received
from torchgen_lite.schema.dispatch_kind import DispatchKind
from torchgen_lite.schema.model import OptionalType, Type, sized_list

_TYPES = Annotations(TYPES["common"] | TYPES["runtime"], broadcasting=frozenset({"SymInt", "bool"}))
# The modules of annotation types that don't come from the framework.
TYPE_MODULES = {"Any": "typing", "Sequence": "collections.abc"}


# What a caller may pass, `int | Sequence[int] | None` for `int[2]?`, and what an operator gives back.
argument_type = lru_cache(maxsize=4096)(_TYPES.argument)
return_type = lru_cache(maxsize=4096)(_TYPES.returned)


def returns(values: Sequence[Return]) -> tuple[Annotation, ...]:
    return tuple([return_type(r.type) for r in values])


def default(argument: Argument) -> object:
    """The Python value of a default; a framework's constant is a `NamedConstant`, `Mean` a number."""
    value = default_value(argument)
    if isinstance(value, NamedConstant):
        return INT_CONSTANTS.get(value.name, value)
    return value


def default_text(value: object) -> str:
    """A default as spelled in a signature: a literal, or the name of the framework's constant."""
    if isinstance(value, NamedConstant):
        return identifier(value.name)
    return literal(value)


def parameter(argument: Argument) -> Parameter:
    """`alpha: Number = 1`."""
    return _parameter(*argument[:3])


# PyTorch's file has 9,300 arguments, which are written in 1,100 ways.
@lru_cache(maxsize=4096)
def _parameter(
    type_: Type,
    name: str,
    written: str | None,
) -> Parameter:
    text = None
    if written is not None:
        text = default_text(as_received(type_, default(Argument(type_, name, written))))
    return Parameter(identifier(name), argument_type(type_), text)


@lru_cache(maxsize=4096)
def kernel_type(type_: Type) -> Annotation:
    """`int[2]?` -> `tuple[int, ...] | None`: what a kernel gets. See Note [Sized lists are tuples]."""
    sized = sized_list(type_)
    if sized is None:
        return argument_type(type_)
    annotation = tuple_of(argument_type(sized.elem))
    if isinstance(type_, OptionalType):
        return optional(annotation)
    return annotation


def annotated(arguments: Sequence[Argument]) -> list[Parameter]:
    """The parameters of a kernel, which is passed everything: `self: Tensor, *, alpha: Number`."""
    made = []
    for argument in arguments:
        if argument.kwarg_only and STAR not in made:
            made.append(STAR)
        made.append(Parameter(identifier(argument.name), kernel_type(argument.type)))
    return made


def parameters(
    schema: FunctionSchema, make: Callable[[Argument], Parameter] = parameter
) -> list[Parameter]:
    """The parameters of the stub, `*` before the first keyword-only one; `make` makes a parameter.

    Python has no required positional parameter after one with a default, which schemas may have; such
    a default is then left to the schema.
    """
    positional = schema.positional
    first = max([i + 1 for i, a in enumerate(positional) if a.default is None], default=0)
    required = [argument._replace(default=None) for argument in positional[:first]]
    keywords = [argument for argument in schema.arguments if argument.kwarg_only]
    star = [STAR] if keywords else []
    by_position = [*required, *positional[first:]]
    return [*map(make, by_position), *star, *map(make, keywords)]


def self_first(schema: FunctionSchema) -> tuple[Argument, ...]:
    """The arguments with `self` first, as a method takes them; `where(condition, self, other)` has
    it in the middle."""
    return tuple(sorted(schema.arguments, key=lambda a: a.name != "self"))


def adapter_parameters(schema: FunctionSchema) -> list[Parameter]:
    """The parameters of a function that takes `self` first and passes the call on to a stub that
    does not. They have no types, and no defaults that are constants of the framework."""

    def untyped(argument: Argument) -> Parameter:
        text = None
        if argument.default is not None:
            value = default(argument)
            if not isinstance(value, NamedConstant):
                text = default_text(value)
        return Parameter(identifier(argument.name), ANY, text)

    return parameters(replace(schema, arguments=self_first(schema)), untyped)


def forwarded(schema: FunctionSchema) -> list[str]:
    """The arguments of a call that passes everything on: `["self", "other", "alpha=alpha"]`."""
    return passed_on(schema.arguments)


def passed_on(arguments: Iterable[Argument]) -> list[str]:
    """As `forwarded`, but only these arguments."""
    items = []
    for argument in arguments:
        name = identifier(argument.name)
        items.append(f"{name}={name}" if argument.kwarg_only else name)
    return items


def keyset_of(kind: DispatchKind, name: str) -> str:
    """The expression for an argument's keyset: `x._dispatch_keyset`, `_optional(x)`, `_list(x)`."""
    if kind is DispatchKind.tensor:
        return f"{name}._dispatch_keyset"
    if kind.is_list:
        return f"_list({name})"
    return f"_optional({name})"
