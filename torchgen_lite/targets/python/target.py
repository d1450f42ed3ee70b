"""Program in, described files out."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache, partial
from itertools import chain

from torchgen_lite.analysis.policy import Origin
from torchgen_lite.analysis.program import Program
from torchgen_lite.languages.python.names import clash, identifier
from torchgen_lite.languages.python.reserved import IN_MODULES, LOCALS, NAMESPACES
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema.dispatch_kind import dispatch_kind
from torchgen_lite.targets.left_out import select
from torchgen_lite.targets.output import (
    AuthorFunction,
    Files,
    OutputFile,
    Selection,
    TargetResult,
    copied,
)
from torchgen_lite.targets.python import functions
from torchgen_lite.targets.python.methods import build_methods
from torchgen_lite.targets.python.options import TARGET, VENDORED, PythonOptions
from torchgen_lite.targets.python.overloads import group_by_base, merge_out
from torchgen_lite.targets.python.package import Package, build_package, is_module
from torchgen_lite.targets.python.stubs import build_libraries, build_operators

# Generated code has many names that begin like this, so that it may call its arguments what they are called.
_PRIVATE = re.compile(r"_\D")
# Prefixes of the names that each operator has besides its stub.
_PREFIXES = ("_handle_", "_memo_", "_redispatch_memo_", "redispatch_")


def build_python(program: Program, options: PythonOptions) -> TargetResult:
    """Every file of the package, and the diagnostics for operators, kernels and formulas."""
    selection = select_python(program, options)
    # Whoever only wants the diagnostics of a package without kernels needs no package.
    get_package = cache(partial(build_package, selection.operators, options))
    stubs = _stub_files(program, get_package)
    if not options.kernels:
        return TargetResult(stubs, selection.diagnostics)
    from torchgen_lite.targets.python.kernels import build_kernels

    built = build_kernels(program, selection, get_package())
    diagnostics = [*selection.diagnostics, *built.diagnostics]
    return TargetResult(chain(stubs, built.files), diagnostics, built.is_unsure)


def select_python(program: Program, options: PythonOptions) -> Selection:
    """The operators that have stubs. If no kernels are configured, there are only stubs."""
    home = program.functions[0].namespace if program.functions else ""
    stubs = frozenset(identifier(f.flat_name(home)) for f in program.functions)
    named = [function for function in program.functions if function.name not in options.skip]
    names = [frozenset(of_one_kind) for of_one_kind in zip(*map(_names, named))]
    problem = partial(
        _inexpressible, home=home, stubs=stubs, names=names, records=bool(options.kernels)
    )
    return select(program, TARGET, options.skip, problem, () if options.kernels else tuple(Origin))


def author_python(program: Program, options: PythonOptions) -> Iterator[AuthorFunction]:
    """The kernels, and the meta functions of structured operators; nothing if no kernel modules are
    configured."""
    if not options.kernels:
        return iter(())
    from torchgen_lite.targets.python.kernels import author_kernels

    selection = select_python(program, options)
    package = build_package(selection.operators, options)
    return author_kernels(program, selection, package)


def _inexpressible(
    function: NativeFunction,
    *,
    home: str,
    stubs: Collection[str],
    names: Sequence[Collection[str]],
    records: bool,
) -> str:
    """Why an operator cannot have a stub, or cannot be recorded; empty if it can. `stubs` has the stub names of all
    operators, and `names` the `_names` of all, kind by kind."""
    if function.func.is_open:
        return "takes or returns any number of values, which a stub cannot"
    if records and function.is_auto:
        return "has `derivatives: auto`, and a reference that calls PyTorch"
    if records and _has_list_among_results(function):
        return "has formulas, and a list among its results, whose gradients cannot be told apart"
    schema = function.func
    namespace = function.namespace
    if namespace in NAMESPACES or (namespace.startswith("_") and is_module(namespace[1:])):
        return "is in a namespace whose name the generated code uses itself"
    stub = identifier(function.flat_name(home))
    is_beside = any(stub.removeprefix(p) in stubs for p in _PREFIXES if stub.startswith(p))
    if (
        schema.base_name in IN_MODULES
        or stub == "float"
        or stub.startswith("_library_")
        or schema.overload_name == "redispatch"
        or is_beside
    ):
        return "has a name that the generated code uses itself"
    for argument in schema.arguments:
        if argument.name in LOCALS or _PRIVATE.match(argument.name):
            return f"has an argument `{argument.name}`, which the generated code uses itself"
    return clash(zip(_names(function), names), schema.arguments)


def _names(function: NativeFunction) -> tuple[str, ...]:
    """The names in Python that an operator shares with others, if both have them: of its namespace, of all its overloads,
    and its own."""
    return (function.namespace, function.func.base_name, function.func.local_name)


def _has_list_among_results(function: NativeFunction) -> bool:
    """Whether the result has a list, with a gradient for each of its tensors, and other results."""
    derivatives = function.derivatives
    returns = function.func.returns
    if derivatives is None or len(returns) == 1:
        return False
    flags = derivatives.output_differentiability or [True] * len(returns)
    return any(
        flag is not False and dispatch_kind(value.type).is_list
        for flag, value in zip(flags, returns)
    )


def _stub_files(program: Program, get_package: Callable[[], Package]) -> Files:
    """The files of a package without its kernels."""
    package = get_package()
    is_vendored = package.options.runtime == VENDORED
    if is_vendored:
        yield from _runtime(package)
    context = {
        "runtime": "" if is_vendored else package.runtime,
        "has_kernels": bool(package.options.kernels),
    }
    yield OutputFile(f"{package.root}/__init__.py", "python/package.py.j2", context)
    yield OutputFile(f"{package.root}/py.typed", "python/py.typed.j2", {})
    yield build_libraries(package, program.config.privateuse1)
    yield from build_operators(package)
    groups = group_by_base(package.overloads)
    merged = {base: merge_out(group) for base, group in groups.items()}
    yield from functions.build_functions(package, groups, merged)
    yield from functions.build_redispatch(package, merged)
    yield from build_methods(package)
    yield from functions.build_ops(package, merged)


def _runtime(package: Package) -> Files:
    """The copy of the dispatcher in the package, and its data. It does not parse schemas."""
    for name in ("key_sets.py", "key_tables.py"):
        yield OutputFile(f"{package.root}/{name}", name)
    for file in copied("runtime", f"{package.root}/runtime", {".py", ".pyi"}):
        is_reader = file.template == "runtime/read_schema.py"
        yield OutputFile(file.path, "python/read_schema.py.j2") if is_reader else file
