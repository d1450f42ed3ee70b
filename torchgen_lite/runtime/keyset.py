"""`DispatchKeySet`: a 64-bit set of backends and functionalities (c10/core/DispatchKeySet.{h,cpp}).

Note [Interned keysets]
Every keyset is interned: for one representation there is one object. Equality is identity, the hash is
the object's own, and the memos of resolved kernels look keysets up without ever calling Python code.
The intern table holds weak references, so that a program that makes many sets does not keep them.
In front of it, a plain dictionary, which is emptied when it grows too large, answers for the sets in use without
running Python code; redispatching kernels mask their keyset in every call.
No lock is taken, because a finalizer or a signal handler that calls an operator may arrive while this thread
is interning: entries are made with `dict.setdefault` and removed only when dead, each in one step of C.
"""

from __future__ import annotations

from _weakref import _remove_dead_weakref  # type: ignore[attr-defined]
from collections.abc import Callable, Iterable, Iterator
from operator import index
from typing import Union, overload
from weakref import ref

from ..key_sets import key_sets
from ..key_tables import KeyTable
from .keys import (
    NUM_BACKENDS,
    NUM_FUNCTIONALITIES,
    TABLE,
    BackendComponent,
    DispatchKey,
    is_per_backend_functionality_key,
    to_backend_component,
    to_functionality_key,
    to_runtime_per_backend_functionality_key,
)

BACKEND_MASK = (1 << NUM_BACKENDS) - 1
FULL_MASK = (1 << (NUM_BACKENDS + NUM_FUNCTIONALITIES - 1)) - 1

KeysLike = Union["DispatchKeySet", DispatchKey, BackendComponent]

RECENT_LIMIT = 1024

_recent: dict[int, DispatchKeySet] = {}
_interned: dict[int, _Reference] = {}


def _functionality_bit(functionality: int) -> int:
    return 1 << (NUM_BACKENDS + functionality - 1) if functionality else 0


def _bits(key: KeysLike) -> int:
    if isinstance(key, DispatchKeySet):
        return key._repr
    if isinstance(key, BackendComponent):
        return 1 << (key - 1) if key else 0
    if isinstance(key, DispatchKey):
        backend = to_backend_component(key)
        return _functionality_bit(to_functionality_key(key)) | (
            1 << (backend - 1) if backend else 0
        )
    raise TypeError(
        f"expected a DispatchKey, BackendComponent or DispatchKeySet, not {type(key).__name__}"
    )


def _intern(representation: int) -> DispatchKeySet:
    found = _recent.get(representation)
    if found is None:
        found = _find_or_make(representation)
        if len(_recent) >= RECENT_LIMIT:
            _recent.clear()
        _recent[representation] = found
    return found


def _find_or_make(representation: int) -> DispatchKeySet:
    made = object.__new__(DispatchKeySet)
    made._repr = representation
    reference = _Reference(made, _forget)
    reference.representation = representation
    while True:
        found = _interned.setdefault(representation, reference)()
        if found is not None:
            return found
        _remove_dead_weakref(_interned, representation)  # Its callback has not run yet.


def _forget(
    reference: _Reference,
    remove: Callable[[dict[int, _Reference], int], None] = _remove_dead_weakref,
    table: dict[int, _Reference] = _interned,
) -> None:
    # The names are arguments, because this is called when the interpreter ends and the module is empty.
    remove(table, reference.representation)


