"""The package's files, except those with a builder of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from torchgen_lite.analysis.axes import is_pointwise
from torchgen_lite.languages.python import torch_library
from torchgen_lite.languages.python.formula import write
from torchgen_lite.languages.python.names import BUILTIN_TYPES
from torchgen_lite.languages.python.reserved import IN_PACKAGES
from torchgen_lite.languages.python.torch_expressions import in_rule
from torchgen_lite.loader.entry.axes import Axed
from torchgen_lite.targets.output import Files, Named, OutputFile
from torchgen_lite.targets.torch_python.autograd import Autograd
from torchgen_lite.targets.torch_python.fakes import fakes_of
from torchgen_lite.targets.torch_python.kernels import Kernel, kernels_of, places_of
from torchgen_lite.targets.torch_python.model import Package, place_of
from torchgen_lite.targets.torch_python.registration import build_registrations
from torchgen_lite.targets.torch_python.support import MODULES, build_support

# What the `__init__` of a package exports no function for.
_HIDDEN = BUILTIN_TYPES.union(IN_PACKAGES, [name for name in MODULES if name.startswith("_")])


def build_package_files(package: Package, autograd: Autograd) -> Files:
    """`_operators.py`, `_places.py`, `__init__.py`, and the files that every package carries."""
    kernels = list(chain.from_iterable(kernels_of(package, o) for o in package.operators))
    fakes = list(fakes_of(package))
    defined = [kernel.operator for kernel in kernels]
    defined += [operator for operator, _, _, _ in fakes]
    axes = []
    flops = []
    for operator in package.own:
        line = operator.facts.axes
        if line is not None:
            axes.append(
                (
                    operator,
                    _axes_by_name(line.tensors),
                    _axes_by_name(line.results),
                    is_pointwise(operator.facts, line),
                    [tensor.name for tensor in line.tensors if tensor.is_added],
                )
            )
        if operator.function.flops is not None:
            flops.append((operator, write(in_rule(operator.function.flops, operator.names))))
            defined.append(operator)
    operators = build_registrations(package, autograd)
    support = build_support(package, autograd, operators, kernels)
    context = {
        "name": package.name,
        "is_given": package.is_given,
        "library": package.options.library,
        "is_defining": package.options.is_defining,
        "load": package.options.load,
        "modules": support.names,
        "features": support.features,
        "carries_checks": package.options.checks,
        "imports": torch_library.type_imports(
            [o.schema for o in defined], ["Any"] if kernels or autograd.operators else []
        ),
        "kernels": list(map(tuple, kernels)),
        "fakes": fakes,
        "derivatives": autograd.operators,
        "calculates": autograd.calculates,
        "functions": {name: module for name, (module, _) in autograd.functions.items()},
        "axes": axes,
        "flops": flops,
        "operators": operators,
    }
    root = package.root
    yield OutputFile(f"{root}/_operators.py", "torch_python/operators.py.j2", context)
    if package.is_given:
        given = {"module": package.options.namespace_module, "namespace": package.home}
        yield OutputFile(f"{root}/_namespace.py", "torch_python/namespace.py.j2", given)
    places = {"places": dict(_places(package, autograd))}
    yield OutputFile(f"{root}/_places.py", "torch_python/places.py.j2", places)
    for module in support.carries:
        yield OutputFile(f"{root}/{module}.py", f"copied/torch_python/{module}.py")
    if autograd.calculates:
        yield OutputFile(f"{root}/_arithmetic.py", "runtime/arithmetic.py")
    hidden = _HIDDEN.union(support.carries)
    names = sorted(o.flat for o in package.own if o.flat not in hidden)
    has_policies = any(o.function.checkpoint for o in package.own)
    exported = {"names": names, "has_policies": has_policies}
    yield OutputFile(f"{root}/__init__.py", "torch_python/package.py.j2", exported)
    yield OutputFile(f"{root}/py.typed", "python/py.typed.j2")


def _axes_by_name(tensors: Sequence[Axed]) -> dict[str, list[str]]:
    return {tensor.name: list(map(str, tensor.axes)) for tensor in tensors}


def _places_of_kernel(kernel: Kernel, default: str) -> Iterator[Named]:
    """Messages about kernels among which one is chosen say for what they are."""
    of = f": {kernel.operator.name} for {kernel.key}" if kernel.is_chosen else ""
    for name, span in places_of(kernel).items():
        yield name, f"{place_of(span) or default}{of}"


def _places(package: Package, autograd: Autograd) -> Iterator[Named]:
    """The places in the YAML of operators, kernels, and functions that rules and formulas name, for errors:
    `cpu_muladd = "ops.yaml:14"`. No other file contains line numbers."""
    for operator in package.operators:
        place = operator.place_of("func")
        yield operator.named("func"), place
        for kernel in kernels_of(package, operator):
            yield from _places_of_kernel(kernel, place)
        for field in ("fake", "vmap"):
            if package.named_function(operator, field) is not None:
                yield operator.named(field), operator.place_of(field)
        if package.names_reference(operator):
            yield operator.named("reference"), operator.place_of("samples")
    for name, (_, first_use) in autograd.functions.items():
        yield f"formula_{name}", first_use
