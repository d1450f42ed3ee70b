"""The ATen operator for each Python operator: the lines of `operators.txt`, the only table of dunder methods.

`__getitem__`, `__bool__`, `__len__` and the like are absent: none of them is a single operator, so
frameworks write them by hand.
"""

from __future__ import annotations

from typing import NamedTuple

from torchgen_lite.loader.sources import lines_beside


class PythonOperator(NamedTuple):
    """`x.<dunder>(other)` calls `<base>(x, other)`.

    The style `reflected` calls `<base>(other, x)`; `reciprocal`, as for `2 / x`, calls
    `<base>(reciprocal(x), other)`.
    """

    dunder: str
    base: str
    style: str = "method"


PYTHON_OPERATORS = tuple([PythonOperator(*line.split()) for line in lines_beside(__file__)])
