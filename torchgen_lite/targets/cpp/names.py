"""User names that would clash with generated ones, found before a compiler finds them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.operators import Operator, functions_of
from torchgen_lite.analysis.program import Program
from torchgen_lite.diagnostics import Diagnostic, Help, did_you_mean
from torchgen_lite.languages.cpp.kernels import qualified, split_kernel
from torchgen_lite.languages.cpp.reserved import FUNCTIONS, KEYWORDS, LIBRARIES
from torchgen_lite.languages.cpp.text import KEYSETS, identifier, is_macro
from torchgen_lite.loader.entry.entry import DispatchEntry, NativeFunction
from torchgen_lite.targets.cpp.options import LibraryOptions
from torchgen_lite.targets.generation import generation_beside
from torchgen_lite.targets.options import default_namespace
from torchgen_lite.targets.output import Findings, wrong_option

_HELP = "set another one with `namespace` of target `{}`"


def check_names(
    program: Program,
    target: str,
    operators: Sequence[Operator],
    inner: Collection[str],
    options: LibraryOptions,
) -> list[Diagnostic]:
    """What is wrong with the namespace, with names of kernels and their classes, and with names of
    arguments.

    `inner` are the namespaces that the target makes inside the library's.
    """
    diagnostics = []
    namespace = options.namespace or default_namespace(functions_of(operators))
    if problem := namespace_problem(namespace):
        help_ = _HELP.format(target)
        diagnostics.append(wrong_option(program.config, target, "namespace", problem, help_))
    for problem, hint in _class_problems(operators, options):
        message = f"`kernel-classes`: {problem}"
        diagnostics.append(wrong_option(program.config, target, "kernel-classes", message, hint))
    for operator in operators:
        diagnostics += _check_arguments(operator.function)
    diagnostics += _check_kernels(program, operators, namespace, inner)
    return [*diagnostics, *_check_classes(operators, namespace)]


def namespace_problem(namespace: str) -> str:
    """Why a library's C++ code can't be in this namespace; empty if it can.

    >>> namespace_problem("my::lib"), namespace_problem("int")
    ('', '`int` is not a C++ namespace: `int` is a reserved word in C++')
    """
    parts = namespace.split("::")
    for part in parts:
        if part in KEYWORDS:
            return f"`{namespace}` cannot be a C++ namespace: `{part}` is a reserved word in C++"
        if is_macro(part):
            return f"`{namespace}` cannot be a C++ namespace: `{part}` is a macro"
    if parts[0] in FUNCTIONS:
        return f"`{namespace}` cannot be a C++ namespace: standard headers declare a function `{parts[0]}`"
    taken = list(filter(LIBRARIES.__contains__, parts[1:]))
    if namespace in LIBRARIES or parts[0] == "std":
        taken = parts
    problem = "cannot be the namespace of a library"
    return f"`{namespace}` {problem}: `{taken[0]}` belongs to another one" if taken else ""


def _class_problems(
    operators: Sequence[Operator], options: LibraryOptions
) -> Iterator[tuple[str, Help | None]]:
    """Undeclared classes and classes without a kernel, each with a hint."""
    scopes = set[str]()
    for operator in operators:
        scopes |= {split_kernel(entry.kernel, "")[0] for entry in operator.author_kernels}
    scopes.discard("")
    for name in options.kernel_classes:
        if name not in scopes:
            usual = f"kernels in it are named `{name}::f` under `dispatch`"
            yield f"no kernel is a member of `{name}`", did_you_mean(name, scopes) or usual
        elif not options.kernel_headers:
            yield f"nothing declares `{name}`", "name its header with `kernel-headers`"


def _check_arguments(function: NativeFunction) -> Findings:
    """Names that become equal in C++, where `default` is called `default_`."""
    seen = {name: name for name in KEYSETS}
    for argument in function.func.arguments:
        name = identifier(argument.name)
        if name in seen:
            message = f"two parameters are called `{name}` in C++"
            hint = "rename the argument"
            label = f"`{seen[name]}` has the same name"
            if name in KEYSETS:
                label = f"the generated code uses the name `{name}` itself"
            yield finding(function, "TG513", message, argument.name_span, label, hint)
        seen[name] = argument.name


def _check_kernels(
    program: Program, operators: Sequence[Operator], namespace: str, inner: Collection[str]
) -> Findings:
    python = generation_beside(program).in_python
    for operator in operators:
        for entry in operator.author_kernels:
            scope, name = split_kernel(entry.kernel, namespace)
            macros = list(filter(is_macro, entry.kernel.split("::")))
            label = "this kernel"
            hint = None
            if macros:
                problem = f"cannot be declared: `{macros[0]}` is a macro"
            elif entry.is_structured and (operator.name, entry.kernel) in python:
                problem = "is a structured class, and Python has a function of that name"
            elif scope == namespace and name in inner:
                problem = "has the name of a generated namespace"
                label = f"`{namespace}::{name}` is a namespace"
                hint = f"rename the kernel under `dispatch`: `{entry.key}: {name}_kernel`"
            else:
                continue
            message = f"kernel `{entry.kernel}` {problem}"
            yield finding(operator.function, "TG513", message, entry.kernel_span, label, hint)
            break


def _check_classes(operators: Sequence[Operator], namespace: str) -> Findings:
    """Structured kernels of two operators under one name: functions may be overloads, classes may not."""
    seen: dict[str, tuple[Operator, DispatchEntry]] = {}
    for operator in operators:
        if not operator.function.structured:
            continue
        for entry in operator.own_kernels:
            kernel = qualified(entry.kernel, namespace)
            first, other = seen.setdefault(kernel, (operator, entry))
            if entry.is_structured and first is not operator:
                both = f"`{first.schema.local_name}` and `{operator.schema.local_name}`"
                message = f"{both} have a structured kernel, `{entry.kernel}`, which is one class"
                hint = f"name it after the overload: `{operator.schema.flat_name}`"
                there = (other.kernel_span, "the other one")
                yield finding(
                    operator.function, "TG513", message, entry.kernel_span, "here", hint, there
                )
                break
