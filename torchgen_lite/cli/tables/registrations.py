"""The registrations of an installed torch by name, for `table` and `why`, and those under an author's file."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module

from torchgen_lite.analysis.computed_table import Registrations, is_fallthrough
from torchgen_lite.analysis.program import Program
from torchgen_lite.cli.session import Refused, Session, require
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.key_tables import dispatch_keys, table_of
from torchgen_lite.loader.config.project import Config
from torchgen_lite.loader.torch.files import find_torch_files, import_torch
from torchgen_lite.loader.torch.registry import registered_kernels
from torchgen_lite.loader.torch.releases import INSTALLED
from torchgen_lite.loader.torch.stock_fallbacks import STOCK_FALLBACKS
from torchgen_lite.loader.versions import parse_version, version_text
from torchgen_lite.targets.generation import compared, generation_of
from torchgen_lite.targets.output import Selection
from torchgen_lite.targets.registered import (
    Beneath,
    adds_to_pytorch,
    unknown_beneath,
    with_fallbacks,
)


def registrations_of_torch(
    modules: Iterable[str] = (), project: Config | None = None
) -> list[Registrations]:
    """What an installed torch has registered, read from its dumps.

    `modules` are imported first, for the operators that they register; those of the project need not be installed.
    Raises Refused if torch or a module cannot be imported, or if torch has keys that no table knows.
    """
    try:
        return list(_registrations(modules, [] if project is None else search_path(project)))
    except ModuleNotFoundError:
        raise Refused(Diagnostic("TG011", "PyTorch is not installed")) from None
    except ImportError as error:
        raise Refused(Diagnostic("TG012", str(error))) from None


def pytorchs_of(program: Program, fallbacks: Iterable[str] = ()) -> dict[str, Registrations]:
    """What PyTorch has of its own, by operator, under a program whose kernels are added to it.

    `fallbacks` are keys for which the author's code has one. Raises Refused if the release that the program refers to
    is not the installed one, which alone can be asked.
    """
    require_release(program)
    return with_fallbacks(_pytorchs(), fallbacks)


@cache
def _pytorchs() -> dict[str, Registrations]:
    # A library that the installed PyTorch loads by itself may be an earlier build of this very program.
    os.environ.setdefault("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")
    every = registrations_of_torch()
    shared = {key: _named(key, label) for key, label in every[0].fallbacks.items()}
    tables = {}
    for registrations in every:
        kernels = {key: _short(label) for key, label in registrations.kernels.items()}
        tables[registrations.name] = registrations._replace(kernels=kernels, fallbacks=shared)
    return tables


def selection_of(program: Program, target: str | None) -> Selection:
    """What is asked about: a target, or the package of all that belongs together. Raises Refused."""
    selection = generation_of(program).asked(target)
    require(selection.diagnostics)
    return selection


def pytorchs_of_both(session: Session, old: Program, new: Program) -> Beneath:
    """The same under two versions of a program; nothing if neither adds to it. Says so if it is not known."""
    both = zip((old, new), zip(*compared(old, new)))
    if not any(
        adds_to_pytorch(program, s.policy) for program, selections in both for s in selections
    ):
        return {}
    return known_pytorchs(session.warn, old, new)


def known_pytorchs(warn: Callable[[str], None], *programs: Program) -> Beneath:
    """The same under the last of these programs, all of which add to it."""
    try:
        return pytorchs_of(programs[-1])
    except Refused as refused:
        reason = refused.diagnostics[0].message
        warn(f"{reason}; of its operators, only what the files register is known")
        return unknown_beneath(*programs)


def require_release(program: Program) -> None:
    files, problems = find_torch_files()
    if files is None:
        raise Refused(*problems)
    wanted = program.release
    native = program.config.native
    is_named = bool(native) and native != INSTALLED
    if parse_version(files.version)[: len(wanted)] != wanted or (is_named and not wanted):
        which = version_text(wanted) or f"in `{native}`"
        message = f"the kernels of PyTorch {which} are not known: {files.version} is installed"
        help_ = (
            "install that release, or ask about the installed one: `--config 'native = \"torch\"'`"
        )
        raise Refused(Diagnostic("TG011", message, help=help_))


def _named(key: str, label: str) -> str:
    """The name of a fallback of PyTorch, if it has one."""
    known = STOCK_FALLBACKS.get(key, "")
    if is_fallthrough(known) == is_fallthrough(label):
        return known
    return _short(label)


def _short(label: str) -> str:
    """`VariableType_4.cpp:9107`: the file that registers a kernel, without the folders of PyTorch's build."""
    before, _, path = label.rpartition("registered at ")
    return before + path.rpartition("/")[2]


def search_path(project: Config) -> list[str]:
    """Where the modules of a project are, and the packages that targets generate."""
    generated = [f"{project.output_dir}/{target}" for target in project.targets]
    return [str(project.root / folder) for folder in (*project.source_roots, *generated)]


def _registrations(modules: Iterable[str], folders: Sequence[str]) -> Iterator[Registrations]:
    torch = import_torch()
    for module in modules:
        saved = sys.path[:]
        # After what is installed, so that no file of the project stands for a module of PyTorch.
        sys.path += folders
        try:
            import_module(module)
        except Exception as error:  # Whatever a user's module raises is reported to its author.
            raise ImportError(f"cannot import `{module}`: {error}") from error
        finally:
            sys.path[:] = saved
    keys = table_of(parse_version(torch.__version__))
    known = dispatch_keys(keys)
    fallbacks = _fallbacks_of_torch()
    for name in sorted(torch._C._dispatch_get_all_op_names()):
        kernels = {}
        for kernel in registered_kernels(torch, name):
            kernels[kernel.key] = ("fallthrough " if kernel.is_fallthrough else "") + kernel.place
        for key in (*kernels, *fallbacks):
            if key not in known:
                release = f"PyTorch {torch.__version__}"
                raise ImportError(f"{release} has a dispatch key `{key}`, which is unknown here")
        yield Registrations(name, kernels, fallbacks, keys)


def _fallbacks_of_torch() -> dict[str, str]:
    """The computed table of an operator without kernels is the table of fallbacks."""
    import torch

    library = torch.library.Library("torchgen_lite_table", "DEF")  # type: ignore[no-untyped-call]
    library.define("nothing() -> ()")  # type: ignore[no-untyped-call]
    fallbacks = {}
    for line in torch._C._dispatch_dump_table("torchgen_lite_table::nothing").splitlines():
        key, cell = line.split(": ", 1)
        label, _, _ = cell.rpartition(" [")
        fallbacks[key] = label
    return fallbacks
