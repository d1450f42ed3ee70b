"""Names and literals of C++."""

from __future__ import annotations

import doctest

from torchgen_lite.languages.cpp import text as cpp_text
from torchgen_lite.languages.cpp.signature import CppParameter
from torchgen_lite.languages.cpp.types import CType, Expression, const_ref


def test_examples_in_docstrings() -> None:
    assert doctest.testmod(cpp_text).failed == 0


def test_parameters() -> None:
    parameters = [
        CppParameter(const_ref(CType("at::Tensor")), "default"),
        CppParameter(CType("at::IntArrayRef"), "size", Expression("{0, 1}")),
    ]
    assert cpp_text.parameter_list(parameters) == "const at::Tensor& default_, at::IntArrayRef size"
    assert cpp_text.defaulted_list(parameters).endswith("size = {0, 1}")
