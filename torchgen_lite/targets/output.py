"""What a target passes to `emit`: the template and context of each file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from torchgen_lite.analysis.operators import functions_of
from torchgen_lite.analysis.policy import AUTHORS, NOTHING, Policy
from torchgen_lite.diagnostics import Diagnostic, Help, did_you_mean, has_errors
from torchgen_lite.loader.config.options import Option, Problem, options_of, read_options
from torchgen_lite.loader.config.project import Config, locate_option
from torchgen_lite.schema.grouped import grouped, names_of
from torchgen_lite.targets.options import CommonOptions

if TYPE_CHECKING:
    from torchgen_lite.analysis.finding import Witness
    from torchgen_lite.analysis.operators import Operator
    from torchgen_lite.analysis.program import Program
    from torchgen_lite.analysis.registrations import Registration
    from torchgen_lite.loader.entry.entry import DispatchEntry, NativeFunction


Context = dict[str, object]
"""What a template may use, by name."""
Named = tuple[str, str]
"""The name of a local, a member, a setting, and the text that it stands for."""
Findings = Iterator[Diagnostic]
"""What a check of a target finds."""
ByHand = tuple[Mapping[str, str], Mapping[str, Mapping[str, str]]]
"""Backend fallbacks by key, and kernels by operator and key, that no schema file names."""


class OutputFile(NamedTuple):
    """One file: its path below the output directory, its template, and the names the template may use.

    A `template` whose name does not end in `.j2` is a file of this project, which is copied as it is, except that
    macros in the context get their values.
    `is_marked` is False for the rare file whose format has no room for our header (`py.typed`, whose text a
    type checker compares); such a file is neither changed nor deleted once it differs. `is_copied`
    is True for text that others wrote, whose lines stay as they are. A file with a `text` has no template: a program
    made it, perhaps with a marker.
    """

    path: str
    template: str
    context: Mapping[str, object] = {}
    is_marked: bool = True
    is_copied: bool = False
    text: str | None = None

    @property
    def calls(self) -> bool:
        """Whether its template calls a module, whose names show what it may call."""
        for value in self.context.values():
            if isinstance(value, CalledModule) and value.known is not None:
                return True
        return False


class CalledModule(NamedTuple):
    """A module in the context of a template, which imports from it what it calls.

    Local names begin with an underscore, as no argument does. `known` are all names that the module has, or None if its source
    doesn't show them. `option` is the target's option that names it, if one does. Note [A head is made after its body].
    """

    module: str
    known: frozenset[str] | None = None
    option: str = ""


Files = Iterator[OutputFile]
"""What a part of a target makes."""


def copied(folder: str, to: str, endings: Collection[str]) -> Files:
    """Copies of the files of a folder of this project: `("runtime", "python/ops/runtime", {".py"})`."""
    here = Path(__file__).resolve().parent.parent / folder
    for name in sorted(path.name for path in here.iterdir() if path.suffix in endings):
        yield OutputFile(f"{to}/{name}", f"{folder}/{name}")


class AskedProgram(NamedTuple):
    """A program of the configuration that makes files below `folder`, and may run for some `seconds`.

    `given` is what it gets, and `found` makes diagnostics of what it finds.
    """

    name: str
    command: str
    folder: str
    seconds: int
    given: Callable[[], Mapping[str, object]]
    found: Callable[[Sequence[Mapping[str, str]]], Findings]


class TargetResult(NamedTuple):
    """The files of a target, not yet rendered, and what it found wrong. `programs` make more files where any are made.

    Mistakes are known before the first file is made, so callers that only want them make no files.
    If templates may call what a module lacks, which shows when they are rendered, the result
    `is_unsure`.
    """

    files: Iterable[OutputFile] = ()
    diagnostics: Sequence[Diagnostic] = ()
    is_unsure: bool = False
    programs: Sequence[AskedProgram] = ()


class Header(NamedTuple):
    """A C++ header as it is included: `<vector>`, or `"mine.h"` if it is quoted."""

    name: str
    is_quoted: bool = False


class TemplatePackage(NamedTuple):
    """A package with templates, whose classes they may read, and the folder of the templates."""

    name: str
    folder: Path


class Signatures(NamedTuple):
    """How an operator is called, in a language as Markdown names it."""

    language: str
    lines: Sequence[str]


class AuthorFunction(NamedTuple):
    """A function that an author writes, because entries name it.

    `uses` are what it is for (`CPU of mylib::scale`), `declaration` is everything but the body. A
    Python function has the `imports` of its annotations, as module and name, the `place` where it
    is defined (or empty) and the `files` that may define it. A C++ function has the `headers` that
    it needs, its `namespace`, empty for the global one, the header that its file includes `last`,
    and a `guard`: the condition of its entries, or empty.
    """

    name: str
    uses: Sequence[str]
    declaration: str
    imports: Sequence[tuple[str, str]] = ()
    place: str = ""
    files: tuple[str, ...] = ()
    headers: Sequence[Header] = ()
    namespace: str = ""
    last: str = ""
    guard: str = ""

    @property
    def is_cpp(self) -> bool:
        return bool(self.namespace or self.last)

    @property
    def identity(self) -> tuple[object, ...]:
        """What entries mean with a function: in C++ those of one name are told apart by their types."""
        return self.namespace, self.name, self.files, self.declaration if self.is_cpp else ""

    @property
    def language(self) -> str:
        """The language of the declaration, as Markdown names it."""
        return "cpp" if self.is_cpp else "python"


class Selection(NamedTuple):
    """The operators that a target takes under its options, and what it registers for them.

    `refused` has the reasons for operators that it cannot take. `parts` are what several targets register, one after
    the other, in the package that loads them; none for what one target registers by itself. `elsewhere` are operators,
    each with a kernel that another part registers.
    """

    operators: Sequence[Operator] = ()
    policy: Policy = NOTHING
    diagnostics: Sequence[Diagnostic] = ()
    refused: Mapping[str, str] = MappingProxyType({})
    parts: Sequence[Selection] = ()
    elsewhere: Collection[tuple[str, str]] = ()

    @property
    def functions(self) -> Sequence[NativeFunction]:
        return functions_of(self.operators)

    def registrations(self, program: Program) -> Iterator[Registration]:
        """Everything that is registered: what the target generates, and commands show."""
        from torchgen_lite.analysis.registrations import registrations, together

        if not self.parts:
            return registrations(program, self.policy, self.operators)
        names = set(names_of(self.operators))
        every = together([part.generated(program) for part in self.parts])
        return (registration for registration in every if registration.operator.name in names)

    def generated(self, program: Program) -> Iterator[Registration]:
        """The same without the kernels that another part registers."""
        for registration in self.registrations(program):
            kernels: Sequence[DispatchEntry] = ()
            if registration.kernel is not None and registration.origin in AUTHORS:
                kernels = registration.kernel.kernels
            named = {(registration.operator.name, kernel.kernel) for kernel in kernels}
            if named.isdisjoint(self.elsewhere):
                yield registration


def wrong_option(
    config: Config, target: str, option: str, message: str, help: Help | None = None
) -> Diagnostic:
    """TG510: an option of a target has a value that it cannot have, where the configuration sets it."""
    return Diagnostic(
        "TG510", message, locate_option(config, f"target.{target}", option), help=help
    )


class Target(NamedTuple):
    """An output family: its name, a description, and its parts, each as `module:name`.

    `options` is the dataclass that declares the target's options. The other parts are functions.
    `builder` maps a program and the options to files; `selector` maps them to the operators that
    the target takes, if it registers any; `author` maps them to the functions that the author
    writes. `framework` maps configuration and options to what a framework registers that no schema
    file names: backend fallbacks by key, and kernels by operator and key. `signatures` maps an
    operator and options to how it is called, and `witness` an operator, a witness and options to the
    call that it is, in one line. All are imported on demand, so that a run pays only
    for what it generates. `asks_torch`: with `--torch` it needs what the installed PyTorch
    registers. `policy` is what it registers itself by default. `is_closed`: its output runs by
    itself, so the modules of `kernels` and `formulas` have everything that the YAML names.
    `is_library`: it defines operators of PyTorch in C++; `loads_library`: its package loads such a
    library, if the project has one. `tests` is whose operators its tests call: `own`, or
    `pytorchs`. A target of another package has its templates in the folder `templates` of the
    package that `templates` names; `failure` is why it cannot be loaded.
    """

    name: str
    summary: str
    builder: str
    options: str = "torchgen_lite.targets.options:NoOptions"
    selector: str = ""
    asks_torch: bool = False
    policy: Policy = NOTHING
    is_closed: bool = False
    is_library: bool = False
    loads_library: bool = False
    tests: str = ""
    author: str = ""
    framework: str = ""
    signatures: str = ""
    witness: str = ""
    templates: str = ""
    failure: Sequence[Diagnostic] = ()

    def template_package(self) -> TemplatePackage | None:
        """The package with the templates, unless they are among ours."""
        spec = find_spec(self.templates) if self.templates else None
        if spec is None or not spec.origin:
            return None
        return TemplatePackage(self.templates, Path(spec.origin).parent / "templates")

    def _own_options(self) -> dict[str, Option]:
        return options_of(_imported(self.options))

    def declared_options(self) -> dict[str, Option]:
        """The options by the attribute of the dataclass that declares them."""
        own = self._own_options()
        return own | {a: o for a, o in options_of(CommonOptions).items() if a not in own}

    def formatter(self, config: Config) -> str:
        """The formatter of the target's files, or empty; its options have no mistakes."""
        given = {} if "format" in self._own_options() else self.given_options(config)
        return str(given.get("format", ""))

    def torch_options(self) -> dict[str, object]:
        """The options of `--torch`: the kernels are PyTorch's, and the files are many."""
        options = self.declared_options().values()
        return {option.name: option.torch for option in options if option.torch is not None}

    def given_options(self, config: Config) -> Mapping[str, object]:
        """What the configuration sets; for operators that are not the project's, only options that
        do not depend on them: those about a framework, of `--torch`, and of the command line."""
        given = config.target_options.get(self.name, {})
        if config.operators == "project":
            return given
        options = self.declared_options().values()
        kept = {o.name: given[o.name] for o in options if o.about_framework and o.name in given}
        set_ = self.torch_options() if config.operators == "torch" else {}
        return {**kept, **set_, **config.asked_options.get(self.name, {})}

    def read_options(self, config: Config) -> tuple[Any, Sequence[Diagnostic]]:
        """The options as the configuration has them, or None and what is wrong with them."""
        if self.failure:
            return None, self.failure
        given = self.given_options(config)
        declared = self.declared_options()
        values, problems = read_options(declared, given)
        names = names_of(declared.values())
        problems += [self._unknown(option, names) for option in given if option not in names]
        if problems:
            return None, [wrong_option(config, self.name, *problem) for problem in problems]
        own = self._own_options()
        return _imported(self.options)(**{a: values[a] for a in own if a in values}), ()

    def _unknown(self, option: str, names: Sequence[str]) -> Problem:
        known = "the target has no options"
        if names:
            known = f"the options are {', '.join(names)}"
        help_ = did_you_mean(option, names) or known
        return Problem(option, f"unknown option `{option}` of target `{self.name}`", help_)

    def build(self, program: Program) -> TargetResult:
        """The files of the target, none if there are errors: a pure function of the program, whose
        configuration has the options."""
        result: TargetResult = self._run(self.builder, self._whole(program), TargetResult)
        if has_errors(result.diagnostics):
            return result._replace(files=())
        return result

    def select(self, program: Program) -> Selection:
        """The operators that the target takes and what it registers; for a target with a
        `selector`."""
        selection: Selection = self._run(self.selector, program, Selection)
        return selection

    def _whole(self, program: Program) -> Program:
        """What code is generated from. Code for PyTorch has the entries for other releases, too."""
        if self.policy.in_pytorch:
            return program.by_range[""]
        return program

    def _run(self, name: str, program: Program, result: Callable[..., Any]) -> Any:
        options, wrong = self.read_options(program.config)
        if wrong:
            return result(diagnostics=wrong)
        return _imported(name)(program, options)

    def signatures_of(self, program: Program, function: NativeFunction) -> Signatures | None:
        """How an operator is called in the generated code; None if the target doesn't say."""
        options, wrong = self.read_options(program.config)
        if wrong or not self.signatures:
            return None
        signatures: Signatures = _imported(self.signatures)(function, options)
        return signatures if signatures.lines else None

    def witness_of(
        self,
        config: Config,
        operator: Operator,
        witness: Witness,
        functions: Sequence[NativeFunction],
    ) -> str:
        """The call of its function, of which `functions` are all; empty if there is none that shows the change."""
        options, wrong = self.read_options(config)
        if wrong or not self.witness:
            return ""
        line: str = _imported(self.witness)(operator, witness, options, functions)
        return line

    def author_functions(
        self, program: Program
    ) -> tuple[Sequence[AuthorFunction], Sequence[Diagnostic]]:
        """The functions that the author writes, shared ones once, and problems with options."""
        options, wrong = self.read_options(program.config)
        if wrong or not self.author:
            return (), wrong
        find: Callable[[Program, object], Iterator[AuthorFunction]] = _imported(self.author)
        functions = find(self._whole(program), options)
        same = grouped(functions, lambda function: function.identity)
        return list(map(_for_all, same.values())), ()

    def registered_by_framework(self, config: Config) -> ByHand:
        """What the target's framework registers."""
        options, wrong = self.read_options(config)
        if wrong or not self.framework:
            return {}, {}
        registered: ByHand = _imported(self.framework)(config, options)
        return registered


def _for_all(same: Sequence[AuthorFunction]) -> AuthorFunction:
    """One function with the uses of several entries, under the condition of any."""
    uses: dict[str, None] = {}
    guards: dict[str, None] = {}
    for function in same:
        uses |= dict.fromkeys(function.uses)
        guards[function.guard] = None
    guard = "" if "" in guards else " || ".join(guards)
    return same[0]._replace(uses=list(uses), guard=guard)


def _imported(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)
