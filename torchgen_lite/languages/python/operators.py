"""The ATen operator for each Python operator: the only table of dunder methods.

`__getitem__`, `__bool__`, `__len__` and the like are absent: none of them is a single operator, so
frameworks write them by hand.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Style = Literal["method", "reflected", "reciprocal"]


class PythonOperator(NamedTuple):
    """`x.<dunder>(other)` calls `<base>(x, other)`.

    The style `reflected` calls `<base>(other, x)`; `reciprocal`, as for `2 / x`, calls
    `<base>(reciprocal(x), other)`.
    """

    dunder: str
    base: str
    style: Style = "method"


def _arithmetic(name: str, base: str, *reflected: PythonOperator) -> tuple[PythonOperator, ...]:
    """The operators of `x + y`, of `2 + y` if tensors have one (`reflected`), and of `x += y`."""
    plain = PythonOperator(f"__{name}__", base)
    return (plain, *reflected, PythonOperator(f"__i{name}__", f"{base}_"))


PYTHON_OPERATORS: tuple[PythonOperator, ...] = (
    PythonOperator("__neg__", "neg"),
    PythonOperator("__pos__", "positive"),
    PythonOperator("__abs__", "abs"),
    PythonOperator("__invert__", "bitwise_not"),
    *_arithmetic("add", "add", PythonOperator("__radd__", "add")),
    *_arithmetic("sub", "sub", PythonOperator("__rsub__", "rsub")),
    *_arithmetic("mul", "mul", PythonOperator("__rmul__", "mul")),
    *_arithmetic("truediv", "div", PythonOperator("__rtruediv__", "mul", "reciprocal")),
    *_arithmetic("floordiv", "floor_divide"),
    *_arithmetic("mod", "remainder", PythonOperator("__rmod__", "remainder", "reflected")),
    *_arithmetic("pow", "pow", PythonOperator("__rpow__", "pow", "reflected")),
    PythonOperator("__matmul__", "matmul"),
    *_arithmetic("and", "bitwise_and", PythonOperator("__rand__", "bitwise_and")),
    *_arithmetic("or", "bitwise_or", PythonOperator("__ror__", "bitwise_or")),
    *_arithmetic("xor", "bitwise_xor", PythonOperator("__rxor__", "bitwise_xor")),
    *_arithmetic("lshift", "bitwise_left_shift"),
    *_arithmetic("rshift", "bitwise_right_shift"),
    PythonOperator("__eq__", "eq"),
    PythonOperator("__ne__", "ne"),
    PythonOperator("__lt__", "lt"),
    PythonOperator("__le__", "le"),
    PythonOperator("__gt__", "gt"),
    PythonOperator("__ge__", "ge"),
)
