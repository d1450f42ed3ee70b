"""What tests of generated C++ share."""

from __future__ import annotations

import pytest

from tests.cpp.compiling import precompile


@pytest.fixture(scope="session")
def precompiled() -> tuple[str, ...]:
    """The flags that use PyTorch's headers as one precompiled header."""
    return precompile()
