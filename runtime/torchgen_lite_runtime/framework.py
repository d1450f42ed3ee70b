# ruff: noqa: F403
"""The types that annotations name where a package has no tensor framework of its own."""

from importlib.util import find_spec

if find_spec("torchgen_lite") is not None:
    from torchgen_lite.runtime.framework import *
else:
    from ._own.runtime.framework import *
