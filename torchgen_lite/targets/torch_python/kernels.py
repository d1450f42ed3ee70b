"""The kernels in `_operators.py`: each imports the author's function at its first call.

def cpu_muladd(a: Tensor, b: Tensor, s: float) -> Any:
    _kernel = _library.resolve(_places.cpu_muladd, "my_kernels", "muladd_cpu")
    return _kernel(a, b, s)
"""

from __future__ import annotations

from collections.abc import Iterator

from torchgen_lite.analysis.python_calls import Passed
from torchgen_lite.diagnostics import Span
from torchgen_lite.languages.python import torch_ops
from torchgen_lite.languages.python.signature import ANY, Annotation, Parameter
from torchgen_lite.loader.entry.entry import DispatchEntry
from torchgen_lite.targets.author import Wanted, passed
from torchgen_lite.targets.torch_python.model import Package, PackagedOperator


def kernels_of(
    package: Package, operator: PackagedOperator
) -> Iterator[tuple[DispatchEntry, str, str]]:
    """The kernels of one operator that the modules of `kernels` have, each with its module and its function."""
    for entry in operator.facts.author_kernels:
        found = package.module_of("kernels", entry.kernel)
        if found is not None:
            yield entry, *found


# What a rule for vmap gets before the arguments.
_DIMS = Annotation("tuple", (ANY, Annotation("...")))
_BEFORE = (Parameter("info", ANY), Parameter("in_dims", _DIMS))


def author_functions(package: Package) -> Iterator[Wanted]:
    """The kernels, where modules have them, and the functions that `fake`, `vmap` and `reference` name.

    Where C++ defines the operators, kernels that no module has are its own.
    """
    for operator in package.operators if "kernels" in package.modules else ():
        for entry in operator.facts.author_kernels:
            if not (package.options.is_defining or package.module_of("kernels", entry.kernel)):
                continue
            yield _wanted(operator, entry.kernel, entry.key, entry.kernel_span, "kernels")
    for operator in package.own:
        samples = operator.function.samples
        for use, name in operator.functions.items():
            place = operator.function.place(use) or operator.function.place("func")
            if use == "reference" and samples is not None and samples.reference is not None:
                place = samples.reference.span
            yield _wanted(operator, name, use, place, "fakes")


def _wanted(
    operator: PackagedOperator, name: str, use: str, place: Span | None, option: str
) -> Wanted:
    is_kernel = option == "kernels"
    before = _BEFORE if use == "vmap" else ()

    def parameters() -> list[Parameter]:
        """A kernel gets every argument, so it needs no defaults."""
        taken = operator.inside
        return [*before, *([p._replace(default=None) for p in taken] if is_kernel else taken)]

    given = passed(operator.schema.arguments, has_defaults=not is_kernel)
    arguments = [*[Passed(one.name) for one in before], *given]
    returns = Annotation("tuple", (ANY, ANY)) if before else torch_ops.returns_type(operator.schema)
    code = "TG302" if is_kernel else "TG334"
    return Wanted(operator.function, name, use, place, arguments, parameters, returns, option, code)
