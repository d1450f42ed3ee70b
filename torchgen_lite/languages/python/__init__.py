"""One operator in Python: in our own runtime, in `torch.library`, and in PyTorch's API and stubs."""
