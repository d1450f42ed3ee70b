"""Codes of the target `cpp-runtime`, TG560 to TG569: what the C++ runtime does not support."""

from __future__ import annotations

from .code import Code

RUNTIME_CODES = (
    Code(
        "TG560",
        "type without a C++ type",
        "error",
        "Tensors, numbers and strings have C++ types in target `cpp-runtime`. All other types belong "
        "to the framework, and `types` in the options of the target gives their C++ names. `skip` "
        "leaves an operator out.",
        """\
-- torchgen_lite.toml --
targets = ["cpp-runtime"]
[target.cpp-runtime]
namespace = "mylib"
tensor = "mylib::Tensor"
-- native_functions.yaml --
- func: mylib::to(Tensor x, ScalarType dtype) -> Tensor
$ torchgen-lite generate""",
        """\
-- torchgen_lite.toml --
targets = ["cpp-runtime"]
[target.cpp-runtime]
namespace = "mylib"
tensor = "mylib::Tensor"
types = {ScalarType = "mylib::Dtype"}
-- native_functions.yaml --
- func: mylib::to(Tensor x, ScalarType dtype) -> Tensor
$ torchgen-lite generate""",
    ),
    Code(
        "TG561",
        "structured kernel in target `cpp-runtime`",
        "error",
        "Structured kernels are classes that allocate results, which only PyTorch has. In this "
        "target each variant needs a plain kernel; `skip` leaves the operator out.",
        """\
-- torchgen_lite.toml --
targets = ["cpp-runtime"]
[target.cpp-runtime]
namespace = "mylib"
tensor = "mylib::Tensor"
-- native_functions.yaml --
- func: mylib::neg(Tensor self) -> Tensor
  structured_delegate: neg.out
- func: mylib::neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: neg_out
$ torchgen-lite generate""",
        """\
-- torchgen_lite.toml --
targets = ["cpp-runtime"]
[target.cpp-runtime]
namespace = "mylib"
tensor = "mylib::Tensor"
-- native_functions.yaml --
- func: mylib::neg(Tensor self) -> Tensor
  dispatch:
    CPU: neg
- func: mylib::neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  dispatch:
    CPU: neg_out
$ torchgen-lite generate""",
    ),
    Code(
        "TG562",
        "derivatives from which no kernel is generated",
        "warning",
        "Target `cpp-runtime` knows nothing about the framework's gradients, so it generates no "
        "autograd kernels from formulas. Write a kernel for `Autograd`, or for a key such as "
        "`AutogradCPU`; its first parameter is the keys of the call.",
        """\
-- torchgen_lite.toml --
targets = ["cpp-runtime"]
[target.cpp-runtime]
namespace = "mylib"
tensor = "mylib::Tensor"
-- native_functions.yaml --
- func: mylib::neg(Tensor self) -> Tensor
  dispatch:
    CPU: neg
  derivatives:
    self: -grad
$ torchgen-lite generate""",
        """\
-- torchgen_lite.toml --
targets = ["cpp-runtime"]
[target.cpp-runtime]
namespace = "mylib"
tensor = "mylib::Tensor"
-- native_functions.yaml --
- func: mylib::neg(Tensor self) -> Tensor
  dispatch:
    CPU: neg
    Autograd: neg_autograd
  derivatives:
    self: -grad
$ torchgen-lite generate""",
    ),
)
