"""What is derived from PyTorch's own file, beside what the installed torchgen derives from it."""
