"""NumPy kernels, one module for each family; the generated registrations import them by name."""
