"""The rows of the matrix, in the order of the page."""

from importlib import import_module

for _name in (
    *("calls", "gradients", "functional", "batches", "compiled", "exported"),
    *("tensors", "distributed", "tools"),
):
    import_module(f"{__name__}.{_name}")
