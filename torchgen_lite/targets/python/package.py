"""The package as a whole: its overloads, their names, and the imports."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from torchgen_lite.analysis.operators import Operator
from torchgen_lite.languages.python import runtime as python
from torchgen_lite.languages.python.names import (
    BUILTIN_TYPES,
    FRAMEWORK_TYPES,
    identifier,
    identifiers,
    overload_attribute,
)
from torchgen_lite.languages.python.signature import (
    Annotation,
    Import,
    Parameter,
    imported_names,
    imports,
    names_in,
)
from torchgen_lite.languages.text import quote
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema import Argument, FunctionSchema, NamedConstant, SchemaKind
from torchgen_lite.schema.grouped import by_name
from torchgen_lite.targets.options import Shards, shard_of, shards_of
from torchgen_lite.targets.output import CalledModule, Context, OutputFile
from torchgen_lite.targets.python.options import (
    MANY_OPERATORS,
    NO_FRAMEWORK,
    VENDORED,
    PythonOptions,
)

_MODULES = re.compile(
    r"(?:nodes|operators|autograd|adinplaceorview)(?:_[0-9]+)?|(?:register|selected|structured)_[a-z0-9]+(?:_[0-9]+)?"
    "|backendselect|constants|dispatcher|functions|key_sets|key_tables|libraries|methods|ops|redispatch|registration"
    "|runtime"
)


class Overload(NamedTuple):
    """One overload, with its name `flat` in the generated modules. Half a dozen files use `parameters` and
    `returns`, so they are computed once.

    The overload of a public name has the `parameters` and `arguments` of that: a method takes
    `self` first, and `out` is the out variant that callers get with `out=`. `varargs` is the position
    of a list of integers that may be passed as separate arguments. `scope` is where its stub is, as other
    modules refer to it; a module that defines the stub itself has none.
    """

    function: NativeFunction
    kind: SchemaKind
    flat: str
    shard: int | None
    parameters: tuple[Parameter, ...]
    returns: tuple[Annotation, ...]
    arguments: tuple[Argument, ...]
    varargs: int | None = None
    out: Overload | None = None
    scope: str = "_operators."

    @property
    def name(self) -> str:
        return self.function.name

    @property
    def schema(self) -> FunctionSchema:
        return self.function.func

    @property
    def attribute(self) -> str:
        """The name of the overload as an attribute of its packet."""
        return overload_attribute(self.schema.overload_name)

    @property
    def stub(self) -> str:
        """The stub as other modules refer to it: `_operators.add_Tensor`."""
        return f"{self.scope}{self.flat}"

    @property
    def redispatch_stub(self) -> str:
        return f"{self.scope}redispatch_{self.flat}"

    @property
    def out_names(self) -> list[str]:
        """The keywords of the out variant, if they are others than `out` alone."""
        names = identifiers(self.out.schema.out) if self.out else []
        return [] if names == ["out"] else names


class Package(NamedTuple):
    """Everything that the files of one package share. `known` are the names that the framework has,
    None if its source doesn't show them."""

    options: PythonOptions
    overloads: tuple[Overload, ...]
    shards: Shards
    known: frozenset[str] | None = None

    @property
    def by_name(self) -> dict[str, Overload]:
        return by_name(self.overloads)

    @property
    def root(self) -> str:
        """The package's folder below the output directory."""
        return PurePosixPath(self.options.folder, *self.options.package.split(".")).as_posix()

    @property
    def runtime(self) -> str:
        """The module of the dispatcher, as the package's modules import it."""
        if self.options.runtime == VENDORED:
            return ".runtime"
        return self.options.runtime

    @property
    def framework(self) -> str:
        """The module of types and helpers. If none is configured, it is the runtime's own module,
        which has types for annotations."""
        named = self.options.framework
        if named == NO_FRAMEWORK:
            return f"{self.runtime}.framework"
        return named

    @property
    def called(self) -> CalledModule:
        """The framework for templates that call it."""
        return CalledModule(self.framework, self.known, "framework")


