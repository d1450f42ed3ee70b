"""Program in, described files out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from torchgen_lite.analysis.derive import derive
from torchgen_lite.analysis.derive.names import operator_name
from torchgen_lite.analysis.lint.dispatch import unreachable_kernel
from torchgen_lite.analysis.lint.suppress import filter_diagnostics
from torchgen_lite.analysis.registrable import unregistrable
from torchgen_lite.diagnostics import Diagnostic, Label, has_errors, suggest
from torchgen_lite.loader.config import locate_option
from torchgen_lite.targets.cpp.model import TORCH_NAMESPACES, Operator, shard_count
from torchgen_lite.targets.cpp.module import module_file
from torchgen_lite.targets.cpp_torch import types
from torchgen_lite.targets.cpp_torch.backend_select import backend_select
from torchgen_lite.targets.cpp_torch.calls import Layout, build_calls
from torchgen_lite.targets.cpp_torch.differentiation import build_differentiation
from torchgen_lite.targets.cpp_torch.fallbacks import fallback_files
from torchgen_lite.targets.cpp_torch.from_out import from_out_registrations
from torchgen_lite.targets.cpp_torch.kernels import author_kernels, build_kernels
from torchgen_lite.targets.cpp_torch.methods import build_methods
from torchgen_lite.targets.cpp_torch.model import build_operators
from torchgen_lite.targets.cpp_torch.options import (
    KNOWN_OPTIONS,
    TARGET,
    TorchOptions,
    load_options,
)
from torchgen_lite.targets.cpp_torch.registrations import (
    build_keys,
    build_schema,
    kernel_registrations,
)
from torchgen_lite.targets.cpp_torch.structured import (
    build_structured,
    structured_groups,
    structured_registrations,
)
from torchgen_lite.targets.output import OutputFile, TargetResult
from torchgen_lite.targets.python.options import OptionError

if TYPE_CHECKING:
    from torchgen_lite.analysis.program import Program
    from torchgen_lite.loader.entry import NativeFunction


def build_cpp_torch(program: Program, options: Mapping[str, object]) -> TargetResult:
    """Every file of the library, and what libtorch cannot take."""
    try:
        settings = load_options(options)
    except OptionError as error:
        return TargetResult(diagnostics=(_wrong_option(program, error),))
    declared = derive(program.functions).functions if settings.calls_only else program.functions
    functions, diagnostics = [], []
    for function in declared:
        problem = _problem(function)
        if problem:
            diagnostics.append(_left_out(function, problem))
        else:
            functions.append(function)
    if not settings.calls_only:
        own = [f for f in functions if f.namespace not in TORCH_NAMESPACES]
        diagnostics += unregistrable(own)
        diagnostics += filter_diagnostics(
            list(unreachable_kernel(own)), program.config, program.functions, program.sources
        )
    if has_errors(diagnostics):
        return TargetResult(diagnostics=tuple(diagnostics))
    layout, operators = _place(functions, settings)
    files = tuple(_files(functions, operators, layout, settings))
    if settings.calls_only:
        return TargetResult(files, tuple(diagnostics))
    helpers = frozenset(program.formulas.names() if program.formulas else ())
    autograd = build_differentiation(operators, layout, settings.formula_headers, helpers)
    return TargetResult((*files, *autograd.files), (*diagnostics, *autograd.diagnostics))


def _place(
    functions: list[NativeFunction], settings: TorchOptions
) -> tuple[Layout, tuple[Operator, ...]]:
    """Where files go, and the operators with their places."""
    options = settings.library
    namespace = options.namespace or default_namespace(functions)
    count = shard_count(functions, options.shards)
    layout = Layout(
        options.folder,
        namespace.replace("::", "/"),
        namespace,
        tuple(range(count)) if count > 1 else (None,),
    )
    return layout, build_operators(functions, count)


def _files(
    functions: list[NativeFunction],
    operators: tuple[Operator, ...],
    layout: Layout,
    settings: TorchOptions,
) -> Iterator[OutputFile]:
    options, namespace = settings.library, layout.namespace
    yield from build_calls(operators, layout)
    yield from build_methods(operators, layout)
    if settings.calls_only:
        return
    kernels = author_kernels(operators)
    groups = structured_groups(operators, namespace)
    derived, headers = from_out_registrations(operators, layout)
    yield from headers
    registrations = [
        *kernel_registrations(kernels, namespace),
        *structured_registrations(groups, layout),
        *derived,
        *backend_select(operators, namespace),
    ]
    yield from build_kernels(kernels, layout)
    yield from build_structured(groups, layout)
    yield from build_schema(operators, layout, options)
    yield from build_keys(registrations, layout, options)
    own = [f for f in functions if f.namespace not in TORCH_NAMESPACES]
    yield from fallback_files(own, options.folder, namespace)
    if options.module:
        yield module_file(layout.source("module.cpp"), options.module, namespace)


def default_namespace(functions: list[NativeFunction]) -> str:
    """The namespace of the first entry; `at` is PyTorch's, and so is everything in it."""
    first = functions[0].namespace if functions else "ops"
    return "aten_ops" if first == "aten" else first


def _problem(function: NativeFunction) -> str:
    """Why libtorch cannot take an operator of this kind; empty if it can."""
    if function.func.is_vararg or function.func.is_varret:
        return "takes or gives any number of values, which a typed call cannot"
    for place, type_ in types.refused(function):
        return f"has a type that libtorch passes to no kernel: {place} is `{type_}`"
    return ""


def _left_out(function: NativeFunction, problem: str) -> Diagnostic:
    name, span = operator_name(function), function.func.name_span or function.func.span
    return Diagnostic(
        "TG511",
        f"`{name}` {problem}",
        label=Label(span, f"left out of target `{TARGET}`") if span else None,
        severity="warning",
        operator=name,
    )


def _wrong_option(program: Program, error: OptionError) -> Diagnostic:
    near = suggest(error.option, KNOWN_OPTIONS)
    help_ = f"the options are {', '.join(KNOWN_OPTIONS)}"
    if near and near != error.option:
        help_ = f"did you mean `{near}`?"
    place = locate_option(program.config, f"target.{TARGET}", error.option)
    return Diagnostic("TG510", str(error), place, help=help_)
