"""The two steps behind every command: `load(...) -> Program`, `generate(program) -> {path: text}`.

Generate, check, diff and watch all call these two functions. `load` reads files and never raises
because of their contents; `generate` reads nothing but templates and writes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from torchgen_lite.analysis.native import NO_NATIVE, NativeOperators, load_native, read_native
from torchgen_lite.analysis.program import Modules, Program, build_program
from torchgen_lite.analysis.resolve import Resolved, derive_functions, lacking_functional
from torchgen_lite.diagnostics import (
    Diagnostic,
    Diagnostics,
    Source,
    did_you_mean,
    has_errors,
    placed_at,
    sort_diagnostics,
)
from torchgen_lite.loader.config.project import (
    DEFAULT_SCHEMA,
    Config,
    check_required_version,
    load_config,
    locate_option,
    locate_value,
)
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.loader.entry.known_tags import KNOWN_TAGS
from torchgen_lite.loader.entry.reader import Dialect
from torchgen_lite.loader.formats.native_functions import (
    Loaded,
    load_native_functions,
    load_schema_sources,
)
from torchgen_lite.loader.python.kernel_modules import (
    NO_FUNCTIONS,
    KernelIndex,
    index_kernel_modules,
)
from torchgen_lite.loader.sources import portable_path
from torchgen_lite.loader.torch.files import find_torch_files, load_installed_torch, read_tags
from torchgen_lite.loader.torch.releases import INSTALLED
from torchgen_lite.schema.grouped import without_none
from torchgen_lite.targets import TARGETS
from torchgen_lite.targets.generation import (
    formula_functions,
    generation_of,
    linted_targets,
    named_targets,
    policies_in_use,
)
from torchgen_lite.targets.output import OutputFile, TargetResult, TemplatePackage
from torchgen_lite.version import __version__

if TYPE_CHECKING:
    from torchgen_lite.analysis.differentiability.calls import Speech
    from torchgen_lite.emit.render import Rendered


EntryReading = Callable[..., Loaded]
"""`load_native_functions` for one project: it takes sources, and `earlier` entries."""


class GenerateError(ValueError):
    """Something is wrong with the input; `diagnostics` says what."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        from torchgen_lite.diagnostics import render_concise

        super().__init__(render_concise(diagnostics).rstrip())
        self.diagnostics = diagnostics


class Generated(NamedTuple):
    """The texts of a run, and everything found on the way. With errors there are no files."""

    files: Mapping[str, str]
    target_of: Mapping[str, str]
    diagnostics: tuple[Diagnostic, ...]


def load(
    schema: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    *,
    config: Config | str | os.PathLike[str] | None = None,
    torch: bool = False,
    root: str | os.PathLike[str] | None = None,
    texts: Mapping[Path, str] = {},
) -> Program:
    """Read configuration and schema files, and check them.

    `schema` replaces the configured files. `config` is a configuration or the path of one; the
    default is the one that governs `root`, by default the current directory. `torch` reads the
    files of the installed PyTorch. `texts` replace schema files and modules, by resolved path. Every
    mistake is in `.diagnostics` of the result; none is raised.
    """
    start = Path(root) if root is not None else Path.cwd()
    diagnostics: list[Diagnostic] = []
    if isinstance(config, Config):
        settings = config
    else:
        settings, problems = load_config(start, Path(config) if config is not None else None)
        diagnostics += problems
    diagnostics += check_required_version(settings, __version__)
    paths = [settings.root / path for path in settings.schema]
    if schema is None and not torch:
        diagnostics += _no_schema(settings, paths)
    if schema is not None:
        given = [schema] if isinstance(schema, (str, os.PathLike)) else schema
        configured = {os.path.realpath(path) for path in paths}
        paths = [start / path for path in given]
        # Kernels and names belong to the configured schema: for other files they mean nothing,
        # unless they are given on the command line too.
        if configured.isdisjoint(map(os.path.realpath, paths)):
            settings = replace(settings, operators="others", namespace="")
    tags: dict[str, str] | None = None
    if torch and schema is not None:
        settings = replace(settings, native=INSTALLED)
    elif torch:
        settings, paths, tags = _with_torch(settings, paths, diagnostics)
    native = load_native(settings)
    diagnostics += native.diagnostics
    if has_errors(diagnostics):
        return Program(Resolved(()), settings, sort_diagnostics(diagnostics))
    named = {settings.root / name: name for name in settings.schema}
    places = {path: locate_value(settings, "", "schema", name) for path, name in named.items()}
    sources, problems = load_schema_sources(paths, settings.root, places, texts)
    diagnostics += [*_unknown_targets(settings), *problems]
    return read_program(settings, sources, native, diagnostics, tags, texts=texts)


