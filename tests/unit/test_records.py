"""Our `dataclass` makes what that of the standard library makes."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from torchgen_lite import records


def example(dataclass: Callable[..., Any]) -> Any:
    @dataclass(frozen=True, slots=True)
    class Point:
        """A point."""

        x: int
        tags: list[str] = dataclasses.field(default_factory=list)
        _cache: list[int] = dataclasses.field(default_factory=list, init=False, repr=False)
        note: str = dataclasses.field(default="", compare=False, kw_only=True)

    return Point


OURS, THEIRS = example(records.dataclass), example(dataclasses.dataclass)


@records.dataclass(frozen=True, slots=True)
class Pair:
    """At the top of a module, where pickle finds it."""

    a: int
    b: tuple[int, ...] = ()


@records.dataclass(slots=True)
class Counter:
    """One that changes."""

    count: int = 0


@pytest.mark.parametrize(
    "use",
    [
        lambda c: repr(c(1, ["a"], note="n")).rpartition(".")[2],
        lambda c: c(1) == c(1, note="n"),
        lambda c: c(1) == c(2),
        lambda c: c(1) == (1, []),
        lambda c: dataclasses.asdict(c(1)),
        lambda c: dataclasses.replace(c(1), x=2).x,
        lambda c: c.__match_args__,
        lambda c: c.__slots__,
        lambda c: copy.deepcopy(c(1, ["a"])).tags,
    ],
)
def test_as_the_standard_library(use: Callable[[Any], object]) -> None:
    assert use(OURS) == use(THEIRS)


@pytest.mark.parametrize(
    "use",
    [
        lambda c: c(),
        lambda c: c(1, [], "positional"),
        lambda c: c(1, y=2),
        lambda c: setattr(c(1), "x", 2),
        lambda c: delattr(c(1), "x"),
        lambda c: hash(c(1)),
    ],
)
def test_what_is_refused(use: Callable[[Any], object]) -> None:
    said = []
    for one in (OURS, THEIRS):
        with pytest.raises((TypeError, AttributeError)) as error:
            use(one)
        said.append((type(error.value), str(error.value)))
    assert said[0] == said[1]


def test_pickle_and_hash() -> None:
    one = Pair(1, (2,))
    assert pickle.loads(pickle.dumps(one)) == one
    assert {one: 1}[Pair(1, (2,))] == 1
    assert dataclasses.replace(one, a=2) != one


def test_what_changes_has_no_hash() -> None:
    counter = Counter()
    counter.count += 1
    assert counter == Counter(1)
    with pytest.raises(TypeError, match="unhashable"):
        hash(counter)
