"""The kernels of the backend: what each does on the memory of the device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from toy_backend.device import from_cpu, on_cpu

_CPU: Any = torch.DispatchKeySet(torch._C.DispatchKey.CPU)


def empty(
    size: Sequence[int],
    *,
    dtype: Any,
    layout: Any,
    device: Any,
    pin_memory: Any,
    memory_format: Any,
) -> Tensor:
    return from_cpu(
        torch.empty(size, dtype=dtype, memory_format=memory_format or torch.contiguous_format)
    )


def empty_strided(
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: Any,
    layout: Any,
    device: Any,
    pin_memory: Any,
) -> Tensor:
    return from_cpu(torch.empty_strided(size, stride, dtype=dtype))


def copy_from(self: Tensor, dst: Tensor, non_blocking: bool) -> Tensor:
    on_cpu(dst).copy_(on_cpu(self))
    return dst


def local_scalar_dense(self: Tensor) -> Any:
    return on_cpu(self).item()


def as_strided(self: Tensor, size: Any, stride: Any, storage_offset: Any) -> Tensor:
    # The CPU's kernel sets sizes and strides and looks at nothing else, so it serves every device.
    call: Any = torch.ops.aten.as_strided.default
    result: Tensor = call.redispatch(_CPU, self, size, stride, storage_offset)
    return result


def view(self: Tensor, size: Any) -> Tensor:
    call: Any = torch.ops.aten.view.default
    result: Tensor = call.redispatch(_CPU, self, size)
    return result


def fill_(self: Tensor, value: Any) -> Tensor:
    on_cpu(self).fill_(value)
    return self


def zero_(self: Tensor) -> Tensor:
    return fill_(self, 0)


def add_out(self: Tensor, other: Tensor, *, alpha: Any, out: Tensor) -> Tensor:
    torch.add(on_cpu(self), on_cpu(other), alpha=alpha, out=on_cpu(out))
    return out


def sub_out(self: Tensor, other: Tensor, *, alpha: Any, out: Tensor) -> Tensor:
    torch.sub(on_cpu(self), on_cpu(other), alpha=alpha, out=on_cpu(out))
    return out


def mul_out(self: Tensor, other: Tensor, *, out: Tensor) -> Tensor:
    torch.mul(on_cpu(self), on_cpu(other), out=on_cpu(out))
    return out


def mm_out(self: Tensor, mat2: Tensor, *, out: Tensor) -> Tensor:
    torch.mm(on_cpu(self), on_cpu(mat2), out=on_cpu(out))
    return out


def addmm_out(
    self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any, alpha: Any, out: Tensor
) -> Tensor:
    torch.addmm(on_cpu(self), on_cpu(mat1), on_cpu(mat2), beta=beta, alpha=alpha, out=on_cpu(out))
    return out


def sum_out(self: Tensor, dim: Any, keepdim: bool, *, dtype: Any, out: Tensor) -> Tensor:
    torch.sum(on_cpu(self), dim or list(range(self.ndim)), keepdim, dtype=dtype, out=on_cpu(out))
    return out


def relu(self: Tensor) -> Tensor:
    return from_cpu(torch.relu(on_cpu(self)))


def threshold_backward_out(
    grad_output: Tensor, self: Tensor, threshold: Any, *, grad_input: Tensor
) -> Tensor:
    call: Any = torch.ops.aten.threshold_backward.grad_input
    call(on_cpu(grad_output), on_cpu(self), threshold, grad_input=on_cpu(grad_input))
    return grad_input


def log_softmax_out(self: Tensor, dim: int, half_to_float: bool, *, out: Tensor) -> Tensor:
    call: Any = torch.ops.aten._log_softmax.out
    call(on_cpu(self), dim, half_to_float, out=on_cpu(out))
    return out


def log_softmax_backward_out(
    grad_output: Tensor, output: Tensor, dim: int, input_dtype: Any, *, out: Tensor
) -> Tensor:
    call: Any = torch.ops.aten._log_softmax_backward_data.out
    call(on_cpu(grad_output), on_cpu(output), dim, input_dtype, out=on_cpu(out))
    return out


def nll_loss_out(
    self: Tensor,
    target: Tensor,
    weight: Any,
    reduction: int,
    ignore_index: int,
    *,
    output: Tensor,
    total_weight: Tensor,
) -> tuple[Tensor, Tensor]:
    call: Any = torch.ops.aten.nll_loss_forward.output
    outs = {"output": on_cpu(output), "total_weight": on_cpu(total_weight)}
    call(on_cpu(self), on_cpu(target), on_cpu(weight), reduction, ignore_index, **outs)
    return output, total_weight


def nll_loss_backward_out(
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    weight: Any,
    reduction: int,
    ignore_index: int,
    total_weight: Tensor,
    *,
    grad_input: Tensor,
) -> Tensor:
    call: Any = torch.ops.aten.nll_loss_backward.grad_input
    tensors = on_cpu(grad_output), on_cpu(self), on_cpu(target), on_cpu(weight)
    call(*tensors, reduction, ignore_index, on_cpu(total_weight), grad_input=on_cpu(grad_input))
    return grad_input


def squash_cpu(self: Tensor, scale: float) -> Tensor:
    return scale * self / (1 + self.abs())


def squash_toy(self: Tensor, scale: float) -> Tensor:
    return from_cpu(squash_cpu(on_cpu(self), scale))


def squash_slope_cpu(self: Tensor, scale: float) -> Tensor:
    return scale / (1 + self.abs()) ** 2


def squash_slope_toy(self: Tensor, scale: float) -> Tensor:
    return from_cpu(squash_slope_cpu(on_cpu(self), scale))
