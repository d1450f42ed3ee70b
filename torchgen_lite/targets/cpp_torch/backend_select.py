"""BackendSelect kernels: where no argument is a tensor, dtype, layout and device choose the backend.

at::Tensor select_squares(int64_t n, ::std::optional<at::ScalarType> dtype, ...) {
  const c10::DispatchKeySet keys(c10::computeDispatchKey(dtype, layout, device));
  return mylib::ops::squares::redispatch(keys, n, dtype, layout, device, pin_memory);
}

PyTorch has these for its own operators, and torchgen makes them for no others.
"""

from __future__ import annotations

from torchgen_lite.dialects import cpp_text
from torchgen_lite.targets.cpp.model import Operator
from torchgen_lite.targets.cpp_torch.registrations import Registration
from torchgen_lite.targets.cpp_torch.wrappers import Wrapper


def backend_select(operator: Operator, key: str, namespace: str) -> Registration:
    """The registration of an operator that makes tensors of nothing and has a kernel for a backend."""
    wrapper = _wrapper(operator, namespace)
    return Registration(operator, key, f"TORCH_FN({wrapper.name})", wrapper, False)


def _wrapper(operator: Operator, namespace: str) -> Wrapper:
    names = [cpp_text.identifier(p.name) for p in operator.signature.parameters]
    keys = cpp_text.free_name("keys", names)
    passed = ", ".join([keys, *names])
    return Wrapper(
        f"select_{operator.flat}",
        operator.guard,
        operator.signature,
        (
            f"const c10::DispatchKeySet {keys}(c10::computeDispatchKey(dtype, layout, device));",
            f"return {namespace}::ops::{operator.flat}::redispatch({passed});",
        ),
        ("c10/core/TensorOptions.h", f"{namespace.replace('::', '/')}/operators.h"),
    )
