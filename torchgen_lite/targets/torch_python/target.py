"""Program in, described files out."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import partial

from torchgen_lite.analysis.checks.compiled import check_effects, check_kernels_of_triton
from torchgen_lite.analysis.checks.registrable import unregistrable
from torchgen_lite.analysis.differentiability.calls import check_calls
from torchgen_lite.analysis.fakes.check import check_presence
from torchgen_lite.analysis.operators import functions_of
from torchgen_lite.analysis.policy import Origin
from torchgen_lite.analysis.program import Program
from torchgen_lite.analysis.torch_library import check_composite, check_recording
from torchgen_lite.languages.python import torch_ops
from torchgen_lite.languages.python.formula import speech
from torchgen_lite.languages.python.names import clash, is_reserved
from torchgen_lite.languages.python.reserved import (
    IN_NAMESPACES_OF_TORCH_OPS,
    IN_OPERATORS_OF_TORCH_OPS,
    IN_TORCH_OPS,
    OF_MODULES,
)
from torchgen_lite.languages.python.torch_library import MODULES
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.loader.python.kernel_modules import NO_FUNCTIONS
from torchgen_lite.targets.author import (
    begun,
    check_author,
    check_formulas,
    check_helpers,
    check_modules,
)
from torchgen_lite.targets.generation import generation_beside
from torchgen_lite.targets.given_namespace import check_given_namespace
from torchgen_lite.targets.left_out import select
from torchgen_lite.targets.options import home_namespace
from torchgen_lite.targets.output import (
    AuthorFunction,
    Files,
    Findings,
    Selection,
    TargetResult,
    wrong_option,
)
from torchgen_lite.targets.torch_python.autograd import build_autograd
from torchgen_lite.targets.torch_python.functions import build_functions
from torchgen_lite.targets.torch_python.kernels import author_functions, kernels_of
from torchgen_lite.targets.torch_python.model import Package, PackagedOperator, build_package
from torchgen_lite.targets.torch_python.options import TARGET, TorchPythonOptions
from torchgen_lite.targets.torch_python.package import build_package_files
from torchgen_lite.targets.torch_python.samples import build_samples


def build_torch_python(program: Program, options: TorchPythonOptions) -> TargetResult:
    """Every file of the package, and what is wrong with functions and rules."""
    selection = generation_beside(program).select(TARGET)
    package = _package(program, options, selection)
    diagnostics = [*selection.diagnostics, *check_modules(program, TARGET, package.name)]
    diagnostics += [*_check(package), *_check_given(program, package)]
    return TargetResult(_files(package), diagnostics)


def _files(package: Package) -> Files:
    autograd = build_autograd(package)
    yield from build_package_files(package, autograd)
    yield build_functions(package)
    yield from build_samples(package, autograd.infos)


def author_torch_python(program: Program, options: TorchPythonOptions) -> Iterator[AuthorFunction]:
    """Kernels, and the functions that `fake`, `vmap` and `reference` name."""
    package = _package(program, options, generation_beside(program).select(TARGET))
    types = {word: m for word, m in torch_ops.TYPE_MODULES.items() if m != "builtins"}
    return begun(author_functions(package), package.modules, types)


def has_autograd(program: Program, options: TorchPythonOptions) -> bool:
    """Whether formulas are registered here: as the option says, else unless another target has their functions in C++."""
    if options.autograd is not None:
        return options.autograd
    for target in generation_beside(program).targets:
        if "formula-headers" in target.given_options(program.config):
            return False
    return True


def _package(program: Program, options: TorchPythonOptions, selection: Selection) -> Package:
    modules = program.modules.get(TARGET, {})
    defines = options.is_defining and generation_beside(program).python_kernels is None
    autograd = has_autograd(program, options)
    options = replace(options, autograd=autograd, defines=defines)
    # A reference that C++ computes is registered there.
    in_cpp = set[str]()
    if not defines:
        in_cpp = generation_beside(program).has_reference("cpp-torch")
    registered = []
    for registration in selection.registrations(program):
        is_reference = registration.origin is Origin.reference
        if not (is_reference and registration.operator.name in in_cpp):
            registered.append(registration)
    return build_package(program.resolved, selection.operators, options, modules, registered)


def select_torch_python(program: Program, options: TorchPythonOptions) -> Selection:
    """The operators that have functions. `autograd = false` leaves formulas to other code."""
    without = () if has_autograd(program, options) else (Origin.formulas,)
    home = home_namespace(program.functions)
    named = [function for function in program.functions if function.name not in options.skip]
    names = frozenset(function.flat_name(home) for function in named)
    problem = partial(_inexpressible, home=home, names=names)
    return select(program, TARGET, options.skip, problem, without)


def _inexpressible(function: NativeFunction, *, home: str, names: Collection[str]) -> str:
    """Why no function can stand for an operator; empty if one can. `names` are those of all functions."""
    if function.func.is_open:
        return "takes or returns any number of values, which a function cannot"
    for argument in function.func.arguments:
        if argument.kwarg_only and is_reserved(argument.name):
            return f"takes `{argument.name}` by name, which is a keyword of Python"
        if argument.kwarg_only and argument.name in MODULES:
            return f"takes `{argument.name}` by name, which is a module in the generated code"
    base = function.func.base_name
    overload = function.func.overload_name
    is_torchs = function.namespace in IN_TORCH_OPS | OF_MODULES
    is_torchs |= base in IN_NAMESPACES_OF_TORCH_OPS | OF_MODULES
    if is_torchs or overload in IN_OPERATORS_OF_TORCH_OPS:
        return "has a name that `torch.ops` uses itself"
    if base in ("annotations", "torch") and not overload:
        return f"is called `{base}`, which the generated code uses itself"
    return clash([(function.flat_name(home), names)], function.func.arguments)


def _check(package: Package) -> Findings:
    yield from check_author(author_functions(package), package.modules)
    yield from check_formulas(functions_of(package.own))
    yield from check_helpers(functions_of(package.own), package.modules)
    yield from _check_calls(package)
    yield from unregistrable(functions_of(package.own))
    for operator in package.own:
        yield from _check_rules(package, operator)


def _check_given(program: Program, package: Package) -> Findings:
    """What does not go together with a namespace that the build gives."""
    if not package.is_given:
        return
    functions = functions_of(package.operators)
    yield from check_given_namespace(program, TARGET, "namespace-module", functions)
    options = package.options
    given = {"kernels": options.kernels, "fakes": options.fakes, "formulas": options.formulas}
    for option, modules in given.items():
        for module in modules:
            if module.partition(".")[0] != package.name.partition(".")[0]:
                message = f"module `{module}` is not in the package of `{package.name}`: all builds would share it"
                hint = "move it into the package, of which each build has a copy"
                yield wrong_option(program.config, TARGET, option, message, hint)


def _check_calls(package: Package) -> Findings:
    """What formulas call, and neither modules nor PyTorch have."""
    known = set(package.modules.get("formulas", NO_FUNCTIONS).names())
    known.update([operator.schema.base_name for operator in package.own])
    for operator in package.own:
        info = operator.facts.info
        if operator.function.is_auto or info is None:
            continue
        if package.registration(operator, Origin.formulas) is not None:
            trees = [derivative.tree for derivative in info.derivatives]
            yield from check_calls(operator.function, trees, speech(known))


def _check_rules(package: Package, operator: PackagedOperator) -> Findings:
    function = operator.function
    yield from check_presence(operator.facts)
    yield from check_effects(function)
    in_python = [kernel.key for kernel in kernels_of(package, operator)]
    yield from check_composite(function, in_python)
    yield from check_kernels_of_triton(function, in_python)
    if package.options.autograd and function.derivatives is not None:
        yield from check_recording(operator.facts)
