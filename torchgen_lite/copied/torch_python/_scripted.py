"""`torch.jit.script` of the functions of the package, and of code that calls them.

TorchScript compiles the source of a function, and knows neither the types that functions.py has for people (`Sequence`,
`int | SymInt`) nor an overload that has a name of its own. Before it compiles a function it asks it for another one,
`__prepare_scriptable__`: here for one with the types of TorchScript, which calls the operator by its name.
"""

from __future__ import annotations

import inspect
import linecache
import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any, TypeVar

import torch

Function = TypeVar("Function", bound=Callable[..., Any])
_SOURCE = """\
from __future__ import annotations
def {name}({parameters}):
{checks}    {returned}{operator}({given})
"""


def scriptable(overload: Any, *, has_effects: bool = False) -> Callable[[Function], Function]:
    """A function that calls this overload, as it is; TorchScript compiles another in its place."""

    def prepared(function: Function) -> Function:
        compiled = partial(_compiled, overload, function, has_effects)
        vars(function)["__prepare_scriptable__"] = compiled
        return function

    return prepared


@cache
def _compiled(overload: Any, function: Any, has_effects: bool) -> Any:
    """What TorchScript has compiled for a function, kept, since TorchScript forgets what nobody keeps."""
    if has_effects:
        lost = "it has effects, and TorchScript leaves calls out whose results are not used"
        raise RuntimeError(f"{overload}: {lost}")
    scripted = _for_torchscript(overload, function)
    with warnings.catch_warnings():
        # Who calls `torch.jit.script` is told, and once is enough.
        warnings.filterwarnings("ignore", "`torch.jit.script")
        try:
            graph = torch.jit.script(scripted).graph
        except Exception as error:
            raise RuntimeError(f"{overload}: TorchScript refuses it: {error}") from error
    # A program of TorchScript names an operator, not its overload: the first that takes the arguments is called.
    operator = overload._schema.name
    called = [node.schema() for node in graph.nodes() if node.kind() == operator]
    if called != [str(overload._schema)]:
        others = " ".join(called)
        raise RuntimeError(f"{overload}: TorchScript would call another overload, {others}")
    return scripted


def _for_torchscript(overload: Any, function: Any) -> Any:
    """A function that calls an overload, with the names of the parameters of another one."""
    schema = overload._schema
    declared = inspect.signature(function).parameters.values()
    parameters = [*map(_Parameter, declared, schema.arguments)]
    taken = [parameter.name for parameter in parameters]
    operator = "_operator"
    while operator in taken:
        operator = f"_{operator}"
    required = [parameter.declared for parameter in parameters if not parameter.has_default]
    optional = [parameter for parameter in parameters if parameter.has_default]
    declarations = [*required, *[parameter.declared for parameter in optional]]
    source = _SOURCE.format(
        name=function.__name__,
        parameters=", ".join(declarations),
        checks="".join([parameter.check for parameter in parameters]),
        returned="return " if schema.returns else "",
        operator=operator,
        given=", ".join([parameter.given for parameter in parameters]),
    )
    made = _executed(source, f"<{overload} for TorchScript>", function)
    made.__globals__[operator] = overload._overloadpacket
    made.__defaults__ = tuple([parameter.default for parameter in optional])
    return made


class _Parameter:
    """A parameter as TorchScript has it. It has no defaults behind `*`, and saves no `*`: what goes by keyword is a
    parameter with a default, behind the others. Nor has it lists as defaults: None stands for one, which is made in the
    function, and for what has to be given by keyword.
    """

    def __init__(self, parameter: inspect.Parameter, argument: Any) -> None:
        self.name = parameter.name
        self._is_keyword = argument.kwarg_only
        self.has_default = argument.has_default_value() or self._is_keyword
        self.default = argument.default_value
        self._is_needed = False
        self._made = ""
        if isinstance(self.default, list):
            self._made = f"{self.default} if {self.name} is None else "
            self.default = None
        self._type = argument.type.annotation_str
        if argument.N:
            # All of a list of a fixed size may be given as one number.
            self._type = self._type.replace("List[", f"BroadcastingList{argument.N}[")
        is_wrapped = self.has_default and self.default is None
        if is_wrapped and not self._type.startswith("Optional["):
            self._type = f"Optional[{self._type}]"
            self._is_needed = not self._made

    @property
    def declared(self) -> str:
        """`at: Optional[BroadcastingList2[int]] = ...`"""
        default = " = ..." if self.has_default else ""
        return f"{self.name}: {self._type}{default}"

    @property
    def check(self) -> str:
        """What has to be given by keyword is given."""
        if self._is_needed:
            return f'    assert {self.name} is not None, "`{self.name}` is missing"\n'
        return ""

    @property
    def given(self) -> str:
        """`[1, 1] if at is None else at`: what the operator is called with."""
        value = f"{self._made}{self.name}"
        return f"{self.name}={value}" if self._is_keyword else value


def _executed(source: str, filename: str, function: Any) -> Any:
    """The function that a source defines in place of another one; TorchScript reads the source where tracebacks do."""
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    names = {"__name__": function.__module__, "Generator": torch.Generator, "Stream": torch.Stream}
    exec(compile(source, filename, "exec"), names)
    return names[function.__name__]
