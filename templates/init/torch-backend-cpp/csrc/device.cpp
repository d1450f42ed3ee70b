// A device whose memory is the CPU's: its memory, and the kernels that ops.yaml names.
#include <ATen/ATen.h>
#include <mylib/device.h>
#include <mylib/fallback.h>
#include <mylib/structured.h>

namespace mylib {

using at::IntArrayRef, at::Scalar, at::Tensor, std::optional;

namespace {

// Two devices, each with one stream, which runs synchronously with the CPU.
struct TwoDevices final : device::Guard {
  c10::DeviceIndex deviceCount() const noexcept override { return 2; }
};

struct Heap final : device::Memory {
  void* take(size_t bytes) override { return std::malloc(bytes); }
  void give_back(void* data) override { std::free(data); }
  size_t capacity(c10::DeviceIndex) const override { return size_t{1} << 34; }
  void copy_data(void* to, const void* from, size_t n) const override {
    default_copy_data(to, from, n);
  }
};

const bool is_installed =
    device::install(new TwoDevices, new Heap, new device::PinnedMemory, new device::Hooks);

// The same memory as a CPU tensor; a number among the arguments is one already.
Tensor on_cpu(const Tensor& x) {
  if (x.is_cpu())
    return x;
  const auto options = x.options().device(at::kCPU);
  Tensor same = at::from_blob(x.data_ptr(), x.sizes(), x.strides(), options);
  same._set_conj(x.is_conj());
  same._set_neg(x.is_neg());
  return same;
}

} // namespace

Tensor empty(IntArrayRef size, optional<at::ScalarType> dtype, optional<at::Layout>,
    optional<at::Device>, optional<bool> pinned, optional<at::MemoryFormat> format) {
  TORCH_CHECK(!pinned.value_or(false), "only memory of the CPU can be pinned");
  return device::empty(size, dtype, format);
}

Tensor empty_strided(IntArrayRef size, IntArrayRef stride, optional<at::ScalarType> dtype,
    optional<at::Layout>, optional<at::Device>, optional<bool>) {
  return device::empty_strided(size, stride, dtype);
}

Tensor copy_from(const Tensor& self, const Tensor& dst, bool) {
  on_cpu(dst).copy_(on_cpu(self));
  return dst;
}

Tensor copy_from_and_resize(const Tensor& self, const Tensor& dst) {
  return copy_from(self, dst.resize_(self.sizes()), false);
}

Tensor& fill_(Tensor& self, const Scalar& value) {
  on_cpu(self).fill_(value);
  return self;
}

Tensor relu(const Tensor& self) { return at::relu(on_cpu(self)).to(self.device()); }

TORCH_IMPL_FUNC(add_out)
(const Tensor& self, const Tensor& other, const Scalar& alpha, const Tensor& out) {
  Tensor to = on_cpu(out);
  at::add_out(to, on_cpu(self), on_cpu(other), alpha);
}

TORCH_IMPL_FUNC(mul_out)(const Tensor& self, const Tensor& other, const Tensor& out) {
  Tensor to = on_cpu(out);
  at::mul_out(to, on_cpu(self), on_cpu(other));
}

TORCH_IMPL_FUNC(mm_out)(const Tensor& self, const Tensor& mat2, const Tensor& out) {
  Tensor to = on_cpu(out);
  at::mm_out(to, on_cpu(self), on_cpu(mat2));
}

TORCH_IMPL_FUNC(sum_out)
(const Tensor& self, at::OptionalIntArrayRef dim, bool keepdim, optional<at::ScalarType> dtype,
    const Tensor& out) {
  Tensor to = on_cpu(out);
  at::sum_out(to, on_cpu(self), dim, keepdim, dtype);
}

Tensor convolution(const Tensor& input, const Tensor& weight, const optional<Tensor>& bias,
    IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed,
    IntArrayRef output_padding, int64_t groups) {
  const auto b = bias && bias->defined() ? optional(on_cpu(*bias)) : std::nullopt;
  const Tensor y = at::convolution(on_cpu(input), on_cpu(weight), b, stride, padding, dilation,
      transposed, output_padding, groups);
  return y.to(input.device());
}

std::tuple<Tensor, Tensor, Tensor> convolution_backward(const Tensor& grad, const Tensor& input,
    const Tensor& weight, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
    bool transposed, IntArrayRef output_padding, int64_t groups, std::array<bool, 3> mask) {
  auto [x, w, b] = at::convolution_backward(on_cpu(grad), on_cpu(input), on_cpu(weight),
      {{grad.size(1)}}, stride, padding, dilation, transposed, output_padding, groups, mask);
  const auto moved = [&](const Tensor& t) { return t.defined() ? t.to(grad.device()) : t; };
  return {moved(x), moved(w), moved(b)};
}

c10::Dict<std::string, int64_t> fell_back() { return fallback::counts(); }

void set_default_generator(optional<at::Generator> to) { device::set_default_generator(to); }

} // namespace mylib

// Operators without a kernel for the device run on copies in CPU memory.
TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<
      &mylib::device::with_generator<&mylib::fallback::counting_cpu_kernel>>());
}

#include <mylib/verify_kernels.h>
