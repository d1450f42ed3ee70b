"""The runtime dispatcher: keys, keysets, libraries, operators, calls.

It needs the standard library alone. `Library.define` reads schemas with `torchgen_lite.schema`, which
is imported when it is first called; generated code never needs it.
"""

from torchgen_lite.runtime.arguments import (
    Dispatchable,
    list_keyset,
    optional_keyset,
    register_tensor_type,
    unregister_tensor_type,
)
from torchgen_lite.runtime.candidate import Candidate
from torchgen_lite.runtime.dispatcher import Dispatcher, RegistrationListener
from torchgen_lite.runtime.errors import (
    AmbiguousKernelError,
    DispatcherError,
    MissingKernelError,
    fallthrough_kernel,
)
from torchgen_lite.runtime.kernel import BoxedKernel, Kernel
from torchgen_lite.runtime.keys import (
    BackendComponent,
    DispatchKey,
    is_alias_dispatch_key,
    is_per_backend_functionality_key,
    parse_dispatch_key,
    to_backend_component,
    to_functionality_key,
    to_runtime_per_backend_functionality_key,
)
from torchgen_lite.runtime.keyset import DispatchKeySet, KeysetMask
from torchgen_lite.runtime.library import Library
from torchgen_lite.runtime.local_state import (
    AutoDispatchBelowADInplaceOrView,
    AutoDispatchBelowAutograd,
    AutoDispatchSkipFunctionalize,
    ExcludeDispatchKeyGuard,
    ForceDispatchKeyGuard,
    IncludeDispatchKeyGuard,
    InferenceMode,
    LocalState,
    below_adinplaceorview,
    below_autograd,
    is_inference_mode_enabled,
    isolated_generator,
    local_state,
    set_local_state,
    tls_is_dispatch_key_excluded,
    tls_is_dispatch_key_included,
    tls_local_dispatch_key_set,
    tls_set_dispatch_key_excluded,
    tls_set_dispatch_key_included,
)
from torchgen_lite.runtime.named_sets import (
    backend_keyset_from_autograd,
    is_included_in_alias,
    runtime_dispatch_keyset,
)
from torchgen_lite.runtime.observe import observe, trace
from torchgen_lite.runtime.operator import OperatorHandle
from torchgen_lite.runtime.packet import packet, redispatch_packet, with_overloads
from torchgen_lite.runtime.record import Record
from torchgen_lite.runtime.signature import Signature
from torchgen_lite.runtime.table import Cell

__all__ = [
    "AmbiguousKernelError",
    "AutoDispatchBelowADInplaceOrView",
    "AutoDispatchBelowAutograd",
    "AutoDispatchSkipFunctionalize",
    "BackendComponent",
    "BoxedKernel",
    "Candidate",
    "Cell",
    "DispatchKey",
    "DispatchKeySet",
    "Dispatchable",
    "Dispatcher",
    "DispatcherError",
    "ExcludeDispatchKeyGuard",
    "ForceDispatchKeyGuard",
    "IncludeDispatchKeyGuard",
    "InferenceMode",
    "Kernel",
    "KeysetMask",
    "Library",
    "LocalState",
    "MissingKernelError",
    "OperatorHandle",
    "Record",
    "RegistrationListener",
    "Signature",
    "backend_keyset_from_autograd",
    "below_adinplaceorview",
    "below_autograd",
    "fallthrough_kernel",
    "is_alias_dispatch_key",
    "is_included_in_alias",
    "is_inference_mode_enabled",
    "is_per_backend_functionality_key",
    "isolated_generator",
    "list_keyset",
    "local_state",
    "observe",
    "optional_keyset",
    "packet",
    "parse_dispatch_key",
    "redispatch_packet",
    "register_tensor_type",
    "runtime_dispatch_keyset",
    "set_local_state",
    "tls_is_dispatch_key_excluded",
    "tls_is_dispatch_key_included",
    "tls_local_dispatch_key_set",
    "tls_set_dispatch_key_excluded",
    "tls_set_dispatch_key_included",
    "to_backend_component",
    "to_functionality_key",
    "to_runtime_per_backend_functionality_key",
    "trace",
    "unregister_tensor_type",
    "with_overloads",
]
