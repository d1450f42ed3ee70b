"""The package as a whole: its operators, who defines them, and their names."""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath

from torchgen_lite.analysis.operators import Operator, functions_of
from torchgen_lite.analysis.policy import Origin
from torchgen_lite.analysis.registrations import Registration
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import Span
from torchgen_lite.languages.python import torch_library
from torchgen_lite.languages.python.names import identifier
from torchgen_lite.languages.python.signature import Parameter
from torchgen_lite.languages.text import quote
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.loader.python.kernel_modules import NO_FUNCTIONS, KernelIndex
from torchgen_lite.loader.sources import portable_path
from torchgen_lite.schema import FunctionSchema, SchemaKind
from torchgen_lite.targets.options import default_package, home_namespace
from torchgen_lite.targets.torch_python.options import TorchPythonOptions


@dataclass(frozen=True, slots=True)
class PackagedOperator:
    """One operator of the package.

    `flat` is its name in generated modules; `is_torchs` says that PyTorch has it already, `is_given` that the build gives
    its namespace. Templates read nothing of the `facts`, which are compared by identity.
    """

    function: NativeFunction
    flat: str
    is_torchs: bool
    is_given: bool
    facts: Operator = field(compare=False, repr=False)

    @property
    def name(self) -> str:
        return self.function.name

    @property
    def full_name(self) -> str:
        return full_name(self.function, self.is_given)

    @property
    def schema(self) -> FunctionSchema:
        return self.function.func

    @property
    def kind(self) -> SchemaKind:
        return self.facts.kind

    def place_of(self, field: str) -> str:
        """`ops.yaml:12`: where a field of the entry is."""
        function = self.function
        span = function.place(field) or function.place("func") or function.span
        return place_of(span) or self.name

    def named(self, role: str) -> str:
        """The operator's name in one role: `fake_muladd`, `cpu_muladd`. No role begins with another
        role and an underscore, so that names of two roles differ."""
        return f"{role.lower()}_{self.flat}"

    @property
    def functions(self) -> dict[str, str]:
        """The functions that fields of the entry name: the fake, the vmap rule, the reference."""
        fake = self.function.fake
        by_field = {
            "fake": fake.function if fake is not None else "",
            "vmap": self.function.vmap_function,
            "reference": self.function.reference_function,
        }
        return {field: name for field, name in by_field.items() if name}

    @property
    def names(self) -> dict[str, str]:
        """The parameters of generated functions by the names of the arguments."""
        return {a.name: torch_library.parameter_name(a) for a in self.schema.arguments}

    @property
    def inside(self) -> list[Parameter]:
        """The parameters of a function that PyTorch calls for the operator."""
        return torch_library.parameters(self.schema, is_called=True)

    @property
    def handle(self) -> str:
        """`torch.ops.mylib.add.Tensor`, or `getattr(torch.ops.mylib.random_, "from")`."""
        return _attribute(self.packet, self.schema.overload_name or "default")

    @property
    def packet(self) -> str:
        """All overloads of the name: `torch.ops.mylib.add`, or `_namespace.ops.add`."""
        namespace = _attribute("torch.ops", self.function.namespace)
        if self.is_given:
            namespace = "_namespace.ops"
        return _attribute(namespace, self.schema.base_name)


