"""`tests/test_<package>.py`: the `samples:` of entries, run through PyTorch's checks of operators.

**cases(
    "muladd",
    torch.ops.torch_ops.muladd.default,
    lambda: call(torch.randn(3, 4), torch.randn(3, 4), 0.5),
    inputs=("a", "b"),
    reference=lambda a, b, s: a * b + s,
),
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from torchgen_lite.analysis.derive.layout import is_tensor_like
from torchgen_lite.analysis.differentiability.model import DifferentiabilityInfo
from torchgen_lite.analysis.fakes.results import is_view_rule
from torchgen_lite.analysis.kernels import COMPOSITE_KEYS, DEVICES
from torchgen_lite.analysis.policy import Origin
from torchgen_lite.analysis.selection.bounds import bounds_of
from torchgen_lite.analysis.selection.inputs import Dtype, Value
from torchgen_lite.formulas.language import INTEGRAL_DTYPES
from torchgen_lite.languages.python import runtime as python
from torchgen_lite.languages.python.torch_library import dictionary, reference
from torchgen_lite.languages.text import literal, quote, quoted, tuple_display
from torchgen_lite.loader.entry.entry import DispatchEntry
from torchgen_lite.loader.entry.samples import Reference, Samples
from torchgen_lite.schema import SchemaKind
from torchgen_lite.targets.output import Named, OutputFile
from torchgen_lite.targets.torch_python.kernels import Row, kernels_of
from torchgen_lite.targets.torch_python.model import Package, PackagedOperator

# Operators that wait for the device, or give other numbers each time, are not compared with what a CUDA graph keeps.
_UNCAPTURED = frozenset(
    {
        "cudagraph_unsafe",
        "data_dependent_output",
        "dynamic_output_shape",
        "nondeterministic_seeded",
    }
)
# The dtype that an autocast rule casts to in the generated test, where autocast uses bfloat16.
_AUTOCAST = {"float32": "torch.float32", "lower_precision": "torch.bfloat16"}


def build_samples(
    package: Package, differentiable: Mapping[str, DifferentiabilityInfo]
) -> list[OutputFile]:
    """The test file; none without samples."""
    views = []
    words = set[str]()
    has_gradients = False
    for operator in package.own:
        samples = operator.function.samples
        if samples is not None and samples.calls:
            info = differentiable.get(operator.name)
            settings = dict(_settings(package, operator, samples, info))
            views.append((operator, settings))
            words |= settings.keys()
            has_gradients |= "inputs" in settings and settings.get("gradcheck") != "None"
    if not views:
        return []
    context = {
        "package": package.name,
        "is_given": package.is_given,
        "operators": views,
        "said": words,
        "imports_references": any("reference" in o.functions for o in package.own),
        "has_gradients": has_gradients,
    }
    return [OutputFile(package.test_path, "torch_python/test_samples.py.j2", context)]


def _settings(
    package: Package,
    operator: PackagedOperator,
    samples: Samples,
    info: DifferentiabilityInfo | None,
) -> Iterator[Named]:
    """The keyword arguments of an operator's `cases` that differ from the defaults."""
    inputs = list(_inputs(operator, info))
    devices = [device for key, device in DEVICES.items() if key in operator.facts.keys]
    if inputs:
        yield "inputs", quoted(inputs)
    if samples.gradcheck != ():
        yield "gradcheck", dictionary(samples.gradcheck) if samples.gradcheck else "None"
    if devices:
        yield "devices", quoted(devices)
    if "CUDA" in operator.facts.keys and _UNCAPTURED.isdisjoint(operator.function.tags):
        yield "captured", "True"
    if samples.dtypes:
        yield "dtypes", tuple_display([f"torch.{dtype}" for dtype in samples.dtypes])
    if samples.tolerances:
        yield "tolerances", dictionary(samples.tolerances)
    if samples.reference is not None:
        yield "reference", _reference(package, operator, samples.reference)
        if operator.function.decompose:
            yield "decomposes", "True"
    if operator.function.vmap or package.registration(operator, Origin.axes):
        yield "vmap", "True"
    if operator.facts.axes is not None:
        yield "axes", f"_operators.{operator.named('axes')}"
    if _takes_integers(operator, samples):
        yield "integers", "True"
    yield from _bounds(package, operator)
    autocast = operator.function.autocast
    if autocast:
        yield "autocast", _AUTOCAST[autocast.dtype]
        if autocast.result:
            yield "casts_back", "True"
        if autocast.only:
            yield "casts_only", quoted(autocast.only)


