"""Program in, described files out."""

from __future__ import annotations

import keyword
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from torchgen_lite.analysis.fakes import disagreement, lacks_fake
from torchgen_lite.analysis.registrable import unregistrable
from torchgen_lite.diagnostics import Diagnostic, Label, did_you_mean, suggest
from torchgen_lite.loader.config import locate_option
from torchgen_lite.schema import SchemaKind
from torchgen_lite.targets.output import TargetResult
from torchgen_lite.targets.python.options import OptionError
from torchgen_lite.targets.torch_python.autograd import build_autograd, refusal
from torchgen_lite.targets.torch_python.fakes import build_fakes, is_view
from torchgen_lite.targets.torch_python.functions import build_functions
from torchgen_lite.targets.torch_python.kernels import build_kernels, check_kernels
from torchgen_lite.targets.torch_python.model import Operator, Package, build_package
from torchgen_lite.targets.torch_python.options import KNOWN_OPTIONS, load_options
from torchgen_lite.targets.torch_python.registration import build_registration
from torchgen_lite.targets.torch_python.samples import build_samples

if TYPE_CHECKING:
    from torchgen_lite.analysis.program import Program
    from torchgen_lite.loader.entry import NativeFunction


def build_torch_python(program: Program, options: Mapping[str, object]) -> TargetResult:
    """Every file of the package, and what is wrong with options, functions and rules."""
    try:
        settings = load_options(options)
    except OptionError as error:
        help_ = f"the options are {', '.join(KNOWN_OPTIONS)}"
        near = suggest(error.option, KNOWN_OPTIONS)
        if near and near != error.option:
            help_ = f"did you mean `{near}`?"
        place = locate_option(program.config, "target.torch-python", error.option)
        return TargetResult(diagnostics=(Diagnostic("TG510", str(error), place, help=help_),))
    reasons = {function.func.full_name: _inexpressible(function) for function in program.functions}
    functions = [f for f in program.functions if not reasons[f.func.full_name]]
    diagnostics = [_left_out(f, r) for f in program.functions if (r := reasons[f.func.full_name])]
    package = build_package(functions, settings, dict(program.modules))
    diagnostics += _check(package)
    fake_files, fakes = build_fakes(package)
    kernel_files, kernels = build_kernels(package)
    autograd_files, autograd = build_autograd(package)
    files = [
        *build_registration(package, kernels, fakes, autograd),
        *fake_files,
        *kernel_files,
        *autograd_files,
        build_functions(package),
        *build_samples(package, autograd),
    ]
    return TargetResult(tuple(files), tuple(diagnostics))


def _inexpressible(function: NativeFunction) -> str:
    """Why no function can stand for an operator; empty if one can."""
    if function.func.is_vararg or function.func.is_varret:
        return "takes or gives any number of values, which a function cannot"
    for argument in function.func.kwarg_only:
        if keyword.iskeyword(argument.name):
            return f"takes `{argument.name}` by name, which is a word of Python"
    return ""


def _left_out(function: NativeFunction, reason: str) -> Diagnostic:
    name, span = function.func.full_name, function.func.name_span or function.func.span
    return Diagnostic(
        "TG511",
        f"`{name}` {reason}",
        label=Label(span, "left out of target `torch-python`") if span else None,
        severity="warning",
        operator=name,
    )


def _check(package: Package) -> Iterator[Diagnostic]:
    yield from check_kernels(package)
    yield from unregistrable([operator.function for operator in package.own])
    for operator in package.own:
        yield from _check_named(package, operator)
        yield from _check_rules(package, operator)


def _check_named(package: Package, operator: Operator) -> Iterator[Diagnostic]:
    """The Python functions that `fake` and `vmap` name."""
    function = operator.function
    fake = function.fake.function if function.fake is not None else ""
    for field, name, first in (
        ("fake", fake, ()),
        ("vmap", function.vmap or "", ("info", "in_dims")),
    ):
        if not name:
            continue
        index = package.modules.get("fakes")
        if index is None or index.find(name) is None:
            hint = did_you_mean(name, index.names()) if index is not None else None
            message = f"no module of `fakes` defines `{name}`"
            hint = (
                hint or "name its module in `fakes` of `[tool.torchgen_lite.target.torch-python]`"
            )
            yield _about(operator, "TG334", message, field, "not found", hint)
            continue
        signature = index.signature(name)
        problem = signature and disagreement(signature, operator.schema, first=first)
        if problem:
            hint = f"the operator is `{operator.schema}`"
            yield _about(operator, "TG334", problem, field, "this function", hint)


def _check_rules(package: Package, operator: Operator) -> Iterator[Diagnostic]:
    function = operator.function
    if lacks_fake(function):
        message = f"`{operator.schema.full_name}` has no fake, so `torch.compile` can't trace it"
        hint = "add `fake:`, or a kernel for `Meta`"
        yield _about(operator, "TG339", message, "func", "here", hint, "warning")
    if function.derivatives is not None and package.options.autograd and not is_view(operator):
        problem = refusal(operator, None)
        if problem:
            yield _about(operator, "TG338", problem, "derivatives", "formulas here")
    if function.autocast and operator.kind is not SchemaKind.functional:
        message = f"`{operator.schema.full_name}` writes to its arguments, which can't be cast"
        yield _about(operator, "TG337", message, "autocast", "here", "leave it out")


def _about(
    operator: Operator,
    code: str,
    message: str,
    field: str,
    label: str,
    help: str | None = None,
    severity: str = "error",
) -> Diagnostic:
    spans = dict(operator.function.field_spans)
    span = spans.get(field) or spans.get("func")
    return Diagnostic(
        code,
        message,
        Label(span, label) if span else None,
        help=help,
        severity="warning" if severity == "warning" else "error",
        operator=operator.schema.full_name,
        context=spans.get("func"),
    )
