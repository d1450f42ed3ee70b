"""`audit`: what a library that is built needs, registers and promises, held against what is declared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from torchgen_lite.analysis.program import Program
from torchgen_lite.cli.session import Session, command, require, schema_options
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.diagnostics.text import counted
from torchgen_lite.languages.cpp.stable import Release
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.versions import version_text
from torchgen_lite.pipeline import lint_targets
from torchgen_lite.targets import TARGETS
from torchgen_lite.targets.generation import generation_of
from torchgen_lite.targets.output import Selection
from torchgen_lite_tools.auditing.artefact import Artefact, opened
from torchgen_lite_tools.auditing.bump import Bump, bump_since
from torchgen_lite_tools.auditing.earlier import bump_since_build, earlier_operators, is_build
from torchgen_lite_tools.auditing.platforms import Platform, check_platform, platform_of
from torchgen_lite_tools.auditing.registry import Facts, ask_registry, check_registry
from torchgen_lite_tools.auditing.stable_abi import Abi, abi_of, check_abi

_CLASSIC = "cpp-torch"
_STABLE = "cpp-torch-stable"


@dataclass(frozen=True, slots=True)
class Asked:
    """The command line."""

    library: Path
    load: bool
    modules: tuple[str, ...]
    platform: tuple[str, ...]
    abi: str | None
    target: str | None
    namespace: str
    since: str | None
    schema: tuple[str, ...]


@dataclass(slots=True)
class Audited:
    """What is found; `unseen` is what was not looked at, each with the reason."""

    artefact: Artefact
    platform: Platform | None
    abi: Abi
    operators: Mapping[str, Facts]
    bump: Bump | None
    diagnostics: list[Diagnostic]
    unseen: list[str]


@command("audit")
@click.argument("library", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--load",
    is_flag=True,
    help="Load it in another process, which runs its code, and read what it registers.",
)
@click.option(
    "--module",
    "modules",
    multiple=True,
    metavar="MODULE",
    help="Also import this module: fakes of a library.",
)
@click.option(
    "--platform",
    multiple=True,
    metavar="TAG",
    help="Hold it to this platform: `manylinux_2_28_x86_64`.",
)
@click.option(
    "--abi",
    type=click.Choice(("stable", "libtorch")),
    help="The ABI that it is for (default: by the targets).",
)
@click.option("--target", metavar="NAME", help="Compare with what this target registers.")
@click.option(
    "--namespace", default="", metavar="NAME", help="The namespace that the build has given."
)
@click.option(
    "--since",
    metavar="REF|PATH",
    help="Say which part of the version has to change since then, or since an older build.",
)
@schema_options
def audit_command(session: Session, /, **given: Any) -> int:
    """Say what a built library (a shared library, or a wheel) needs and registers: the oldest Linux and libtorch that it
    runs with, whether its registrations are those of the entries, and what `torch.compile` and `backward` can do.

    What was not looked at is listed. The entries are those of the project, if there is one here.

    \b
    torchgen-lite audit dist/mylib-1.1-py3-none-any.whl
    torchgen-lite audit dist/mylib-1.1-py3-none-any.whl --since v1.0
    torchgen-lite audit dist/mylib-1.1-py3-none-any.whl --load --since mylib-1.0-py3-none-any.whl
    torchgen-lite audit build/libmylib.so --load --abi stable --output-format json
    """
    asked = Asked(**given)
    config = session.settings()[0]
    program = None
    is_since_build = asked.since is not None and is_build(asked.since)
    if is_since_build and not asked.load:
        raise click.UsageError("`--since` a build takes `--load`, which runs the code of both.")
    is_compared = asked.since is not None and not is_since_build
    if asked.schema or is_compared or config.path is not None:
        program = session.load(schema=asked.schema or None)
        require(lint_targets(program) if is_compared else program.diagnostics)
    with opened(asked.library) as artefact:
        audited = _audit(session, asked, artefact, program)
    session.answer("audit", _text(audited), **_data(audited))
    session.report(audited.diagnostics, kind="audit")
    return session.exit_code(audited.diagnostics)


def _audit(session: Session, asked: Asked, artefact: Artefact, program: Program | None) -> Audited:
    platform = platform_of(artefact.binaries)
    abi = abi_of({name for binary in artefact.binaries for name in binary.imports})
    audited = Audited(artefact, platform, abi, {}, None, [], [])
    _hold_to_platform(audited, asked)
    config = program.config if program is not None else None
    if _is_for_stable_abi(asked, config):
        audited.diagnostics += check_abi(abi, _oldest(config))
    _look_at_registry(audited, asked, program)
    if asked.since is not None and is_build(asked.since):
        _compare_builds(audited, asked, asked.since)
    elif asked.since is not None and program is not None:
        audited.bump = bump_since(session, program, asked.since, asked.schema)
    return audited


def _compare_builds(audited: Audited, asked: Asked, since: str) -> None:
    """What this build registers and the earlier one, as far as both could be loaded."""
    if not audited.operators:
        audited.unseen.append(f"what has changed since {since}: nothing is known to be registered")
        return
    earlier = earlier_operators(since)
    if isinstance(earlier, Diagnostic):
        audited.diagnostics.append(earlier)
        return
    artefact, operators = earlier
    if not operators:
        audited.unseen.append(f"what has changed: {since} registers nothing, or nothing loads it")
        return
    has_all = artefact.has_packages and audited.artefact.has_packages and not asked.modules
    audited.bump, unseen = bump_since_build(
        operators, audited.operators, since, asked.namespace, has_all=has_all
    )
    audited.unseen += unseen


def _hold_to_platform(audited: Audited, asked: Asked) -> None:
    wanted = asked.platform or audited.artefact.platforms
    if not audited.artefact.binaries:
        audited.unseen.append("symbols: there is no shared library of Linux")
    elif audited.platform is None:
        audited.unseen.append("the platform: manylinux has no policies for such a library")
    else:
        machine = audited.artefact.binaries[0].machine
        audited.diagnostics += check_platform(audited.platform, wanted, machine)


def _is_for_stable_abi(asked: Asked, config: Config | None) -> bool:
    """As the command line says, else where the project has a library for the stable ABI, and no other."""
    if asked.abi is not None:
        return asked.abi == "stable"
    targets = config.targets if config is not None else ()
    return _STABLE in targets and _CLASSIC not in targets


def _oldest(config: Config | None) -> Release | None:
    """`target-version` of the project. Raises Refused if the options of the target are wrong."""
    if config is None:
        return None
    options, problems = TARGETS[_STABLE].read_options(config)
    require(problems)
    release: Release | None = options.target_version
    return release


def _look_at_registry(audited: Audited, asked: Asked, program: Program | None) -> None:
    loads = (*audited.artefact.loads, *asked.modules)
    if not asked.load:
        audited.unseen.append("registrations: `--load` loads the library, and runs its code")
        return
    if not loads:
        audited.unseen.append("registrations: the wheel has no package")
        return
    answer = ask_registry(loads, audited.artefact.folder)
    if isinstance(answer, Diagnostic):
        # What needs no PyTorch has been looked at.
        if answer.code == "TG011":
            audited.unseen.append("registrations: PyTorch is not installed")
        else:
            audited.diagnostics.append(answer)
        return
    audited.operators = answer
    if program is None:
        audited.unseen.append(
            "whether registrations are those of entries: there is no project here, and no `--schema`"
        )
        return
    selection = _selection(program, asked.target)
    require(selection.diagnostics)
    problems, unbuilt = check_registry(answer, program, selection, asked.namespace)
    audited.diagnostics += problems
    audited.unseen += [f"kernels for {key}: the library was built without" for key in unbuilt]


def _selection(program: Program, target: str | None) -> Selection:
    """What the target registers in PyTorch, or all that the first package of the project does."""
    generation = generation_of(program)
    if target is not None:
        return generation.asked(target)
    for package in generation.packages:
        if package.policy.in_pytorch:
            return package
    return generation_of(program, (_CLASSIC,)).asked(_CLASSIC)


# What is said.


def _text(found: Audited) -> str:
    return "".join(f"{line}\n" for line in _lines(found))


def _lines(audited: Audited) -> Iterator[str]:
    libraries = counted(len(audited.artefact.binaries), "shared object")
    yield f"{audited.artefact.name}: {libraries}"
    if audited.platform is not None:
        needs = ", ".join(f"{kind} {number}" for kind, number in audited.platform.newest.items())
        beside = "".join(f", with {library}" for library in audited.platform.missing)
        yield f"runs on {audited.platform.tag} ({needs}){beside}"
    if audited.artefact.binaries:
        yield _said_of_abi(audited.abi)
    if audited.operators:
        width = max(map(len, audited.operators))
        yield f"{'operator':{width}}  compile   backward   keys"
        for name, facts in audited.operators.items():
            keys = ", ".join(facts.keys)
            yield f"{name:{width}}  {facts.compiles:8}  {facts.differentiates:9}  {keys}"
    if audited.bump is not None:
        yield f"version: {audited.bump.part}, {audited.bump.because}"
        yield from [f"  {change}" for change in audited.bump.changes]
    for text in audited.unseen:
        yield f"not looked at: {text}"


def _said_of_abi(abi: Abi) -> str:
    if abi.kind == "libtorch":
        symbols = counted(len(abi.symbols), "symbol")
        return f"runs with the libtorch that it was built with: it imports {symbols} of its C++"
    if abi.release is not None:
        return f"runs with libtorch {version_text(abi.release)} and later (`{abi.because[0]}`)"
    return "imports nothing of libtorch"


def _data(audited: Audited) -> dict[str, object]:
    platform = None
    if audited.platform is not None:
        platform = audited.platform._asdict()
    release = version_text(audited.abi.release) if audited.abi.release is not None else None
    abi = {**audited.abi._asdict(), "release": release}
    return {
        "library": audited.artefact.name,
        "platform": platform,
        "abi": abi,
        "operators": {name: facts._asdict() for name, facts in audited.operators.items()},
        "bump": audited.bump._asdict() if audited.bump is not None else None,
        "unseen": audited.unseen,
    }
