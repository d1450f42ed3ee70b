"""A C++ function, whatever the library: name, return type, parameters, and the texts made of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from torchgen_lite.languages.cpp.types import CType, Expression, headers_of, unrooted


class CppParameter(NamedTuple):
    """One parameter. `default` is a C++ expression, or None."""

    type: CType
    name: str
    default: Expression | None = None

    @property
    def declaration(self) -> str:
        """`const at::Scalar& alpha = 1`."""
        default = ""
        if self.default is not None:
            default = f" = {self.default}"
        return f"{self.type} {self.name}{default}"


# The first parameter of a redispatching function.
KEYSET = CppParameter(CType("c10::DispatchKeySet"), "dispatchKeySet")


class CppSignature(NamedTuple):
    """A whole signature. `str()` is its declaration, without a semicolon."""

    name: str
    returns: CType
    parameters: tuple[CppParameter, ...]

    def __str__(self) -> str:
        inner = ", ".join([p.declaration for p in self.parameters])
        return f"{self.returns} {self.name}({inner})"

    @property
    def plain(self) -> tuple[CppParameter, ...]:
        """The parameters without defaults."""
        return tuple([p._replace(default=None) for p in self.parameters])

    @property
    def types(self) -> tuple[CType, ...]:
        return tuple([p.type for p in self.parameters])

    @property
    def type(self) -> str:
        """The function type: `at::Tensor (const at::Tensor&, const at::Scalar&)`."""
        return f"{self.returns} ({', '.join(map(str, self.types))})"


def trailing_defaults(parameters: Sequence[CppParameter]) -> tuple[CppParameter, ...]:
    """The parameters with the defaults that C++ allows: none before a parameter without one.

    A schema may have keyword arguments without a default behind others with one.
    """
    needed = [index for index, p in enumerate(parameters) if p.default is None]
    if not needed or len(needed) == needed[-1] + 1:
        return tuple(parameters)
    before = parameters[: needed[-1]]
    rest = parameters[needed[-1] :]
    return (*[p._replace(default=None) for p in before], *rest)


def unrooted_signature(signature: CppSignature) -> CppSignature:
    """The signature where nothing generated can be called `std`."""
    parameters = [
        CppParameter(unrooted(p.type), p.name, p.default and p.default.unrooted)
        for p in signature.parameters
    ]
    return CppSignature(signature.name, unrooted(signature.returns), tuple(parameters))


class HasSignature(Protocol):
    """An operator or a kernel."""

    @property
    def signature(self) -> CppSignature: ...


def signatures_of(functions: Iterable[HasSignature]) -> list[CppSignature]:
    return [function.signature for function in functions]


def signature_headers(signatures: Iterable[CppSignature]) -> frozenset[str]:
    """The headers that declarations of these functions need, without their defaults."""
    headers: set[str] = set()
    for signature in signatures:
        headers |= headers_of(signature.returns)
        for parameter in signature.parameters:
            headers |= headers_of(parameter.type)
    return frozenset(headers)


def default_headers(signatures: Iterable[CppSignature]) -> frozenset[str]:
    """The headers that their defaults need."""
    headers: set[str] = set()
    for signature in signatures:
        for parameter in signature.parameters:
            if parameter.default is not None:
                headers.update(parameter.default.headers)
    return frozenset(headers)
