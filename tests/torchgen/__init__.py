"""Facts that we derive from PyTorch's own file, compared with those that the installed torchgen derives."""
