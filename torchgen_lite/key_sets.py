"""What a release's keys stand for: slots, members of aliases, backends of autograd keys, bits.

This module is pure like `key_tables.py`, from which it is derived, and any layer may import it. The
runtime has the same for the newest release, as enumerations and interned sets.
"""

from __future__ import annotations

from functools import cache, reduce
from itertools import chain
from operator import or_

from .key_tables import CURRENT, KeyTable

INCLUDED_BY_DEFAULT = ("BackendSelect", "ADInplaceOrView")
"""The keys that the local state initially adds to every call; it excludes `KeySets.autocast`."""

# The NonFunctional alias is for kernels that call views and in-place operators. Sparse cannot run
# such kernels, and XLA and Lazy functionalize by themselves.
_NOT_BY_VIEWS = ("Sparse",)
_FUNCTIONALIZE = ("XLA", "Lazy")


class KeySets:
    """The keys of a release as sets of names.

    `slots`: the keys with a slot in the dispatch table, in slot order, Undefined first.
    `members`: the runtime keys that each alias stands for (c10 `getRuntimeDispatchKeySet`).
    `backends_of`: for the slot of an autograd key, the backend keys that it serves (c10
    `getBackendKeySetFromAutograd`); empty for other keys, and for the few autograd keys that
    `KeyTable.autograd_without_backend` names.
    `backends`: the keys that stand for a backend: `CPU`, `SparseCUDA`, `Vulkan`.
    """

    def __init__(self, table: KeyTable) -> None:
        self.table = table
        self._blocks = dict(table.per_backend)
        self.autocast = tuple(n for n in table.functionalities if n.startswith("Autocast"))
        self.slots = tuple(chain.from_iterable(map(self._instances, table.functionalities)))
        autograd = self._of("AutogradOther", "AutogradFunctionality", "AutogradNestedTensor")
        backends = self._of(*table.of_backends)
        nested = self._of("NestedTensor")
        beside = self._of(*table.implicit_beside_backends)
        functional = {p + b for p in self._blocks.values() for b in _FUNCTIONALIZE}
        functional |= self._of(*_NOT_BY_VIEWS)
        self.members: dict[str, frozenset[str]] = {
            "Autograd": autograd,
            "CompositeImplicitAutograd": backends | autograd | nested | beside,
            "FuncTorchBatchedDecomposition": self._of("FuncTorchBatched"),
            "CompositeImplicitAutogradNestedTensor": nested | {"AutogradNestedTensor"},
            "CompositeExplicitAutograd": backends,
            "CompositeExplicitAutogradNonFunctional": backends - functional,
        }
        self.backends_of = {name: frozenset[str]() for name in self.slots}
        self.backends_of["AutogradOther"] = self._of(*table.of_backends[1:])
        self.backends_of["AutogradNestedTensor"] = nested
        for backend in table.backends:
            if backend not in table.autograd_without_backend:
                self.backends_of[f"Autograd{backend}"] = frozenset((backend,))
        self.backends = backends | nested
        self._bits = dict.fromkeys(table.aliases, 0)
        for value, functionality in enumerate(table.functionalities):
            bit = 1 << (len(table.backends) + value - 1) if value else 0
            self._bits[functionality] = bit
            if functionality in self._blocks:
                for i, name in enumerate(self._instances(functionality)):
                    self._bits[name] = bit | 1 << i

    def _instances(self, functionality: str) -> tuple[str, ...]:
        prefix = self._blocks.get(functionality)
        if prefix is None:
            return (functionality,)
        return tuple(prefix + backend for backend in self.table.backends)

    def _of(self, *functionalities: str) -> frozenset[str]:
        return frozenset(chain.from_iterable(map(self._instances, functionalities)))

    @property
    def building_blocks(self) -> tuple[str, ...]:
        """The functionalities that have a runtime key for each backend, such as `Dense`: no tensor has one alone."""
        return tuple(self._blocks)

    @property
    def backend_mask(self) -> int:
        return (1 << len(self.table.backends)) - 1

    @property
    def full_mask(self) -> int:
        return (1 << (len(self.table.backends) + len(self.table.functionalities) - 1)) - 1

    def parse(self, name: str) -> str:
        """The key of a name or a former name. Raises ValueError with c10's text for any other."""
        found = dict(self.table.former_names).get(name, name)
        if found not in self._bits:
            raise ValueError(f"could not parse dispatch key: {name}")
        return found

    def bits(self, *names: str) -> int:
        """c10's representation of a set: backend bits, and functionality bits above them.

        Undefined and aliases have no bits.
        """
        return reduce(or_, (self._bits[name] for name in names), 0)

    def highest(self, bits: int) -> str:
        """The runtime key that a call with this set dispatches to."""
        functionality = self.table.functionalities[(bits >> len(self.table.backends)).bit_length()]
        if functionality not in self._blocks:
            return functionality
        return self._instances(functionality)[max((bits & self.backend_mask).bit_length() - 1, 0)]

    def below(self, bits: int) -> int:
        """The keys that a kernel at the highest key redispatches to.

        They are the keys of lower priority, and all backends.
        """
        functionality = self._bits[self.highest(bits)] & ~self.backend_mask
        return bits & (max(functionality, 1) - 1)

    def names(self, bits: int) -> tuple[str, ...]:
        """The runtime keys of a set, in slot order."""
        return tuple(name for name in self.slots[1:] if self._bits[name] & bits == self._bits[name])


@cache
def key_sets(table: KeyTable = CURRENT) -> KeySets:
    """The sets of a release, made once."""
    return KeySets(table)
