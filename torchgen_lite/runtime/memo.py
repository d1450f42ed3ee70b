"""`KernelMemo`: the kernels that calls of an operator have been resolved to.

Note [The memo of resolved kernels]
A stub finds its kernel in `calls`, a nest of dictionaries keyed by the local state and then by the keyset of each
dispatching argument in schema order. Keysets and states are interned, so each level costs one look-up by identity.
Only a miss goes to `OperatorHandle.resolve`, which works the kernel out by c10's rules and keeps it here.
Registrations empty the memo. Both hold the dispatcher's lock, so that nothing resolved before a registration can be
kept after it; readers never wait. The memo is bounded: it is emptied when it has grown past `MEMO_LIMIT` entries.

The lock does not keep out what runs in the same thread: a signal handler or a kernel's `__del__` may register
while a call is being resolved. `OperatorEntry.changes` counts registrations; a plan, and what is kept, is valid only if
the count is the same as when it was begun. Removing a definition also removes the memo, since the stubs of the next
definition look up a different number of keysets.
"""

from __future__ import annotations

from typing import Any

from .extractor import KeysetPath
from .kernel import KernelCallable
from .keyset import DispatchKeySet
from .local_state import LocalState

MEMO_LIMIT = 1024


class KernelMemo:
    """The kernels of one definition: `calls` as above, `redispatches` by keyset. Stubs hold both dictionaries."""

    __slots__ = ("_size", "calls", "redispatches")

    def __init__(self) -> None:
        self.calls: dict[Any, Any] = {}
        self.redispatches: dict[DispatchKeySet, KernelCallable] = {}
        self._size = 0

    def keep_call(self, state: LocalState, path: KeysetPath, bound: KernelCallable) -> None:
        if self._size >= MEMO_LIMIT:
            self.calls.clear()
            self._size = 0
        self._size += 1
        level = self.calls
        *outer, last = (state, *path)
        for key in outer:
            level = level.setdefault(key, {})
        level[last] = bound

    def keep_redispatch(self, keyset: DispatchKeySet, bound: KernelCallable) -> None:
        if len(self.redispatches) >= MEMO_LIMIT:
            self.redispatches.clear()
        self.redispatches[keyset] = bound

    def clear(self) -> None:
        self.calls.clear()
        self.redispatches.clear()
        self._size = 0
