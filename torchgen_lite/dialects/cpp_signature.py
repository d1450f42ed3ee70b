"""A C++ function, whatever the dialect: name, return type, parameters, and the texts made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

# What a redispatching function takes first.
KEYSET_PARAMETER = "c10::DispatchKeySet dispatchKeySet"


class CppParameter(NamedTuple):
    """One parameter. `default` is a C++ expression, or None."""

    type: str
    name: str
    default: str | None = None

    @property
    def declaration(self) -> str:
        """`const at::Scalar& alpha = 1`."""
        default = "" if self.default is None else f" = {self.default}"
        return f"{self.type} {self.name}{default}"

    @property
    def definition(self) -> str:
        """`const at::Scalar& alpha`."""
        return f"{self.type} {self.name}"


@dataclass(frozen=True, slots=True)
class CppSignature:
    """A whole signature. `str()` is its declaration, without a semicolon."""

    name: str
    returns: str
    parameters: tuple[CppParameter, ...]

    def __str__(self) -> str:
        return self.declaration()

    def declaration(self, name: str | None = None) -> str:
        """`at::Tensor add(const at::Tensor& self, const at::Scalar& alpha = 1)`."""
        inner = ", ".join([p.declaration for p in self.parameters])
        return f"{self.returns} {self.name if name is None else name}({inner})"

    def definition(self, name: str | None = None) -> str:
        """As the declaration, without defaults."""
        inner = ", ".join([p.definition for p in self.parameters])
        return f"{self.returns} {self.name if name is None else name}({inner})"

    def redispatch(self) -> str:
        """The declaration of the function that takes the keys to dispatch on, first."""
        inner = ", ".join([KEYSET_PARAMETER, *[p.declaration for p in self.parameters]])
        return f"{self.returns} {self.name}({inner})"

    @property
    def type(self) -> str:
        """The function type: `at::Tensor (const at::Tensor&, const at::Scalar&)`."""
        return f"{self.returns} ({', '.join([p.type for p in self.parameters])})"
