"""erf and erfc without SciPy, beside Python's; with SciPy, which is used where it is installed."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import torchgen_lite_reference as tl
from torchgen_lite_reference.kernels import error_function

POINTS = np.concatenate(
    [
        np.linspace(-7, 7, 14001),
        np.linspace(-30, 30, 6001),
        np.geomspace(1e-300, 1, 301),
        [0.0, -0.0, 0.46875, -0.46875, 1.0, -1.0, 4.0, 26.5, 27.0, 5e-324, 1e308, np.inf, -np.inf],
    ]
)


@pytest.fixture()
def without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(error_function, "_scipy", lambda: None)


@pytest.mark.usefixtures("without_scipy")
@pytest.mark.parametrize(
    ("function", "exact", "last_places"),
    [(error_function.erf, math.erf, 2), (error_function.erfc, math.erfc, 8)],
)
def test_made_of_numpy(
    function: Callable[[Any], Any], exact: Callable[[float], float], last_places: int
) -> None:
    wanted = np.array([exact(x) for x in POINTS])
    found = function(POINTS)
    assert np.all(np.abs(found - wanted) <= last_places * np.spacing(np.abs(wanted)))
    assert np.array_equal(np.signbit(found), np.signbit(wanted))
    assert np.isnan(function(np.array([np.nan]))).all()
    points = POINTS[np.abs(POINTS) <= 30].astype(np.float32)
    single = function(points)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, [exact(float(x)) for x in points], rtol=2e-7, atol=1e-45)


@pytest.mark.usefixtures("without_scipy")
def test_operators_made_of_numpy() -> None:
    x = tl.tensor([[-2.0, 0.25], [0.0, 3.0]], dtype=tl.float64)
    for operator, exact in ((tl.erf, math.erf), (tl.erfc, math.erfc)):
        assert operator(x.T).tolist() == [
            [pytest.approx(exact(v), rel=1e-15) for v in row] for row in x.T.tolist()
        ]
        assert operator(x[0, 0]).item() == pytest.approx(exact(-2.0), rel=1e-15)
        assert operator(tl.empty(0, 3)).shape == (0, 3)
    assert tl.gelu(x[1, 1]).item() == pytest.approx(1.5 * (1 + math.erf(3 * math.sqrt(0.5))))


def test_scipy_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = SimpleNamespace(erf=lambda array: array + 1, erfc=lambda array: array - 1)
    monkeypatch.setattr(error_function, "_scipy", lambda: stand_in)
    x = tl.tensor([1.0, 2.0])
    assert (tl.erf(x).tolist(), tl.erfc(x).tolist()) == ([2.0, 3.0], [0.0, 1.0])
