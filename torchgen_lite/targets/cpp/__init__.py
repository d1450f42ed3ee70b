"""Views and options that the C++ targets share.

The templates of what they share, kernels, their proof and registrations, are in `templates/cpp`.
"""
