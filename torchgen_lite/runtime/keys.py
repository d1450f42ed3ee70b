"""`BackendComponent`, `DispatchKey` and the conversions between them (c10/core/DispatchKey.h).

Both enumerations are built from `key_tables`; `_key_names.pyi`, which `write_key_tables.py` writes from it,
tells type checkers their members.
"""

# `_key_names` has no source; only type checkers read it.
# pyright: reportMissingModuleSource=false

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from .. import key_tables
from ..key_sets import key_sets

TABLE = key_tables.CURRENT
NUM_BACKENDS = len(TABLE.backends)
NUM_FUNCTIONALITIES = len(TABLE.functionalities)
"""How many functionality keys there are, Undefined included; also the value of EndOfFunctionalityKeys."""


def end_markers(table: key_tables.KeyTable) -> dict[str, int]:
    """The `EndOf...Backends` names, which share the value of the last key of their block."""
    values = key_tables.dispatch_keys(table)
    return {
        f"EndOf{functionality}Backends": values[prefix + table.backends[-1]]
        for functionality, prefix in table.per_backend
    }


if TYPE_CHECKING:
    from ._key_names import BackendComponent as BackendComponent
    from ._key_names import DispatchKey as DispatchKey
else:

    class _Key(IntEnum):
        # Enum hashes the name, in Python code; a key equals its number and hashes like it.
        __hash__ = int.__hash__

        def __str__(self):
            return self.name

        def __format__(self, spec):
            return format(self.name, spec)

    # The former names and the end markers come last, so that the value's canonical name is the key's own.
    BackendComponent = _Key(
        "BackendComponent",
        [("InvalidBit", 0), *((f"{n}Bit", i) for i, n in enumerate(TABLE.backends, 1))],
        module=__name__,
    )
    _VALUES = key_tables.dispatch_keys(TABLE)
    DispatchKey = _Key(
        "DispatchKey",
        [
            *_VALUES.items(),
            *end_markers(TABLE).items(),
            *((former, _VALUES[now]) for former, now in TABLE.former_names),
        ],
        module=__name__,
    )

_BACKENDS = tuple(BackendComponent(i) for i in range(NUM_BACKENDS + 1))
_FIRST_BLOCK = NUM_FUNCTIONALITIES + 1
_BLOCK = NUM_BACKENDS + 1  # A block is its marker and one key for each backend.
_PER_BACKEND = tuple(DispatchKey[functionality] for functionality, _ in TABLE.per_backend)
_BLOCK_OF = {
    functionality: _FIRST_BLOCK + i * _BLOCK for i, functionality in enumerate(_PER_BACKEND)
}
_FIRST_ALIAS = _FIRST_BLOCK + len(_PER_BACKEND) * _BLOCK


def is_per_backend_functionality_key(key: DispatchKey) -> bool:
    """Whether each backend has an instance of this functionality, with a table slot of its own."""
    return key in _BLOCK_OF


def is_alias_dispatch_key(key: DispatchKey) -> bool:
    """Whether this key stands for a set of runtime keys (c10 `isAliasDispatchKey`)."""
    return key >= _FIRST_ALIAS


def to_functionality_key(key: DispatchKey) -> DispatchKey:
    """The key whose bit this key sets: `Sparse` of `SparseCPU`, itself for a functionality key.

    Alias keys have none and give Undefined. The marker `EndOfFunctionalityKeys` has a bit that no key's set
    and not even the full set has (c10 `toFunctionalityKey`).
    """
    if key <= DispatchKey.EndOfFunctionalityKeys:
        return key
    if _FIRST_BLOCK <= key < _FIRST_ALIAS:
        return _PER_BACKEND[(key - _FIRST_BLOCK) // _BLOCK]
    return DispatchKey.Undefined


def to_backend_component(key: DispatchKey) -> BackendComponent:
    """The backend of a runtime per-backend key, `InvalidBit` for any other (c10 `toBackendComponent`)."""
    if _FIRST_BLOCK <= key < _FIRST_ALIAS:
        return _BACKENDS[(key - _FIRST_BLOCK) % _BLOCK]
    return BackendComponent.InvalidBit


def to_runtime_per_backend_functionality_key(
    functionality: DispatchKey, backend: BackendComponent
) -> DispatchKey:
    """The instance of a functionality for a backend: (Sparse, CPUBit) is SparseCPU.

    Undefined for a functionality that is not per backend (c10 `toRuntimePerBackendFunctionalityKey`).
    """
    start = _BLOCK_OF.get(functionality)
    return DispatchKey.Undefined if start is None else DispatchKey(start + backend)


def parse_dispatch_key(name: str) -> DispatchKey:
    """The key of a name, former names included. Raises ValueError with c10's text for any other.

    c10 cannot read 42 of the names that it prints (`AutogradHIP`, ...); this reads every one.
    """
    try:
        return DispatchKey[name]
    except KeyError:
        raise ValueError(f"could not parse dispatch key: {name}") from None


RUNTIME_KEYS: tuple[DispatchKey, ...] = tuple(DispatchKey[name] for name in key_sets(TABLE).slots)
"""The keys that own a slot of the dispatch table, in slot order: Undefined first, 137 in torch 2.13."""

SLOT_OF: dict[DispatchKey, int] = {key: slot for slot, key in enumerate(RUNTIME_KEYS)}
