"""The output families, one line each. A target describes files; `emit` renders and writes them."""

from __future__ import annotations

from collections.abc import Iterable

from torchgen_lite.analysis.policy import (
    AUTOGRAD_KERNELS,
    STRUCTURED,
    TORCH_LIBRARY,
    UNKNOWN_VIEWS,
    Origin,
    Policy,
    refuses_libtorch,
)
from torchgen_lite.targets.output import OutputFile, Target, TargetResult
from torchgen_lite.targets.registry import Targets

_HERE = "torchgen_lite.targets"
TARGETS = Targets(
    Target(
        "python",
        "a Python package for the runtime dispatcher",
        f"{_HERE}.python.target:build_python",
        f"{_HERE}.python.options:PythonOptions",
        f"{_HERE}.python.target:select_python",
        policy=Policy("python", makes=STRUCTURED | AUTOGRAD_KERNELS | {Origin.backend_select}),
        is_closed=True,
        signatures=f"{_HERE}.signatures:of_python",
        author=f"{_HERE}.python.target:author_python",
        framework=f"{_HERE}.python.framework:registered_by_framework",
    ),
    Target(
        "cpp-torch",
        "C++ for libtorch: registrations, typed calls, and the proof of kernels",
        f"{_HERE}.cpp_torch.target:build_cpp_torch",
        f"{_HERE}.cpp_torch.options:TorchOptions",
        f"{_HERE}.cpp_torch.target:select_cpp_torch",
        policy=Policy(
            "cpp-torch",
            True,
            STRUCTURED
            | AUTOGRAD_KERNELS
            | UNKNOWN_VIEWS
            | {
                Origin.autocast,
                Origin.backend_select,
                Origin.copied,
                Origin.from_out,
                Origin.functionalize,
            },
            refuses_libtorch,
        ),
        signatures=f"{_HERE}.signatures:of_cpp_torch",
        author=f"{_HERE}.cpp_torch.target:author_cpp_torch",
    ),
    Target(
        "cpp-torch-stable",
        "C++ for libtorch's stable ABI: registrations, typed calls, kernels proven",
        f"{_HERE}.cpp_stable.target:build_cpp_stable",
        f"{_HERE}.cpp_stable.options:StableOptions",
        f"{_HERE}.cpp_stable.target:select_cpp_stable",
        policy=Policy("cpp-torch-stable", True),
        signatures=f"{_HERE}.signatures:of_cpp_stable",
        author=f"{_HERE}.cpp_stable.target:author_cpp_stable",
    ),
    Target(
        "cpp-runtime",
        "C++ for the header-only dispatcher: registrations, typed calls, kernels proven",
        f"{_HERE}.cpp_runtime.target:build_cpp_runtime",
        f"{_HERE}.cpp_runtime.options:RuntimeOptions",
        f"{_HERE}.cpp_runtime.target:select_cpp_runtime",
        policy=Policy("cpp-runtime"),
        signatures=f"{_HERE}.signatures:of_cpp_runtime",
        author=f"{_HERE}.cpp_runtime.target:author_cpp_runtime",
    ),
    Target(
        "torch-python",
        "Python for torch.library: schemas, fakes, autograd, typed functions, tests",
        f"{_HERE}.torch_python.target:build_torch_python",
        f"{_HERE}.torch_python.options:TorchPythonOptions",
        f"{_HERE}.torch_python.target:select_torch_python",
        policy=Policy("torch-python", True, TORCH_LIBRARY),
        signatures=f"{_HERE}.signatures:of_torch_python",
        author=f"{_HERE}.torch_python.target:author_torch_python",
    ),
    Target(
        "torch-stubs",
        "types for torch.ops, for type checkers and editors",
        f"{_HERE}.torch_stubs.target:build_torch_stubs",
        asks_torch=True,
        signatures=f"{_HERE}.signatures:of_torch_stubs",
    ),
    Target(
        "docs",
        "a reference of the operators, in Markdown or HTML",
        f"{_HERE}.docs.target:build_docs",
        f"{_HERE}.docs.options:DocsOptions",
    ),
)
# What is generated where nothing says otherwise.
DEFAULT_TARGETS = ("python",)


def asks_torch(names: Iterable[str]) -> bool:
    """Whether one of these targets wants to know what the installed PyTorch registers."""
    return any(TARGETS[name].asks_torch for name in names if name in TARGETS)


__all__ = ["DEFAULT_TARGETS", "TARGETS", "OutputFile", "Target", "TargetResult", "asks_torch"]
