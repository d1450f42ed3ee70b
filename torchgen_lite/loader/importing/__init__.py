"""Libraries of operators that exist: what their C++ says, and what is registered when they are loaded."""
