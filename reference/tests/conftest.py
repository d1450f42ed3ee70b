"""The tests of the reference set skip, and are spread over processes, as all others."""

from tests.conftest import pytest_collection_modifyitems, pytest_xdist_make_scheduler

__all__ = ["pytest_collection_modifyitems", "pytest_xdist_make_scheduler"]