def lint(program: Program) -> Program:
    """The program, with what the lint rules find under the policies of its targets."""
    # Imported here: most runs do not lint.
    from torchgen_lite.analysis.lint import lint_program

    tested = {target.tests for target in generation_of(program).targets}
    return lint_program(program, policies_in_use(program.config), tested)


def ask_torch(program: Program) -> Program:
    """The program, with every operator that the installed PyTorch registers, and its stub files."""
    if program.has_errors:
        return program
    installed, problems = load_installed_torch()
    return replace(program.with_findings(problems), installed=installed)


def _unknown_targets(config: Config) -> Iterator[Diagnostic]:
    """TG008 for each name in `targets` that is none: what the project has registered would be taken for nothing."""
    for name in config.targets:
        if name not in TARGETS:
            yield replace(unknown_target(name), label=locate_value(config, "", "targets", name))


def _no_schema(config: Config, paths: Sequence[Path]) -> Iterator[Diagnostic]:
    """TG007 if the default file is missing: the project is not set up, or the folder is wrong."""
    if config.schema != (DEFAULT_SCHEMA,) or paths[0].exists():
        return
    start = "" if config.path is not None else "; `torchgen-lite init` starts a project"
    there = [path.name for path in config.root.glob("[!.]*.yaml")]
    name = there[0] if len(there) == 1 else "ops.yaml"
    setting = f'write `schema = ["{name}"]` in the configuration, or give `--schema {name}`'
    if config.members:
        setting = "this is a workspace: run it in a member, or name the member's configuration with `--config`"
    yield Diagnostic("TG007", f"there is no `{DEFAULT_SCHEMA}` here", help=setting + start)


def _with_torch(
    config: Config, paths: list[Path], diagnostics: list[Diagnostic]
) -> tuple[Config, list[Path], dict[str, str] | None]:
    """The files of `--torch` if no others are named, and the tags that PyTorch knows."""
    config = replace(config, operators="torch")
    files, problems = find_torch_files()
    diagnostics += problems
    if files is None:
        return config, paths, None
    tags, problems = read_tags(files)
    diagnostics += problems
    # PyTorch's own file belongs to the release that it comes from, and needs no other operators.
    return replace(config, namespace="", torch="", native=""), [files.native_functions], tags


def read_program(
    config: Config,
    sources: Sequence[Source],
    native: NativeOperators,
    diagnostics: Sequence[Diagnostic] = (),
    torch_tags: dict[str, str] | None = None,
    modules: Modules | None = None,
    texts: Mapping[Path, str] = {},
) -> Program:
    """The program of schema files that have been read, with `diagnostics` and what is found in them.

    `torch_tags` are those of PyTorch's own file, or None for an author's. `modules` are the functions
    of modules that options name; None reads them, or takes them from `texts`.
    """
    tags = torch_tags
    if tags is None:
        tags = _tags_of(config, native)
    functions, problems = _entry_reader(config, native, tags)(sources)
    if not native.is_found and torch_tags is None:
        native = _native_of_entries(config, functions)
    unread: list[Diagnostic] = []
    if modules is None:
        modules, unread = index_modules(config, texts)
    # A function may be in a module that cannot be read, so it isn't reported as missing.
    closed = {} if unread else _closed_modules(modules)
    return build_program(
        functions,
        config,
        diagnostics=[*diagnostics, *problems, *unread],
        tags=tags,
        sources=sources,
        formulas=closed.get("formulas"),
        speech=_speech(config, functions, modules, unread),
        modules=modules,
        native=native,
    )


