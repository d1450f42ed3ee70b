"""What a project generates: its targets, what each of them registers, and what all that one package loads registers.

Note [Loaded together]
A library in C++ and the package in Python that loads it are two targets and one set of registrations: PyTorch has both
when somebody calls an operator. Python comes second, so a key that C++ has taken is left alone
(`copied/torch_python/_library.py`). What `table`, `why`, hover and the pages say is what the dispatcher has then, in
whichever order the configuration names the targets. Two libraries in C++ are two packages, each with the Python that
loads it; Python that defines the operators itself is a package of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from torchgen_lite.analysis.fakes.results import is_view_rule
from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.policy import PYTORCH, PYTORCH_WITH_FORMULAS, Origin, Policy
from torchgen_lite.analysis.program import Modules, Program
from torchgen_lite.analysis.registrations import AUTOGRAD, Registration
from torchgen_lite.diagnostics import Diagnostic, did_you_mean
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.python.kernel_modules import NO_FUNCTIONS, KernelIndex
from torchgen_lite.schema.grouped import names_of
from torchgen_lite.schema.kept import keeping, kept
from torchgen_lite.targets import DEFAULT_TARGETS, TARGETS
from torchgen_lite.targets.output import Selection, Target


def named_targets(config: Config) -> Sequence[str]:
    """The targets that are generated, as the configuration names them."""
    return config.targets or DEFAULT_TARGETS


def linted_targets(config: Config) -> Sequence[str]:
    """The targets that `lint` asks: those that the configuration names, or a default one with options."""
    return config.targets or [name for name in DEFAULT_TARGETS if name in config.target_options]


def policies_in_use(config: Config) -> Sequence[Policy] | None:
    """What the targets of a project register; None where nothing is configured."""
    if config.path is None and not config.targets:
        return None
    return [TARGETS[name].policy for name in named_targets(config) if name in TARGETS]


def is_configured(program: Program) -> bool:
    """Whether the operators are those of a project with a configuration.

    Of other schema files, what they declare is compared and shown as PyTorch would register it.
    """
    return program.config.operators == "project" and program.config.path is not None


@keeping
@dataclass(frozen=True, eq=False)
class Generation:
    """The targets of a program, and what is registered: by each, and by all that one package loads.

    Made once, by `generation_of`. Unknown targets are reported elsewhere.
    """

    program: Program
    names: Sequence[str]
    _selections: dict[str, Selection]

    @kept
    def targets(self) -> Sequence[Target]:
        return [TARGETS[name] for name in self.names if name in TARGETS]

    @kept
    def registering(self) -> Sequence[Target]:
        """Those that register something."""
        return [target for target in self.targets if target.selector]

    @kept
    def libraries(self) -> Sequence[Target]:
        """Those that define operators of PyTorch in C++, in one order, whatever that of the configuration."""
        given = [target for target in TARGETS.values() if target in self.targets]
        return [t for t in given if t.is_library and not self._says(t, "calls-only")]

    @kept
    def loading(self) -> Sequence[Target]:
        """Those whose package loads a library in C++, and adds to it."""
        if not self.libraries:
            return ()
        return [t for t in self.targets if t.loads_library and not self._says(t, "defines")]

    @kept
    def packages(self) -> Sequence[Selection]:
        """What is registered as one; first what tables show: for the dispatcher of the first target."""
        packages: list[Sequence[Target]] = []
        others = list(self.registering)
        for library in self.libraries:
            package = [library, *self.loading]
            packages.append(package)
            others = [target for target in others if target not in package]
        packages += [[target] for target in others]
        packages.sort(key=self._is_shown_later)
        return list(map(self._join, packages))

    @kept
    def shown(self) -> Selection:
        """What tables show if no target is named: the first package, or PyTorch's if nothing is configured."""
        if is_configured(self.program) and self.packages:
            return self.packages[0]
        return self.of_pytorch

    @kept
    def of_pytorch(self) -> Selection:
        """The same operators as PyTorch would register them, were they its own."""
        resolved = self.program.resolved
        is_torch = self.program.config.operators == "torch"
        policy = PYTORCH_WITH_FORMULAS
        if is_torch:
            policy = PYTORCH
        return Selection((*resolved.operators, *resolved.copying), policy)

    @kept
    def python_kernels(self) -> KernelIndex | None:
        """The functions in Python of a package that loads a library in C++, which has the other kernels."""
        for target in self.loading:
            kernels = self.program.module_functions(target.name, "kernels")
            if kernels is not None:
                return kernels
        return None

    @kept
    def python(self) -> Selection | None:
        """What the package in Python registers by itself, if the project has one, for all that C++ might define: what C++
        does depends on it."""
        for target in self.targets:
            if target.loads_library:
                return target.select(self.program)
        return None

    @kept
    def derived_in_python(self) -> frozenset[str]:
        """The operators whose gradients that package registers, and C++ has none: those with `derivatives: auto`, and views
        with a rule and no formulas."""
        if self.python is None:
            return frozenset()
        candidates = set[str]()
        for function in self.program.functions:
            if function.is_auto or (function.derivatives is None and is_view_rule(function)):
                candidates.add(function.name)
        derived = set[str]()
        if candidates:
            for registration in self.python.registrations(self.program):
                is_derivative = registration.origin in (Origin.formulas, Origin.traced_view)
                if is_derivative and registration.key == AUTOGRAD:
                    derived.add(registration.operator.name)
        return frozenset(candidates & derived)

    @kept
    def in_python(self) -> Mapping[tuple[str, str], None]:
        """The operators, each with a kernel, of which that package has the kernel; in the order of the files."""
        python = self.python_kernels
        if python is None:
            return {}
        pairs = dict[tuple[str, str], None]()
        for target in self.loading:
            for operator in self.select(target.name).operators:
                for entry in operator.author_kernels:
                    if python.find(entry.kernel):
                        pairs[operator.name, entry.kernel] = None
        return pairs

    @kept
    def of_backend(self) -> Policy:
        """What registers kernels of a backend: the first target that makes structured ones, in PyTorch."""
        policies = [target.policy for target in (*self.targets, *TARGETS.values())]
        return next(p for p in policies if p.in_pytorch and Origin.structured in p.makes)

    def select(self, name: str) -> Selection:
        """What a target takes and registers by itself; computed once."""
        if name not in self._selections:
            selection = TARGETS[name].select(self.program)
            if TARGETS[name] in self.loading:
                selection = self._defined(selection)
            self._selections[name] = selection
        return self._selections[name]

    def has(self, target: str, operator: Operator) -> bool:
        """Whether a target takes an operator that is declared; those that are derived from it are not asked about."""
        names = self._taken.get(target)
        return names is None or operator.is_derived or operator.name in names

    @kept
    def _taken(self) -> Mapping[str, set[str]]:
        return {t.name: set(names_of(self.select(t.name).operators)) for t in self.registering}

    def _defined(self, selection: Selection) -> Selection:
        """Without what a library cannot define: a package that loads it could not be imported."""
        refused = dict(selection.refused)
        diagnostics = [*selection.diagnostics]
        for library in self.libraries:
            left = self.select(library.name).refused
            for operator in selection.operators:
                if operator.name in left and operator.name not in refused:
                    reason = f"is left out of target `{library.name}`, which defines the operators"
                    refused[operator.name] = reason
                    diagnostics.append(left_out(operator, selection.policy.target, reason))
        taken = [operator for operator in selection.operators if operator.name not in refused]
        return selection._replace(operators=taken, refused=refused, diagnostics=diagnostics)

    def in_cpp(self, selection: Selection) -> list[Registration]:
        """What a target in C++ generates: everything but the kernels that Python has."""
        return list(selection._replace(elsewhere=self.in_python).generated(self.program))

    def python_alone(self, registered: Iterable[Registration]) -> list[str]:
        """The kernels that only Python has, and C++ for no other operator, as `registered` says."""
        alone = dict.fromkeys([kernel for _, kernel in self.in_python])
        for registration in registered:
            if registration.kernel is not None:
                for entry in registration.kernel.kernels:
                    alone.pop(entry.kernel, None)
        return list(alone)

    def has_reference(self, target: str) -> set[str]:
        """The operators whose reference is a kernel that a target registers, if the project has the target."""
        if target in names_of(self.targets):
            own = self.python if TARGETS[target].loads_library else None
            selection = own or self.select(target)
            if Origin.reference in selection.policy.makes:
                return set(names_of(selection.operators))
        return set()

    def asked(self, name: str | None) -> Selection:
        """What is shown: of the target that is named, alone, or `shown`; with a finding if there is no such target."""
        if not name:
            return self.shown
        registering = [target.name for target in TARGETS.values() if target.selector]
        if name in registering:
            return self.select(name)
        help_ = f"the targets are {', '.join(registering)}"
        diagnostic = Diagnostic("TG015", f"target `{name}` registers nothing", help=help_)
        if name not in TARGETS:
            near = did_you_mean(name, registering) or help_
            diagnostic = Diagnostic("TG008", f"unknown target `{name}`", help=near)
        return Selection(diagnostics=[diagnostic])

    def package_of(self, name: str) -> Selection:
        """All that is loaded with a target."""
        for package in self.packages:
            if name in package.policy.names:
                return package
        return self.asked(name)

    def within(self, name: str) -> Selection:
        """The operators of a target, with what all that is loaded with it registers for them."""
        selection = self.select(name)
        package = self.package_of(name)
        policy = selection.policy._replace(makes=package.policy.makes)
        return selection._replace(policy=policy, parts=package.parts)

    def _says(self, target: Target, option: str) -> bool:
        """Whether the configuration sets an option of a target."""
        return bool(target.given_options(self.program.config).get(option))

    def _is_shown_later(self, package: Sequence[Target]) -> tuple[bool, bool]:
        """Another dispatcher than that of the first target, and typed calls of what others register, come later."""
        lead = package[0]
        first = self.registering[0]
        is_other = lead.policy.in_pytorch is not first.policy.in_pytorch
        return is_other, self._says(lead, "calls-only")

    def _join(self, package: Sequence[Target]) -> Selection:
        """One selection of what several targets register, each over those before."""
        parts = [self.select(target.name) for target in package]
        if len(parts) == 1:
            return parts[0]
        parts[0] = parts[0]._replace(elsewhere=self.in_python)
        operators: dict[str, Operator] = {}
        refused: dict[str, str] = {}
        diagnostics: list[Diagnostic] = []
        makes = frozenset[Origin]()
        for part in parts:
            for operator in part.operators:
                operators.setdefault(operator.name, operator)
            refused = {**part.refused, **refused}
            diagnostics += part.diagnostics
            makes |= part.policy.makes
        loaded_with = tuple(names_of(package[1:]))
        policy = parts[0].policy._replace(makes=makes, loaded_with=loaded_with)
        return Selection(list(operators.values()), policy, diagnostics, refused, parts)


