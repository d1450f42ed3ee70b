"""Codes of the target `cpp-runtime`, TG560 to TG569: what the C++ runtime has no way for."""

from __future__ import annotations

from torchgen_lite.diagnostics.code import Code

_TYPES = "# [tool.torchgen_lite.target.cpp-runtime.types]\n# "

RUNTIME_CODES = (
    Code(
        "TG560",
        "type without a C++ type",
        "error",
        "Tensors, numbers and texts have C++ types in target `cpp-runtime`. Any other type is one of the "
        "framework's, and its name in C++ stands under `types` in the options of the target. `skip` "
        "leaves an operator out.",
        "- func: mylib::to(Tensor x, ScalarType dtype) -> Tensor",
        f'{_TYPES}ScalarType = "mylib::Dtype"\n'
        "- func: mylib::to(Tensor x, ScalarType dtype) -> Tensor",
    ),
    Code(
        "TG561",
        "structured kernel in target `cpp-runtime`",
        "error",
        "Structured kernels are classes that allocate their results, which only PyTorch's tensors have. "
        "In this target each variant has a plain kernel; `skip` leaves the operator out.",
        "- func: mylib::neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n"
        "  structured: True\n  dispatch:\n    CPU: neg_out",
        "- func: mylib::neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n"
        "  dispatch:\n    CPU: neg_out",
    ),
    Code(
        "TG562",
        "derivatives that make no kernel",
        "warning",
        "Target `cpp-runtime` knows nothing of the framework's gradients, so it makes no autograd kernel "
        "from formulas. A kernel under `Autograd`, or under a key such as `AutogradCPU`, is written by "
        "hand and takes the keys of the call first.",
        "- func: mylib::neg(Tensor self) -> Tensor\n  dispatch:\n    CPU: neg\n"
        "  derivatives:\n    self: -grad",
        "- func: mylib::neg(Tensor self) -> Tensor\n"
        "  dispatch:\n    CPU: neg\n    Autograd: neg_autograd\n  derivatives:\n    self: -grad",
    ),
)
