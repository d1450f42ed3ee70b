"""Calls: the kernel that arguments and local state select, redispatch, parameters, errors."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from tests.unit.runtime.helpers import T, keyset, operator_with
from torchgen_lite.runtime import (
    AmbiguousKernelError,
    BoxedKernel,
    Dispatcher,
    DispatcherError,
    DispatchKey,
    DispatchKeySet,
    ExcludeDispatchKeyGuard,
    IncludeDispatchKeyGuard,
    InferenceMode,
    Library,
    MissingKernelError,
    OperatorHandle,
    fallthrough_kernel,
)

K = DispatchKey
CPU, CUDA, SPARSE = T("CPU"), T("CUDA"), T("SparseCPU")


NUMBERS = [
    ("int[1] n", 3, (3,)),
    ("int[1] n", [3], (3,)),
    ("int[1] n", range(2), (0, 1)),
    ("int[2]? n", 3, (3, 3)),
    ("int[2]? n", None, None),
    ("SymInt[2] n", [1, 2, 3], (1, 2, 3)),
    ("float[2] n", 1.5, (1.5, 1.5)),
    ("float[2] n", 1, (1, 1)),
    ("bool[3] n", True, (True, True, True)),
    ("int[] n", [3], [3]),
    ("int[]? n", None, None),
    ("int[2] n=1", ..., (1, 1)),
    ("int[] n=[1, 2]", ..., (1, 2)),
    ("*, int[1] n", 3, (3,)),
    ("int[1] type", 3, (3,)),
    # As in the JIT, and in generated packages; it was a name, which no kernel knows.
    ("int n=Mean", ..., 1),
    ("SymInt? n=Mean", ..., 1),
    ("int[2] n=Mean", ..., (1, 1)),
    ("*, int n=Sum", ..., 2),
    # As in generated C++; it was a number, which is no list.
    ("int[] n=3", ..., (3,)),
    ("bool[]? n=True", ..., (True,)),
    ("str[] n='a'", ..., ("a",)),
]


@pytest.mark.parametrize(("argument", "value", "given"), NUMBERS)
def test_one_number_for_a_sized_list_is_a_tuple_in_kernels(
    argument: str, value: Any, given: Any
) -> None:
    """Every list with a size is a tuple in kernels; other lists are passed unchanged."""
    operator, _, keep = operator_with(schema=f"op(Tensor x, {argument}) -> Any")
    name = argument.split()[-1].partition("=")[0]
    keep[0].impl("op", lambda x, *rest, **named: (*rest, *named.values())[0], "CPU")
    if value is ...:
        assert operator.call(CPU) == operator.redispatch(keyset("CPU"), CPU) == given
        return
    assert operator.call(CPU, **{name: value}) == given
    assert operator.redispatch(keyset("CPU"), CPU, **{name: value}) == given
    for boxed in (operator.call_boxed, partial(operator.redispatch_boxed, keyset("CPU"))):
        stack = [CPU, value]
        boxed(stack)
        assert stack == [given]


@pytest.mark.parametrize(
    ("type_", "value", "message"),
    [
        ("int[1]", "ab", "int or a sequence of them, not str"),
        ("int[2]", np.array([1, 2]), "int or a sequence of them, not ndarray"),
        ("float[2]", np.array([1.0]), "float or a sequence of them, not ndarray"),
        ("int[1]", None, "int or a sequence of them, not NoneType"),
        ("SymInt[1]", 1.5, "int or a sequence of them, not float"),
        ("int[1]", CPU, "int or a sequence of them, not T"),
        ("float[2]?", 1j, "float or a sequence of them, or None, not complex"),
    ],
)
def test_what_is_no_sized_list(type_: str, value: Any, message: str) -> None:
    operator, _, _keep = operator_with("CPU", schema=f"op.over(Tensor x, {type_} dim) -> Tensor")
    stack = [CPU, value]
    for call in (
        lambda: operator.call(CPU, value),
        lambda: operator.redispatch(keyset("CPU"), CPU, value),
        lambda: operator.call_boxed(stack),
    ):
        with pytest.raises(TypeError) as caught:
            call()
        assert str(caught.value) == f"ns::op.over(): argument 'dim' (position 2) must be {message}"
    assert stack[0] is CPU
    assert stack[1] is value


def test_parameters_are_the_schema_s() -> None:
    operator, _, _keep = operator_with("CPU", schema="op(Tensor a, int n=3, *, str mode='x') -> ()")
    with pytest.raises(TypeError, match=r"ns::op\(\) missing 1 required positional argument: 'a'"):
        operator.call()
    with pytest.raises(TypeError, match="takes from 1 to 2 positional arguments but 3"):
        operator.call(CPU, 1, "y")


@pytest.mark.parametrize(
    ("argument", "default", "received"),
    [
        ("SymInt[3] a=2", 2, (2, 2, 2)),
        ("SymInt[3]? a=2", 2, (2, 2, 2)),
        ("int[1] a=7", 7, (7,)),
        ("float[2] a=0.5", 0.5, (0.5, 0.5)),
        ("bool[3] a=True", True, (True, True, True)),
    ],
)
def test_a_default_can_be_passed_as_it_is_written(
    argument: str, default: object, received: object
) -> None:
    operator, _, [library, _] = operator_with(schema=f"op(Tensor x, {argument}) -> int")
    library.impl("op", lambda x, a: a, "CPU")
    assert operator.call(CPU) == received
    assert operator.call(CPU, default) == operator.call(CPU, received) == received


def test_names_that_python_reserves() -> None:
    """`from` becomes `from_`; names that the text of the stub uses are changed, too."""
    dispatcher = Dispatcher()
    library = Library("ns", "DEF", dispatcher=dispatcher)
    operator = library.define(
        "op(Tensor _memo_stub, int lambda=1, *, int from, int _keyset=2) -> int"
    )

    def kernel(a: T, b: int, *, from_: int, _keyset: int) -> Any:
        return b, from_, _keyset

    library.impl("op", kernel, "CPU")
    assert operator.call(CPU, from_=5) == (1, 5, 2)
    assert operator.redispatch(keyset("CPU"), CPU, from_=5, _keyset_=7) == (1, 5, 7)
    boxed: list[Any] = [CPU, 1, 6, 2]
    operator.call_boxed(boxed)
    assert boxed == [(1, 6, 2)]
    stacks = []

    def boxed_kernel(operator: OperatorHandle, keys: DispatchKeySet, stack: list[Any]) -> None:
        stacks.append(list(stack))
        stack[:] = [0]

    library.impl("op", BoxedKernel(boxed_kernel), "CUDA")
    operator.call(CUDA, from_=8)
    assert stacks == [[CUDA, 1, 8, 2]]


def test_local_state_joins_and_leaves() -> None:
    operator, _, _keep = operator_with("CPU", "Tracer", "AutogradCPU")
    x = T("CPU", "AutogradCPU")
    assert operator.call(x) == "AutogradCPU"
    with IncludeDispatchKeyGuard(K.Tracer):
        assert operator.call(x) == "Tracer"
        with ExcludeDispatchKeyGuard(keyset("Tracer", "AutogradCPU")):
            assert operator.call(x) == "CPU"
    with InferenceMode():
        assert operator.call(x) == "CPU"
    assert operator.call(x) == "AutogradCPU"


def test_redispatch_looks_at_its_keyset_alone() -> None:
    operator, _, keep = operator_with("CPU", "Tracer", "CUDA")
    with IncludeDispatchKeyGuard(K.Tracer), ExcludeDispatchKeyGuard(K.CPU):
        assert operator.redispatch(keyset("CPU"), CUDA) == "CPU"
    assert operator.redispatch(keyset("CPU", "CUDA"), CPU) == "CUDA"
    keep[0].impl("op", fallthrough_kernel, "Python")
    with pytest.raises(DispatcherError, match="^a fallthrough kernel was executed"):
        operator.redispatch(keyset("CPU", "Python"), CPU)
    with pytest.raises(
        TypeError,
        match="^ns::op.redispatch takes a DispatchKeySet as its first argument, not DispatchKey$",
    ):
        operator.redispatch(K.CPU, CPU)


def test_two_steps() -> None:
    dispatcher = Dispatcher()
    library = Library("ns", "DEF", dispatcher=dispatcher)
    operator = library.define("op(Tensor x, *, int k=1) -> Tensor")
    below = DispatchKeySet.full_after(K.AutogradOther)
    seen = []

    def autograd(keys: DispatchKeySet, x: T, *, k: int) -> Any:
        seen.append(str(keys))
        return ["autograd", operator.redispatch(keys & below, x, k=k)]

    library.impl("op", autograd, "Autograd", with_keyset=True)
    library.impl("op", lambda x, *, k: f"cpu {k}", "CPU")
    for _ in range(2):
        assert operator.call(T("CPU", "AutogradCPU"), k=2) == ["autograd", "cpu 2"]
    assert seen == ["DispatchKeySet(CPU, AutogradCPU)"] * 2


def test_fallback_kernels_take_the_operator() -> None:
    operator, dispatcher, keep = operator_with("CPU", schema="op(Tensor x, *, int k=1) -> Tensor")
    wildcard = keep[1]

    def fallback(keys: DispatchKeySet, op: OperatorHandle, *arguments: Any, **keywords: Any) -> Any:
        below = keys & DispatchKeySet.full_after(K.Python)
        return [str(op), op.redispatch(below, *arguments, **keywords), keywords]

    wildcard.fallback(fallback, "Python", with_keyset=True)
    wildcard.fallback(lambda op, x, *, k: f"{op} without keyset", "Tracer")
    wildcard.fallback(
        BoxedKernel(lambda op, keys, stack: stack.__setitem__(slice(None), [7])), "PreDispatch"
    )
    assert operator.call(T("CPU", "Python")) == ["ns::op", "CPU", {"k": 1}]
    assert operator.call(T("CPU", "Tracer")) == "ns::op without keyset"
    assert operator.call(T("CPU", "PreDispatch")) == 7


def test_a_missing_kernel() -> None:
    operator, _, _keep = operator_with("CUDA", "Meta")
    with pytest.raises(MissingKernelError) as caught:
        operator.call(CPU)
    assert str(caught.value) == (
        "Could not run 'ns::op' with arguments from the 'CPU' backend: it has no kernel for this key, and no "
        "fallback serves it. The call's keys are DispatchKeySet(CPU).\n"
        "'ns::op' has kernels for:\n  CUDA: CUDA\n  Meta: Meta"
    )
    assert caught.value.__suppress_context__


def test_errors_call_a_device_of_ones_own_by_its_name() -> None:
    operator, _, _keep = operator_with("CPU", "AutogradPrivateUse1")
    dispatcher = operator.dispatcher
    dispatcher.rename_privateuse1("SIM")
    dispatcher.rename_privateuse1("SIM")
    with pytest.raises(MissingKernelError) as caught:
        operator.call(T("PrivateUse1"))
    assert str(caught.value) == (
        "Could not run 'ns::op' with arguments from the 'SIM' backend: it has no kernel for this key, and no "
        "fallback serves it. The call's keys are DispatchKeySet(SIM).\n"
        "'ns::op' has kernels for:\n  CPU: CPU\n  AutogradSIM: AutogradPrivateUse1"
    )
    with pytest.raises(DispatcherError, match="already named SIM, so it cannot be renamed to NPU"):
        dispatcher.rename_privateuse1("NPU")


def test_other_missing_kernels() -> None:
    operator, _, _keep = operator_with(schema="op(Tensor[] x) -> Tensor")
    with pytest.raises(
        MissingKernelError, match="^There were no tensor arguments to this function"
    ):
        operator.call([])
    with pytest.raises(
        MissingKernelError, match="^ns::op: attempted to run this operator with Meta tensors"
    ):
        operator.call([T("Meta")])
    with pytest.raises(
        MissingKernelError, match="'ns::op' has no kernels at all; it is registered at "
    ):
        operator.call([CPU])


def test_an_ambiguous_kernel() -> None:
    operator, _, _keep = operator_with("CompositeImplicitAutograd", "SparseCPU")
    with pytest.raises(AmbiguousKernelError, match="ambiguous which of them autograd should use"):
        operator.call(T("SparseCPU", "AutogradOther"))
    assert operator.call(SPARSE) == "SparseCPU"


@pytest.mark.parametrize("error", [KeyError, AttributeError, TypeError])
def test_a_kernel_s_own_error_is_its_own(error: type[Exception]) -> None:
    operator, _, keep = operator_with()
    calls = []

    def kernel(x: T) -> Any:
        calls.append(x)
        raise error("mine")

    keep[0].impl("op", kernel, "CPU")
    for _ in range(2):
        with pytest.raises(error, match="mine") as caught:
            operator.call(CPU)
        assert caught.value.__context__ is None
    assert len(calls) == 2


def test_a_missing_autograd_kernel_says_what_to_do() -> None:
    operator, _, _keep = operator_with("CPU")
    with pytest.raises(
        MissingKernelError, match="register `fallthrough_kernel` as the fallback of this key"
    ):
        operator.call(T("CPU", "AutogradCPU"))
