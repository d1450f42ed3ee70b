"""Call stubs for operators defined at run time: the same text that the generator writes, compiled.

`dataclasses` and `namedtuple` make their methods in this way, and for the same reason: a function with
the schema's own parameters binds arguments, fills defaults and raises Python's own TypeErrors faster
than any loop over `*args`. Every name in the text has been through the schema parser, which admits
identifiers only; default values are passed in, never printed.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType, SimpleNamespace
from typing import Any

from . import stub_text
from .arguments import list_keyset, optional_keyset
from .local_state import local_state
from .signature import Signature
from .sized import as_tuple

_KEYS = {
    "T": "[{0}._dispatch_keyset]",
    **dict.fromkeys("OG", "[_optional({0})]"),
    **dict.fromkeys("LP", "[_list({0})]"),
}
_TEXTS = {"stub": stub_text.STUB, "redispatch_stub": stub_text.REDISPATCH_STUB}
# What the text uses besides its arguments.
TAKEN = frozenset(
    "_handle_stub _kernel _keyset _list _memo_stub _optional _redispatch_memo_stub _state _tuple _type".split()
)


def _local_names(signature: Signature) -> list[str]:
    names = list(signature.parameters)
    for index, name in enumerate(names):
        while name in TAKEN or name in names[:index] or name in names[index + 1 :]:
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
        lines.append(stub_text.TUPLE.format(test=test, name=name, position=position))
    return "".join(lines)


def _passed(signature: Signature, names: list[str]) -> str:
    positional = signature.positional
    keywords = zip(signature.keywords, names[positional:])
    return ", ".join([*names[:positional], *(f"{key}={name}" for key, name in keywords)])


def make_stub(
    name: str, signature: Signature, memo: dict[Any, Any], resolve: Callable[..., Any]
) -> Callable[..., Any]:
    """The `stub` or `redispatch_stub` of an operator, which looks kernels up in `memo` and asks `resolve` on a miss."""
    names = _local_names(signature)
    text = _TEXTS[name].format(
        parameters=_parameters(signature, names),
        tuples=_tuples(signature, names),
        path="".join([_KEYS[signature.kinds[i]].format(names[i]) for i in signature.dispatching]),
        dispatching=", ".join([names[i] for i in signature.dispatching]),
        passed=_passed(signature, names),
    )
    as_tuple_of = MethodType(as_tuple, signature)
    handle = SimpleNamespace(resolve=resolve, resolve_redispatch=resolve, as_tuple=as_tuple_of)
    scope: dict[str, Any] = {
        "_memo_stub": memo,
        "_redispatch_memo_stub": memo,
        "_handle_stub": handle,
        "_state": local_state,
        "_optional": optional_keyset,
        "_list": list_keyset,
        "_tuple": tuple,
        "_type": type,
        "__name__": __name__,
    }
    scope.update((f"_default_{argument}", value) for argument, value in signature.defaults)
    exec(compile(text, f"<stub of {signature.full_name}>", "exec"), scope)
    function: Callable[..., Any] = scope[name]
    function.__annotations__ = {}  # A schema's types are not in the text.
    function.__name__ = function.__qualname__ = signature.full_name
    function.__doc__ = signature.schema
    return function