class DispatchKeySet:
    """A set of dispatch keys. Bits 0..15 are backends, bit 16 + k - 1 is the functionality of value k.

    `DispatchKeySet(CPU, AutogradCPU)`, or of backend components, or of an iterable of either. A set of a
    per-backend functionality and several backends is the cross product: {CPU} | {AutogradCUDA} also has
    AutogradCPU and CUDA. Alias keys are in no set.
    """

    __slots__ = ("__weakref__", "_repr")
    _repr: int

    @overload
    def __new__(cls, *keys: KeysLike) -> DispatchKeySet: ...
    @overload
    def __new__(cls, keys: Iterable[KeysLike], /) -> DispatchKeySet: ...
    def __new__(cls, *keys: KeysLike | Iterable[KeysLike]) -> DispatchKeySet:
        representation = 0
        for key in keys:
            if isinstance(key, (DispatchKeySet, DispatchKey, BackendComponent)):
                representation |= _bits(key)
            else:
                for member in key:
                    representation |= _bits(member)
        return _intern(representation)

    @staticmethod
    def from_raw_repr(representation: int) -> DispatchKeySet:
        """The set with this 64-bit representation. Raises ValueError outside 0 .. 2**64 - 1, TypeError for no integer."""
        # A float, or an integer of NumPy, would be the representation of all equal sets from then on.
        representation = index(representation)
        if not 0 <= representation < 1 << 64:
            raise ValueError(f"not a 64-bit representation: {representation}")
        return _intern(representation)

    @staticmethod
    def full() -> DispatchKeySet:
        """Every backend and every functionality."""
        return _intern(FULL_MASK)

    @staticmethod
    def full_after(key: DispatchKey) -> DispatchKeySet:
        """All keys of lower priority than the functionality of `key`, plus PythonDispatcher.

        PythonDispatcher stays because it intercepts a call at any key.
        """
        below = max(_functionality_bit(to_functionality_key(key)), 1) - 1
        return _intern(below | _functionality_bit(DispatchKey.PythonDispatcher))

    def raw_repr(self) -> int:
        return self._repr

    def empty(self) -> bool:
        return self._repr == 0

    def has(self, key: DispatchKey) -> bool:
        """Whether both the functionality and the backend of `key` are here.

        As in c10 this is a superset test over bits, so a key that owns no bit (Undefined, an alias) is in
        every set: ask `is_included_in_alias` about aliases.
        """
        bits = _bits(key)
        return self._repr & bits == bits

    def __contains__(self, key: DispatchKey) -> bool:
        return self.has(key)

    def has_backend(self, backend: BackendComponent) -> bool:
        bits = _bits(backend)
        return self._repr & bits == bits

    def has_all(self, other: DispatchKeySet) -> bool:
        """Whether every bit of `other` is here."""
        return self._repr & other._repr == other._repr

    def has_any(self, other: DispatchKeySet) -> bool:
        """Whether some bit of `other` is here.

        `other` may hold backends or per-backend functionalities but not both: the question would then
        have two meanings (c10 asserts it). Raises ValueError for such a set.
        """
        if other._repr & BACKEND_MASK and other._repr & PER_BACKEND_MASK:
            raise ValueError(
                f"has_any of backends and per-backend functionalities together: {other}"
            )
        return self._repr & other._repr != 0

    def is_superset_of(self, other: DispatchKeySet) -> bool:
        return self.has_all(other)

    def add(self, key: KeysLike) -> DispatchKeySet:
        return _intern(self._repr | _bits(key))

    def remove(self, key: DispatchKey) -> DispatchKeySet:
        """Without the functionality of `key`. Backend bits stay, as in c10: see `__sub__`."""
        return _intern(self._repr & ~(_bits(key) & ~BACKEND_MASK))

    def remove_backend(self, backend: BackendComponent) -> DispatchKeySet:
        return _intern(self._repr & ~_bits(backend))

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        return _intern(self._repr | other._repr)

    def __and__(self, other: DispatchKeySet) -> DispatchKeySet:
        try:
            return _recent[self._repr & other._repr]
        except KeyError:
            return _intern(self._repr & other._repr)

    def __xor__(self, other: DispatchKeySet) -> DispatchKeySet:
        return _intern(self._repr ^ other._repr)

    def __sub__(self, other: DispatchKeySet) -> DispatchKeySet:
        """Without the functionalities of `other`; its backend bits do not count.

        ({CPU} | {AutogradCUDA}) - {CPU} is {AutogradCPU, AutogradCUDA}: a backend stays as long as any
        functionality may still need it.
        """
        return _intern(self._repr & ~(other._repr & ~BACKEND_MASK))

    def index_of_highest_bit(self) -> int:
        """1 + the index of the highest bit, 0 for the empty set."""
        return self._repr.bit_length()

    def highest_functionality_key(self) -> DispatchKey:
        """The functionality of highest priority, Undefined if there is none."""
        return DispatchKey((self._repr >> NUM_BACKENDS).bit_length())

    def highest_backend_key(self) -> BackendComponent:
        return BackendComponent((self._repr & BACKEND_MASK).bit_length())

    def highest_priority_type_id(self) -> DispatchKey:
        """The runtime key that a call with this set dispatches to."""
        functionality = self.highest_functionality_key()
        if is_per_backend_functionality_key(functionality):
            return to_runtime_per_backend_functionality_key(
                functionality, self.highest_backend_key()
            )
        return functionality

    def backend_index(self) -> int:
        """Which of the per-backend masks belongs to this set: that of the highest backend, or the first."""
        return max((self._repr & BACKEND_MASK).bit_length() - 1, 0)

    def dispatch_table_index(self) -> int:
        """The slot that a call with this set runs (c10 `getDispatchTableIndexForDispatchKeySet`)."""
        return table_index(self._repr)

    def __iter__(self) -> Iterator[DispatchKey]:
        """Runtime keys in ascending order of functionality, then backend.

        A per-backend functionality without any backend yields nothing.
        """
        backends = [b for b in BackendComponent if b and self._repr >> (b - 1) & 1]
        rest = self._repr >> NUM_BACKENDS
        while rest:
            low = rest & -rest
            rest ^= low
            functionality = DispatchKey(low.bit_length())
            if is_per_backend_functionality_key(functionality):
                for backend in backends:
                    yield to_runtime_per_backend_functionality_key(functionality, backend)
            else:
                yield functionality

    def __bool__(self) -> bool:
        return self._repr != 0

    def __repr__(self) -> str:
        return f"DispatchKeySet({', '.join(key.name for key in self)})"

    def __reduce__(self) -> tuple[object, ...]:
        # Copies and pickles are the same object.
        return (DispatchKeySet.from_raw_repr, (self._repr,))


