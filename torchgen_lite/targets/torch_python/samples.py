"""`tests/test_<package>.py`: what `samples:` say, run through opcheck, gradcheck and torch.compile.

Samples(
    "muladd",
    torch.ops.torch_ops.muladd.default,
    [
        lambda: call(torch.randn(3, 4), torch.randn(3, 4), 0.5),
    ],
    inputs=("a", "b"),
),
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from torchgen_lite.analysis.derive.layout import is_tensor_like
from torchgen_lite.analysis.differentiability.model import DifferentiabilityInfo
from torchgen_lite.analysis.fakes.results import is_view_rule
from torchgen_lite.dialects.python_formula import write
from torchgen_lite.dialects.python_names import identifier
from torchgen_lite.dialects.text import quote, tuple_display
from torchgen_lite.dialects.torch_expressions import in_sample
from torchgen_lite.loader.samples import Sample
from torchgen_lite.schema import SchemaKind
from torchgen_lite.targets.output import OutputFile
from torchgen_lite.targets.torch_python.model import Operator, Package

# The keys of backends, and the devices that carry them.
_DEVICES = {
    "CUDA": "cuda",
    "XPU": "xpu",
    "MPS": "mps",
    "HPU": "hpu",
    "MTIA": "mtia",
    "XLA": "xla",
    "PrivateUse1": "privateuse1",
}


@dataclass(frozen=True, slots=True)
class SamplesView:
    """The samples of one operator, each as the arguments of a call; `inputs` and `devices` are tuples."""

    name: str
    handle: str
    calls: tuple[str, ...]
    inputs: str
    devices: str


def build_samples(
    package: Package, differentiable: Mapping[str, DifferentiabilityInfo]
) -> list[OutputFile]:
    """The test file; none without samples."""
    views = [
        _view(operator, differentiable.get(operator.name))
        for operator in package.own
        if operator.function.samples
    ]
    if not views:
        return []
    context = {"package": package.name, "operators": views}
    return [OutputFile(package.test_path, "torch_python/test_samples.py.j2", context)]


def _view(operator: Operator, info: DifferentiabilityInfo | None) -> SamplesView:
    keys = {kernel.key for kernel in operator.facts.own_kernels}
    return SamplesView(
        operator.flat,
        operator.handle,
        tuple(_call(operator, sample) for sample in operator.function.samples),
        tuple_display([quote(name) for name in _inputs(operator, info)]),
        tuple_display([quote(_DEVICES[key]) for key in _DEVICES if key in keys]),
    )


def _inputs(operator: Operator, info: DifferentiabilityInfo | None) -> Iterator[str]:
    """The arguments that gradients are checked for, where a sample gives them."""
    if operator.kind is not SchemaKind.functional:
        return
    # Autograd goes through views, and through what composite kernels call.
    through = is_view_rule(operator.function) or operator.facts.is_composed
    for argument in operator.schema.arguments:
        if through and is_tensor_like(argument.type) or info and argument.name in info.arguments:
            yield argument.name


def _call(operator: Operator, sample: Sample) -> str:
    """The arguments of a call: by position as far as there are values, and then by name."""
    positional = [a.name for a in operator.schema.positional]
    values = dict(zip(positional, sample.arguments)) | dict(sample.keywords)
    items: list[str] = []
    for name in positional:
        if name not in values:
            break
        items.append(write(in_sample(values.pop(name))))
    for name, value in values.items():
        items.append(f"{identifier(name)}={write(in_sample(value))}")
    return ", ".join(items)
