"""The target `cpp-torch`: libraries of operators for libtorch, in PyTorch's classic C++.

    include/<ns>/operators.h, functions.h, redispatch_functions.h, methods.h    calls.py, methods.py
    include/<ns>/kernels.h, verify_kernels.h, src/register_*.cpp                kernels.py, registrations.py
    include/<ns>/fallback.h, functionalize.h, autocast.h                        fallbacks.py

`model.py` has one operator as the target sees it, `types.py` its C++ types.
"""