@dataclass(frozen=True)
class Package:
    """Everything the files of one package have in common."""

    options: TorchPythonOptions
    name: str
    operators: tuple[PackagedOperator, ...]
    modules: Mapping[str, KernelIndex]
    resolved: Resolved
    registered: Mapping[str, Mapping[Origin, Registration]]

    def registration(self, operator: PackagedOperator, origin: Origin) -> Registration | None:
        return self.registered.get(operator.name, {}).get(origin)

    @property
    def is_given(self) -> bool:
        """Whether the build gives the namespace of operators."""
        return bool(self.options.namespace_module)

    @property
    def home(self) -> str:
        return home_namespace(functions_of(self.operators))

    def full_name(self, function: NativeFunction) -> str:
        return full_name(function, self.is_given and function.namespace == self.home)

    @property
    def root(self) -> str:
        """The package's folder below the output directory."""
        return PurePosixPath(self.options.folder, *self.name.split(".")).as_posix()

    @property
    def test_path(self) -> str:
        folder = self.options.tests or PurePosixPath(self.options.folder, "tests")
        return PurePosixPath(folder, f"test_{identifier(self.name)}.py").as_posix()

    @cached_property
    def own(self) -> tuple[PackagedOperator, ...]:
        """The operators that PyTorch doesn't have."""
        return tuple(o for o in self.operators if not o.is_torchs)

    @cached_property
    def helpers(self) -> frozenset[str]:
        """The author's functions that formulas call. Where an operator has the name, they call that one."""
        names = self.modules.get("formulas", NO_FUNCTIONS).names()
        return frozenset(names) - {operator.schema.base_name for operator in self.own}

    def module_of(self, option: str, name: str) -> tuple[str, str] | None:
        """Module and function for a name of the YAML, looked up in the modules of an option."""
        defined = self.modules.get(option, NO_FUNCTIONS).find(name)
        if defined:
            return (self.imported(defined[0]), name.rpartition(".")[2])
        return None

    def imported(self, module: str) -> str:
        """A module of the author's as the package imports it: relatively if the build gives the namespace, so that each
        build has its own."""
        if not self.is_given:
            return module
        within = self.name.split(".")
        parts = module.split(".")
        common = 0
        while common < min(len(within), len(parts)) and within[common] == parts[common]:
            common += 1
        return "." * (len(within) - common + 1) + ".".join(parts[common:])

    def named_function(self, operator: PackagedOperator, field: str) -> tuple[str, str] | None:
        """Module and function that `fake`, `vmap` or `reference` of an entry name."""
        name = operator.functions.get(field)
        if name:
            return self.module_of("fakes", name)
        return None

    def named(self, operator: PackagedOperator, field: str) -> str:
        """`_named.named(_places.fake_f, "fakes", "f_fake")`: it is imported at its first call."""
        function = self.named_function(operator, field)
        if function is None:
            return ""
        before = ("info", "in_dims") if field == "vmap" else ()
        calling = torch_library.calling(operator.schema, before)
        given = [f"_places.{operator.named(field)}", *map(quote, function), calling]
        return f"_named.named({', '.join(filter(None, given))})"

    def names_reference(self, operator: PackagedOperator) -> bool:
        """Whether what is registered calls a function that the entry names as its reference."""
        function = operator.function
        is_called = self.registration(operator, Origin.reference) is not None
        is_used = bool(function.decompose) or is_called or function.is_auto
        return is_used and self.named_function(operator, "reference") is not None

    def reference(self, operator: PackagedOperator) -> str:
        """The function that the reference of the samples is."""
        samples = operator.function.samples
        assert samples is not None and samples.reference is not None
        named = self.named(operator, "reference")
        return named or torch_library.reference(operator.schema, samples.reference.text)


def full_name(function: NativeFunction, is_given: bool) -> str:
    """The name of an operator as an expression: `"mylib::add.Tensor"`, or `_namespace.named("add.Tensor")` if the build
    gives the namespace."""
    if is_given:
        return f"_namespace.named({quote(function.func.local_name)})"
    return quote(function.name)


def place_of(span: Span | None) -> str:
    if span:
        return f"{portable_path(span.source.path)}:{span.line}"
    return ""


def _attribute(of: str, name: str) -> str:
    if keyword.iskeyword(name):
        return f"getattr({of}, {quote(name)})"
    return f"{of}.{name}"


def build_package(
    resolved: Resolved,
    facts: Sequence[Operator],
    options: TorchPythonOptions,
    modules: Mapping[str, KernelIndex],
    registered: Iterable[Registration],
) -> Package:
    """Name every operator; the package's first own namespace is the home, whose names have no
    prefix."""
    functions = functions_of(facts)
    home = home_namespace(functions)
    operators = tuple(
        PackagedOperator(
            operator.function,
            identifier(operator.function.flat_name(home)),
            operator.function.is_pytorchs,
            bool(options.namespace_module) and operator.function.namespace == home,
            operator,
        )
        for operator in facts
    )
    name = options.package or default_package(functions)
    by_name: dict[str, dict[Origin, Registration]] = {}
    for registration in registered:
        by_origin = by_name.setdefault(registration.operator.name, {})
        by_origin.setdefault(registration.origin, registration)
    return Package(options, name, operators, modules, resolved, by_name)
