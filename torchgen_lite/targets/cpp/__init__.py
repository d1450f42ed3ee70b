"""Views and options that the C++ targets share.

The templates of what they share, kernels and their proof, stand with those of `cpp-torch`.
"""
