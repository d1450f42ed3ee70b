"""What tests of generated C++ share."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cpp.compiling import precompile


@pytest.fixture(scope="session")
def precompiled() -> Iterator[tuple[str, ...]]:
    """The flags that use PyTorch's headers as one precompiled header, which is half a gigabyte."""
    with tempfile.TemporaryDirectory() as folder:
        yield precompile(Path(folder))
