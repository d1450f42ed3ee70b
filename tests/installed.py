"""Which release the installed torch is, and what tests ask of it."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

import pytest

from torchgen_lite.key_tables import CURRENT, table_of
from torchgen_lite.loader.versions import parse_version


def installed_release() -> tuple[int, ...]:
    """The version of the installed torch as numbers, () if there is none."""
    try:
        return parse_version(version("torch"))
    except PackageNotFoundError:
        return ()


RELEASE = installed_release()
KEYS = table_of(RELEASE)

needs_the_keys_of_the_runtime = pytest.mark.skipif(
    KEYS is not CURRENT, reason="this release has other keys than our dispatcher"
)


def needs_torch(release: tuple[int, int], reason: str) -> pytest.MarkDecorator:
    """For what an older PyTorch has not got, or writes otherwise."""
    return pytest.mark.skipif(release > RELEASE, reason=reason)


todays_torchgen = needs_torch((2, 13), "torchgen spelled types and tags otherwise before 2.13")
