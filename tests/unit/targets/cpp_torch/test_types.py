"""Signatures of a library's operators, with the types that libtorch accepts."""

from __future__ import annotations

import pytest

from tests.unit.languages_torch import entry
from torchgen_lite.languages.cpp import public
from torchgen_lite.targets.cpp_torch.types import own_types


@pytest.mark.parametrize(
    ("parameter", "expected"),
    [
        ("bool[] x=[]", "c10::List<bool> x = c10::List<bool>()"),
        ("bool[] x=[True]", "c10::List<bool> x = {true}"),
        ("str[] x=['a']", 'at::ArrayRef<c10::string_view> x = {"a"}'),
        ("int[][] x", "::std::vector<::std::vector<int64_t>> x"),
        ("Tensor(a!)? x", "const ::std::optional<at::Tensor>& x"),
        # The list has no default, since g++ 12 would give every function that of the first one.
        ("complex[] x=[1j]", "at::ArrayRef<c10::complex<double>> x"),
        # A schema allows a default before a parameter without one; C++ does not.
        ("int a=1, *, int b, int c=2", "int64_t a, int64_t b, int64_t c = 2"),
    ],
)
def test_parameters(parameter: str, expected: str) -> None:
    function = entry(f"my::f({parameter}) -> ()")
    signature = own_types(function, public.signature(function))
    assert str(signature) == f"void f({expected})"


def test_results_own_what_they_hold() -> None:
    function = entry("my::f() -> (str, bool[])")
    found = own_types(function, public.signature(function)).returns
    assert str(found) == "::std::tuple<::std::string, c10::List<bool>>"
