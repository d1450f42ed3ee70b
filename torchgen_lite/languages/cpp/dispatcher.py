"""One operator as the dispatcher calls it: separate arguments in schema order, without defaults."""

from __future__ import annotations

from torchgen_lite.languages.cpp import public
from torchgen_lite.languages.cpp.public import Style
from torchgen_lite.languages.cpp.signature import CppSignature
from torchgen_lite.languages.cpp.torch_types import Sizes
from torchgen_lite.loader.entry import NativeFunction


def signature(function: NativeFunction, sizes: Sizes = "SymInt") -> CppSignature:
    """The signature of the unboxed call, `at::_ops::add_Tensor::call`: it has the public name and
    faithful parameters."""
    parameters = public.arguments(function, Style(faithful=True, symint=sizes == "SymInt"))
    return CppSignature(public.name(function.func), public.returns_type(function), parameters)
