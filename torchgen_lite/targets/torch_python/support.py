"""Which of the modules of `copied/torch_python` a package carries: those that its operators need, and no others."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from torchgen_lite.schema.grouped import names_of
from torchgen_lite.targets.torch_python.autograd import Autograd
from torchgen_lite.targets.torch_python.fakes import computes
from torchgen_lite.targets.torch_python.kernels import Kernel
from torchgen_lite.targets.torch_python.model import Package
from torchgen_lite.targets.torch_python.registration import Recorded, Registered

_FOLDER = Path(__file__).parents[2] / "copied" / "torch_python"
MODULES = frozenset(path.stem for path in _FOLDER.glob("*.py")) - {"__init__"}
# What registers more of an operator than its kernels and its fake, in the order in which it does.
_FEATURES = (
    ("_views", "register"),
    ("_views", "register_autograd"),
    ("_functionalize", "register"),
    ("_compiled", "register_effects"),
    ("_autocast", "register"),
    ("_triton", "register"),
    ("_random", "register"),
    ("_loops", "register"),
    ("_writes", "register"),
    ("_autograd", "register"),
    ("_underived", "register"),
)
# Those that register a kernel for Autograd, each with the rule from which it is made.
_RECORDING = {
    ("_views", "register_autograd"): "view",
    ("_autograd", "register"): "backward",
}


@dataclass(frozen=True)
class Support:
    """The modules of a package: those that `_operators.py` `names`, and all that it `carries`."""

    names: Sequence[str]
    carries: Sequence[str]
    features: Sequence[str]


def build_support(
    package: Package,
    autograd: Autograd,
    registered: Sequence[Registered],
    kernels: Sequence[Kernel],
) -> Support:
    """What is needed for these operators, what is registered for each, and their kernels."""
    needed = {"_library", *_of_package(package, autograd)}
    for kernel in kernels:
        if kernel.is_chosen:
            needed.add("_rows")
        if kernel.written:
            needed.add("_languages")
        if kernel.is_tuned:
            needed |= {"_tuned", "tune"}
    for rules in registered:
        needed.update(_of_rules(rules))
        needed.update(_of_operator(package, rules))
    carried = _with_imports({*needed, *_named_elsewhere(package)})
    features = []
    for module, function in _FEATURES:
        if module in needed:
            features.append(_feature(package, module, function))
    return Support(sorted(needed - {"tune"}), sorted(carried), features)


def _feature(package: Package, module: str, function: str) -> str:
    """What registers it: derivatives give way to those of another library that defines the operators."""
    feature = f"{module}.{function}"
    options = package.options
    rule = _RECORDING.get((module, function))
    if rule is None or options.is_defining:
        return feature
    # The module that the build writes loads the library, too.
    load = options.load or options.namespace_module
    given = f'{feature}, "{rule}"'
    if load:
        given += f', "{load}"'
    return f"_declared.unless_taken({given})"


def _with_imports(modules: Collection[str]) -> set[str]:
    """The modules, and all that they import."""
    carried: set[str] = set()
    left = [*modules]
    while left:
        module = left.pop()
        if module not in carried:
            carried.add(module)
            left += imported_by(module)
    return carried


@cache
def imported_by(module: str) -> frozenset[str]:
    """The others that a module imports, as it says itself."""
    imported = set[str]()
    for node in ast.walk(ast.parse((_FOLDER / f"{module}.py").read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            imported.update([node.module] if node.module else names_of(node.names))
    return frozenset(imported)


def _of_package(package: Package, autograd: Autograd) -> Iterator[str]:
    for module, _ in autograd.functions.values():
        yield "_named" if module else "_versions"
    if autograd.calls_zeros:
        yield "_zeros"
    if not package.options.is_defining:
        yield "_declared"
    if package.options.final:
        yield "_final"
    for operator in package.operators:
        if operator.function.torch:
            yield "_versions"
        if operator.is_torchs:
            yield "_declared"


def _named_elsewhere(package: Package) -> Iterator[str]:
    """What `__init__.py` has a function of, what tests of samples call, and what the environment may ask for."""
    if package.options.checks:
        yield "_held"
    for operator in package.own:
        if package.options.torchscript:
            yield "_scripted"
        if operator.function.checkpoint:
            yield "_checkpoint"
        if operator.function.samples is not None:
            yield "_results"


def _of_rules(rules: Registered) -> Iterator[str]:
    """What registers the rules of an operator, or what they name."""
    function = rules.operator.function
    if rules.opaque:
        yield "_opaque"
    if rules.computed:
        yield "_apart"
    if rules.is_traced_view:
        yield "_views"
    if rules.functional:
        yield "_functionalize"
    if rules.recorded is not None:
        yield from _of_recorded(rules.recorded)
    if rules.is_underived:
        yield "_underived"
    if rules.is_looped:
        yield "_loops"
    if function.effects or function.decompose or rules.has_flops:
        yield "_compiled"
    if rules.casts is not None:
        yield "_autocast"
    if any(launched for _, launched in rules.kernels):
        yield "_triton"


def _of_recorded(recorded: Recorded) -> Iterator[str]:
    yield "_autograd"
    if recorded.refuses or recorded.no_forward:
        yield "_refusals"
    if recorded.special:
        yield "_special"
    if recorded.fills_gradients:
        yield "_zeros"
    if recorded.is_transposed:
        yield "_transposed"
    if recorded.is_tried:
        yield "_linear"


def _of_operator(package: Package, registered: Registered) -> Iterator[str]:
    """What the entry of an operator asks for, beside its rules."""
    operator = registered.operator
    function = operator.function
    schema = operator.schema
    is_final = package.options.final or operator.is_torchs
    if (registered.kernels or registered.computed) and not is_final:
        yield "_results"
    rules = {"fake": registered.fake, "vmap": registered.vmap}
    if any(rules[field] and field in operator.functions for field in rules):
        yield "_named"
    if package.names_reference(operator):
        yield "_named"
    if function.is_auto and registered.recorded is not None:
        yield "_gradients"
    if operator.is_torchs:
        return
    if schema.written:
        yield "_writes"
    if schema.written or (schema.is_aliasing and operator.facts.is_composed):
        yield "_functionalize"
    if "nondeterministic_seeded" in function.tags:
        yield "_random"
    if operator.facts.axes is not None:
        yield from ("_axes", "_axes_in_torch")
        if not function.vmap:
            yield "_batches"
    if computes(package, operator):
        yield "_support"