def entry_reader(config: Config) -> tuple[EntryReading, Diagnostics]:
    """How the entries of a project's schema files are read, file by file, and what is wrong with the operators of
    PyTorch to which they may refer."""
    native = load_native(config)
    return _entry_reader(config, native, _tags_of(config, native)), native.diagnostics


def each_after_others(
    read: EntryReading, sources: Iterable[Source]
) -> Iterator[tuple[Source, EntryReading]]:
    """The files of a project, each with how it is read: after the entries of those before, to which it may refer."""
    earlier: tuple[NativeFunction, ...] = ()
    for source in sources:
        after_others = partial(read, earlier=earlier)
        yield source, after_others
        earlier, _ = after_others([source])


def _entry_reader(config: Config, native: NativeOperators, tags: Mapping[str, str]) -> EntryReading:
    dialect = Dialect(
        tags,
        config.extra_fields,
        config.namespace,
        config.privateuse1,
        native.release_for(config),
        native.autocast,
        config.opaque,
    )
    derive = partial(derive_functions, vocabulary=tags)
    return partial(load_native_functions, dialect=dialect, derive=derive, native=native.functions)


def _tags_of(config: Config, native: NativeOperators) -> dict[str, str]:
    """The tags that an author's entries may have."""
    return {**(native.tags or KNOWN_TAGS), **dict.fromkeys(config.tags, "")}


def _speech(
    config: Config, functions: Sequence[NativeFunction], modules: Modules, unread: Sequence[object]
) -> Speech | None:
    """What formulas may call in a project whose tensors are PyTorch's; None in any other, where a framework decides."""
    in_pytorch = {policy.in_pytorch for policy in policies_in_use(config) or () if policy.target}
    has_formulas = any(function.derivatives is not None for function in functions)
    if config.operators != "project" or not has_formulas or in_pytorch != {True}:
        return None
    # Imported here: PyTorch's own entries have no formulas.
    from torchgen_lite.analysis.differentiability.calls import anywhere

    may_have = bool(unread)
    for name in filter(TARGETS.__contains__, config.target_options):
        may_have |= "formula-headers" in TARGETS[name].given_options(config)
    return anywhere(formula_functions(modules), may_have=may_have)


def _native_of_entries(config: Config, functions: Sequence[NativeFunction]) -> NativeOperators:
    """The installed PyTorch's operators that these entries refer to, if they target its dispatcher.

    A lone structured out variant needs the name of its functional variant on any target. PyTorch's
    file is read only if needed, and the result is empty if it isn't installed. `is_found` says
    whether the entries must agree with it.
    """
    names = lacking_functional(functions)
    in_pytorch = any(policy.in_pytorch for policy in policies_in_use(config) or ())
    if in_pytorch:
        names |= {f.func.local_name for f in functions if f.namespace == "aten"}
    native = read_native(INSTALLED, config.root, names) if names else NO_NATIVE
    return replace(native, is_found=native.is_found and in_pytorch)


def index_modules(
    config: Config, texts: Mapping[Path, str] = {}
) -> tuple[dict[str, dict[str, KernelIndex]], list[Diagnostic]]:
    """The functions of modules that options name, by target and option.

    Modules that can't be read give diagnostics. `texts`, by resolved path, replace what is on disk.
    """
    indexes: dict[str, dict[str, KernelIndex]] = {}
    diagnostics: list[Diagnostic] = []
    for name in filter(TARGETS.__contains__, config.target_options):
        given = TARGETS[name].given_options(config)
        for option in TARGETS[name].declared_options().values():
            modules = given.get(option.name)
            modules = [modules] if isinstance(modules, str) else modules
            if option.names_modules and modules and isinstance(modules, (list, tuple)):
                names = list(dict.fromkeys(map(str, modules)))
                locate = partial(locate_value, config, f"target.{name}", option.name)
                index, problems = index_kernel_modules(
                    names, config.root, config.source_roots, locate, texts
                )
                place = locate_option(config, f"target.{name}", option.name)
                diagnostics += placed_at(problems, place)
                indexes.setdefault(name, {})[option.name] = index
    return indexes, diagnostics


