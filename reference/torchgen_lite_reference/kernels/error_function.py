"""The error function of arrays, which NumPy lacks: SciPy's if that is installed, otherwise one written with NumPy.

    erf(array), erfc(array)    in the array's type

Note [Rational approximations] Near zero, the Taylor series is used. Further out, its complement is the approximation
of W. J. Cody
(Rational Chebyshev approximations for the error function, 1969). `exp(-y * y)` needs an exact square, so it is the
product of two factors: for y rounded to sixteenths, and for the remainder.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from torchgen_lite_reference.storage import Array

# Of erf(x) / x - 1 in powers of x * x, the highest first.
_SERIES = [
    2 / math.sqrt(math.pi) * (-1) ** n / (math.factorial(n) * (2 * n + 1)) for n in range(18, 0, -1)
] + [2 / math.sqrt(math.pi) - 1]
# Numerators and denominators, the highest power first.
_MIDDLE = (
    (
        2.15311535474403846e-8, 0.564188496988670089, 8.88314979438837594, 66.1191906371416295, 298.635138197400131,
        881.952221241769090, 1712.04761263407058, 2051.07837782607147, 1230.33935479799725,
    ),
    (
        1.0, 15.7449261107098347, 117.693950891312499, 537.181101862009858, 1621.38957456669019,
        3290.79923573345963, 4362.61909014324716, 3439.36767414372164, 1230.33935480374942,
    ),
)  # fmt: skip
_FAR = (
    (
        0.0163153871373020978, 0.305326634961232344, 0.360344899949804439, 0.125781726111229246,
        0.0160837851487422766, 6.58749161529837803e-4,
    ),
    (
        1.0, 2.56852019228982242, 1.87295284992346725, 0.527905102951428412,
        0.0605183413124413191, 2.33520497626869185e-3,
    ),
)  # fmt: skip
_BLOCK = 8192


def _polynomial(terms: Sequence[float], x: Array) -> Array:
    result = np.full_like(x, terms[0])
    for term in terms[1:]:
        result *= x
        result += term
    return result


def _quotient(polynomials: Sequence[Sequence[float]], x: Array) -> Array:
    above, below = (_polynomial(terms, x) for terms in polynomials)
    above /= below
    return above


def _near(x: Array) -> Array:
    """The error function up to 1."""
    x += x * _polynomial(_SERIES, x * x)
    return x


def _tail(y: Array) -> Array:
    """The complement of the error function from 0.46875 on."""
    # From 27 on it is zero; infinity minus infinity would be NaN.
    y = np.minimum(y, 30.0)
    far = y > 4.0
    result = _quotient(_MIDDLE, y)
    if far.any():
        distant = y[far]
        square = 1.0 / (distant * distant)
        result[far] = (1.0 / math.sqrt(math.pi) - square * _quotient(_FAR, square)) / distant
    rounded = np.trunc(y * 16.0) / 16.0
    result *= np.exp(-rounded * rounded)
    result *= np.exp((rounded - y) * (rounded + y))
    return result


def _erf(x: Array, out: Array) -> None:
    near = np.abs(x) <= 1.0
    out[near] = _near(x[near])
    rest = x[~near]
    out[~near] = np.copysign(1.0 - _tail(np.abs(rest)), rest)


def _erfc(x: Array, out: Array) -> None:
    near = np.abs(x) <= 0.46875
    out[near] = 1.0 - _near(x[near])
    rest = x[~near]
    tail = _tail(np.abs(rest))
    out[~near] = np.where(rest < 0, 2.0 - tail, tail)


def _in_blocks(function: Callable[[Array, Array], None], array: Array) -> Array:
    """Block by block, so that intermediate results stay in the cache."""
    flat = array.reshape(-1)
    result = np.empty(flat.shape, array.dtype)
    for start in range(0, flat.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        function(flat[block].astype(np.float64), result[block])
    return result.reshape(array.shape)


@cache
def _scipy() -> Any:
    """SciPy's functions, if it is installed. It is imported on the first call, because that takes a while."""
    try:
        import scipy.special
    except ImportError:
        return None
    return scipy.special


def erf(array: Array) -> Array:
    scipy = _scipy()
    result: Array = _in_blocks(_erf, array) if scipy is None else scipy.erf(array)
    return result


def erfc(array: Array) -> Array:
    scipy = _scipy()
    result: Array = _in_blocks(_erfc, array) if scipy is None else scipy.erfc(array)
    return result