class _Reference(ref[DispatchKeySet]):
    """What the intern table holds."""

    __slots__ = ("representation",)
    representation: int


class KeysetMask(dict[DispatchKeySet, DispatchKeySet]):
    """`mask[keys]` is `keys & mask`, memoized: what a kernel redispatches to, for the cost of one lookup."""

    __slots__ = ("_mask",)

    def __init__(self, mask: DispatchKeySet) -> None:
        super().__init__()
        self._mask = mask

    def __missing__(self, keys: DispatchKeySet) -> DispatchKeySet:
        if len(self) >= RECENT_LIMIT:
            self.clear()
        found = self[keys] = keys & self._mask
        return found


def slot_offsets(table: KeyTable) -> list[tuple[int, int]]:
    """For each functionality its first slot, and the backend bits that choose among its slots."""
    blocks = dict(table.per_backend)
    rows, slot = [], 0
    for functionality in table.functionalities:
        count = len(table.backends) if functionality in blocks else 1
        rows.append((slot, (1 << count) - 1 if count > 1 else 0))
        slot += count
    return rows


OFFSETS_AND_MASKS = slot_offsets(TABLE)


def table_index(representation: int) -> int:
    """The table slot of a raw keyset: one column for a functionality, one per backend where it has any."""
    offset, mask = OFFSETS_AND_MASKS[(representation >> NUM_BACKENDS).bit_length()]
    return offset + ((representation & mask) >> 1).bit_length()


PER_BACKEND_MASK = key_sets(TABLE).bits(*[functionality for functionality, _ in TABLE.per_backend])
