"""Target `torch-stubs`: types for `torch.ops`, as a partial stub package over PyTorch."""
