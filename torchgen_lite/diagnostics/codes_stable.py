"""Codes of target `cpp-torch-stable`, TG530 to TG539: what the stable ABI does not support."""

from __future__ import annotations

from .code import Code

STABLE_CODES = (
    Code(
        "TG530",
        "type that the stable ABI does not support",
        "error",
        "libtorch converts `Tensor`, `int`, `SymInt`, `float`, `bool`, `str`, `ScalarType`, "
        "`Layout`, `Device`, `MemoryFormat`, `Generator`, and options and lists of these, from and "
        "to its stable ABI; a list of `bool` can be an argument, but not a result. Any other type "
        "compiles and loads, but fails at the first call. `skip` leaves an operator out of the "
        "target.",
        """\
-- torchgen_lite.toml --
targets = ["cpp-torch-stable"]
[target.cpp-torch-stable]
namespace = "mylib"
-- native_functions.yaml --
- func: mylib::scale(Tensor x, Scalar s) -> Tensor
$ torchgen-lite generate""",
        """\
-- torchgen_lite.toml --
targets = ["cpp-torch-stable"]
[target.cpp-torch-stable]
namespace = "mylib"
-- native_functions.yaml --
- func: mylib::scale(Tensor x, float s) -> Tensor
$ torchgen-lite generate""",
    ),
    Code(
        "TG531",
        "structured kernel under the stable ABI",
        "error",
        "Structured kernels need classes of libtorch that its stable ABI does not have. Under the "
        "stable ABI each variant needs a plain kernel; `skip` leaves the operator out of the target.",
        """\
-- torchgen_lite.toml --
targets = ["cpp-torch-stable"]
[target.cpp-torch-stable]
namespace = "mylib"
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
targets = ["cpp-torch-stable"]
[target.cpp-torch-stable]
namespace = "mylib"
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
        "TG532",
        "type that needs a later libtorch than `target-version`",
        "error",
        "The stable ABI grows: lists, strings, devices, layouts and memory formats are supported "
        "from 2.10 on, generators from 2.13 on. `target-version` is the oldest libtorch that the "
        "library runs with.",
        """\
-- torchgen_lite.toml --
targets = ["cpp-torch-stable"]
[target.cpp-torch-stable]
namespace = "mylib"
target-version = "2.9"
-- native_functions.yaml --
- func: mylib::total(Tensor[] xs) -> Tensor
$ torchgen-lite generate""",
        """\
-- torchgen_lite.toml --
targets = ["cpp-torch-stable"]
[target.cpp-torch-stable]
namespace = "mylib"
target-version = "2.10"
-- native_functions.yaml --
- func: mylib::total(Tensor[] xs) -> Tensor
$ torchgen-lite generate""",
    ),
    Code(
        "TG533",
        "dispatch key that libtorch cannot look up by name",
        "error",
        "Under the stable ABI a dispatch key is passed as a string, and libtorch cannot parse the "
        "names of some keys that it prints. The library would abort when it is loaded.",
        """\
-- torchgen_lite.toml --
targets = ["cpp-torch-stable"]
[target.cpp-torch-stable]
namespace = "mylib"
-- native_functions.yaml --
- func: mylib::f(Tensor x) -> Tensor
  dispatch:
    AutogradMTIA: f
$ torchgen-lite generate""",
        """\
-- torchgen_lite.toml --
targets = ["cpp-torch-stable"]
[target.cpp-torch-stable]
namespace = "mylib"
-- native_functions.yaml --
- func: mylib::f(Tensor x) -> Tensor
  dispatch:
    AutogradXLA: f
$ torchgen-lite generate""",
    ),
    Code(
        "TG534",
        "tag that the stable ABI does not support",
        "warning",
        "libtorch's stable ABI has no function that returns the number of this tag; or `torch` in "
        "the configuration, or `target-version`, includes a release before 2.12, whose stable ABI "
        "has no tags at all. There, the operator is defined without the tag.",
        """\
-- torchgen_lite.toml --
targets = ["cpp-torch-stable"]
[target.cpp-torch-stable]
namespace = "mylib"
-- native_functions.yaml --
- func: mylib::f_(Tensor(a!) self) -> Tensor(a!)
  tags: inplace
$ torchgen-lite generate""",
        """\
-- torchgen_lite.toml --
targets = ["cpp-torch-stable"]
[target.cpp-torch-stable]
namespace = "mylib"
-- native_functions.yaml --
- func: mylib::f_(Tensor(a!) self) -> Tensor(a!)
  tags: pointwise
$ torchgen-lite generate""",
    ),
)
