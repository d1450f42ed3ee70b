"""The boxed kernels of `fallback.h`, on a device that has memory and nothing else."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cpp.compiling import needs_compiler, quick_torch, write_files
from torchgen_lite.emit.render import render_files
from torchgen_lite.targets.cpp.layout import Layout, copied_files

pytestmark = [pytest.mark.torch, needs_compiler]

PROGRAM = r"""
#include <cstdlib>
#include <cstring>
#include <iostream>

#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <my_ops/fallback.h>

namespace {

constexpr auto kDevice = c10::DeviceType::PrivateUse1;

struct Memory final : c10::Allocator {
  c10::DataPtr allocate(size_t size) override {
    void* data = std::malloc(size);
    return {data, data, &std::free, c10::Device(kDevice, 0)};
  }
  c10::DeleterFnPtr raw_deleter() const override {
    return &std::free;
  }
  void copy_data(void* to, const void* from, size_t size) const override {
    std::memcpy(to, from, size);
  }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, c10::impl::NoOpDeviceGuardImpl<kDevice>);

Memory memory;
const c10::DispatchKeySet keys(c10::DispatchKey::PrivateUse1);

at::Tensor empty(
    c10::SymIntArrayRef size,
    std::optional<at::ScalarType> dtype,
    std::optional<at::Layout>,
    std::optional<at::Device>,
    std::optional<bool>,
    std::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(
      C10_AS_INTARRAYREF_SLOW(size), &memory, keys, c10::dtype_or_default(dtype), format);
}

at::Tensor empty_strided(
    c10::SymIntArrayRef size,
    c10::SymIntArrayRef stride,
    std::optional<at::ScalarType> dtype,
    std::optional<at::Layout>,
    std::optional<at::Device>,
    std::optional<bool>) {
  return at::detail::empty_strided_generic(
      C10_AS_INTARRAYREF_SLOW(size),
      C10_AS_INTARRAYREF_SLOW(stride),
      &memory,
      keys,
      c10::dtype_or_default(dtype));
}

at::Tensor copy_from(const at::Tensor& self, const at::Tensor& dst, bool) {
  std::memcpy(dst.mutable_data_ptr(), self.const_data_ptr(), self.nbytes());
  return dst;
}

at::Tensor copy_back(const at::Tensor& self, const at::Tensor& dst) {
  return copy_from(self, dst, false);
}

void print(const std::string& line) {
  std::cout << line << '\n';
}

} // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", &empty);
  m.impl("empty_strided", &empty_strided);
  m.impl("_copy_from", &copy_from);
  m.impl("_copy_from_and_resize", &copy_back);
  m.impl("mul.Tensor", my_ops::fallback::cpu());
  m.impl("exp.out", my_ops::fallback::counting_cpu());
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(my_ops::fallback::logging_cpu());
}

constexpr auto kMode = c10::DispatchKey::TESTING_ONLY_GenericMode;

TORCH_LIBRARY_IMPL(_, TESTING_ONLY_GenericMode, m) {
  m.fallback(my_ops::fallback::logging<kMode>());
}

int main() {
  my_ops::fallback::sink() = &print;
  at::Tensor x = at::arange(3, at::kFloat).to(kDevice);
  const at::Tensor sum = at::add(x, x);
  std::cout << sum.device() << ' ' << sum.cpu().sum().item<float>() << '\n';
  std::cout << at::mul(x, sum).cpu().sum().item<float>() << '\n';
  x.neg_();
  std::cout << x.cpu().sum().item<float>() << '\n';
  at::exp(at::exp(x));
  for (const auto& count : my_ops::fallback::counts()) {
    std::cout << count.key() << ' ' << count.value() << '\n';
  }
  const auto refused = [](const auto& call) {
    try {
      call();
    } catch (const c10::NotImplementedError& error) {
      std::cout << error.what_without_backtrace() << '\n';
    }
  };
  refused([&] { x.view({3, 1}); });
  refused([&] { at::_thnn_fused_lstm_cell(x, x, x); });
  refused([&] { at::native_batch_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5); });
  const at::Tensor cpu = at::ones({2});
  c10::impl::IncludeDispatchKeyGuard mode(kMode);
  std::cout << at::neg(cpu).const_data_ptr<float>()[0] << '\n';
}
"""

# `add` and `neg_` are made from their out variants, for which the fallback is asked; `mul` runs on the CPU in
# silence, `exp` is counted; a call in the mode goes on below it.
OUTPUT = """\
aten::add.out runs on CPU
privateuseone:0 6
10
aten::neg.out runs on CPU
-3
aten::exp.out 2
aten::view runs on CPU
aten::view returns a view, which a copy in CPU memory cannot be: the device needs a kernel for it
aten::_thnn_fused_lstm_cell runs on CPU
aten::_thnn_fused_lstm_cell cannot fall back to the CPU, which has no kernel for it: the device needs one
aten::native_batch_norm runs on CPU
aten::native_batch_norm writes running statistics, which its schema conceals, so they would be lost: \
the device needs a kernel for it
aten::neg at TESTING_ONLY_GenericMode
-1
"""


def test_what_a_backend_lacks_runs_on_cpu_and_says_so(tmp_path: Path) -> None:
    import torch

    layout = Layout("out", "my_ops", "my_ops", (None,))
    files = list(copied_files(layout, "cpp_torch", "fallback.h"))
    write_files(tmp_path, render_files(files, "ops.yaml"))
    (tmp_path / "program.cpp").write_text(PROGRAM)
    libraries = Path(torch.__file__).parent / "lib"
    command = [*quick_torch(), "-Iout/include", "program.cpp", "-o", "program"]
    command += [f"-L{libraries}", "-ltorch_cpu", "-lc10", f"-Wl,-rpath,{libraries}"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True, check=True)
    assert done.stdout == OUTPUT
