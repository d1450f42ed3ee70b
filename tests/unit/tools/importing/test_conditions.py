"""Kernels and schemas under preprocessor conditions: what an entry can say, and what is refused by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result

Run = Callable[..., Result]

HEAD = """\
#include <torch/library.h>
at::Tensor f(const at::Tensor& x);
at::Tensor g(const at::Tensor& x);
at::Tensor h(const at::Tensor& x);
"""
DEF = 'm.def("f(Tensor x) -> Tensor");\n'
CPU = 'm.impl("f", torch::kCPU, &f);\n'
CUDA = 'm.impl("f", torch::kCUDA, &g);\n'


def imported(run: Run, body: str) -> Result:
    Path("ops.cpp").write_text(f"{HEAD}TORCH_LIBRARY(lib, m) {{\n{body}}}\n")
    return run("import", "ops.cpp", "--output-format", "concise")


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "condition",
    [
        "#ifdef WITH_CUDA",
        "#if defined(USE_CUDA) || defined(USE_ROCM)",
        "#if LIB_WITH_CUDA",
        "#if (defined(WITH_CUDA) || defined(WITH_HIP))",
        "#ifdef CUDA_FOUND",
    ],
)
def test_a_condition_that_says_that_the_device_is_there(run: Run, condition: str) -> None:
    """`register_cuda.cpp` is compiled where that is."""
    result = imported(run, f"{DEF}{CPU}{condition}\n{CUDA}#endif\n")
    assert result.code == 0, result.stderr
    assert "    CPU: ::f\n    CUDA: ::g\n" in result.stdout
    assert "guard" not in result.stdout


@pytest.mark.parametrize(
    "condition",
    [
        "#ifndef WITH_CUDA",
        "#ifndef CPU_ONLY",
        "#ifdef FAST",
        "#if defined(WITH_CUDA) && !defined(USE_ROCM)",
        "#if defined(WITH_CUDA) && CUDA_VERSION >= 12000",
        "#if WITH_CUDA >= 12",
        "#ifdef CUDA_HAS_FP16",
        "#if defined(WITH_CUDA) || defined(FAST)",
    ],
)
def test_a_condition_that_says_more_than_the_device(run: Run, condition: str) -> None:
    result = imported(run, f"{DEF}{CPU}{condition}\n{CUDA}#endif\n")
    assert result.code == 1
    assert "TG603" in result.stderr and "'lib::f' for CUDA" in result.stderr


def test_the_condition_of_a_device_on_a_kernel_of_every_build(run: Run) -> None:
    result = imported(run, f"{DEF}#ifdef WITH_CUDA\n{CPU}#endif\n")
    assert result.code == 1
    assert "TG603" in result.stderr and "'lib::f' for CPU" in result.stderr


@pytest.mark.parametrize(
    "branches",
    [
        "#ifdef A\n{0}#else\n{0}#endif\n",
        "#ifndef A\n{0}#else\n{0}#endif\n",
        "#if A > 1\n{0}#elif defined(B)\n{0}#else\n{0}#endif\n",
        "#ifdef A\n#if B\n{0}#else\n{0}#endif\n#else\n{0}#endif\n",
        "#ifdef A\n{0}#endif\n#ifndef A\n{0}#endif\n",
    ],
)
@pytest.mark.parametrize("statement", [DEF, CPU])
def test_the_same_in_every_branch(run: Run, branches: str, statement: str) -> None:
    around = "" if statement == DEF else DEF
    result = imported(run, around + branches.format(statement))
    assert result.code == 0, result.stderr
    assert "guard" not in result.stdout
    assert result.stdout.count("- func:") == 1


@pytest.mark.parametrize(
    ("branches", "said"),
    [
        (
            f"{DEF}#ifdef A\n{CPU}#else\n{CPU.replace('&f', '&h')}#endif\n",
            "has two kernels for CPU",
        ),
        (f"#ifdef A\n{DEF}#else\n{DEF.replace('x)', 'y)')}#endif\n", "is defined twice"),
        (f"{DEF}#ifdef A\n{CPU}#elif defined(B)\n{CPU}#endif\n", "has two kernels for CPU"),
        (f"{DEF}#ifdef A\n{CPU}#endif\n#ifndef B\n{CPU}#endif\n", "has two kernels for CPU"),
        (
            f"{DEF}#ifdef A\n{CPU.replace('&f', '[](at::Tensor x) { return x; }')}#else\n"
            f"{CPU.replace('&f', '[](at::Tensor x) { return -x; }')}#endif\n",
            "TG602",
        ),
    ],
)
def test_branches_that_differ_are_refused_by_name(run: Run, branches: str, said: str) -> None:
    result = imported(run, branches)
    assert result.code == 1
    assert said in result.stderr and "lib::f" in result.stderr


def test_a_schema_under_a_condition_has_it_as_its_guard(run: Run) -> None:
    both = f"#ifdef A\n#if B\n{DEF}#else\n{DEF}#endif\n#endif\n"
    result = imported(run, both)
    assert result.code == 0, result.stderr
    assert 'guard: "#ifdef A"' in result.stdout
