"""Codes of the target `cpp-torch-stable`, TG530 to TG539: what libtorch's stable ABI cannot carry."""

from __future__ import annotations

from torchgen_lite.diagnostics.code import Code

_OPTIONS = "# [tool.torchgen_lite.target.cpp-torch-stable]\n# "

STABLE_CODES = (
    Code(
        "TG530",
        "type that the stable ABI cannot carry",
        "error",
        "libtorch converts `Tensor`, `int`, `SymInt`, `float`, `bool`, `str`, `ScalarType`, `Layout`, "
        "`Device`, `MemoryFormat`, `Generator`, and options and lists of these, from and to its stable "
        "ABI; a list of `bool` can be an argument and not a result. Any other type compiles, loads, and "
        "fails at the first call. `skip` leaves an operator out of the target.",
        "- func: mylib::scale(Tensor x, Scalar s) -> Tensor",
        "- func: mylib::scale(Tensor x, float s) -> Tensor",
    ),
    Code(
        "TG531",
        "structured kernel under the stable ABI",
        "error",
        "Structured kernels need classes of libtorch that its stable ABI does not have. Under the stable "
        "ABI each variant has a plain kernel; `skip` leaves the operator out of the target.",
        "- func: mylib::neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n"
        "  structured: True\n  dispatch:\n    CPU: neg_out",
        "- func: mylib::neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n"
        "  dispatch:\n    CPU: neg_out",
    ),
    Code(
        "TG532",
        "later libtorch than `target-version`",
        "error",
        "The stable ABI grows: lists, strings, devices, layouts and memory formats are carried from 2.10 "
        "on, generators from 2.13 on. `target-version` is the oldest libtorch that the library runs with.",
        f'{_OPTIONS}target-version = "2.9"\n- func: mylib::total(Tensor[] xs) -> Tensor',
        f'{_OPTIONS}target-version = "2.10"\n- func: mylib::total(Tensor[] xs) -> Tensor',
    ),
    Code(
        "TG533",
        "dispatch key that libtorch does not find by its name",
        "error",
        "Under the stable ABI a dispatch key is a text, and there are keys whose name libtorch prints "
        "but does not read. The library would abort when it is loaded.",
        "- func: mylib::f(Tensor x) -> Tensor\n  dispatch:\n    AutogradMTIA: f",
        "- func: mylib::f(Tensor x) -> Tensor\n  dispatch:\n    AutogradXLA: f",
    ),
    Code(
        "TG534",
        "tag that the stable ABI cannot carry",
        "warning",
        "The tag has no function in libtorch's stable ABI that gives its number; the operator is defined "
        "without it.",
        "- func: mylib::f_(Tensor(a!) self) -> Tensor(a!)\n  tags: inplace",
        "- func: mylib::f_(Tensor(a!) self) -> Tensor(a!)\n  tags: pointwise",
    ),
)
