"""What the dispatcher needs to know about a schema, in a form that generated code need not parse."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Mapping
from types import FunctionType, MappingProxyType
from typing import Any, cast

from .errors import DispatcherError

MAX_ARGUMENTS = 64
"""c10 keeps the positions of dispatching arguments in a bitset of this size."""

NOTHING: Mapping[int, str] = MappingProxyType({})


def python_name(name: str) -> str:
    """A schema's argument name as a Python parameter."""
    return f"{name}_" if keyword.iskeyword(name) else name


class Signature:
    """The facts of one operator.

    `schema` is the text with the namespace, which `name` has, too. `arguments` are names in schema order;
    `kinds` has a letter for each of them (`schema.dispatch_kind`); the first `positional` of them are
    positional, the rest keyword-only; `defaults` are (name, value) pairs; `returns` counts the results.
    `types` are the schema types of arguments and results, against which the annotations of kernels are
    checked; generated code leaves them out, because type checkers see its kernels. `sized` has by position the
    types of lists for which one number may stand, `int[1]?`: kernels get a tuple of them.
    """

    __slots__ = (
        "arguments",
        "defaults",
        "kinds",
        "name",
        "overload_name",
        "positional",
        "returns",
        "schema",
        "sized",
        "tags",
        "types",
    )

    def __init__(
        self,
        schema: str,
        arguments: tuple[str, ...] = (),
        kinds: str = "",
        positional: int = 0,
        defaults: tuple[tuple[str, Any], ...] = (),
        tags: tuple[str, ...] = (),
        returns: int = 1,
        types: tuple[str, ...] = (),
        sized: Mapping[int, str] = NOTHING,
    ) -> None:
        name, _, overload_name = schema.partition("(")[0].partition(".")
        if len(arguments) > MAX_ARGUMENTS:
            raise DispatcherError(
                f"the function schema of {name} has {len(arguments)} arguments, "
                f"but this dispatcher supports at most {MAX_ARGUMENTS}"
            )
        self.name = name
        self.overload_name = overload_name
        self.schema = schema
        self.arguments = arguments
        self.kinds = kinds
        self.positional = positional
        self.defaults = defaults
        self.tags = tags
        self.returns = returns
        self.types = types
        self.sized = sized

    @staticmethod
    def of_stub(
        schema: str,
        kinds: str,
        stub: Callable[..., Any],
        tags: tuple[str, ...] = (),
        returns: int = 1,
        sized: Mapping[int, str] = NOTHING,
    ) -> Signature:
        """The signature of an operator with a generated stub, whose parameters are the arguments."""
        function = cast(FunctionType, stub)
        code, defaults = function.__code__, function.__defaults__ or ()
        count = code.co_argcount
        names = code.co_varnames[: count + code.co_kwonlyargcount]
        pairs = (
            *zip(names[count - len(defaults) : count], defaults),
            *(function.__kwdefaults__ or {}).items(),
        )
        return Signature(schema, names, kinds, count, pairs, tags, returns, sized=sized)

    @property
    def full_name(self) -> str:
        """`aten::add.Tensor`."""
        return f"{self.name}.{self.overload_name}" if self.overload_name else self.name

    @property
    def parameters(self) -> tuple[str, ...]:
        """The arguments as Python can name them: `from` is `from_`."""
        return tuple(map(python_name, self.arguments))

    @property
    def keywords(self) -> tuple[str, ...]:
        """The keyword-only parameters, by which kernels get these arguments."""
        return self.parameters[self.positional :]

    @property
    def dispatching(self) -> tuple[int, ...]:
        """The positions of the arguments that a call reads keysets from, in schema order."""
        return tuple(i for i, kind in enumerate(self.kinds) if kind != "-")

    def __repr__(self) -> str:
        return f"Signature({self.schema})"
