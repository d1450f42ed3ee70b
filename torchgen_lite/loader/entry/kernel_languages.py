"""The languages in which kernels of Python are written, as `language` in a row of `dispatch` names them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

TRITON = "triton"


class KernelLanguage(NamedTuple):
    """What people call it, the module that kernels in it import, the package that has this, and on which backends they
    run; on every one if it names none."""

    title: str
    module: str
    package: str
    backends: tuple[str, ...] = ()

    def runs_for(self, backend: str) -> bool:
        """Whether a kernel for a backend can be written in it; one for Meta computes nothing."""
        return backend != "Meta" and (not self.backends or backend in self.backends)


def is_traced_key(key: str) -> bool:
    """Whether compilers of PyTorch run kernels for the key themselves: those that are composed, and those of autograd."""
    return "Autograd" in key and not key.startswith("CompositeExplicit")


KERNEL_LANGUAGES: Mapping[str, KernelLanguage] = {
    "cutedsl": KernelLanguage("CuTe DSL", "cutlass", "nvidia-cutlass-dsl", ("CUDA",)),
    "cutile": KernelLanguage("cuTile", "cuda.tile", "cuda-tile", ("CUDA",)),
    # PyTorch for ROCm has its kernels under the keys of CUDA.
    "flydsl": KernelLanguage("FlyDSL", "flydsl", "flydsl", ("CUDA", "HIP")),
    "helion": KernelLanguage("Helion", "helion", "helion"),
    "numba": KernelLanguage("Numba", "numba", "numba", ("CPU", "CUDA")),
    "pallas": KernelLanguage("Pallas", "jax", "jax"),
    TRITON: KernelLanguage("Triton", "triton", "triton"),
}
"""Compilers of PyTorch look into those of Triton; calls of the others are opaque."""
