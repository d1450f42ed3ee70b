"""A library in Python, in the ways that people write them."""

import pylib_kernels as kernels
import torch
from torch.library import Library, custom_op, impl, register_autocast, register_fake, register_vmap

library = Library("pylib", "DEF")
library.define("muladd(Tensor a, Tensor b, float s=1.0) -> Tensor", tags=(torch.Tag.core,))
library.impl("muladd", kernels.muladd, "CPU")
library.impl("muladd", kernels.muladd, "CUDA")
library.define("total(Tensor[] xs, *, Scalar scale=1) -> Tensor")
library.impl("total", kernels.total, "CompositeExplicitAutograd")
library.impl("total", kernels.total_meta, "Meta")
library.define("fill(Tensor! x, float value) -> ()")
library.impl("fill", kernels.fill, "CPU")
library.define("scale.out(Tensor x, float s, *, Tensor(a!) out) -> Tensor(a!)")
impl(library, "scale.out", "CPU")(kernels.scale_out)
library.define("square(Tensor x) -> Tensor")
library.impl("square", kernels.square, "CPU")
library.impl("square", kernels.square_autograd, "Autograd")
library.define("alone(Tensor x) -> Tensor")

torch.library.define("pylib::pick", "(Tensor x, int? dim=None, str[]? names=None) -> (Tensor, int)")
torch.library.impl("pylib::pick", "CPU", kernels.pick)
register_fake("pylib::pick")(kernels.pick_fake)
register_fake("pylib::muladd", kernels.muladd_fake)
register_vmap("pylib::muladd", kernels.muladd_vmap)
register_autocast("pylib::muladd", "cpu", torch.float32)

power = custom_op("pylib::power", kernels.power, mutates_args=(), device_types="cpu")
power.register_fake(kernels.power_fake)
