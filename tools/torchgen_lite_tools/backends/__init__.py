"""`coverage` and `upgrade`: for backend authors, at each release of PyTorch."""
