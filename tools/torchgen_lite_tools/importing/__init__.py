"""Existing operator libraries: read from their C++, or from what they register when loaded."""
