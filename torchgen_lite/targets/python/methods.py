"""`methods.py` and `methods.pyi`: the mixin `TensorMethods`, with Python's operators.

class TensorMethods:
    add = _packet("add", (_Candidate(_operators.add_Tensor, ...), ...))
    __add__ = add
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from torchgen_lite.dialects import python
from torchgen_lite.dialects.python_names import identifier
from torchgen_lite.dialects.python_operators import (
    OVERRIDES_OBJECT,
    PYTHON_OPERATORS,
    PythonOperator,
)
from torchgen_lite.dialects.text import bracketed
from torchgen_lite.targets.output import OutputFile
from torchgen_lite.targets.python.functions import is_function
from torchgen_lite.targets.python.model import Names, Overload
from torchgen_lite.targets.python.overloads import (
    function_value,
    group_by_base,
    in_matching_order,
    self_first,
    stub_signature,
)
from torchgen_lite.targets.python.package import (
    Package,
    module_imports,
    sharded,
    type_imports,
    used_constants,
)
from torchgen_lite.targets.python.views import assignment, shadowed_types


@dataclass(frozen=True, slots=True)
class MethodView:
    """One method: what it is bound to in `methods.py`, and its signatures in `methods.pyi`.

    Inside a class Python mangles names with two leading underscores (`_operators.__and___Tensor`), so a
    value that has one is `hoisted` out of the class.
    """

    name: str
    value: str
    signatures: tuple[str, ...]
    ignore: str = ""
    hoisted: str = ""

    @property
    def is_overloaded(self) -> bool:
        return len(self.signatures) > 1


@dataclass(frozen=True, slots=True)
class AdapterView:
    """A function that takes `self` first for a stub that doesn't: `where(condition, self, other)`."""

    name: str
    parameters: str
    returns: str
    invoke: str


@dataclass(frozen=True, slots=True)
class OperatorView:
    """`__radd__ = add`, or a `def` for operators that swap their operands."""

    dunder: str
    method: str
    function: str
    style: str

    @property
    def swapped(self) -> str:
        """The result of an operator that swaps its operands, as an expression of `self` and `other`."""
        if self.style == "reciprocal":
            return f"self.reciprocal().{self.method}(other)"
        return f"{self.function}(other, self)"


def build_methods(package: Package) -> Iterator[OutputFile]:
    """The mixin and its types."""
    methods = [o for o in package.overloads if _is_method(o)]
    adapters = [o for o in methods if not _takes_self_first(o)]
    adapted = [_adapted(o) if not _takes_self_first(o) else o for o in methods]
    groups = group_by_base(adapted)
    operators = [o for o in PYTHON_OPERATORS if _has_operator(o, groups, package)]
    functions = [o.function for o in methods]
    shadowed = shadowed_types([identifier(base) for base in groups])
    views = [_method_view(base, group, shadowed) for base, group in groups.items()]
    context: dict[str, object] = {
        "imports": module_imports(".", sharded(package, "operators")),
        "adapters": [_adapter_view(o) for o in adapters],
        "methods": views,
        "is_empty": not views,
        "hoisted": [view for view in views if view.hoisted],
        "plain_operators": [_operator_view(o) for o in operators if o.style == "method"],
        "swapped_operators": [_operator_view(o) for o in operators if o.style != "method"],
        "operator_stubs": list(_operator_stubs(operators, groups, package, shadowed)),
        "needs_functions": any(o.style == "reflected" for o in operators),
        "has_eq": any(o.dunder == "__eq__" for o in operators),
        "types": [
            line.replace("\n    ", "\n") for line in type_imports(package, functions, shadowed)
        ],
        "constants": used_constants(functions),
    }
    for suffix in ("py", "pyi"):
        yield OutputFile(f"{package.root}/methods.{suffix}", f"python/methods.{suffix}.j2", context)


def _is_method(overload: Overload) -> bool:
    has_self = any(a.name == "self" for a in overload.schema.arguments)
    return "method" in overload.function.variants and has_self and not overload.schema.out


def _takes_self_first(overload: Overload) -> bool:
    return overload.schema.arguments[0].name == "self"


def _adapted(overload: Overload) -> Overload:
    """The overload under the name of its adapter in `methods.py` itself."""
    names = overload.names
    adapter = _AdapterNames(
        f"_{names.flat}", names.namespace, names.base, names.attribute, names.shard
    )
    return overload.with_names(adapter)


class _AdapterNames(Names):
    """Names of a stub that is defined in `methods.py`, so that no module stands before it."""

    __slots__ = ()

    @property
    def stub(self) -> str:
        return self.flat


def _adapter_view(overload: Overload) -> AdapterView:
    positional = [a for a in self_first(overload.schema) if not a.kwarg_only]
    keywords = [a for a in overload.schema.arguments if a.kwarg_only]
    lines = [identifier(a.name) for a in positional]
    lines += ["*", *[identifier(a.name) for a in keywords]] if keywords else []
    return AdapterView(
        name=f"_{overload.names.flat}",
        parameters=python.signature([f"{line}: Any" if line != "*" else line for line in lines]),
        returns="Any",
        invoke=bracketed(
            f"return {overload.names.stub}(", python.forwarded(overload.schema), indent=4
        ),
    )


def _method_view(base: str, group: Sequence[Overload], shadowed: frozenset[str]) -> MethodView:
    name = identifier(base)
    value, hoisted = function_value(f"TensorMethods.{name}", group, method=True), ""
    if any(f.names.flat.startswith("__") for f in group):
        hoisted, value = f"_method_{name} = {value}", f"_method_{name}"
    return MethodView(
        name=name,
        hoisted=hoisted,
        value=_in_class(name, value),
        signatures=tuple(
            stub_signature(name, o, method=True, indent=4, shadowed=shadowed)
            for o in in_matching_order(group)
        ),
    )


def _in_class(name: str, value: str) -> str:
    """The right-hand side of `name = value` in the class: packets are laid out already."""
    if "\n" in value:
        return value.replace("\n", "\n    ")
    return assignment(name, value, indent=4)[len(name) + 3 :]


def _has_operator(
    operator: PythonOperator, groups: Mapping[str, Sequence[Overload]], package: Package
) -> bool:
    if operator.dunder in groups:
        return False
    if operator.style == "reflected":
        return any(o.names.base == operator.base for o in package.overloads if is_function(o))
    if operator.style == "reciprocal":
        return "reciprocal" in groups and operator.base in groups
    return operator.base in groups


def _operator_view(operator: PythonOperator) -> OperatorView:
    name = identifier(operator.base)
    return OperatorView(operator.dunder, name, f"_functions.{name}", operator.style)


def _operator_stubs(
    operators: Sequence[PythonOperator],
    groups: Mapping[str, Sequence[Overload]],
    package: Package,
    shadowed: frozenset[str],
) -> Iterator[MethodView]:
    """Types of the operators: the method's own overloads, or `other: Tensor | Number` when swapped."""
    for operator in operators:
        ignore = "  # type: ignore[override]" if operator.dunder in OVERRIDES_OBJECT else ""
        if operator.style != "method":
            signature = f"def {operator.dunder}(self, other: Tensor | Number) -> Tensor: ..."
            yield MethodView(operator.dunder, "", (signature,))
            continue
        group = in_matching_order(groups[operator.base])
        signatures = tuple(
            stub_signature(operator.dunder, o, method=True, indent=4, shadowed=shadowed)
            for o in group
        )
        yield MethodView(operator.dunder, "", signatures, ignore)
