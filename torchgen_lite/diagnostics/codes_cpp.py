"""Codes of the target `cpp-torch`, TG540 to TG549: formulas, structured kernels, tags.

TG540 also reports formulas that can't be expressed in Python.
"""

from __future__ import annotations

from .code import Code

CPP_CODES = (
    Code(
        "TG540",
        "formula that cannot be expressed in the target's language",
        "error",
        "A derivative formula is translated to C++ or Python. In C++, functions take arguments by "
        "position, and tensors lack attributes that they have in Python; only operators that the "
        "file declares may be given keyword arguments. Whatever else is needed can be a function in "
        "one of the `formula-headers`. Python has no C++ lambdas, no `*` before a value, and "
        "different reserved words.",
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
        "formulas from which no kernel is generated",
        "warning",
        "Autograd kernels are generated for operators that write only to `self`, or to nothing. An "
        "operator that writes to other arguments, or has a formula for a `Tensor[]?`, needs a "
        "handwritten kernel for Autograd. Operators of PyTorch use PyTorch's formulas; a backend can "
        "have its own under its dispatch key.",
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
        "Definitions pass their tags to libtorch as values of the enumeration `at::Tag`, so a tag "
        "that it lacks does not compile. Tags that the configuration declares with `tags` are for "
        "other readers of the file, and are left out.",
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