def left_out(operator: Operator, target: str, reason: str) -> Diagnostic:
    """TG511."""
    schema = operator.schema
    span = schema.name_span or schema.span
    message = f"`{schema.full_name}` {reason}"
    return finding(operator.function, "TG511", message, span, f"left out of target `{target}`")


def generation_of(program: Program, names: Sequence[str] | None = None) -> Generation:
    """What a program generates, with the targets of its configuration, or with these."""
    if names is None:
        names = named_targets(program.config)
    wanted = tuple(names)
    generation = program.memo.get(wanted)
    if generation is None:
        generation = Generation(program, wanted, {})
        program.memo[wanted] = generation
    return generation


def generation_beside(program: Program) -> Generation:
    """The same for what one target asks about others: where the configuration names none, of those with options."""
    config = program.config
    return generation_of(program, config.targets or tuple(config.target_options))


def formula_functions(modules: Modules) -> set[str]:
    """The functions that formulas may call, in the modules that options of any target name."""
    names = set[str]()
    for of_target in modules.values():
        names.update(of_target.get("formulas", NO_FUNCTIONS).names())
    return names


def compared(old: Program, new: Program) -> list[tuple[Selection, Selection]]:
    """For each target of one of two versions, what it takes in both, with all that is registered then; PyTorch's if
    there are none.

    In a version that does not have the target it registers nothing. A version without a configuration
    has the targets of the other one.
    """
    before = _generation_beside(old, new)
    after = _generation_beside(new, old)
    targets = [*before.registering, *after.registering]
    names = dict.fromkeys(names_of(targets))
    pairs = [(_within(before, name), _within(after, name)) for name in names]
    return pairs or [(before.of_pytorch, after.of_pytorch)]


def _generation_beside(program: Program, other: Program) -> Generation:
    """What a version generates, as the other one says where it has no configuration."""
    for version in (program, other):
        if is_configured(version):
            return generation_of(program, named_targets(version.config))
    return generation_of(program, ())


def _within(generation: Generation, name: str) -> Selection:
    if name in names_of(generation.registering):
        return generation.within(name)
    return Selection()
