"""`_places.py`: where the YAML defines what the package has. No other file contains its line
numbers.

muladd__func = "ops.yaml:12"
muladd__CPU = "ops.yaml:14"
"""

from __future__ import annotations

from collections.abc import Iterator

from torchgen_lite.dialects.text import quote
from torchgen_lite.targets.output import OutputFile
from torchgen_lite.targets.torch_python.autograd import Autograd
from torchgen_lite.targets.torch_python.kernels import kernels_of
from torchgen_lite.targets.torch_python.model import Named, Package


def build_places(package: Package, autograd: Autograd) -> OutputFile:
    """The places that errors name: of operators, kernels, and functions that rules and formulas name."""
    formulas = [Named(f"{f.name}__formula", quote(f.place)) for f in autograd.functions]
    context = {"places": [*_places(package), *formulas]}
    return OutputFile(f"{package.root}/_places.py", "torch_python/places.py.j2", context)


def _places(package: Package) -> Iterator[Named]:
    for operator in package.operators:
        yield Named(operator.named("func"), quote(operator.place))
        for kernel in kernels_of(package, operator):
            yield Named(kernel.name, quote(kernel.place))
        for field in ("fake", "vmap"):
            if package.named_function(operator, field) is not None:
                yield Named(operator.named(field), quote(operator.place_of(field)))
