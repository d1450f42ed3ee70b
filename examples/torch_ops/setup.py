"""Builds torch_ops/_C for libtorch, or for its stable ABI: TORCH_OPS_ABI=classic|stable."""

import os
import sys
import sysconfig
from pathlib import Path

import torch
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension, CUDAExtension

HERE = Path(__file__).resolve().parent
STABLE = os.environ.get("TORCH_OPS_ABI", "classic") == "stable"
GENERATED = Path("generated", "cpp-torch-stable" if STABLE else "cpp-torch")
KERNELS = Path("csrc_stable" if STABLE else "csrc")

# The module has no more than an init function, which keeps to Python's limited API: one build serves
# every Python from 3.10 on. A free-threaded Python has no limited API.
LIMITED = not sysconfig.get_config_var("Py_GIL_DISABLED")
# The oldest libtorch that the library has to run with: 2.13, or this one if it is older.
RELEASE = min((2, 13), tuple(int(part) for part in torch.__version__.split(".")[:2]))
if STABLE and RELEASE < (2, 10):
    sys.exit(f"TORCH_OPS_ABI=stable takes PyTorch 2.10 or later, and this is {torch.__version__}")
MACROS = (
    [("TORCH_TARGET_VERSION", f"0x{RELEASE[0]:02X}{RELEASE[1]:02X}000000000000")] if STABLE else []
)

# Kernels for CUDA, of which the example has none, are built where PyTorch has CUDA or ROCm, or as
# TORCH_OPS_CUDA=0|1 says.
HAS_CUDA = torch.version.cuda is not None or torch.version.hip is not None
REGISTRATIONS = HERE / GENERATED / "src"
for_cuda = {*REGISTRATIONS.glob("register_cuda*.cpp"), *(HERE / KERNELS).glob("*.cu")}
sources = {*REGISTRATIONS.glob("*.cpp"), *(HERE / KERNELS).glob("*.cpp")} - for_cuda
Extension = CppExtension
if for_cuda and os.environ.get("TORCH_OPS_CUDA", str(int(HAS_CUDA))) == "1":
    sources |= for_cuda
    Extension = CUDAExtension

setup(
    ext_modules=[
        Extension(
            "torch_ops._C",
            [str(path.relative_to(HERE)) for path in sorted(sources)],
            include_dirs=[str(HERE / GENERATED / "include")],
            define_macros=MACROS,
            extra_compile_args=["-O1"],
            py_limited_api=LIMITED,
        )
    ],
    cmdclass={"build_ext": BuildExtension},
    options={"bdist_wheel": {"py_limited_api": "cp310"}} if LIMITED else {},
)
