"""What tests of CUDA share: an operator with a kernel for it, and nvcc, which needs no GPU."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

# Where it usually is.
_TOOLKIT = Path("/usr/local/cuda")
_FOUND = shutil.which("nvcc") or shutil.which(_TOOLKIT / "bin" / "nvcc")
NVCC = _FOUND or "nvcc"
needs_nvcc = pytest.mark.skipif(_FOUND is None, reason="nvcc is not installed")


def toolkit() -> Path:
    """The folder that setuptools takes for the toolkit."""
    return _TOOLKIT if _TOOLKIT.is_dir() else Path(NVCC).resolve().parent.parent


def entry(namespace: str) -> str:
    return f"""
- func: {namespace}::twice(Tensor x) -> Tensor
  dispatch:
    CPU: twice_cpu
    CUDA: twice_cuda
"""


def _launched(namespace: str, headers: str, body: str) -> str:
    return f"""\
{headers}
namespace {namespace} {{

static __global__ void twice_each(const float* from, float* to, int64_t count) {{
  const int64_t i = blockIdx.x * int64_t{{blockDim.x}} + threadIdx.x;
  if (i < count) {{
    to[i] = 2 * from[i];
  }}
}}

{body}
}} // namespace {namespace}

#include <{namespace}/verify_kernels.h>
"""


def classic(namespace: str) -> str:
    """The kernels in C++ with `at::Tensor`, as a file `.cu`."""
    headers = "#include <ATen/core/Tensor.h>\n#include <ATen/ops/empty_like.h>\n"
    body = """\
at::Tensor twice_cuda(const at::Tensor& x) {
  const at::Tensor out = at::empty_like(x);
  const int64_t count = x.numel();
  twice_each<<<(count + 255) / 256, 256>>>(
      x.const_data_ptr<float>(), out.mutable_data_ptr<float>(), count);
  return out;
}
"""
    return _launched(namespace, headers, body)


def stable(namespace: str) -> str:
    """The same for the stable ABI, whose headers nvcc reads in a few seconds."""
    headers = "#include <torch/csrc/stable/ops.h>\n#include <torch/csrc/stable/tensor.h>\n"
    body = """\
torch::stable::Tensor twice_cuda(const torch::stable::Tensor& x) {
  const torch::stable::Tensor out = torch::stable::empty_like(x);
  const int64_t count = x.numel();
  twice_each<<<(count + 255) / 256, 256>>>(
      static_cast<const float*>(x.const_data_ptr()),
      static_cast<float*>(out.mutable_data_ptr()),
      count);
  return out;
}
"""
    return _launched(namespace, headers, body)


_ON_CPU = {
    "cpp-torch": "at::Tensor twice_cpu(const at::Tensor& x) {\n  return at::mul(x, 2);\n}\n",
    "cpp-torch-stable": "Tensor twice_cpu(const Tensor& x) {\n  return scale_cpu(x, 2);\n}\n",
}


def add_kernels(project: Path, target: str, namespace: str) -> None:
    """Add the operator to a project that `init` started for a target."""
    schema = project / "ops.yaml"
    schema.write_text(schema.read_text() + entry(namespace))
    kernels = project / "src" / "kernels.cpp"
    before, end, after = kernels.read_text().partition(f"}} // namespace {namespace}")
    kernels.write_text(f"{before}{_ON_CPU[target]}\n{end}{after}")
    written = classic if target == "cpp-torch" else stable
    (project / "src" / "twice.cu").write_text(written(namespace))
    test = project / "tests" / f"test_{namespace}.py"
    test.write_text(f"{test.read_text()}{_TEST.replace('mylib', namespace)}")


_TEST = """\


def test_twice() -> None:
    assert torch.ops.mylib.twice(torch.ones(2)).tolist() == [2.0, 2.0]
"""
