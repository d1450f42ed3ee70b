"""What a user may set in `[tool.torchgen_lite.target.cpp-runtime]`: the C++ of a framework, too, as values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from torchgen_lite.languages.cpp.condition import FACTS, Library, types_of
from torchgen_lite.languages.cpp.runtime import Types
from torchgen_lite.languages.cpp.types import CType, Expression, names_of
from torchgen_lite.loader.config.options import choice, matching, option, table_of
from torchgen_lite.schema import FunctionSchema
from torchgen_lite.targets.cpp import options as library
from torchgen_lite.targets.options import folder_option
from torchgen_lite.targets.output import Header

_TYPE = r"[A-Za-z_:][A-Za-z0-9_:]*(<[A-Za-z0-9_:<>*, ]*>)?"
_REFUSAL = "is not a C++ type"
_NAME = re.compile(r"(?<![:\w])(?:::)?[A-Za-z_][\w:]*", re.ASCII)


def read_expression(text: str) -> Expression:
    """A constant, the headers of the standard library that it needs, and the names in it."""
    names = tuple(_NAME.findall(text))
    headers: dict[str, None] = {}
    for name in names:
        headers[library.STANDARD_HEADERS.get(name.removeprefix("::"), "")] = None
    return Expression(text, tuple(filter(None, headers)), names)


def roots(types: Types) -> set[str]:
    """The first parts of the framework's names: `toy` of `toy::Tensor`. A leading `::` rules out
    hiding."""
    names = set(names_of(types.tensor)).union(*map(names_of, types.named.values()))
    for constant in types.constants.values():
        names.update(constant.names)
    return {name.partition("::")[0] for name in names} - {""}


TENSOR = library.kind_of(rf"(?!const ){_TYPE}", _REFUSAL, library.read_type)
# As it is passed: `toy::Dtype`, `std::shared_ptr<toy::Stream>`, `const toy::Scalar&`, `toy::Plan*`.
PASSED = library.kind_of(rf"(const )?{_TYPE}[*&]?", _REFUSAL, library.read_type)
# No character that ends an expression inside a parameter list or a line.
EXPRESSION = library.kind_of(r"[^;{}\n\\]+", "is not a C++ expression", read_expression)


FACT = matching(r"(\.[A-Za-z_]\w*|(::)?[A-Za-z_]\w*(::\w+)*)", "is no member, and no function")
_ADVICE = "name it in the options of the target, under `facts` or `constants`"
TARGET = "cpp-runtime"
VENDORED = "vendored"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeOptions(library.LibraryOptions):
    tensor: CType = option(
        "The C++ type of tensors, such as `toy::Tensor`.",
        TENSOR,
        is_required=True,
        about_framework=True,
    )
    headers: tuple[str, ...] = option(
        "Headers that declare the tensor and the other types.",
        library.HEADERS,
        (),
        about_framework=True,
    )
    types: Mapping[str, CType] = option(
        'How other types of schemas are passed in C++: `Device = "toy::Device"`.',
        table_of(PASSED, {"Tensor": "the type of tensors is the option `tensor`"}),
        {},
        about_framework=True,
    )
    constants: Mapping[str, Expression] = option(
        'Expressions for defaults that are names or strings: `cpu = "toy::Device::CPU"`.',
        table_of(EXPRESSION),
        {},
        about_framework=True,
    )
    facts: Mapping[str, str] = option(
        "How conditions of `dispatch` ask a tensor: a member, or a function that takes it first: "
        '`size = ".size"`, `dtype = "toy::dtype_of"`.',
        table_of(FACT, key=choice(*FACTS)),
        {},
        about_framework=True,
    )
    folder: str = folder_option(TARGET)
    runtime: str = option(
        "Where the headers of the dispatcher are: `installed`, in a package that the build "
        "finds, or `vendored`, copied to `<folder>/include/torchgen_lite`.",
        choice("installed", VENDORED),
        "installed",
    )
    calls_only: bool = library.calls_only_option()

    def asked(self, namespace: str) -> Callable[[FunctionSchema], Library]:
        """How the tensors of an operator are asked in its conditions."""
        types = self.framework

        def constant(name: str) -> str | None:
            known = types.constants.get(name)
            return known and known.text

        def of(schema: FunctionSchema) -> Library:
            return Library(
                f"target `{TARGET}`",
                f"::{namespace}::selection",
                "torchgen_lite::MissingKernelError",
                self.facts,
                constant,
                types_of(schema),
                checks_places=False,
                advice=_ADVICE,
            )

        return of

    @property
    def framework(self) -> Types:
        """The C++ of the framework."""
        return Types(self.tensor, self.types, self.constants)

    @property
    def framework_headers(self) -> list[Sequence[Header]]:
        """The block of headers that declare the types of the framework, if there are any."""
        if self.headers:
            return [[Header(name, True) for name in self.headers]]
        return []
