"""The modules that are copied, as they are, into packages of target `torch-python`.

Every package has `_library.py`, which registers its operators; of the others each has those that one of its operators
needs, as `targets/torch_python/support.py` says. They need only torch.
"""
