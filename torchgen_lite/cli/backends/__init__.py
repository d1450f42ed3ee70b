"""`coverage` and `upgrade`: what authors of backends ask at each release of PyTorch."""
