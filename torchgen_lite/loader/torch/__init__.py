"""What is known of PyTorch: the files and operators of an installed one, and lists of the newest release."""
