"""The Python modules that kernels are in, read and not imported."""
