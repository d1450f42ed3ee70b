"""Existing libraries of operators: what their C++ says, and what is registered when they are loaded."""
