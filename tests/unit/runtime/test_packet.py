"""Choosing among overloads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.unit.runtime.helpers import T, keyset
from torchgen_lite.runtime import Candidate, packet, redispatch_packet

X = T("CPU")


class Stub:
    """Returns how it was called. Its parameters are those of the given function."""

    def __init__(self, name: str, parameters: Any) -> None:
        self.name = name
        self.__code__ = parameters.__code__
        self.__defaults__ = parameters.__defaults__
        self.__kwdefaults__ = parameters.__kwdefaults__

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.name, arguments, keywords

    def redispatch(self, *arguments: Any, **keywords: Any) -> Any:
        return f"redispatch {self.name}", arguments, keywords


ADD = (
    Candidate(
        Stub("Tensor", lambda self, other, *, alpha=1: 0),
        ("Tensor", "Tensor", "Scalar"),
        Stub("out", lambda self, other, *, alpha=1, out: 0),
    ),
    Candidate(Stub("Scalar", lambda self, other, alpha=1: 0), ("Tensor", "Scalar", "Scalar")),
)
add = packet("add", *ADD)


@pytest.mark.parametrize(
    ("arguments", "keywords", "answer"),
    [
        ((X, X), {}, ("Tensor", (X, X), {})),
        ((X, 1), {}, ("Scalar", (X, 1), {})),
        ((X, 1.5, 2), {}, ("Scalar", (X, 1.5, 2), {})),
        ((X,), {"other": X, "alpha": 2}, ("Tensor", (X,), {"other": X, "alpha": 2})),
        ((X, X), {"out": X}, ("out", (X, X), {"out": X})),
        ((X, X), {"out": None}, ("Tensor", (X, X), {})),
    ],
)
def test_the_first_that_fits(arguments: Any, keywords: Any, answer: Any) -> None:
    assert add(*arguments, **keywords) == answer


@pytest.mark.parametrize(
    ("arguments", "keywords", "given"),
    [
        ((), {}, ""),
        ((X,), {}, "T"),
        ((X, "a"), {}, "T, str"),
        ((X, X, 1), {}, "T, T, int"),
        ((X, X), {"beta": 1}, "T, T, beta=int"),
        ((X, X), {"other": X}, "T, T, other=T"),
        ((X, 1), {"out": X}, "T, int, out=T"),
    ],
)
def test_none_fits(arguments: Any, keywords: Any, given: str) -> None:
    with pytest.raises(TypeError) as caught:
        add(*arguments, **keywords)
    assert str(caught.value) == (
        f"add() received an invalid combination of arguments - got ({given}), but expected one of:\n"
        " * (Tensor self, Tensor other, *, Scalar alpha=..., out=None)\n"
        " * (Tensor self, Scalar other, Scalar alpha=...)"
    )


class One(T):
    """A tensor without dimensions."""

    shape = ()
    requires_grad = False

    def item(self) -> int:
        return 2


def test_tensors_without_dimensions_stand_for_numbers() -> None:
    two = One("CPU")
    assert add(X, two) == ("Tensor", (X, two), {})
    assert add(X, X, alpha=two) == ("Tensor", (X, X), {"alpha": 2})
    assert add(X, 1, two) == ("Scalar", (X, 1, 2), {})
    sizes = packet("f", Candidate(Stub("f", lambda self, size: 0), ("Tensor", "int[]"), varargs=1))
    assert sizes(X, two, 3) == sizes(X, 2, two)[:1] + ((X, (2, 3)), {})
    assert sizes(X, [two, 3]) == ("f", (X, [2, 3]), {})
    recorded = One("CPU")
    recorded.requires_grad = True
    for wrong in (X, recorded):
        with pytest.raises(TypeError, match="invalid combination"):
            add(X, X, alpha=wrong)


class Slotted:
    """A tensor type with slots, so a packet knows that all its objects are tensors."""

    __slots__ = ("_dispatch_keyset",)

    def __init__(self) -> None:
        self._dispatch_keyset = keyset("CPU")


def test_what_is_remembered_by_types_is_what_fits() -> None:
    fresh = packet("add", *ADD)
    x = Slotted()
    for _ in range(2):
        assert fresh(x, x) == ("Tensor", (x, x), {})
        assert fresh(x, 1) == fresh(x, other=1)[:1] + ((x, 1), {})
        assert fresh(x, 1, True) == ("Scalar", (x, 1, True), {})
        assert fresh(x, x, out=x) == ("out", (x, x), {"out": x})
        with pytest.raises(TypeError, match=r"got \(Slotted, str\)"):
            fresh(x, "a")


def test_of_lists_the_elements_decide() -> None:
    one = packet(
        "one",
        Candidate(Stub("tensors", lambda items: 0), ("Tensor[]",)),
        Candidate(Stub("ints", lambda items: 0), ("int[]",)),
    )
    x = Slotted()
    calls: list[Any] = [[x], [1], (2, 3), [x], (1,), [], [1]]
    found = [one(items)[0] for items in calls]
    assert found == ["tensors", "ints", "ints", "tensors", "ints", "tensors", "ints"]
    for wrong in ([1, x], [1, "a"], "ab"):
        with pytest.raises(TypeError):
            one(wrong)


def test_redispatch_packet() -> None:
    keys = keyset("CPU")
    redispatch = redispatch_packet(add)
    assert redispatch(keys, X, 1) == ("redispatch Scalar", (keys, X, 1), {})
    assert redispatch(keys, X, X, out=X) == ("redispatch out", (keys, X, X), {"out": X})
    assert redispatch.__name__ == "add" and redispatch.__module__ == __name__


def test_required_keywords_and_several_outputs() -> None:
    def two(x: Any, *, n: Any, a: Any, b: Any) -> None: ...

    stub = Stub("two", two)
    only_out = packet("two", Candidate(stub, ("Tensor", "int"), stub, ("a", "b")))
    assert only_out(X, n=1, out=(X, X)) == ("two", (X,), {"n": 1, "a": X, "b": X})
    with pytest.raises(TypeError, match=r"\* \(Tensor x, \*, int n, out=None\)"):
        only_out(X, out=(X, X))


MIXED = packet(
    "f",
    Candidate(
        Stub("Tensor", lambda self, other: 0),
        ("Tensor", "Tensor"),
        Stub("out", lambda self, other, *, out: 0),
    ),
    Candidate(Stub("S", lambda self, out: 0), ("Tensor", "int")),
)


@pytest.mark.parametrize("function", [MIXED, redispatch_packet(MIXED)])
def test_out_is_an_ordinary_argument_of_one_overload_alone(function: Any) -> None:
    """The others have their out variants."""
    first = () if function is MIXED else (keyset("CPU"),)
    prefix = "" if function is MIXED else "redispatch "
    assert function(*first, X, X, out=X) == (f"{prefix}out", (*first, X, X), {"out": X})
    assert function(*first, X, X, out=None) == (f"{prefix}Tensor", (*first, X, X), {})
    assert function(*first, X, out=3) == (f"{prefix}S", (*first, X), {"out": 3})


class size(int):
    """A subclass of int is an integer, too."""


def test_separate_integers_are_a_list() -> None:
    view = packet(
        "view", Candidate(Stub("view", lambda self, size: 0), ("Tensor", "int[]"), varargs=1)
    )
    assert view(X, 2, 3) == view(X, (2, 3)) == ("view", (X, (2, 3)), {})
    assert view(X, -1) == ("view", (X, (-1,)), {})
    x = Slotted()
    for _ in range(2):
        # The second time, the packet remembers that two integers were a list.
        assert view(x, 2, 3) == view(x, (2, 3)) == ("view", (x, (2, 3)), {})
        assert view(x, 2, size(3)) == ("view", (x, (2, size(3))), {})
        for wrong in ((2, True), (2, 1.5), (2, "a")):
            with pytest.raises(TypeError, match="invalid combination"):
                view(x, *wrong)


# It has the methods of a number, as one of one element is one; PyTorch takes none.
ARRAY = np.array([1, 2])


@pytest.mark.parametrize(
    ("type_", "fits", "does_not"),
    [
        ("Tensor", [X], [1, None, [X]]),
        ("Tensor?", [X, None], [1]),
        ("Tensor[]", [[X], (), (X, X)], [X, [1], None]),
        ("int", [1, np.int64(1)], [True, 1.0, X, "1", ARRAY, np.array(1)]),
        ("float", [1, 1.5, np.float32(1)], [1j, X, "1", ARRAY]),
        ("Scalar", [1, 1.5, 1j, True, np.float32(1)], [X, "1", None, ARRAY]),
        ("bool", [True], [1, None]),
        ("str", ["a"], [1, None]),
        ("int[]", [[1], ()], [1, "a", [1.5]]),
        ("int[2]", [[1], 1, np.int64(1)], ["a", ARRAY]),
        ("int[]?", [None, [1]], [1]),
        ("ScalarType", [object()], [None, X, [1]]),
    ],
)
def test_types(type_: str, fits: list[Any], does_not: list[Any]) -> None:
    candidate = Candidate(Stub("f", lambda x: 0), (type_,))
    assert [value for value in fits if not candidate.fits((value,), {})] == []
    assert [value for value in does_not if candidate.fits((value,), {})] == []
