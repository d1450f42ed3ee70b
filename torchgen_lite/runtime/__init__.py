"""The runtime dispatcher: keys, keysets, libraries, operators, calls.

It needs only the standard library. `Library.define` parses schemas with `schema/`, which is imported on the first
call; generated code never needs it.
"""

from .arguments import (
    Dispatchable,
    list_keyset,
    optional_keyset,
    register_tensor_type,
    unregister_tensor_type,
)
from .arithmetic import quotient, real_number, remainder
from .candidate import Candidate
from .dispatcher import Dispatcher, RegistrationListener
from .errors import (
    AmbiguousKernelError,
    DispatcherError,
    MissingKernelError,
    fallthrough_kernel,
)
from .interface import check_interface
from .kernel import BoxedKernel, Kernel
from .keys import (
    BackendComponent,
    DispatchKey,
    is_alias_dispatch_key,
    is_per_backend_functionality_key,
    parse_dispatch_key,
    to_backend_component,
    to_functionality_key,
    to_runtime_per_backend_functionality_key,
)
from .keyset import DispatchKeySet, KeysetMask
from .library import Library
from .local_state import (
    AutoDispatchBelowADInplaceOrView,
    AutoDispatchBelowAutograd,
    AutoDispatchSkipFunctionalize,
    ExcludeDispatchKeyGuard,
    ForceDispatchKeyGuard,
    IncludeDispatchKeyGuard,
    InferenceMode,
    LocalState,
    StateBelow,
    below_adinplaceorview,
    below_autograd,
    guards_without,
    inference_use,
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
from .named_sets import (
    backend_keyset_from_autograd,
    is_included_in_alias,
    runtime_dispatch_keyset,
)
from .observe import observe, trace
from .operator import OperatorHandle
from .packet import packet, redispatch_packet, take_numbers, with_overloads
from .record import Record
from .rows import row_kernel, uncovered
from .signature import Signature
from .table import Cell

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
    "StateBelow",
    "backend_keyset_from_autograd",
    "below_adinplaceorview",
    "below_autograd",
    "check_interface",
    "fallthrough_kernel",
    "guards_without",
    "inference_use",
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
    "quotient",
    "real_number",
    "redispatch_packet",
    "register_tensor_type",
    "remainder",
    "row_kernel",
    "runtime_dispatch_keyset",
    "set_local_state",
    "take_numbers",
    "tls_is_dispatch_key_excluded",
    "tls_is_dispatch_key_included",
    "tls_local_dispatch_key_set",
    "tls_set_dispatch_key_excluded",
    "tls_set_dispatch_key_included",
    "to_backend_component",
    "to_functionality_key",
    "to_runtime_per_backend_functionality_key",
    "trace",
    "uncovered",
    "unregister_tensor_type",
    "with_overloads",
]
