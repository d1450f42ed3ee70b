"""`python -m torchgen_lite_runtime` prints the folder where CMake finds the C++ dispatcher (torchgen_lite_DIR)."""

from pathlib import Path

print(Path(__file__).resolve().parent / "_own" / "cmake")
