"""Codes of the target `cpp-torch`, TG540 to TG549: formulas, structured kernels, tags. TG540 is of Python's, too."""

from __future__ import annotations

from .code import Code

CPP_CODES = (
    Code(
        "TG540",
        "formula that the target's language has no words for",
        "error",
        "A derivative formula becomes C++, where functions take arguments by position and tensors have "
        "no attributes of Python's. Operators that the file declares may be given keyword arguments, and "
        "what is left can be a function in one of the `formula-headers`. Or it becomes Python, which has no lambdas of "
        "C++'s, no `*` before a value, and reserved words of its own.",
        """\
-- torchgen_lite.toml --
targets = ["cpp-torch"]
[target.cpp-torch]
namespace = "mylib"
-- native_functions.yaml --
- func: mylib::total(Tensor x) -> Tensor
  dispatch:
    CPU: total
  derivatives:
    x: grad.sum(dim=0)
$ torchgen-lite generate""",
        """\
-- torchgen_lite.toml --
targets = ["cpp-torch"]
[target.cpp-torch]
namespace = "mylib"
-- native_functions.yaml --
- func: mylib::total(Tensor x) -> Tensor
  dispatch:
    CPU: total
  derivatives:
    x: grad.sum(0)
$ torchgen-lite generate""",
    ),
    Code(
        "TG541",
        "formulas that no kernel is made for",
        "warning",
        "Gradients go through an operator that writes to `self` alone, or to nothing; an operator that "
        "writes elsewhere, or has a formula for a `Tensor[]?`, needs a kernel for Autograd written by "
        "hand. PyTorch's operators have "
        "PyTorch's formulas, beside which a backend may have its own under its key.",
        """\
-- torchgen_lite.toml --
targets = ["cpp-torch"]
[target.cpp-torch]
namespace = "mylib"
-- native_functions.yaml --
- func: mylib::swap_(Tensor(a!) self, Tensor(b!) other) -> Tensor(a!)
  dispatch:
    CPU: swap_
  derivatives:
    self: grad
    other: not_differentiable
$ torchgen-lite generate""",
        """\
-- torchgen_lite.toml --
targets = ["cpp-torch"]
[target.cpp-torch]
namespace = "mylib"
-- native_functions.yaml --
- func: mylib::swap_(Tensor(a!) self, Tensor(b!) other) -> Tensor(a!)
  dispatch:
    CPU: swap_
$ torchgen-lite generate""",
    ),
    Code(
        "TG543",
        "tag that libtorch does not have",
        "error",
        "A definition gives its tags to libtorch, whose enumeration `at::Tag` is closed, so that another tag "
        "does not compile. Tags that the configuration declares with `tags` are for other readers of the file; "
        "they are left out.",
        """\
-- torchgen_lite.toml --
targets = ["cpp-torch"]
[target.cpp-torch]
namespace = "mylib"
-- native_functions.yaml --
- func: mylib::relu(Tensor x) -> Tensor
  tags: pointwize  # torchgen-lite: ignore[TG111]
  dispatch:
    CPU: relu
$ torchgen-lite generate""",
        """\
-- torchgen_lite.toml --
targets = ["cpp-torch"]
[target.cpp-torch]
namespace = "mylib"
-- native_functions.yaml --
- func: mylib::relu(Tensor x) -> Tensor
  tags: pointwise
  dispatch:
    CPU: relu
$ torchgen-lite generate""",
    ),
)
