"""`FunctionSchema`, one operator's schema: what follows `func:` in `native_functions.yaml`.

    add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor

`torch.library.define` takes the same text. `str()` of every node gives the text that it was parsed
from, with white space normalized, so `str(FunctionSchema.parse(s)) == s` holds for schemas written
with single spaces. Equality ignores spans: two schemas are equal if their texts are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeVar

from ..diagnostics import Diagnostic, Diagnostics, Label, Locate, Source, Span, not_compared
from .dispatch_kind import DispatchKind, dispatch_kind
from .fast_path import parse_fast
from .grouped import names_of
from .kept import keeping, kept
from .kind import SchemaKind, is_inplace_name
from .model import Argument, BaseType, Return, Type, annotations_of, walk_type
from .parser import MAX_LENGTH, parse_parts

_Value = TypeVar("_Value", Argument, Return)


class SchemaError(ValueError):
    """A schema that could not be parsed; `diagnostics` says where and why."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        super().__init__("\n".join(f"{d.code}: {d.message}" for d in diagnostics))
        self.diagnostics = diagnostics


@keeping
@dataclass(frozen=True)
class FunctionSchema:
    """A whole schema. `name` is as written: `add`, or `aten::add` if a namespace is given.

    Derived properties are kept, since they are read repeatedly. The name ends `name_end` characters
    after the start of the span.
    """

    name: str
    overload_name: str
    arguments: tuple[Argument, ...]
    returns: tuple[Return, ...]
    is_vararg: bool = False
    is_varret: bool = False
    parenthesized_return: bool = False
    span: Span | None = not_compared()
    name_end: int = not_compared(0)

    @staticmethod
    def parse(text: str) -> FunctionSchema:
        """Parse one schema; raise `SchemaError`, which carries the diagnostics, if it is wrong."""
        schema, diagnostics = parse_schema(text)
        if schema is None:
            raise SchemaError(diagnostics)
        return schema

    @property
    def required(self) -> list[Argument]:
        """The arguments that every call gives."""
        return [a for a in self.arguments if a.default is None]

    @property
    def types(self) -> list[Type]:
        """The types of its arguments, and then of its results."""
        return [a.type for a in self.arguments] + [r.type for r in self.returns]

    @property
    def opaque_types(self) -> list[str]:
        """The classes of Python among its types: `tables.Table`."""
        parts = chain.from_iterable(map(walk_type, self.types))
        names = [part.name for part in parts if isinstance(part, BaseType) and "." in part.name]
        return [name for name in names if not name.startswith("__torch__.")]

    @property
    def name_span(self) -> Span | None:
        """Where the name is written; None in schemas that are derived from another."""
        if self.span is None or not self.name_end:
            return None
        return Span(self.span.source, self.span.start, self.span.start + self.name_end)

    def placed_in(self, source: Source | None) -> FunctionSchema:
        """This schema without the places of arguments and results in any other source."""

        def placed(value: _Value) -> _Value:
            if value.origin is not None and value.origin.source is source:
                return value
            return value._replace(origin=None)

        arguments = tuple(map(placed, self.arguments))
        return replace(self, arguments=arguments, returns=tuple(map(placed, self.returns)))

    def named_at(self, span: Span | None) -> FunctionSchema:
        """This schema at a place that gives only its name: arguments and results have no spans."""
        length = span.end - span.start if span is not None else 0
        return replace(self.placed_in(None), span=span, name_end=length)

    @property
    def is_open(self) -> bool:
        """Whether it has `...` among its arguments or results, which no signature can express."""
        return self.is_vararg or self.is_varret

    @property
    def namespace(self) -> str:
        """`aten` for `aten::add`, or the empty string."""
        return self.name.rpartition("::")[0]

    @kept
    def base_name(self) -> str:
        """The name without its namespace: `add_` for `aten::add_.Tensor`."""
        return self.name.rpartition("::")[2]

    @property
    def full_name(self) -> str:
        """Name and overload as PyTorch writes them: `add.Tensor`, `relu`."""
        return f"{self.name}.{self.overload_name}" if self.overload_name else self.name

    @kept
    def local_name(self) -> str:
        """Name and overload without the namespace: `add.Tensor`."""
        return self.full_name.rpartition("::")[2]

    @kept
    def local_text(self) -> str:
        """The schema without its namespace: `add.Tensor(Tensor self, ...) -> Tensor`."""
        return str(self)[len(self.name) - len(self.base_name) :]

    @kept
    def flat_name(self) -> str:
        """Name and overload as one identifier: `add_Tensor`."""
        base = self.base_name
        return f"{base}_{self.overload_name}" if self.overload_name else base

    @kept
    def positional(self) -> tuple[Argument, ...]:
        if not self.arguments or not self.arguments[-1].kwarg_only:
            return self.arguments
        return tuple([a for a in self.arguments if not a.kwarg_only])

    @kept
    def annotated(self) -> tuple[Argument, ...]:
        """Arguments with an alias annotation: most operators have none."""
        return tuple([a for a in self.arguments if a.annotation is not None])

    @kept
    def written(self) -> tuple[Argument, ...]:
        return tuple([a for a in self.annotated if a.is_write])

    @property
    def returns_alias(self) -> bool:
        """Whether a result shares memory with an argument, written or not."""
        return any(annotations_of(self.returns))

    @kept
    def is_aliasing(self) -> bool:
        """Whether a result aliases an argument that is not written, or an argument becomes one (`(a -> *)`)."""
        if any(value.annotation is not None and not value.is_write for value in self.returns):
            return True
        return any(a.annotation is not None and "*" in a.annotation.after for a in self.annotated)

    @kept
    def carries_keys(self) -> bool:
        """Whether an argument may carry a dispatch key; what stands for `...` may."""
        kinds = {dispatch_kind(argument.type) for argument in self.arguments}
        return self.is_vararg or not kinds <= {DispatchKind.nothing}

    @kept
    def inputs(self) -> tuple[Argument, ...]:
        """The arguments that are not out arguments."""
        return tuple([a for a in self.arguments if not a.is_out])

    @kept
    def kwarg_only(self) -> tuple[Argument, ...]:
        """Keyword-only arguments that are not out arguments."""
        return tuple([a for a in self.arguments if a.kwarg_only and not a.is_out])

    @kept
    def out(self) -> tuple[Argument, ...]:
        return tuple([a for a in self.written if a.is_out])

    def behind_defaults(self) -> Iterator[tuple[Argument, Argument]]:
        """Each positional argument that has no default but follows one that does, with that one."""
        earlier = None
        for argument in self.positional:
            if argument.default is not None:
                earlier = argument
            elif earlier is not None:
                yield argument, earlier

    def check_call(self, parameters: Sequence[str]) -> None:
        """Raise SchemaError if no call could fit. `parameters` are the names that callers use.

        The rules are those of c10's `checkSchema`; in addition, no two names may be the same.
        """
        faults = []

        def report(code: str, message: str, argument: Argument, label: str) -> None:
            place = Label(argument.span, label) if argument.span else None
            faults.append(Diagnostic(code, message, place))

        for argument, earlier in self.behind_defaults():
            message = f"`{argument.name}` has no default, and `{earlier.name}` before it has one"
            report("TG220", message, argument, "no default")
        for index, argument in enumerate(self.arguments):
            if parameters[index] in parameters[:index]:
                message = f"duplicate argument `{parameters[index]}`"
                report("TG203", message, argument, "named again here")
        if faults:
            raise SchemaError(tuple(faults))

    def kind(self) -> SchemaKind:
        """How this operator writes its result (torchgen `FunctionSchema.kind`).

        An in-place name makes it `inplace`, out arguments make it `out` (`scratch` if one of them is
        work space, named `_scratch_...`), any other written argument makes it `mutable`. torchgen
        does not look at `self` in the last step, so it calls `foo(Tensor(a!) self) -> Tensor(a!)`
        functional; here it is `mutable`.
        """
        return self._kind

    @kept
    def _kind(self) -> SchemaKind:
        if self.base_name.endswith("_") and is_inplace_name(self.base_name):
            return SchemaKind.inplace
        if not self.written:
            return SchemaKind.functional
        if any(argument.name.startswith("_scratch_") for argument in self.out):
            return SchemaKind.scratch
        return SchemaKind.out if self.out else SchemaKind.mutable

    @kept
    def _return_names(self) -> tuple[str, ...]:
        kind = self.kind()
        taken = set(names_of(self.arguments))
        names = []
        for index, value in enumerate(self.returns):
            name = value.name or ("result" if len(self.returns) == 1 else f"result{index}")
            name = "result" if kind is SchemaKind.inplace and index == 0 else name
            is_out = kind is SchemaKind.out and value.name is not None
            names.append(f"{name}_return" if name in taken and not is_out else name)
        return tuple(names)

    def __str__(self) -> str:
        return self.text

    @kept
    def text(self) -> str:
        """The whole schema; one in the usual spelling keeps the text that it was parsed from."""
        parts = [*map(str, self.arguments)]
        if self.is_vararg:
            parts.append("...")
        if len(self.positional) < len(self.arguments):
            parts.insert(len(self.positional), "*")
        returns = [*map(str, self.returns)]
        if self.is_varret:
            returns.append("...")
        result = ", ".join(returns)
        if len(returns) != 1 or self.parenthesized_return:
            result = f"({result})"
        return f"{self.full_name}({', '.join(parts)}) -> {result}"


def return_names(schema: FunctionSchema) -> tuple[str, ...]:
    """The names of results in formulas: `result`, `result0`, ..., or their own.

    A result with the name of an argument is called `NAME_return`; an unnamed one is `result_return`
    if there is an argument `result` (torchgen `return_names`).
    """
    return schema._return_names


def parse_schema(
    text: str, *, locate: Locate | None = None, opaque: Collection[str] = ()
) -> tuple[FunctionSchema | None, Diagnostics]:
    """Parse one schema, where `opaque` classes are types; None if there was any error. Never raises.

    `locate` turns offsets into `text` into a span of the file that the text came from.
    """
    locate = locate or Source("<schema>", text).locator()
    parts = parse_fast(text, locate) if len(text) <= MAX_LENGTH else None
    if parts is not None:
        schema = FunctionSchema(*parts)
        object.__setattr__(schema, "text", text)
        return schema, ()
    parts, diagnostics = parse_parts(text, locate, opaque)
    return None if parts is None else FunctionSchema(*parts), diagnostics
