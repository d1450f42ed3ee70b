"""What a user may set in `[tool.torchgen_lite.target.python]`."""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from dataclasses import dataclass, fields

from torchgen_lite.targets.options import OptionError, check_known, shards_option

NO_FRAMEWORK = "torchgen_lite.runtime.framework"


@dataclass(frozen=True, slots=True)
class PythonOptions:
    """Options of the Python target.

    `package`: name of the generated package.
    `framework`: module that supplies the tensor types and the helpers of structured kernels.
    `kernels`: modules that hold the kernels; without any, no kernel is registered.
    `formulas`: modules that hold the functions which derivative formulas call beside the operators.
    `dispatcher`: `singleton`, or `own` for a dispatcher of the package's own.
    `shards`: into how many files schemas and stubs are split; 0 means one, or 16 for many operators.
    """

    package: str = "ops"
    framework: str = NO_FRAMEWORK
    kernels: tuple[str, ...] = ()
    formulas: tuple[str, ...] = ()
    dispatcher: str = "singleton"
    shards: int = 0


def load_options(values: Mapping[str, object]) -> PythonOptions:
    """Check what the configuration says; raise `OptionError` for the first thing that is wrong."""
    check_known(values, "python", [f.name for f in fields(PythonOptions)])
    package = _module(values, "package", "ops")
    framework = _module(values, "framework", NO_FRAMEWORK)
    dispatcher = values.get("dispatcher", "singleton")
    if dispatcher not in ("singleton", "own"):
        raise OptionError("dispatcher", "`dispatcher` is neither `singleton` nor `own`")
    shards = shards_option(values)
    kernels = read_modules(values, "kernels")
    formulas = read_modules(values, "formulas")
    return PythonOptions(package, framework, kernels, formulas, dispatcher, shards)


def read_modules(values: Mapping[str, object], option: str) -> tuple[str, ...]:
    modules = values.get(option, ())
    if not isinstance(modules, (list, tuple)):
        raise OptionError(option, f"`{option}` is not a list of module names")
    for module in modules:
        check_module(option, module)
    return tuple(map(str, modules))


def _module(values: Mapping[str, object], option: str, default: str) -> str:
    value = values.get(option, default)
    check_module(option, value)
    return str(value)


def check_module(option: str, value: object) -> None:
    if not isinstance(value, str) or not all(map(_is_name, value.split("."))):
        raise OptionError(option, f"`{option}`: `{value}` is not the name of a Python module")


def _is_name(part: str) -> bool:
    return part.isidentifier() and not keyword.iskeyword(part)
