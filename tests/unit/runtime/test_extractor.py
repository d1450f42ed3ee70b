"""From the arguments of a call to its keys: which count, which are refused, which fall through."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from tests.unit.runtime.helpers import T, keyset, operator_with, says
from torchgen_lite.runtime import (
    DispatchKey,
    Library,
    fallthrough_kernel,
    register_tensor_type,
    unregister_tensor_type,
)

CPU, CUDA, SPARSE = T("CPU"), T("CUDA"), T("SparseCPU")


@pytest.mark.parametrize(
    ("schema", "arguments", "answer"),
    [
        ("op(Tensor a, Tensor b) -> Tensor", (CPU, CPU), "CPU"),
        ("op(Tensor a, Tensor b) -> Tensor", (CPU, CUDA), "CUDA"),
        ("op(Tensor a, Tensor b) -> Tensor", (CPU, SPARSE), "SparseCPU"),
        ("op(Tensor? a, Tensor b) -> Tensor", (None, CPU), "CPU"),
        ("op(Tensor? a, Tensor b) -> Tensor", (CUDA, CPU), "CUDA"),
        ("op(Tensor? a) -> Tensor", (None,), "Explicit"),
        ("op(Tensor[] a) -> Tensor", ([CPU, CUDA],), "CUDA"),
        ("op(Tensor[] a) -> Tensor", ((),), "Explicit"),
        ("op(Tensor?[] a) -> Tensor", ([None, CPU, None],), "CPU"),
        ("op(Tensor?[] a) -> Tensor", ([None],), "Explicit"),
        ("op(Tensor[]? a) -> Tensor", (None,), "Explicit"),
        ("op(int[] a) -> Tensor", ([1, 2],), "Explicit"),
        ("op() -> Tensor", (), "Explicit"),
        ("op(Generator? g) -> Tensor", (CUDA,), "CUDA"),
        ("op(int x, *, Tensor a) -> Tensor", (1,), "CPU"),
    ],
)
def test_which_arguments_count(schema: str, arguments: tuple[Any, ...], answer: str) -> None:
    operator, _, keep = operator_with("CPU", "CUDA", "SparseCPU", schema=schema)
    keep[0].impl("op", says("Explicit"), "CompositeExplicitAutograd")
    keywords = {"a": CPU} if "*" in schema else {}
    for _ in range(2):  # The first call resolves, the second one finds it in the memo.
        assert operator.call(*arguments, **keywords) == answer


def test_a_generator_counts_in_unboxed_calls_only() -> None:
    operator, _, keep = operator_with("CUDA", schema="op(Generator? g) -> Tensor")
    keep[0].impl("op", says("Undefined"), "CompositeExplicitAutograd")
    assert operator.call(CUDA) == "CUDA"
    stack: list[Any] = [CUDA]
    operator.call_boxed(stack)
    assert stack == ["Undefined"]


@pytest.mark.parametrize(
    ("schema", "argument", "message"),
    [
        ("op(Tensor a) -> ()", None, "argument 'a' (position 1) must be a tensor, not NoneType"),
        ("op(Tensor a) -> ()", 3, "argument 'a' (position 1) must be a tensor, not int"),
        ("op(Tensor? a) -> ()", 3, "argument 'a' (position 1) must be a tensor or None, not int"),
        (
            "op(Tensor[] a) -> ()",
            [CPU, None],
            "must be a sequence of tensors, not list of (T, NoneType)",
        ),
        ("op(Tensor[] a) -> ()", CPU, "must be a sequence of tensors, not T"),
        ("op(Tensor[] a) -> ()", "ab", "must be a sequence of tensors, not str"),
        ("op(Tensor?[] a) -> ()", [1], "must be a sequence of tensors or None, not list of (int)"),
    ],
)
def test_wrong_arguments(schema: str, argument: Any, message: str) -> None:
    operator, _, _keep = operator_with("CPU", "CompositeExplicitAutograd", schema=schema)
    for good in (CPU, [CPU], [None, CPU], None):  # Entries in the memo change no answer.
        try:
            operator.call(good)
        except TypeError:
            pass
    for call in (operator.call, lambda value: operator.call_boxed([value])):
        with pytest.raises(TypeError) as caught:
            call(argument)
        assert str(caught.value).startswith("ns::op(): ") and message in str(caught.value)


def test_an_iterator_is_no_list() -> None:
    """Reading the keysets would exhaust the iterator before the kernel gets it."""
    operator, _, _keep = operator_with("CPU", schema="op(Tensor[] a) -> ()")
    tensors: Iterator[T] = iter([CPU])
    with pytest.raises(TypeError, match="must be a sequence of tensors, not list_iterator"):
        operator.call(tensors)
    assert next(tensors) is CPU


def test_fallthrough_kernels_are_skipped() -> None:
    operator, _, keep = operator_with("CPU", "CUDA")
    x = T("CPU", "Tracer", "AutogradCPU")
    keep[1].fallback(fallthrough_kernel, "AutogradCPU")
    keep[1].fallback(fallthrough_kernel, "Tracer")
    assert operator.call(x) == "CPU"
    keep[0].impl("op", says("direct"), "Tracer")
    assert operator.call(x) == "direct"


def test_fallthrough_masks_differ_by_backend() -> None:
    """AutogradCPU falls through, AutogradCUDA does not: the highest backend of the call decides."""
    operator, _, keep = operator_with("CPU", "CUDA", "AutogradCUDA")
    keep[0].impl("op", fallthrough_kernel, "AutogradCPU")
    assert operator.entry.plan.backend_masks is not None
    cpu, cuda = T("CPU", "AutogradCPU"), T("CUDA", "AutogradCUDA")
    two, _, keep_two = operator_with(
        "CPU", "CUDA", "AutogradCUDA", schema="op(Tensor x, Tensor y) -> Tensor"
    )
    keep_two[0].impl("op", fallthrough_kernel, "AutogradCPU")
    assert (operator.call(cpu), operator.call(cuda)) == ("CPU", "AutogradCUDA")
    assert (two.call(cpu, cuda), two.call(cpu, cpu)) == ("AutogradCUDA", "CPU")


def test_undoing_a_fallthrough_kernel_restores_the_mask() -> None:
    operator, dispatcher, keep = operator_with("CPU", "AutogradCPU")
    block = Library("ns", "IMPL", "AutogradCPU", dispatcher=dispatcher)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        block.impl("op", fallthrough_kernel)
    x = T("CPU", "AutogradCPU")
    assert operator.call(x) == "CPU"
    block.close()
    assert operator.call(x) == "AutogradCPU"


def test_a_new_dispatcher_needs_no_fallbacks_for_what_every_call_includes() -> None:
    operator, _, keep = operator_with("CPU")
    assert operator.call(T("CPU", "ADInplaceOrView")) == "CPU"
    assert "BackendSelect" not in operator.computed_table()
    keep[0].impl("op", says("select"), "BackendSelect")
    assert operator.call(CPU) == "select"


def test_foreign_tensor_types() -> None:
    class Array:
        keys = keyset("CUDA")

    class Sub(Array):
        pass

    operator, _, _keep = operator_with("CPU", "CUDA", schema="op(Tensor x, Tensor[] y) -> Tensor")
    register_tensor_type(Array, keyset("CPU"))
    try:
        assert operator.call(Sub(), []) == operator.call(Array(), [Array()]) == "CPU"
        register_tensor_type(Sub, lambda value: value.keys)
        assert operator.call(Sub(), []) == operator.call(CPU, [Sub()]) == "CUDA"
    finally:
        unregister_tensor_type(Array)
        unregister_tensor_type(Sub)
    with pytest.raises(TypeError, match="must be a tensor, not Array"):
        operator.call(Array(), [])


def test_a_keyset_of_another_runtime() -> None:
    other = type("DispatchKeySet", (), {"__module__": "mine.runtime.keyset"})
    operator, _, _keep = operator_with("CPU", schema="op(Tensor a) -> Any")
    with pytest.raises(TypeError) as raised:
        operator.call(Bad(other()))
    assert str(raised.value).endswith(
        "Bad, whose `_dispatch_keyset` must be a torchgen_lite.runtime.keyset.DispatchKeySet, not a "
        "mine.runtime.keyset.DispatchKeySet"
    )


class Bad:
    def __init__(self, keyset: object) -> None:
        self._dispatch_keyset = keyset


@pytest.mark.parametrize("keyset", [DispatchKey.CPU, {DispatchKey.CPU}, "CPU", 3])
@pytest.mark.parametrize("schema", ["Tensor a", "Tensor? a", "Tensor[] a", "Tensor?[] a"])
def test_a_keyset_of_the_wrong_type(schema: str, keyset: object) -> None:
    operator, _, _keep = operator_with("CPU", schema=f"op({schema}) -> Any")
    bad = Bad(keyset)
    text = f"Bad, whose `_dispatch_keyset` must be a DispatchKeySet, not a {type(keyset).__name__}"
    for _ in range(2):
        with pytest.raises(TypeError, match=text):
            operator.call([bad] if "[]" in schema else bad)


def test_the_keyset_of_a_foreign_type_is_checked() -> None:
    operator, _, _keep = operator_with("CPU")

    class Foreign: ...

    with pytest.raises(
        TypeError, match="^the keyset of Foreign must be a DispatchKeySet, or a fun"
    ):
        register_tensor_type(Foreign, "CPU")  # type: ignore[arg-type]
    register_tensor_type(Foreign, lambda value: "CPU")  # type: ignore[arg-type, return-value]
    try:
        with pytest.raises(
            TypeError, match="registered for Foreign must return a DispatchKeySet, not"
        ):
            operator.call(Foreign())
    finally:
        unregister_tensor_type(Foreign)


def test_what_a_tensor_raises_comes_through() -> None:
    operator, _, _keep = operator_with("CPU")

    class Raises:
        @property
        def _dispatch_keyset(self) -> Any:
            raise TypeError("of its own")

    with pytest.raises(TypeError, match="^of its own$"):
        operator.call(Raises())
