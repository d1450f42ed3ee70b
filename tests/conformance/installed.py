"""Which release the installed torch is."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

import pytest

from torchgen_lite.key_tables import CURRENT, table_of
from torchgen_lite.loader.versions import parse_version


def installed_release() -> tuple[int, ...]:
    """The version of the installed torch as numbers, () where there is none."""
    try:
        return parse_version(version("torch"))
    except PackageNotFoundError:
        return ()


KEYS = table_of(installed_release())

needs_the_keys_of_the_runtime = pytest.mark.skipif(
    KEYS is not CURRENT, reason="this release has other keys than our dispatcher"
)
