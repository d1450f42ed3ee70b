"""The entries that a C++ target takes, and mistakes in them that concern every library."""

from __future__ import annotations

import re
from collections.abc import Sequence

from torchgen_lite.analysis.checks.compiled import check_effects
from torchgen_lite.analysis.checks.reachable import unreachable_kernels
from torchgen_lite.analysis.checks.registrable import unregistrable
from torchgen_lite.analysis.derive.copying import copied_entries
from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.program import Program
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.languages.cpp.text import is_macro
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.targets.cpp.options import ModuleOptions
from torchgen_lite.targets.given_namespace import check_given_namespace
from torchgen_lite.targets.output import Findings, wrong_option


def any_number(function: NativeFunction) -> str:
    """Why no typed call can stand for an operator; empty if one can."""
    # A schema with `...` has no C++ function type.
    problem = "takes or returns any number of values, which a typed call cannot"
    return problem if function.func.is_open else ""


def check_structured(operator: Operator, code: str, message: str) -> Findings:
    """Diagnostics for structured kernels, which the target does not support."""
    function = operator.function
    for entry in operator.own_kernels:
        if entry.is_structured:
            help_ = "write a plain kernel for each variant, or leave the operator out with `skip`"
            label = f"`{entry.kernel}` is the impl function of a structured kernel"
            yield finding(function, code, message, entry.kernel_span, label, help_)
    if function.structured_delegate is not None and not function.dispatch:
        help_ = "write plain kernels under `dispatch:`, or leave the operator out with `skip`"
        span = function.place("structured_delegate")
        yield finding(function, code, message, span, "there is no other kernel", help_)


def check_copies(program: Program, target: str) -> Findings:
    """Diagnostics for variants derived from kernels of a backend's file, which the target doesn't
    generate."""
    resolved = program.resolved
    copied = [
        (operator.schema.local_name, entry, operator.group.functional)
        for operator in (*resolved.operators, *resolved.copying)
        if operator.group is not None
        for entry in copied_entries(operator.group, operator.function)
    ]
    if copied:
        name, entry, functional = copied[0]
        count = ""
        if len(copied) > 1:
            count = f" and {len(copied) - 1} more"
        message = f"target `{target}` does not derive in-place and out variants: `{name}`{count}"
        help_ = "add those that are called to the list, and write their kernels"
        yield finding(
            functional, "TG373", message, entry.key_span, "from this one, for example", help_
        )


def check_schemas(program: Program, functions: Sequence[NativeFunction]) -> list[Diagnostic]:
    """What libtorch cannot define. Of what PyTorch defines itself a library registers kernels alone; but not every entry
    in `aten` exists in PyTorch."""
    if program.config.operators == "torch":
        return []
    return list(unregistrable(f for f in functions if f.name not in program.resolved.lent))


def check_macro(
    program: Program, target: str, functions: Sequence[NativeFunction], options: ModuleOptions
) -> Findings:
    """What does not go together with a namespace that the build gives."""
    if not options.namespace_macro:
        return
    yield from check_given_namespace(program, target, "namespace-macro", functions)
    if options.python_module:
        message = (
            "`python-module` names one module, and each build of `namespace-macro` has another"
        )
        yield wrong_option(program.config, target, "python-module", message)


def check_library(functions: Sequence[NativeFunction]) -> Findings:
    """Namespaces that are macros, which `TORCH_LIBRARY_IMPL` would expand, calls that compilers drop, and kernels that no
    call reaches, in what the library defines."""
    defined = [f for f in functions if not f.is_pytorchs]
    for function in defined:
        name = function.namespace
        # Names of this kind are reserved for the compiler and the standard library.
        if is_macro(name) or re.match("_[_A-Z]", name):
            message = f"namespace `{name}` is reserved in C++, or the name of a macro"
            help_ = "libtorch registers namespaces with macros; choose another name"
            yield finding(function, "TG512", message, None, "in this namespace", help_)
        yield from check_effects(function)
    yield from unreachable_kernels(defined)