def _closed_modules(modules: Modules) -> Mapping[str, KernelIndex]:
    """The modules of a target with standalone output, which define everything that entries name."""
    closed = next((modules[name] for name in modules if TARGETS[name].is_closed), {})
    return {"formulas": NO_FUNCTIONS, **closed} if "kernels" in closed else closed


def generate(program: Program, *, targets: Sequence[str] = ()) -> dict[str, str]:
    """The text of every output, by its path below the output directory.

    `targets` limits the run to some targets; the default is what the configuration names. Raises
    GenerateError if the program or the target's options have errors.
    """
    generated = generate_all(program, targets=targets)
    if has_errors(generated.diagnostics):
        raise GenerateError(generated.diagnostics)
    return dict(generated.files)


def generate_all(
    program: Program,
    *,
    targets: Sequence[str] = (),
    rendered: Rendered | None = None,
    progress: Progress = iter,
    home: Path | None = None,
) -> Generated:
    """As `generate`, but errors are values: nothing is rendered if there are any.

    Callers that generate several times in one process pass the same `rendered` each time. `progress` passes
    the files on to where they are rendered. Programs that make files run in `home`, by default the project's folder.
    """
    built, diagnostics = _build(program, targets)
    if not has_errors(diagnostics):
        place = home or program.config.root
        for index, of_target in enumerate(built):
            built[index] = _with_programs(program, of_target, place, diagnostics)
    files, target_of = _tell_apart(built, diagnostics)
    if has_errors(diagnostics):
        return Generated({}, {}, sort_diagnostics(diagnostics))
    return _render(program, files, target_of, diagnostics, rendered, progress)


def lint_targets(program: Program) -> tuple[Diagnostic, ...]:
    """The program's diagnostics and those of its targets, such as kernels that fit no schema.

    For a single target, whose files can't collide with another's, no file is made. Nothing is
    rendered, unless a target is unsure whether a module has what our templates call. Only
    configured targets are asked, as others have no options, and none of PyTorch's own file.
    """
    config = program.config
    if config.operators == "torch":
        return program.diagnostics
    named = linted_targets(config)
    if not named:
        return (*program.diagnostics, *_without_targets(config))
    built, diagnostics = _build(program, named)
    is_unsure = any(result.is_unsure for _, result in built)
    if is_unsure or len(built) > 1:
        files, target_of = _tell_apart(built, diagnostics)
    if is_unsure and not has_errors(diagnostics):
        built_in = replace(program, config=replace(config, template_dirs=()))
        calling = [file for file in files if file.calls]
        return _render(built_in, calling, target_of, diagnostics).diagnostics
    return sort_diagnostics(diagnostics)


# A target and what it makes.
_Built = tuple[str, TargetResult]
# Passes the files on, one by one, to where they are rendered.
Progress = Callable[[Sequence[OutputFile]], Iterable[OutputFile]]


def _build(program: Program, targets: Sequence[str]) -> tuple[list[_Built], list[Diagnostic]]:
    """The files of each target, and everything found on the way; no files if the input is wrong."""
    built: list[_Built] = []
    config = program.config
    diagnostics = list(program.diagnostics)
    if not targets:
        diagnostics += _without_targets(config)
    if has_errors(diagnostics):
        return built, diagnostics
    for name in dict.fromkeys(targets or named_targets(config)):
        target = TARGETS.get(name)
        if target is None:
            diagnostics.append(unknown_target(name))
            continue
        result = target.build(program)
        diagnostics += program.wanted(result.diagnostics)
        built.append((name, result))
    return built, diagnostics


def _with_programs(
    program: Program, built: _Built, home: Path, diagnostics: list[Diagnostic]
) -> _Built:
    """A target with the files of its programs, which run now; what they find, and what is wrong with them, is added."""
    name, result = built
    if not result.programs:
        return built
    from torchgen_lite.emit.programs import run_program

    config = program.config
    files = [*result.files]
    for asked in result.programs:
        answer = run_program(asked, source_name(program), home)
        if isinstance(answer, Diagnostic):
            place = locate_option(config, f"target.{name}.programs", asked.name)
            diagnostics.append(replace(answer, label=place))
            continue
        diagnostics += program.wanted(asked.found(answer.findings))
        for path, text in answer.files.items():
            files.append(OutputFile(f"{asked.folder}/{path}", "", text=text))
    return name, result._replace(files=files)