def _bounds(package: Package, operator: PackagedOperator) -> Iterator[Named]:
    """What conditions of kernels ask for, with values on both sides of each bound, and the kernels of Python by device."""
    entries = dict(_chosen_by_device(operator))
    if not entries:
        return
    rows = chain.from_iterable([entry.rows for entry in entries.values()])
    conditions = [row.when for row in rows if row.when is not None]
    bounds = bounds_of(conditions, operator.schema, operator.function.dtypes)
    items = []
    for fact, values in bounds.items():
        what = tuple_display([quote(fact.argument), quote(fact.kind), str(fact.at)])
        items.append(f"{what}: {tuple_display(list(map(_tried, values)))}")
    yield "bounds", f"{{{', '.join(items)}}}"
    yield "chosen_on", quoted(entries)
    kernels = {kernel.key: kernel for kernel in kernels_of(package, operator)}
    shown = []
    rests = []
    for device, entry in entries.items():
        kernel = kernels.get(entry.key)
        if kernel is not None:
            shown.append(f"{quote(device)}: {tuple_display(list(map(_row, kernel.rows)))}")
            if not kernel.rows[-1].condition:
                rests.append(device)
    if not shown:
        return
    yield "rows", f"{{{', '.join(shown)}}}"
    yield "rests", quoted(rests)
    if any(kernel.is_tuned for kernel in kernels.values()):
        yield "tuned", "True"


def _chosen_by_device(operator: PackagedOperator) -> Iterator[tuple[str, DispatchEntry]]:
    """The kernels of each device among which conditions choose; composed ones are tested where the CPU has no other."""
    by_key = {entry.key: entry for entry in operator.facts.own_kernels}
    of_cpu = [by_key[key] for key in ("CPU", *sorted(COMPOSITE_KEYS)) if key in by_key]
    if of_cpu and of_cpu[0].rows:
        yield "cpu", of_cpu[0]
    for key, device in DEVICES.items():
        if key in by_key and by_key[key].rows:
            yield device, by_key[key]


def _row(row: Row) -> str:
    tuned = f"_operators.tuned_{row.place}" if row.options else "None"
    return tuple_display([f"_places.{row.place}", quote(row.module), quote(row.function), tuned])


def _tried(value: Value) -> str:
    if isinstance(value, Dtype):
        return f"torch.{value}"
    return literal(value)


def _takes_integers(operator: PackagedOperator, samples: Samples) -> bool:
    """Whether tests give it integers: the entry has dtypes with one, or says nothing of dtypes and leaves them to axes."""
    dtypes = operator.function.dtypes or samples.dtypes
    if dtypes:
        return not INTEGRAL_DTYPES.isdisjoint(dtypes)
    return operator.facts.axes is not None


def _reference(package: Package, operator: PackagedOperator, given: Reference) -> str:
    """The expression, or a call of the function that is named."""
    function = package.named_function(operator, "reference")
    if function is None:
        return reference(operator.schema, given.text)
    arguments = ", ".join(python.forwarded(operator.schema))
    module = quote(function[0])
    if package.is_given:
        module = f"{module}, {quote(package.name)}"
    call = f"importlib.import_module({module}).{function[1]}({arguments})"
    return reference(operator.schema, call)


def _inputs(operator: PackagedOperator, info: DifferentiabilityInfo | None) -> Iterator[str]:
    """The arguments that gradients are checked for, where a sample gives them."""
    is_functional = operator.kind is SchemaKind.functional
    if not (is_functional or operator.kind is SchemaKind.mutable):
        return
    # Autograd records views, and the operators that composite kernels call.
    through = is_functional and (is_view_rule(operator.function) or operator.facts.is_composed)
    for argument in operator.schema.arguments:
        if through and is_tensor_like(argument.type) or info and argument.name in info.arguments:
            yield argument.name
