"""A kernel that is not what its schema says does not compile, and the compiler says where."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cpp.compiling import needs_compiler
from tests.cpp.stable_library import check, errors, generate_stable

pytestmark = [pytest.mark.torch, needs_compiler]

YAML = """\
- func: proven::blend(Tensor a, Tensor b, float s, bool clamp=False, int n=1) -> Tensor
  dispatch:
    CPU: blend_cpu
    Meta: blend_meta

- func: proven::split(Tensor x) -> (Tensor, int)
  dispatch:
    CPU: split
"""
KERNELS = """\
#include <torch/csrc/stable/tensor.h>
#include <tuple>

namespace proven {

torch::stable::Tensor blend_cpu(
    const torch::stable::Tensor& a,
    const torch::stable::Tensor& b,
    double s,
    bool clamp,
    int64_t n) {
  return a;
}

std::tuple<torch::stable::Tensor, int64_t> split(
    const torch::stable::Tensor& x) {
  return {x, 1};
}

} // namespace proven

#include <proven/verify_kernels.h>
"""
BLEND = "proven::blend: "


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("proof")
    generate_stable(made, YAML)
    return made


@pytest.mark.parametrize("standard", [17, 20])
def test_right_kernels_compile(folder: Path, standard: int) -> None:
    # blend_meta is not declared here, so it is not checked.
    done = check(folder, KERNELS, standard=standard)
    assert done.ok, done.messages


@pytest.mark.parametrize(
    ("old", "new", "places"),
    [
        # A flipped type.
        (
            "    double s,",
            "    int64_t s,",
            {
                "blend.h:4:38": BLEND
                + "kernel 'blend_cpu' must take 'double' for argument 's' (schema: float)"
            },
        ),
        # A swapped pair: both are wrong.
        (
            "    bool clamp,\n    int64_t n)",
            "    int64_t n,\n    bool clamp)",
            {
                "blend.h:4:47": BLEND
                + "kernel 'blend_cpu' must take 'bool' for argument 'clamp' (schema: bool)",
                "blend.h:4:59": BLEND
                + "kernel 'blend_cpu' must take 'int64_t' for argument 'n' (schema: int)",
            },
        ),
        # A missing argument.
        (
            "    bool clamp,\n",
            "",
            {"blend.h:4:4": BLEND + "kernel 'blend_cpu' must take 5 arguments"},
        ),
        # A wrong return.
        (
            "std::tuple<torch::stable::Tensor, int64_t> split",
            "std::tuple<torch::stable::Tensor, int32_t> split",
            {
                "split.h:4:32": "proven::split: kernel 'split' must return 'std::tuple<torch::stable::Tensor, int64_t>' (schema: (Tensor, int))"
            },
        ),
        # By value, and our prototype says otherwise: the linker would find no kernel.
        (
            "    const torch::stable::Tensor& b,",
            "    torch::stable::Tensor b,",
            {
                "blend.h:4:28": BLEND
                + "kernel 'blend_cpu' must take 'const torch::stable::Tensor&' for argument 'b' (schema: Tensor)"
            },
        ),
    ],
    ids=["flipped", "swapped", "missing", "returned", "by value"],
)
def test_wrong_kernels_do_not(folder: Path, old: str, new: str, places: dict[str, str]) -> None:
    assert old in KERNELS
    done = check(folder, KERNELS.replace(old, new))
    assert not done.ok
    found = {line.partition(": ")[0].rpartition("/")[2]: line for line in errors(done)}
    assert set(found) == set(places), done.messages
    for place, message in places.items():
        assert message in found[place]


def test_the_type_found_is_shown(folder: Path) -> None:
    # Only concepts show it, which C++17 lacks.
    done = check(folder, KERNELS.replace("    double s,", "    float s,"), standard=20)
    assert (
        "blend.h:4:38: error" in done.messages
        and "Found = float; Expected = double" in done.messages
    )


def test_prototypes_and_proof_do_not_stand_beside_each_other(folder: Path) -> None:
    done = check(folder, "#include <proven/kernels.h>\n#include <proven/verify_kernels.h>\n")
    assert "include kernels.h or verify_kernels.h" in done.messages