def build_package(operators: Sequence[Operator], options: PythonOptions) -> Package:
    """Name every overload. The first operator's namespace is the home; its names have no prefix."""
    home = operators[0].function.namespace if operators else "aten"
    shards = shards_of(operators, options.shards, MANY_OPERATORS)
    overloads = [
        Overload(
            operator.function,
            operator.kind,
            identifier(operator.function.flat_name(home)),
            shard_of(operator.schema.base_name, shards),
            tuple(python.parameters(operator.schema)),
            python.returns(operator.schema.returns),
            operator.schema.arguments,
        )
        for operator in operators
    ]
    return Package(options, tuple(overloads), shards)


def sharded(package: Package, name: str) -> list[str]:
    """`["operators"]`, or `["operators_0", "operators_1", ...]`."""
    return [name if shard is None else f"{name}_{shard}" for shard in package.shards]


def libraries_of(overloads: Sequence[Overload]) -> dict[str, str]:
    """The library of each namespace in use: its name, and the namespace as a literal."""
    return {identifier(o.function.namespace): quote(o.function.namespace) for o in overloads}


def is_module(name: str) -> bool:
    """Whether the package may have a module, or the dispatcher, under this name."""
    return _MODULES.fullmatch(name) is not None


def shadowed_types(names: Sequence[str]) -> frozenset[str]:
    """The types that a module with these names hides."""
    return (BUILTIN_TYPES | FRAMEWORK_TYPES).intersection(names)


def used_types(overloads: Iterable[Overload]) -> frozenset[str]:
    """Every name in the annotations of these overloads."""
    # Half of all annotations are the same, so each is asked once.
    annotations: set[Annotation | None] = set()
    for overload in overloads:
        annotations.update([parameter.annotation for parameter in overload.parameters])
        annotations.update(overload.returns)
    return names_in(annotations)


def type_imports(
    package: Package, overloads: Sequence[Overload], shadowed: frozenset[str]
) -> tuple[Import, ...]:
    """The imports that annotations need: the framework's types, and an alias with a leading
    underscore for each hidden type."""
    modules = {
        **dict.fromkeys(BUILTIN_TYPES, "builtins"),
        **dict.fromkeys(FRAMEWORK_TYPES, package.framework),
    }
    return imports(imported_names(used_types(overloads), shadowed), modules)


def kernel_file(
    package: Package,
    module: str,
    template: str,
    overloads: Sequence[Overload],
    **more: object,
) -> OutputFile:
    """A module of generated kernels."""
    types = type_imports(package, overloads, frozenset())
    context = {"framework": package.called, "types": types, **more}
    return OutputFile(f"{package.root}/{module}.py", f"python/{template}.py.j2", context)


def typing_context(
    package: Package, overloads: Sequence[Overload], names: Sequence[str]
) -> Context:
    """What the annotations and defaults of overloads need in a module that has these names."""
    hidden = shadowed_types(names)
    return {
        "hidden": hidden,
        "types": type_imports(package, overloads, hidden),
        "constants": used_constants(overloads),
    }


def used_constants(overloads: Iterable[Overload]) -> list[str]:
    """Names of the framework's constants that are defaults: `["contiguous_format"]`."""
    names: dict[str, None] = {}
    for overload in overloads:
        names |= dict.fromkeys(map(constant_of, overload.schema.arguments))
    names.pop("", None)
    return list(names)


def constant_of(argument: Argument) -> str:
    """The name of the framework constant that is an argument's default, or empty."""
    # Almost every default is a number, None or a boolean; these need not be parsed.
    text = argument.default
    if text is None or not text[:1].isalpha() or text in ("None", "True", "False"):
        return ""
    value = python.default(argument)
    if isinstance(value, NamedConstant):
        return identifier(value.name)
    return ""
