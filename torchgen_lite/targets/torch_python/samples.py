"""`tests/test_<package>.py`: what `samples:` say, run through opcheck, gradcheck and torch.compile.

def muladd_0() -> Arguments:
    a = torch.randn(3, 4)
    ...
    return (a, b, s), {}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from torchgen_lite.analysis.differentiability import DifferentiabilityInfo, is_tensor_like
from torchgen_lite.dialects.python_names import identifier
from torchgen_lite.dialects.text import bracketed, docstring, quote, tuple_text
from torchgen_lite.dialects.torch_expressions import SAMPLE_WRITER, in_python
from torchgen_lite.loader.samples import Sample
from torchgen_lite.schema import SchemaKind
from torchgen_lite.targets.output import OutputFile
from torchgen_lite.targets.torch_python.fakes import is_view
from torchgen_lite.targets.torch_python.model import Operator, Package

# The keys of backends, and the devices that carry them.
_DEVICES = {"CUDA": "cuda", "XPU": "xpu", "MPS": "mps", "HPU": "hpu", "MTIA": "mtia", "XLA": "xla"}


@dataclass(frozen=True, slots=True)
class SampleView:
    """One sample: the function that makes its arguments, and the case that uses it."""

    name: str
    doc: str
    lines: tuple[str, ...]
    case: str


def build_samples(
    package: Package, differentiable: Mapping[str, DifferentiabilityInfo]
) -> list[OutputFile]:
    """The test file; none without samples."""
    views = [
        _view(operator, index, sample, differentiable.get(operator.name))
        for operator in package.own
        for index, sample in enumerate(operator.function.samples)
    ]
    if not views:
        return []
    context = {"package": package.name, "samples": views}
    return [OutputFile(package.test_path, "torch_python/test_samples.py.j2", context)]


def _view(
    operator: Operator, index: int, sample: Sample, info: DifferentiabilityInfo | None
) -> SampleView:
    name = f"{operator.flat}_{index}"
    inputs = [quote(argument) for argument in _inputs(operator, sample, info)]
    devices = [_DEVICES[key] for key in _DEVICES if key in operator.keys]
    if "PrivateUse1" in operator.keys:
        devices.append("privateuse1")
    items = [
        quote(name),
        operator.handle,
        f"sample_{name}",
        f"inputs={tuple_text(inputs, indent=8)}",
        f"devices={tuple_text([quote(d) for d in devices], indent=8)}",
    ]
    span = sample.span
    place = f"{span.source.path}:{span.line}" if span else operator.place
    return SampleView(
        f"sample_{name}",
        docstring(place),
        tuple(_body(operator, sample)),
        bracketed("Case(", items, indent=4, tail=","),
    )


def _inputs(
    operator: Operator, sample: Sample, info: DifferentiabilityInfo | None
) -> Iterator[str]:
    """The arguments that gradients are checked for, as far as the sample gives them."""
    schema = operator.schema
    given = {a.name for a in schema.positional[: len(sample.arguments)]}
    given |= {name for name, _ in sample.keywords}
    if operator.kind is not SchemaKind.functional:
        return
    # Autograd goes through views, and through what composite kernels call.
    through = is_view(operator) or "CompositeImplicitAutograd" in operator.keys
    for argument in schema.arguments:
        wanted = (
            is_tensor_like(argument.type) if through else info and argument.name in info.arguments
        )
        if wanted and argument.name in given:
            yield argument.name


def _body(operator: Operator, sample: Sample) -> Iterator[str]:
    """A local for each argument, and what `op(*args, **kwargs)` takes."""
    schema = operator.schema
    positional = [a.name for a in schema.positional]
    values = dict(zip(positional, sample.arguments)) | dict(sample.keywords)
    for name, value in values.items():
        yield from SAMPLE_WRITER.lines(_local(name), in_python(value, ()), indent=4)
    by_position: list[str] = []
    for name in positional:
        if name not in values:
            break
        by_position.append(name)
    left = [name for name in values if name not in by_position]
    arguments = tuple_text([_local(name) for name in by_position], indent=4)
    keywords = ", ".join(f"{quote(name)}: {_local(name)}" for name in left)
    yield f"return {arguments}, {{{keywords}}}"


def _local(name: str) -> str:
    return f"{identifier(name)}_" if name in ("torch", "Case") else identifier(name)
