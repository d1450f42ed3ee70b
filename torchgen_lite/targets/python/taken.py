"""Names that a package needs itself: an operator with such a name is left out, or only in
`functions`."""

from __future__ import annotations

import re
from collections.abc import Collection

from torchgen_lite.languages.python.names import identifier
from torchgen_lite.loader.entry import NativeFunction

# Names that Python looks up in modules, functions, and objects with namespaces as attributes.
_PYTHON = frozenset(
    "__all__ __annotations__ __builtins__ __class__ __dict__ __dir__ __doc__ __file__ __future__ __getattr__ "
    "__getattribute__ __import__ __loader__ __name__ __package__ __path__ __slots__ __spec__".split()
)
# Names that generated modules import for themselves.
_IMPORTED = frozenset(
    "_Candidate _functions _list _operators _ops _optional _packet _redispatch_packet _state _tuple _type _with_overloads "
    "annotations".split()
)
_NAMES = _PYTHON | _IMPORTED
_NAMESPACES = _NAMES | {"Any", "Dispatcher", "Library", "SimpleNamespace", "dispatcher", "_"}
# Names that stubs use, besides those with a prefix below.
_IN_STUBS = frozenset({"_list", "_optional", "_state", "_tuple", "_type"})
# Prefixes of the names that each operator has besides its stub.
_PREFIXES = ("_handle_", "_memo_", "_redispatch_memo_", "redispatch_")
# A function with such a name would replace a module of the package, so only `functions` has it.
_MODULES = re.compile(
    r"(?:nodes|operators|autograd|adinplaceorview)(?:_[0-9]+)?|(?:register|structured)_[a-z0-9]+(?:_[0-9]+)?"
    "|backendselect|constants|dispatcher|functions|key_sets|key_tables|libraries|methods|ops|redispatch|registration"
    "|runtime"
)


def is_exported(name: str) -> bool:
    """Whether the package exports a function with that name, instead of a module."""
    return not _MODULES.fullmatch(name)


def taken_name(function: NativeFunction, home: str, stubs: Collection[str]) -> str:
    """How an operator clashes with a name that the package needs, or empty. `stubs` has the stub
    names of all operators."""
    schema, namespace = function.func, function.namespace
    if namespace in _NAMESPACES:
        return "is in a namespace whose name the generated code uses itself"
    stub = identifier(function.flat_name(home))
    is_beside = any(stub.removeprefix(p) in stubs for p in _PREFIXES if stub.startswith(p))
    if schema.base_name in _NAMES or stub == "float" or stub.startswith("_library_") or is_beside:
        return "has a name that the generated code uses itself"
    for argument in schema.arguments:
        name = argument.name
        if name.startswith("_") and (name in _IN_STUBS or name.startswith(_PREFIXES[:3])):
            return f"has an argument `{name}`, which the generated code uses itself"
    return ""
