// A backend with two devices, whose memory is that of the CPU. Its kernels note that they ran.
#include <ATen/ops/as_strided_native.h>
#include <backend_ops/PrivateUse1NativeFunctions.h>
#include <plain_device.h>

#include <string>

namespace backend_ops {

using plain_device::on_cpu;

namespace {

std::string noted;

void note(const std::string& kernel) {
  noted += (noted.empty() ? "" : " ") + kernel;
}

at::Tensor on_device(const at::Tensor& tensor) {
  const at::Tensor made =
      plain_device::make(tensor.sizes(), tensor.scalar_type());
  const at::Tensor to = on_cpu(made);
  to.copy_(tensor);
  return made;
}

} // namespace

at::Tensor PlainNativeFunctions::empty(
    at::IntArrayRef size,
    std::optional<at::ScalarType> dtype,
    std::optional<at::Layout>,
    std::optional<at::Device>,
    std::optional<bool>,
    std::optional<at::MemoryFormat> format) {
  return plain_device::make(size, c10::dtype_or_default(dtype), format);
}

at::Tensor PlainNativeFunctions::empty_strided(
    at::IntArrayRef size,
    at::IntArrayRef stride,
    std::optional<at::ScalarType> dtype,
    std::optional<at::Layout>,
    std::optional<at::Device>,
    std::optional<bool>) {
  return plain_device::make_strided(size, stride, c10::dtype_or_default(dtype));
}

at::Tensor PlainNativeFunctions::as_strided(
    const at::Tensor& self,
    at::IntArrayRef size,
    at::IntArrayRef stride,
    std::optional<int64_t> offset) {
  return at::native::as_strided_tensorimpl(self, size, stride, offset);
}

const at::Tensor& PlainNativeFunctions::resize_(
    const at::Tensor& self,
    at::IntArrayRef size,
    std::optional<at::MemoryFormat>) {
  note("resize_");
  plain_device::resize(self, size);
  return self;
}

at::Tensor PlainNativeFunctions::_copy_from(
    const at::Tensor& self,
    const at::Tensor& dst,
    bool) {
  note("_copy_from");
  on_cpu(dst).copy_(on_cpu(self));
  return dst;
}

at::Tensor PlainNativeFunctions::_copy_from_and_resize(
    const at::Tensor& self,
    const at::Tensor& dst) {
  note("_copy_from_and_resize");
  if (dst.sizes() != self.sizes()) {
    dst.resize_(self.sizes());
  }
  on_cpu(dst).copy_(on_cpu(self));
  return dst;
}

at::Tensor PlainNativeFunctions::add(
    const at::Tensor& self,
    const at::Tensor& other,
    const at::Scalar& alpha) {
  note("add");
  return on_device(at::add(on_cpu(self), on_cpu(other), alpha));
}

at::Tensor PlainNativeFunctions::mul(
    const at::Tensor& self,
    const at::Tensor& other) {
  note("mul");
  return on_device(at::mul(on_cpu(self), on_cpu(other)));
}

at::Tensor& PlainNativeFunctions::mul_out(
    const at::Tensor& self,
    const at::Tensor& other,
    at::Tensor& out) {
  note("mul_out");
  auto to = on_cpu(out);
  at::mul_out(to, on_cpu(self), on_cpu(other));
  return out;
}

at::Tensor PlainNativeFunctions::mm(
    const at::Tensor& self,
    const at::Tensor& mat2) {
  note("mm");
  return on_device(at::mm(on_cpu(self), on_cpu(mat2)));
}

std::tuple<at::Tensor, at::Tensor> PlainNativeFunctions::max(
    const at::Tensor& self,
    int64_t dim,
    bool keepdim) {
  note("max");
  const auto [values, indices] = at::max(on_cpu(self), dim, keepdim);
  return {on_device(values), on_device(indices)};
}

at::Tensor PlainNativeFunctions::isnan(const at::Tensor& self) {
  note("isnan");
  return on_device(at::isnan(on_cpu(self)));
}

at::Tensor PlainNativeFunctions::roll_symint(
    const at::Tensor& self,
    c10::SymIntArrayRef shifts,
    at::IntArrayRef dims) {
  note("roll_symint");
  return on_device(at::roll_symint(on_cpu(self), shifts, dims));
}

std::vector<at::Tensor> PlainNativeFunctions::unsafe_split(
    const at::Tensor& self,
    int64_t split_size,
    int64_t dim) {
  note("unsafe_split");
  std::vector<at::Tensor> parts;
  for (const auto& part : on_cpu(self).split(split_size, dim)) {
    parts.push_back(on_device(part));
  }
  return parts;
}

std::vector<at::Tensor> PlainNativeFunctions::_foreach_neg(
    at::TensorList self) {
  note("_foreach_neg");
  std::vector<at::Tensor> results;
  for (const auto& tensor : self) {
    results.push_back(on_device(-on_cpu(tensor)));
  }
  return results;
}

at::Tensor PlainNativeFunctions::arange(
    const at::Scalar& start,
    const at::Scalar& end,
    const at::Scalar& step,
    std::optional<at::ScalarType> dtype,
    std::optional<at::Layout>,
    std::optional<at::Device>,
    std::optional<bool>) {
  note("arange");
  return on_device(
      at::arange(start, end, step, at::TensorOptions().dtype(dtype)));
}

at::Tensor PlainNativeFunctions::square(const at::Tensor& self) {
  note("square");
  return at::mul(self, self);
}

std::string PlainNativeFunctions::ran(const at::Tensor&) {
  std::string found;
  std::swap(found, noted);
  return found;
}

} // namespace backend_ops

#include <backend_ops/verify_kernels.h>
