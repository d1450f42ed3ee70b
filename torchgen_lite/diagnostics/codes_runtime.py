"""Codes of the target `cpp-runtime`, TG560 to TG569: what the C++ runtime has no way for."""

from __future__ import annotations

from .code import Code

RUNTIME_CODES = (
    Code(
        "TG560",
        "type without a C++ type",
        "error",
        "Tensors, numbers and texts have C++ types in target `cpp-runtime`. Any other type is one of the "
        "framework's, and its name in C++ stands under `types` in the options of the target. `skip` "
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
        "Structured kernels are classes that allocate their results, which only PyTorch's tensors have. "
        "In this target each variant has a plain kernel; `skip` leaves the operator out.",
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
        "derivatives that make no kernel",
        "warning",
        "Target `cpp-runtime` knows nothing of the framework's gradients, so it makes no autograd kernel "
        "from formulas. A kernel under `Autograd`, or under a key such as `AutogradCPU`, is written by "
        "hand and takes the keys of the call first.",
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
