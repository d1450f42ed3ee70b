"""The keysets that have a name in c10, and which runtime keys an alias key stands for."""

from __future__ import annotations

from torchgen_lite.runtime.keys import (
    NUM_FUNCTIONALITIES,
    TABLE,
    BackendComponent,
    DispatchKey,
    parse_dispatch_key,
    to_backend_component,
    to_functionality_key,
)
from torchgen_lite.runtime.keyset import BACKEND_MASK, DispatchKeySet

_K = DispatchKey
ALL_BACKENDS = DispatchKeySet.from_raw_repr(BACKEND_MASK)

AUTOGRAD = DispatchKeySet(_K.AutogradFunctionality, _K.AutogradOther, _K.AutogradNestedTensor)
"""c10 `autograd_dispatch_keyset`: functionalities alone, without backend bits."""

AUTOGRAD_WITH_ADINPLACEORVIEW = AUTOGRAD.add(_K.ADInplaceOrView)

AUTOCAST = DispatchKeySet(
    key for key in map(DispatchKey, range(NUM_FUNCTIONALITIES)) if key.name.startswith("Autocast")
)

DEFAULT_INCLUDED = DispatchKeySet(_K.BackendSelect, _K.ADInplaceOrView)
DEFAULT_EXCLUDED = AUTOCAST

AUTOGRADOTHER_BACKENDS = ALL_BACKENDS | DispatchKeySet(
    _K.FPGA,
    _K.Vulkan,
    _K.Metal,
    _K.CustomRNGKeyId,
    _K.MkldnnCPU,
    _K.Sparse,
    _K.SparseCsr,
    _K.Quantized,
)
"""The backends whose autograd is AutogradOther, for want of a key of their own."""

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

BACKEND_FUNCTIONALITIES = DispatchKeySet(
    _K.Dense,
    _K.Quantized,
    _K.Sparse,
    _K.SparseCsr,
    _K.FPGA,
    _K.Vulkan,
    _K.Metal,
    _K.CustomRNGKeyId,
    _K.MkldnnCPU,
)
"""c10 `backend_functionality_keys` without NestedTensor, which has composite rules of its own."""

_BACKENDS = BACKEND_FUNCTIONALITIES | ALL_BACKENDS
_AUTOGRAD_RUNTIME = AUTOGRAD | ALL_BACKENDS
_NESTED = DispatchKeySet(_K.NestedTensor) | ALL_BACKENDS

# The NonFunctional alias serves kernels that call views and in-place operators inside; Sparse cannot run
# those, and XLA and Lazy functionalise by themselves.
_NON_FUNCTIONAL = _BACKENDS.remove(_K.Sparse)
for _backend in (BackendComponent.XLABit, BackendComponent.LazyBit):
    _NON_FUNCTIONAL = _NON_FUNCTIONAL.remove_backend(_backend)

_RUNTIME_OF_ALIAS: dict[DispatchKey, DispatchKeySet] = {
    _K.Autograd: _AUTOGRAD_RUNTIME,
    _K.CompositeImplicitAutograd: _BACKENDS | _AUTOGRAD_RUNTIME | _NESTED,
    _K.CompositeExplicitAutograd: _BACKENDS,
    _K.CompositeExplicitAutogradNonFunctional: _NON_FUNCTIONAL,
    _K.CompositeImplicitAutogradNestedTensor: DispatchKeySet(_K.AutogradNestedTensor) | _NESTED,
    _K.FuncTorchBatchedDecomposition: DispatchKeySet(_K.FuncTorchBatched),
}

COMPOSITE_KEYS = frozenset(
    {
        _K.CompositeImplicitAutograd,
        _K.CompositeExplicitAutograd,
        _K.CompositeExplicitAutogradNonFunctional,
    }
)
"""The aliases that also serve the Undefined slot: calls without a tensor."""


_WITHOUT_BACKEND = frozenset(
    {_K.AutogradFunctionality}
    | {parse_dispatch_key(f"Autograd{backend}") for backend in TABLE.autograd_without_backend}
)


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
    if key == _K.AutogradOther:
        return AUTOGRADOTHER_BACKENDS
    if key == _K.AutogradNestedTensor:
        return _NESTED
    if to_functionality_key(key) == _K.AutogradFunctionality and key not in _WITHOUT_BACKEND:
        return DispatchKeySet(_K.Dense, to_backend_component(key))
    return DispatchKeySet()
