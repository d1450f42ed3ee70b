"""What PyTorch derives from a schema file: variants, groups, views, tags, the backend index.

Pure functions of the functions read; nothing is looked up by an operator's name. `derive` is the
way in, and the rest are facts about one function that the dialects need.
"""

from __future__ import annotations

from torchgen_lite.analysis.derive.backend_index import BackendKernel, kernels_of
from torchgen_lite.analysis.derive.derive import derive
from torchgen_lite.analysis.derive.layout import ArgumentLayout, TensorOptions, argument_layout
from torchgen_lite.analysis.derive.model import Derived, VariantGroup, ViewGroup
from torchgen_lite.analysis.derive.registrations import Registration, registrations

__all__ = [
    "ArgumentLayout",
    "BackendKernel",
    "Derived",
    "Registration",
    "TensorOptions",
    "VariantGroup",
    "ViewGroup",
    "argument_layout",
    "derive",
    "kernels_of",
    "registrations",
]
