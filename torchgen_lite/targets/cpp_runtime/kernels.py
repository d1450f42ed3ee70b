"""Which kernels the author writes: `kernels.h` declares them, `verify_kernels.h` proves them.

Note [Kernels above the backends]
A kernel for a backend, or for all of them, takes the arguments of the schema. One for a key above
them (`Autograd`, `ADInplaceOrView`, a mode) does its work and redispatches below its key, so it
takes the keys of the call as its first argument:

    toy::Tensor mul_autograd(torchgen_lite::DispatchKeySet keys, const toy::Tensor& self, ...) {
      auto result = ops::mul::redispatch(keys & torchgen_lite::after_autograd_keyset, self, ...);
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchgen_lite.analysis.kernels import KernelEntry
from torchgen_lite.key_tables import CURRENT
from torchgen_lite.languages.cpp import runtime
from torchgen_lite.languages.cpp.runtime import Types
from torchgen_lite.languages.cpp.signature import CppSignature, signature_headers
from torchgen_lite.targets.cpp.layout import Blocks, Layout, include_blocks
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp.proof import proof_files
from torchgen_lite.targets.cpp.required import Kernel, kernels_headers
from torchgen_lite.targets.cpp_runtime.options import RuntimeOptions
from torchgen_lite.targets.output import OutputFile

_ABOVE = CURRENT.functionalities[CURRENT.functionalities.index("BackendSelect") + 1 :]
_PREFIXES = [prefix for name, prefix in CURRENT.per_backend if name in _ABOVE]
# The keys whose kernels take the keys of the call.
ABOVE_BACKENDS = frozenset(
    [*_ABOVE, *_PREFIXES, *[prefix + b for prefix in _PREFIXES for b in CURRENT.backends]]
)


def kernel_signature(operator: CppOperator, entry: KernelEntry, types: Types) -> CppSignature:
    """The signature of the typed call, preceded by the keys of the call if the kernel is above the backends."""
    if entry.key not in ABOVE_BACKENDS:
        return operator.signature
    schema = operator.schema
    return runtime.signature(schema, schema.base_name, types, keyset=True)


def build_kernels(
    kernels: Sequence[Kernel], layout: Layout, options: RuntimeOptions
) -> Iterator[OutputFile]:
    """Prototypes and proof; no prototypes if the author's headers declare the kernels."""

    def includes(own: Sequence[Kernel]) -> Blocks:
        headers = signature_headers(k.signature for k in own)
        return [*include_blocks(headers), *options.framework_headers]

    if not options.kernel_headers:
        yield from kernels_headers(layout, kernels, includes(kernels))
    yield from proof_files(layout, kernels, includes, is_boxed=False)
