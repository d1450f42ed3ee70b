"""A function with overloads under `inspect`, `help` and `pickle`."""

from __future__ import annotations

import copy
import inspect
import pickle
import pydoc
from typing import Any

import pytest

from torchgen_lite.runtime import Candidate, packet, redispatch_packet


class Tensor: ...


def add_tensor(self: Tensor, other: Tensor, *, alpha: float = 1) -> Tensor:
    """ns::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"""
    return self


def add_out(self: Tensor, other: Tensor, *, alpha: float = 1, out: Tensor) -> Tensor:
    """ns::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)"""
    return out


def add_scalar(self: Tensor, other: float, alpha: float = 1) -> Tensor:
    """ns::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor"""
    return self


OF_TENSORS = Candidate(add_tensor, ("Tensor", "Tensor", "Scalar"), add_out)
OF_NUMBERS = Candidate(add_scalar, ("Tensor", "Scalar", "Scalar"))
add = packet("add", OF_TENSORS, OF_NUMBERS)
tensors_only = packet("tensors_only", OF_TENSORS)


class Methods:
    add = packet("Methods.add", OF_TENSORS, OF_NUMBERS)


def candidate(stub: Any) -> Candidate:
    return Candidate(stub, ("Tensor",) * len(inspect.signature(stub).parameters))


@pytest.mark.parametrize(
    ("candidates", "text"),
    [
        ((OF_TENSORS,), "(self: 'Tensor', other: 'Tensor', *, alpha: 'float' = 1, out=None) -> 'Tensor'"),
        ((OF_NUMBERS,), "(self: 'Tensor', other: 'float', alpha: 'float' = 1) -> 'Tensor'"),
        (
            (OF_TENSORS, OF_NUMBERS),
            "(self: 'Tensor', other: 'Tensor | float', *arguments, alpha: 'float' = 1, out=None) -> 'Tensor'",
        ),
        (
            (candidate(lambda a, b, *, c: 0), candidate(lambda a, b, *, c: 0)),
            "(a, b, *, c)",
        ),
        (
            (candidate(lambda a, b=1, *, c: 0), candidate(lambda a, b=2: 0)),
            "(a, b=Ellipsis, *, c=Ellipsis)",
        ),
        ((candidate(lambda a, b: 0), candidate(lambda a, c: 0)), "(a, *arguments, **keywords)"),
        ((candidate(lambda a: 0), candidate(lambda a, b: 0)), "(a, *arguments, **keywords)"),
    ],
)  # fmt: skip
def test_signatures(candidates: tuple[Candidate, ...], text: str) -> None:
    assert str(inspect.signature(packet("f", *candidates))) == text


def test_the_signature_of_a_method_has_no_self_and_of_a_redispatch_a_keyset() -> None:
    assert [*inspect.signature(Methods().add).parameters] == ["other", "arguments", "alpha", "out"]
    redispatch = redispatch_packet(packet("numbers", OF_NUMBERS))
    assert str(inspect.signature(redispatch)).startswith("(keyset, /, self:")


def test_help_shows_every_overload() -> None:
    # From Python 3.13 on, long signatures take a line per parameter; from 3.14 on, annotations have no quotes.
    shown = pydoc.plain(pydoc.render_doc(add)).partition("\n\n")[2].replace("'", "")
    signature, returned, overloads = shown.partition("-> Tensor\n")
    assert " ".join(signature.split()).replace("( ", "(").replace(" )", ")") + f" {returned}" == (
        "add(self: Tensor, other: Tensor | float, *arguments, alpha: float = 1, out=None) -> Tensor\n"
    )
    assert overloads.splitlines() == [
        "    ns::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
        "    ns::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
        "    ns::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
    ]
    undocumented = packet("undocumented", candidate(lambda x, n=1: 0))
    assert undocumented.__doc__ == "undocumented(Tensor x, Tensor n=...)"


@pytest.mark.parametrize("function", [add, tensors_only, Methods.add])
def test_a_packet_pickles_by_its_name_and_copies_to_itself(function: Any) -> None:
    assert function.__module__ == __name__
    assert pickle.loads(pickle.dumps(function)) is function
    assert copy.copy(function) is copy.deepcopy(function) is function
