"""Target `device-tests`: PyTorch's own tests for the kernels of a backend, and probes of its device."""
