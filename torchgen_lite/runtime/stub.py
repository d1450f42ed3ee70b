"""Call stubs for operators defined at run time: the same text that the generator writes, compiled.

`dataclasses` and `namedtuple` make their methods in this way, and for the same reason: a function with
the schema's own parameters binds arguments, fills defaults and raises Python's own TypeErrors faster
than any loop over `*args`. Every name in the text has been through the schema parser, which admits
identifiers only; default values are passed in, never printed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .arguments import list_keyset, optional_keyset
from .local_state import local_state
from .signature import Signature
from .sized import as_tuple

_KEYS = {
    "T": "{0}._dispatch_keyset",
    "O": "_optional({0})",
    "G": "_optional({0})",
    "L": "_list({0})",
    "P": "_list({0})",
}

_TUPLE = """\
    if {test}:
        {name} = _as_tuple({position}, {name})
"""

_CALL = """\
def stub({parameters}):
{tuples}\
    try:
        _kernel = _memo[_state()]{path}
    except (KeyError, AttributeError, TypeError):
        _kernel = _resolve({dispatching})
    return _kernel({arguments})
"""

_REDISPATCH = """\
def stub({parameters}):
{tuples}\
    try:
        _kernel = _memo[_keyset]
    except KeyError:
        _kernel = _resolve(_keyset)
    return _kernel({arguments})
"""


def make_call(
    signature: Signature, memo: dict[Any, Any], resolve: Callable[..., Any]
) -> Callable[..., Any]:
    """The stub of `OperatorHandle.call`."""
    names = _local_names(signature)
    dispatching = [(names[i], signature.kinds[i]) for i in signature.dispatching]
    text = _CALL.format(
        parameters=_parameters(signature, names),
        tuples=_tuples(signature, names),
        path="".join(f"[{_KEYS[kind].format(name)}]" for name, kind in dispatching),
        dispatching=", ".join(name for name, _ in dispatching),
        arguments=_arguments(signature, names),
    )
    return _compile(signature, text, memo, resolve)


def make_redispatch(
    signature: Signature, memo: dict[Any, Any], resolve: Callable[..., Any]
) -> Callable[..., Any]:
    """The stub of `OperatorHandle.redispatch`."""
    names = _local_names(signature)
    parameters = _parameters(signature, names)
    text = _REDISPATCH.format(
        parameters=f"_keyset, {parameters}" if parameters else "_keyset",
        tuples=_tuples(signature, names),
        arguments=_arguments(signature, names),
    )
    return _compile(signature, text, memo, resolve)


_TAKEN = frozenset(
    "_as_tuple _kernel _keyset _list _memo _optional _resolve _state _tuple _type".split()
)


def _local_names(signature: Signature) -> list[str]:
    names = list(signature.parameters)
    for index, name in enumerate(names):
        while name in _TAKEN or name in names[:index] or name in names[index + 1 :]:
            name += "_"
        names[index] = name
    return names


def _parameters(signature: Signature, names: list[str]) -> str:
    defaults = {name for name, _ in signature.defaults}
    parameters = [
        f"{name}=_default_{original}" if original in defaults else name
        for name, original in zip(names, signature.arguments)
    ]
    if len(parameters) > signature.positional:
        parameters.insert(signature.positional, "*")
    return ", ".join(parameters)


def _tuples(signature: Signature, names: list[str]) -> str:
    """See Note [Sized lists are tuples]."""
    lines = []
    for position, type_ in signature.sized.items():
        name = names[position]
        test = f"_type({name}) is not _tuple"
        test = f"{name} is not None and {test}" if type_.endswith("?") else test
        lines.append(_TUPLE.format(test=test, name=name, position=position))
    return "".join(lines)


def _arguments(signature: Signature, names: list[str]) -> str:
    positional = signature.positional
    keywords = zip(signature.keywords, names[positional:])
    return ", ".join([*names[:positional], *(f"{key}={name}" for key, name in keywords)])


def _compile(
    signature: Signature, text: str, memo: dict[Any, Any], resolve: Callable[..., Any]
) -> Callable[..., Any]:
    namespace: dict[str, Any] = {
        "_memo": memo,
        "_state": local_state,
        "_resolve": resolve,
        "_optional": optional_keyset,
        "_list": list_keyset,
        "_as_tuple": partial(as_tuple, signature),
        "_tuple": tuple,
        "_type": type,
        "__name__": __name__,
    }
    namespace.update((f"_default_{name}", value) for name, value in signature.defaults)
    exec(compile(text, f"<stub of {signature.full_name}>", "exec"), namespace)
    function: Callable[..., Any] = namespace["stub"]
    function.__name__ = function.__qualname__ = signature.full_name
    function.__doc__ = signature.schema
    return function
