"""Target `torch-stubs`: types for `torch.ops`, as a partial stub package that checkers lay over PyTorch."""
