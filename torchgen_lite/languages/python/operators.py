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


PYTHON_OPERATORS: tuple[PythonOperator, ...] = (
    PythonOperator("__neg__", "neg"),
    PythonOperator("__pos__", "positive"),
    PythonOperator("__abs__", "abs"),
    PythonOperator("__invert__", "bitwise_not"),
    PythonOperator("__add__", "add"),
    PythonOperator("__radd__", "add"),
    PythonOperator("__iadd__", "add_"),
    PythonOperator("__sub__", "sub"),
    PythonOperator("__rsub__", "rsub"),
    PythonOperator("__isub__", "sub_"),
    PythonOperator("__mul__", "mul"),
    PythonOperator("__rmul__", "mul"),
    PythonOperator("__imul__", "mul_"),
    PythonOperator("__truediv__", "div"),
    PythonOperator("__rtruediv__", "mul", "reciprocal"),
    PythonOperator("__itruediv__", "div_"),
    PythonOperator("__floordiv__", "floor_divide"),
    PythonOperator("__ifloordiv__", "floor_divide_"),
    PythonOperator("__mod__", "remainder"),
    PythonOperator("__rmod__", "remainder", "reflected"),
    PythonOperator("__imod__", "remainder_"),
    PythonOperator("__pow__", "pow"),
    PythonOperator("__rpow__", "pow", "reflected"),
    PythonOperator("__ipow__", "pow_"),
    PythonOperator("__matmul__", "matmul"),
    PythonOperator("__and__", "bitwise_and"),
    PythonOperator("__rand__", "bitwise_and"),
    PythonOperator("__iand__", "bitwise_and_"),
    PythonOperator("__or__", "bitwise_or"),
    PythonOperator("__ror__", "bitwise_or"),
    PythonOperator("__ior__", "bitwise_or_"),
    PythonOperator("__xor__", "bitwise_xor"),
    PythonOperator("__rxor__", "bitwise_xor"),
    PythonOperator("__ixor__", "bitwise_xor_"),
    PythonOperator("__lshift__", "bitwise_left_shift"),
    PythonOperator("__ilshift__", "bitwise_left_shift_"),
    PythonOperator("__rshift__", "bitwise_right_shift"),
    PythonOperator("__irshift__", "bitwise_right_shift_"),
    PythonOperator("__eq__", "eq"),
    PythonOperator("__ne__", "ne"),
    PythonOperator("__lt__", "lt"),
    PythonOperator("__le__", "le"),
    PythonOperator("__gt__", "gt"),
    PythonOperator("__ge__", "ge"),
)
