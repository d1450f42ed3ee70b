"""C++ for libtorch's stable ABI: registrations, typed calls, kernels proven equal to their schemas."""
