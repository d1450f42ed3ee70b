"""Structured kernels: meta and impl."""

from __future__ import annotations

from tests.unit.analysis_derive import derived
from torchgen_lite.analysis.derive.model import VariantGroup
from torchgen_lite.languages.cpp import structured

POOL = """\
- func: pool(Tensor self, int[2] kernel_size, Tensor? mask=None, Scalar? s=None) -> Tensor
  structured_delegate: pool.out
- func: pool.out(Tensor self, int[2] kernel_size, Tensor? mask=None, Scalar? s=None, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  precomputed:
  - kernel_size -> int kH, int kW
  - int outH, Tensor[] parts
  dispatch:
    CPU: pool_out_cpu
"""


def group(text: str) -> VariantGroup:
    (found,) = derived(text).groups
    return found


def test_meta_and_impl() -> None:
    pool = group(POOL)
    assert structured.name(pool) == "pool"
    assert structured.base_class(pool) == "at::impl::MetaBase"
    assert [p.declaration for p in structured.meta_arguments(pool)] == [
        "const at::Tensor& self",
        "at::IntArrayRef kernel_size",
        "at::OptionalTensorRef mask",
        "at::OptionalScalarRef s",
    ]
    assert [p.declaration for p in structured.impl_arguments(pool)] == [
        "const at::Tensor& self",
        "int64_t kH",
        "int64_t kW",
        "at::OptionalTensorRef mask",
        "at::OptionalScalarRef s",
        "int64_t outH",
        "const at::ITensorListRef& parts",
        "const at::Tensor& out",
    ]


def test_precomputed() -> None:
    pool = group(POOL)
    found = structured.precomputed(pool.out)
    assert [str(a) for a in found.elements] == ["int kH", "int kW", "int outH", "Tensor[] parts"]
    assert [m.declaration for m in structured.precomputed_members(pool)] == [
        "int64_t kH",
        "int64_t kW",
        "int64_t outH",
        "at::ITensorListRef parts",
    ]


def test_without_precomputed() -> None:
    add = group("""\
- func: add.Tensor(Tensor self, SymInt[] n) -> Tensor
  structured_delegate: add.out
- func: add.out(Tensor self, SymInt[] n, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  structured_inherits: TensorIteratorBase
  dispatch:
    CPU: add_out
""")
    assert structured.name(add) == "add_Tensor"
    assert structured.base_class(add) == "TensorIteratorBase"
    assert [p.declaration for p in structured.meta_arguments(add)] == [
        "const at::Tensor& self",
        "at::ArrayRef<int64_t> n",
    ]
