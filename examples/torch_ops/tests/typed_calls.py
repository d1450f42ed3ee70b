"""Every operator, called as a function and through `torch.ops`. Type checkers know what each gives.

pip install --no-build-isolation . && python tests/typed_calls.py
"""

from __future__ import annotations

import torch
import torch_ops
from torch import Tensor
from typing_extensions import assert_type

ops = torch.ops.torch_ops
x, y = torch.randn(3, 4), torch.randn(3, 4)

# The functions of the package, which have docstrings and defaults.
assert_type(torch_ops.muladd(x, y, 0.5), Tensor)
assert_type(torch_ops.scale(x, s=3), Tensor)
assert_type(torch_ops.scale_(x.clone(), 3.0), Tensor)
assert_type(torch_ops.scale_out(x, 3.0, out=torch.empty(3, 4)), Tensor)
low, high = torch_ops.minmax(x)
assert_type((low, high), tuple[Tensor, Tensor])
assert_type(torch_ops.weighted_sum([x, y]), Tensor)
assert_type(torch_ops.weighted_sum((x, y), torch.ones(2), scale=2.0), Tensor)
assert_type(torch_ops.squares(4, dtype=torch.float64, device="cpu"), Tensor)
assert_type(torch_ops.rms_norm(x, torch.ones(4), eps=1e-5), Tensor)
assert_type(torch_ops.smooth_relu(x), Tensor)
assert_type(torch_ops.diagonal_view(x), Tensor)
assert_type(torch_ops.hinge(x, y), tuple[Tensor, Tensor])
assert_type(torch_ops.drift(x, y, _kernel=0.5), Tensor)
assert_type(torch_ops.column_sums(x), Tensor)

# The operators themselves, and their overloads.
assert_type(ops.muladd(x, y, 0.5), Tensor)
assert_type(ops.muladd.default(a=x, b=y, s=0.5), Tensor)
assert_type(ops.scale(x, 3.0), Tensor)
assert_type(ops.scale(x, 3.0, out=torch.empty(3, 4)), Tensor)
assert_type(ops.scale.out(x, 3.0, out=torch.empty(3, 4)), Tensor)
assert_type(ops.scale_.default(x.clone(), 3.0), Tensor)
assert_type(ops.minmax.default(x), tuple[Tensor, Tensor])
assert_type(ops.weighted_sum([x, y], None, scale=None), Tensor)
assert_type(ops.squares(4, dtype=None), Tensor)
assert_type(ops.rms_norm.default(x, torch.ones(4)), Tensor)
assert_type(ops.smooth_relu.overloads(), list[str])
assert_type(ops.diagonal_view.default(x), Tensor)
assert_type(ops.hinge(x, y, margin=0.5), tuple[Tensor, Tensor])
assert_type(ops.drift.default(x, y, 0.5), Tensor)
assert_type(ops.column_sums(x), Tensor)
assert_type(ops.muladd.default.name(), str)
assert_type(torch.ops.aten.add.Tensor(x, y, alpha=2), Tensor)
