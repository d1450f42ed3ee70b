"""The keysets that have a name in c10, and which runtime keys an alias key stands for."""

from __future__ import annotations

from collections.abc import Iterable

from ..key_sets import INCLUDED_BY_DEFAULT, key_sets
from .keys import TABLE, DispatchKey
from .keyset import DispatchKeySet

_K = DispatchKey
SETS = key_sets(TABLE)


def _set(names: Iterable[str]) -> DispatchKeySet:
    return DispatchKeySet(DispatchKey[name] for name in names)


AUTOGRAD = DispatchKeySet(_K.AutogradFunctionality, _K.AutogradOther, _K.AutogradNestedTensor)
"""c10 `autograd_dispatch_keyset`: only functionalities, without backend bits."""

AUTOGRAD_WITH_ADINPLACEORVIEW = AUTOGRAD.add(_K.ADInplaceOrView)

AUTOCAST = _set(SETS.autocast)

DEFAULT_INCLUDED = _set(INCLUDED_BY_DEFAULT)
DEFAULT_EXCLUDED = AUTOCAST

AUTOGRADOTHER_BACKENDS = _set(SETS.backends_of["AutogradOther"])
"""The backends whose autograd key is AutogradOther, as they have none of their own."""

AFTER_AUTOGRAD = DispatchKeySet.full_after(_K.AutogradOther)
AFTER_ADINPLACEORVIEW = DispatchKeySet.full_after(_K.ADInplaceOrView)
AFTER_FUNC = DispatchKeySet.full_after(_K.Functionalize).remove(_K.ADInplaceOrView)

PYTHON = DispatchKeySet(_K.Python, _K.PythonTLSSnapshot)
FUNCTORCH_TRANSFORMS = DispatchKeySet(
    _K.FuncTorchBatched,
    _K.FuncTorchVmapMode,
    _K.Batched,
    _K.VmapMode,
    _K.FuncTorchGradWrapper,
)

_RUNTIME_OF_ALIAS = {DispatchKey[alias]: _set(members) for alias, members in SETS.members.items()}
_OF_AUTOGRAD = {DispatchKey[key]: _set(backends) for key, backends in SETS.backends_of.items()}


def runtime_dispatch_keyset(key: DispatchKey) -> DispatchKeySet:
    """The keys that registering at `key` reaches: the members of an alias, or the key alone.

    c10 `getRuntimeDispatchKeySet`. Undefined gives the empty set.
    """
    return _RUNTIME_OF_ALIAS.get(key) or DispatchKeySet(key)


def is_included_in_alias(key: DispatchKey, alias: DispatchKey) -> bool:
    """Whether a kernel registered at `alias` serves `key` (c10 `isIncludedInAlias`); never for Undefined."""
    return key != _K.Undefined and runtime_dispatch_keyset(alias).has(key)


def backend_keyset_from_autograd(key: DispatchKey) -> DispatchKeySet:
    """The backends whose autograd this key is (c10 `getBackendKeySetFromAutograd`).

    AutogradCPU gives {CPU}; AutogradOther the backends without an autograd key of their own;
    AutogradNestedTensor every nested-tensor key; any other key the empty set, and so do the few autograd
    keys that `KeyTable.autograd_without_backend` names.
    """
    return _OF_AUTOGRAD.get(key) or DispatchKeySet()
