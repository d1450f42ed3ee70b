"""The kernels in `_operators.py`: each imports the author's function at its first call.

def cpu_muladd(a: Tensor, b: Tensor, s: float) -> Any:
    _kernel = _library.resolve(_places.cpu_muladd, "my_kernels", "muladd_cpu")
    return _kernel(a, b, s)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from torchgen_lite.analysis.python_calls import Passed
from torchgen_lite.diagnostics import Span
from torchgen_lite.languages.python import torch_ops
from torchgen_lite.languages.python.signature import ANY, Annotation, Parameter
from torchgen_lite.loader.entry import DispatchEntry
from torchgen_lite.targets.author import Wanted, passed, passed_but_defaults
from torchgen_lite.targets.torch_python.model import Package, PackagedOperator


def kernels_of(
    package: Package, operator: PackagedOperator
) -> Iterator[tuple[DispatchEntry, str, str]]:
    """The kernels of one operator that the modules of `kernels` have, each with its module and its function."""
    for entry in operator.facts.own_kernels:
        found = package.module_of("kernels", entry.kernel)
        if found is not None:
            yield entry, *found


def author_functions(package: Package) -> Iterator[Wanted]:
    """The kernels, where modules have them, and the functions that `fake`, `vmap` and `reference` name."""
    if "kernels" in package.modules:
        for operator in package.operators:
            for entry in operator.facts.own_kernels:
                place, arguments = entry.kernel_span, passed(operator.schema.arguments)
                yield _wanted(operator, entry.kernel, entry.key, place, arguments)
    for operator in package.own:
        arguments = passed_but_defaults(operator.schema.arguments)
        for use, name in operator.functions.items():
            first = [Passed("info"), Passed("in_dims")] if use == "vmap" else []
            place = _named(operator, use)
            yield _wanted(operator, name, use, place, [*first, *arguments], "fakes")


def _named(operator: PackagedOperator, field: str) -> Span | None:
    samples = operator.function.samples
    if field == "reference" and samples is not None and samples.reference is not None:
        return samples.reference.span
    return operator.function.place(field) or operator.function.place("func")


def _wanted(
    operator: PackagedOperator,
    name: str,
    use: str,
    place: Span | None,
    arguments: Sequence[Passed],
    option: str = "kernels",
) -> Wanted:
    taken = partial(_parameters, operator, use, option)
    returns = torch_ops.returns_type(operator.schema)
    if use == "vmap":
        returns = Annotation("tuple", (ANY, ANY))
    code = "TG302" if option == "kernels" else "TG334"
    return Wanted(operator.function, name, use, place, arguments, taken, returns, option, code)


def _parameters(operator: PackagedOperator, use: str, option: str) -> list[Parameter]:
    """The parameters of the author's function; a kernel gets every argument, so it needs no defaults."""
    taken = operator.inside
    if option == "kernels":
        taken = [parameter._replace(default=None) for parameter in taken]
    dims = Annotation("tuple", (ANY, Annotation("...")))
    first = [Parameter("info", ANY), Parameter("in_dims", dims)] if use == "vmap" else []
    return [*first, *taken]
