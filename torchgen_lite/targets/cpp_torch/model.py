"""The operators of a library for libtorch, and what its files have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.registrations import Registration
from torchgen_lite.languages.cpp import condition
from torchgen_lite.languages.cpp.native import sizes_of
from torchgen_lite.languages.cpp.reserved import TORCH
from torchgen_lite.languages.cpp.signature import CppSignature
from torchgen_lite.languages.cpp.torch_types import base_type
from torchgen_lite.languages.cpp.types import names_of
from torchgen_lite.loader.entry.entry import DispatchEntry, NativeFunction
from torchgen_lite.schema import FunctionSchema
from torchgen_lite.targets.cpp import conditions, model
from torchgen_lite.targets.cpp.layout import Layout, module_layout
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp_torch import types
from torchgen_lite.targets.cpp_torch.options import TorchOptions
from torchgen_lite.targets.output import Selection


def torch_layout(functions: Sequence[NativeFunction], options: TorchOptions) -> Layout:
    headers = options.headers
    classes = {base_type(n): type_._replace(headers=headers) for n, type_ in options.types.items()}
    return module_layout(functions, options)._replace(classes=classes, headers=headers)


def build_operators(facts: Sequence[Operator], layout: Layout) -> tuple[CppOperator, ...]:
    classes = layout.classes
    spelled = {name.partition("::")[0] for type_ in classes.values() for name in names_of(type_)}
    return model.build_operators(
        facts,
        layout.shards,
        lambda operator: types.signature(operator.function, classes=classes),
        conditions.condition,
        TORCH.spelled | spelled,
        layout.given,
    )


@dataclass(frozen=True)
class Library:
    """What a library has: the operators that are selected, `facts` of these and of all that registrations name, and what
    is registered. `every` operator of the facts has a typed call; those that are selected come first.
    """

    options: TorchOptions
    selection: Selection
    facts: Sequence[Operator]
    registered: Sequence[Registration]

    @cached_property
    def layout(self) -> Layout:
        return torch_layout(self.selection.functions, self.options)

    @cached_property
    def every(self) -> tuple[CppOperator, ...]:
        return build_operators(self.facts, self.layout)

    def kernel_signature(self, operator: CppOperator, entry: DispatchEntry) -> CppSignature:
        """The type of a kernel, whose name says whether it takes symbolic integers."""
        return types.signature(operator.function, sizes_of(entry), self.layout.classes)

    def asked(self, schema: FunctionSchema) -> condition.Library:
        """How the tensors of an operator are asked in conditions."""
        return condition.torch_library(self.layout.namespace, schema)

    @property
    def operators(self) -> tuple[CppOperator, ...]:
        return self.every[: len(self.selection.operators)]

    @cached_property
    def by_facts(self) -> Mapping[Operator, CppOperator]:
        return {operator.facts: operator for operator in self.every}