def _without_targets(config: Config) -> Iterator[Diagnostic]:
    """TG003 if targets have options and none of them is generated, but the default."""
    configured = list(config.target_options)
    if config.targets or not configured or set(configured) & set(named_targets(config)):
        return
    table = f"target.{configured[0]}"
    option = next(iter(config.target_options[configured[0]]), "")
    default = ", ".join(named_targets(config))
    names = ", ".join(f'"{name}"' for name in configured)
    yield Diagnostic(
        "TG003",
        f"`[{table}]` has options, and without `targets` only `{default}` is generated",
        locate_option(config, table, option),
        help=f"write `targets = [{names}]` at the beginning of the file",
    )


def _tell_apart(
    built: Iterable[_Built], diagnostics: list[Diagnostic]
) -> tuple[list[OutputFile], dict[str, str]]:
    """The files, and the target of each path; two targets that write the same path give a diagnostic.

    Paths that differ in case alone are the same on many disks.
    """
    files: list[OutputFile] = []
    target_of: dict[str, str] = {}
    written: dict[str, str] = {}
    for name, result in built:
        for file in result.files:
            before = written.setdefault(file.path.casefold(), file.path)
            if before in target_of:
                message = f"targets `{target_of[before]}` and `{name}` both write `{file.path}`"
                if before != file.path:
                    message += f", which is `{before}` where case is ignored"
                diagnostics.append(Diagnostic("TG013", message))
            target_of[file.path] = name
            files.append(file)
    return files, target_of


def _render(
    program: Program,
    files: Sequence[OutputFile],
    target_of: Mapping[str, str],
    diagnostics: list[Diagnostic],
    rendered: Rendered | None = None,
    progress: Progress = iter,
) -> Generated:
    from torchgen_lite.emit.render import render_files
    from torchgen_lite.emit.template_errors import RenderError

    config = program.config
    formatters: dict[str, str] = {}
    commands: dict[str, str] = {}
    for file in files:
        name = target_of[file.path]
        if name not in commands:
            commands[name] = TARGETS[name].formatter(config)
        formatters[file.path] = commands[name]
    try:
        texts = render_files(
            progress(files),
            source_name(program),
            config.template_folders,
            variables=config.template_vars,
            root=config.root,
            packages=template_packages(commands),
            rendered=rendered,
            formatters=formatters,
            output_dir=config.output_dir,
        )
    except RenderError as error:
        wrong, (option, value) = error.diagnostics, error.option
        if option:
            for name, command in commands.items():
                if value in (command, TARGETS[name].given_options(config).get(option)):
                    place = locate_option(config, f"target.{name}", option)
                    wrong = tuple([replace(diagnostic, label=place) for diagnostic in wrong])
        return Generated({}, {}, sort_diagnostics([*diagnostics, *wrong]))
    return Generated(texts, target_of, sort_diagnostics(diagnostics))


def template_packages(names: Collection[str]) -> tuple[TemplatePackage, ...]:
    """Where targets of other packages keep their templates."""
    packages = [TARGETS[name].template_package() for name in sorted(names) if name in TARGETS]
    return tuple(without_none(packages))


def source_name(program: Program) -> str:
    """What the header names: paths relative to the configuration, or bare names of files elsewhere.

    If outputs are beside the project, paths are relative to the outputs, because another project
    that writes there may have files with the same names (Note [Ownership by marker]).
    """
    names = [_named(program.config, source.path) for source in program.sources]
    return ", ".join(names) or "native_functions.yaml"


def _named(config: Config, path: str) -> str:
    output = config.root / config.output_dir
    is_beside = os.path.relpath(output, config.root).split(os.sep)[0] == os.pardir
    if is_beside and not Path(config.output_dir).is_absolute() and not Path(path).is_absolute():
        return os.path.relpath(config.root / path, output).replace(os.sep, "/")
    return portable_path(path)


def unknown_target(name: str) -> Diagnostic:
    """TG008 with a suggestion."""
    help_ = did_you_mean(name, TARGETS) or f"the targets are {', '.join(TARGETS)}"
    return Diagnostic("TG008", f"unknown target `{name}`", help=help_)
