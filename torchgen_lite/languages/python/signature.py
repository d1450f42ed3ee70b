"""Python annotations, parameters and imports as values. `str()` gives the text for generated code;
nothing parses that text again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

_UNION = "|"


def is_class(name: str) -> bool:
    """Whether a type is a class of the project; torch is imported whole, and its names are written in full."""
    return "." in name.strip(".") and not name.startswith("torch.")


class Annotation(NamedTuple):
    """A type: a name with arguments, or a union of types. Equal ones share what is computed of them."""

    name: str
    args: tuple[Annotation, ...] = ()

    @lru_cache(maxsize=4096)  # noqa: B019
    def __str__(self) -> str:
        name, args = self
        if name == _UNION:
            return " | ".join(map(str, args))
        name = name.replace(".", "_") if is_class(name) else name
        if args:
            return f"{name}[{', '.join(map(str, args))}]"
        return name

    @property
    @lru_cache(maxsize=4096)  # noqa: B019
    def names(self) -> frozenset[str]:
        """The names that it mentions: `{"Sequence", "Tensor"}` for `Sequence[Tensor]`."""
        return names_in(self.args) | {self.name}

    @lru_cache(maxsize=4096)  # noqa: B019
    def unshadowed(self, shadowed: frozenset[str]) -> Annotation:
        """The annotation with an underscore before every name in `shadowed`.

        >>> print(optional(Annotation("complex")).unshadowed(frozenset({"complex"})))
        _complex | None
        """
        inner = tuple([arg.unshadowed(shadowed) for arg in self.args])
        return Annotation(f"_{self.name}" if self.name in shadowed else self.name, inner)


def names_in(annotations: Iterable[Annotation | None]) -> frozenset[str]:
    """The names that any of these mentions."""
    return frozenset().union(*[annotation.names for annotation in annotations if annotation])


ANY = Annotation("Any")
NONE = Annotation("None")


def _members(annotation: Annotation) -> tuple[Annotation, ...]:
    if annotation.name == _UNION:
        return annotation.args
    return (annotation,)


def union(*annotations: Annotation) -> Annotation:
    """`A | B`, in this order; a single one is itself."""
    members = tuple(chain.from_iterable(map(_members, annotations)))
    if len(members) > 1:
        return Annotation(_UNION, members)
    return members[0]


def optional(annotation: Annotation) -> Annotation:
    """`A | None`; `A` itself if it already allows None."""
    if NONE in _members(annotation):
        return annotation
    return union(annotation, NONE)


def sequence(elem: Annotation) -> Annotation:
    """`Sequence[A]`."""
    return Annotation("Sequence", (elem,))


def tuple_of(elem: Annotation) -> Annotation:
    """`tuple[A, ...]`."""
    return Annotation("tuple", (elem, Annotation("...")))


def returned(types: Sequence[Annotation]) -> Annotation:
    """The annotation of a function's results: `None`, `Tensor`, or `tuple[Tensor, Tensor]`."""
    if len(types) == 1:
        return types[0]
    return Annotation("tuple", tuple(types)) if types else NONE


class Parameter(NamedTuple):
    """One parameter. `stars` precede the name: `*sizes`, `**others`. The separators `*` and `/` are
    `STAR` and `SLASH`."""

    name: str
    annotation: Annotation | None = None
    default: str | None = None
    stars: str = ""

    @lru_cache(maxsize=16_384)  # noqa: B019 - half a dozen files have the same parameter.
    def __str__(self) -> str:
        """`alpha: Number = 1`."""
        name, annotation, default, stars = self
        if annotation is None:
            if default is None:
                return f"{stars}{name}"
            return f"{stars}{name}={default}"
        return f"{stars}{name}: {annotation}" + ("" if default is None else f" = {default}")


STAR = Parameter("", stars="*")
SLASH = Parameter("/")


def unshadowed(parameters: Sequence[Parameter], shadowed: frozenset[str]) -> Sequence[Parameter]:
    """The parameters with an underscore before every type that the module hides."""
    if not shadowed:
        return parameters
    shown = []
    for parameter in parameters:
        annotation = parameter.annotation
        if annotation is not None and not shadowed.isdisjoint(annotation.names):
            parameter = parameter._replace(annotation=annotation.unshadowed(shadowed))
        shown.append(parameter)
    return shown


class ImportedName(NamedTuple):
    """An imported name; `alias` is empty if it is imported under its own name."""

    name: str
    alias: str = ""

    def __str__(self) -> str:
        if self.alias:
            return f"{self.name} as {self.alias}"
        return self.name


class Import(NamedTuple):
    module: str
    names: tuple[ImportedName, ...]

    def __str__(self) -> str:
        return f"from {self.module} import {', '.join(map(str, self.names))}"


def imported_names(
    names: Iterable[str], shadowed: frozenset[str] = frozenset()
) -> set[ImportedName]:
    """The names; those in `shadowed` get an alias with a leading underscore."""
    return {ImportedName(name, f"_{name}" if name in shadowed else "") for name in names}


def imports(names: Iterable[ImportedName], modules: Mapping[str, str]) -> tuple[Import, ...]:
    """The imports of names from their modules, sorted, with built-in types first. Names without a
    module, and built-in types under their own names, need no import."""
    by_module: dict[str, list[ImportedName]] = {}
    for imported in sorted(names, key=lambda name: (name.name, name.alias or name.name)):
        module = modules.get(imported.name)
        if is_class(imported.name):
            # `tables.Table` is `tables_Table`.
            module, _, name = imported.name.rpartition(".")
            imported = ImportedName(name, imported.name.replace(".", "_"))
        if module is not None and (module != "builtins" or imported.alias):
            by_module.setdefault(module, []).append(imported)
    ordered = sorted(by_module, key=lambda module: (module != "builtins", module))
    return tuple([Import(module, tuple(by_module[module])) for module in ordered])
