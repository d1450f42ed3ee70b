"""C++ for the header-only dispatcher: registrations, typed calls, and the proof of kernels."""
