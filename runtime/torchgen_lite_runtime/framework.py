# ruff: noqa: F403
"""The types that annotations name where a package has no tensor framework of its own."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING or find_spec("torchgen_lite") is None:
    from ._own.runtime.framework import *
else:
    from torchgen_lite.runtime.framework import *
