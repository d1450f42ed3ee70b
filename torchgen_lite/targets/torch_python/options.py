"""What a user may set in `[tool.torchgen_lite.target.torch-python]`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import PurePosixPath

from torchgen_lite.targets.options import OptionError, check_known, flag_option
from torchgen_lite.targets.python.options import check_module, read_modules

KINDS = ("DEF", "FRAGMENT")


@dataclass(frozen=True, slots=True)
class TorchPythonOptions:
    """Options of the target.

    `package`: name of the generated package, perhaps dotted; `<namespace>_ops` if empty.
    `folder`: where it is put below the output directory.
    `kernels`: modules with the kernels that `dispatch:` names.
    `fakes`: modules with the functions that `fake:` and `vmap:` name.
    `formulas`: modules with the functions which derivative formulas call.
    `defines`: whether Python defines the schemas; by default it does where there are `kernels`.
    `library`: `DEF`, or `FRAGMENT` for a namespace that others define operators in too.
    `load`: a module to import first: the extension that defines the operators.
    `autograd`: whether `derivatives:` are registered here.
    """

    package: str = ""
    folder: str = "torch-python"
    kernels: tuple[str, ...] = ()
    fakes: tuple[str, ...] = ()
    formulas: tuple[str, ...] = ()
    defines: bool = False
    library: str = "DEF"
    load: str = ""
    autograd: bool = True


def load_options(values: Mapping[str, object]) -> TorchPythonOptions:
    """Check what the configuration says; raise `OptionError` for the first thing that is wrong."""
    check_known(values, "torch-python", [f.name for f in fields(TorchPythonOptions)])
    kernels = read_modules(values, "kernels")
    library = values.get("library", "DEF")
    if not isinstance(library, str) or library.upper() not in KINDS:
        raise OptionError("library", '`library` is neither "DEF" nor "FRAGMENT"')
    return TorchPythonOptions(
        package=_module(values, "package"),
        folder=_folder(values),
        kernels=kernels,
        fakes=read_modules(values, "fakes"),
        formulas=read_modules(values, "formulas"),
        defines=flag_option(values, "defines", bool(kernels)),
        library=library.upper(),
        load=_module(values, "load"),
        autograd=flag_option(values, "autograd", True),
    )


def _module(values: Mapping[str, object], option: str) -> str:
    value = values.get(option, "")
    if value != "":
        check_module(option, value)
    return str(value)


def _folder(values: Mapping[str, object]) -> str:
    value = values.get("folder", "torch-python")
    if not isinstance(value, str) or not value:
        raise OptionError("folder", "`folder` is no path")
    path = PurePosixPath(value)
    if path.is_absolute() or ".." in path.parts or "\\" in value:
        raise OptionError("folder", "`folder` is a path below the output directory")
    return path.as_posix()
