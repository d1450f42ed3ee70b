"""Kernels against schemas: parameters and annotations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional, Union, cast

import pytest

from torchgen_lite.runtime import Dispatcher, Library

SCHEMA = "op(Tensor x, int n, *, float s=1.0) -> Tensor"


def register(schema: str, kernel: Callable[..., Any], with_keyset: bool = False) -> None:
    for define_first in (True, False):
        library = Library("ns", "DEF", dispatcher=Dispatcher())
        if define_first:
            library.define(schema)
        library.impl("op", kernel, "CPU", with_keyset=with_keyset)
        if not define_first:
            library.define(schema)


class Tensor: ...


def exact(x, n, *, s): ...
def defaults(x, n=1, *, s=2.0): ...
def more_with_defaults(x, n, extra=0, *, s, other=1): ...
def as_ordinary_parameter(x, n, s): ...
def any_arguments(*args, **kwargs): ...
def other_names(a, b, *, s): ...
def annotated(x: Tensor, n: int, *, s: float) -> Tensor: ...
def wider(x: Any, n: float, *, s: complex) -> object: ...
def unions(x: Tensor | None, n: Union[int, str], *, s: Optional[float]) -> Tensor: ...


@pytest.mark.parametrize(
    "kernel",
    [
        exact,
        defaults,
        more_with_defaults,
        as_ordinary_parameter,
        any_arguments,
        other_names,
        annotated,
        wider,
        unions,
        print,
        Tensor,
    ],
)
def test_kernels_that_fit(kernel: Callable[..., Any]) -> None:
    register(SCHEMA, kernel)


def too_few(x, *, s): ...
def too_many(x, n, more, *, s): ...
def no_keyword(x, n): ...
def wrong_keyword(x, n, *, s, q): ...
def only_keyword(*, x, n, s): ...
def tensor_as_int(x: int, n: int, *, s: float) -> Tensor: ...
def int_as_list(x: Tensor, n: Sequence[int], *, s: float) -> Tensor: ...
def float_as_str(x: Tensor, n: int, *, s: str) -> Tensor: ...
def returns_none(x: Tensor, n: int, *, s: float) -> None: ...


@pytest.mark.parametrize(
    ("kernel", "fault"),
    [
        (too_few, "it takes 1 positional arguments, but a call passes 2"),
        (too_many, "it needs more than the 2 positional arguments that a call passes"),
        (no_keyword, "it does not take the keyword-only argument 's'"),
        (wrong_keyword, "its keyword-only argument 'q' is not in the schema"),
        (only_keyword, "it takes 0 positional arguments, but a call passes 2"),
        (tensor_as_int, "it annotates 'x' as int, but the schema says Tensor"),
        (int_as_list, "it annotates 'n' as Sequence[int], but the schema says int"),
        (float_as_str, "it annotates 's' as str, but the schema says float"),
        (returns_none, "it is annotated to return None, but the schema says Tensor"),
    ],
)
def test_kernels_that_do_not_fit(kernel: Callable[..., Any], fault: str) -> None:
    with pytest.raises(TypeError) as caught:
        register(SCHEMA, kernel)
    first, schema, shown, site = str(caught.value).splitlines()
    assert first == f"the kernel of ns::op does not fit its schema: {fault}"
    assert schema == f"  schema: ns::{SCHEMA}"
    assert shown.startswith(f"  kernel: {kernel.__name__}(") and shown.endswith(
        "the schema's arguments"
    )
    assert site.startswith(f"  registered at {__file__}:")


def test_a_kernel_is_a_callable() -> None:
    with pytest.raises(TypeError, match="a kernel must be callable, not 3; registered at "):
        register(SCHEMA, cast(Any, 3))
    library = Library("_", "IMPL", dispatcher=Dispatcher())
    with pytest.raises(TypeError, match="a kernel must be callable, not 3"):
        library.fallback(cast(Any, 3), "CPU")


@pytest.mark.parametrize(
    ("type_", "annotation", "fits"),
    [
        ("Tensor", "torch.Tensor", True),
        ("Tensor", "MyArray", True),
        ("Tensor?", "Tensor", False),
        ("Tensor?", "Tensor | None", True),
        ("Tensor[]", "list[Tensor]", True),
        ("Tensor[]", "Tensor", False),
        ("int[2]", "int | Sequence[int]", True),
        ("int[2]", "tuple[int, ...]", True),
        ("int[2]", "int", False),
        ("float[2]?", "float | None", False),
        ("Dimname[1]", "str", True),
        ("int[]", "int", False),
        ("int[]", "typing.Optional[typing.List[int]]", True),
        ("Scalar", "Number", True),
        ("Scalar", "str", False),
        ("bool", "int", True),
        ("int", "bool", False),
        ("SymInt", "int", True),
        ("ScalarType", "int", True),
        ("str", "'str'", True),
        ("Tensor(a!)", "Tensor", True),
        ("Tensor(a!)", "int", False),
    ],
)
def test_annotations(type_: str, annotation: str, fits: bool) -> None:
    def kernel(x): ...

    kernel.__annotations__["x"] = annotation
    if fits:
        register(f"op({type_} x) -> ()", kernel)
    else:
        with pytest.raises(TypeError, match="it annotates 'x' as"):
            register(f"op({type_} x) -> ()", kernel)


def test_returns() -> None:
    def pair(x) -> tuple[Tensor, Tensor]: ...
    def nothing(x) -> None: ...

    register("op(Tensor x) -> (Tensor, Tensor)", pair)
    register("op(Tensor x) -> ()", nothing)
    with pytest.raises(
        TypeError, match=r"annotated to return None, but the schema says \(Tensor, int\)"
    ):
        register("op(Tensor x) -> (Tensor, int)", nothing)
    with pytest.raises(
        TypeError, match=r"to return tuple\[Tensor, Tensor\], but the schema says \(\)"
    ):
        register("op(Tensor x) -> ()", pair)


def test_keyset_kernels_take_one_more() -> None:
    def kernel(keys, x, n, *, s): ...

    register(SCHEMA, kernel, with_keyset=True)
    with pytest.raises(TypeError, match="called with the keyset and then the schema's arguments"):
        register(SCHEMA, exact, with_keyset=True)


def test_a_kernel_that_does_not_fit_registers_nothing() -> None:
    dispatcher = Dispatcher()
    library = Library("ns", "DEF", dispatcher=dispatcher)
    operator = library.define(SCHEMA)
    with pytest.raises(TypeError):
        library.impl("op", too_few, "CPU")
    assert operator.kernels == {}
    dispatcher.check_invariants()


def test_generated_signatures_carry_no_types() -> None:
    def stub(x: Any, n: Any) -> Any: ...

    library = Library("ns", "DEF", dispatcher=Dispatcher())
    library.define_stubs("ns::op(Tensor x, int n) -> Tensor", "T-", stub, stub)
    library.impl("op", lambda x, n: x, "CPU")
