"""The target `cpp-torch`: libraries of operators for libtorch, in PyTorch's classic C++.

    include/<ns>/operators.h, functions.h, redispatch_functions.h, methods.h    calls.py
    include/<ns>/kernels.h, verify_kernels.h                                    registrations.py
    src/register_*.cpp                                                          registrations.py, following.py

`model.py` has one operator as the target sees it, `types.py` its C++ types.
"""
