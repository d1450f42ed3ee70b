"""BackendSelect kernels: where no argument is a tensor, dtype, layout and device choose the backend.

at::Tensor select_squares(int64_t n, ::std::optional<at::ScalarType> dtype, ...) {
  const c10::DispatchKeySet keys(c10::computeDispatchKey(dtype, layout, device));
  return mylib::ops::squares::redispatch(keys, n, dtype, layout, device, pin_memory);
}

PyTorch has these for its own operators, and torchgen makes them for no others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchgen_lite.analysis.derive.layout import argument_layout, is_tensor_like
from torchgen_lite.analysis.kernels import own_kernels
from torchgen_lite.analysis.lint.dispatch import backend_keys
from torchgen_lite.analysis.namespaces import TORCH_NAMESPACES
from torchgen_lite.dialects import cpp_text
from torchgen_lite.targets.cpp.model import Operator
from torchgen_lite.targets.cpp_torch.registrations import Registration
from torchgen_lite.targets.cpp_torch.wrappers import Wrapper, wrapper_opening

KEY = "BackendSelect"


def backend_select(operators: Sequence[Operator], namespace: str) -> Iterator[Registration]:
    """A registration for each operator that makes tensors of nothing and has a kernel for a backend."""
    for operator in operators:
        if _needs_selection(operator):
            wrapper = _wrapper(operator, namespace)
            yield Registration(operator, KEY, f"TORCH_FN({wrapper.name})", wrapper, False)


def _needs_selection(operator: Operator) -> bool:
    if operator.function.namespace in TORCH_NAMESPACES:
        return False
    keys = {entry.key for entry in own_kernels(operator.function)}
    return (
        argument_layout(operator.schema).options is not None
        and not any(is_tensor_like(a.type) for a in operator.schema.arguments)
        and KEY not in keys
        and not backend_keys().isdisjoint(keys)
    )


def _wrapper(operator: Operator, namespace: str) -> Wrapper:
    names = [cpp_text.identifier(p.name) for p in operator.signature.parameters]
    keys = cpp_text.free_name("keys", names)
    select = "c10::computeDispatchKey(dtype, layout, device)"
    name = f"select_{operator.flat}"
    call = f"return {namespace}::ops::{operator.flat}::redispatch("
    return Wrapper(
        name,
        operator.guard,
        wrapper_opening(operator.signature, name),
        (
            cpp_text.call(f"const c10::DispatchKeySet {keys}(", [select], ");", indent=2),
            cpp_text.call(call, [keys, *names], ");", indent=2),
        ),
        ("c10/core/TensorOptions.h", f"{namespace.replace('::', '/')}/operators.h"),
    )
