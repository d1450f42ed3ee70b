"""The output families, one line each. A target describes files; `emit` renders and writes them."""

from __future__ import annotations

from torchgen_lite.targets.output import OutputFile, Target, TargetResult

_HERE = "torchgen_lite.targets"
TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target(
            "python",
            "a Python package for the runtime dispatcher",
            f"{_HERE}.python.target:build_python",
        ),
        Target(
            "cpp-torch",
            "C++ for libtorch: registrations, typed calls, and the proof of kernels",
            f"{_HERE}.cpp_torch.target:build_cpp_torch",
        ),
        Target(
            "cpp-torch-stable",
            "C++ for libtorch's stable ABI: registrations, typed calls, kernels proven",
            f"{_HERE}.cpp_stable.target:build_cpp_stable",
        ),
        Target(
            "cpp-runtime",
            "C++ for the header-only dispatcher: registrations, typed calls, kernels proven",
            f"{_HERE}.cpp_runtime.target:build_cpp_runtime",
        ),
        Target(
            "torch-python",
            "Python for torch.library: schemas, fakes, autograd, typed functions, tests",
            f"{_HERE}.torch_python.target:build_torch_python",
        ),
        Target(
            "torch-stubs",
            "types for torch.ops, for type checkers and editors",
            f"{_HERE}.torch_stubs.target:build_torch_stubs",
        ),
    )
}
# What is generated where nothing says otherwise.
DEFAULT_TARGETS = ("python",)

__all__ = ["DEFAULT_TARGETS", "TARGETS", "OutputFile", "Target", "TargetResult"]
