"""NumPy's warnings are off in kernels, and its state is the user's."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import numpy as np
import pytest

import torchgen_lite_reference as tl
from torchgen_lite_ops import functions
from torchgen_lite_reference.silence import silently


def test_a_kernel_is_silent_and_leaves_the_users_state_alone() -> None:
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        before = np.geterr()
        zero = tl.zeros(1)
        assert ((zero + 1) / zero).tolist() == [float("inf")]
        assert (tl.ones(1, 1) @ tl.full([1, 1], 3e38) + 3e38).tolist() == [[float("inf")]]
        assert np.geterr() == before
        with pytest.raises(FloatingPointError):
            np.log(np.zeros(1))


def test_calls_may_be_nested_and_may_fail() -> None:
    assert silently(lambda: silently(np.log, 0.0)) == -np.inf
    with pytest.raises(ValueError, match="mine"):
        silently(_fail)
    assert silently(np.log, 0.0) == -np.inf


def _fail() -> None:
    raise ValueError("mine")


def test_threads_do_not_share_a_context() -> None:
    together = threading.Barrier(4)
    found: list[Any] = []

    def inside() -> Any:
        together.wait(10)  # All four are in their contexts at once.
        return np.log(0.0)

    threads = [threading.Thread(target=lambda: found.append(silently(inside))) for _ in range(4)]
    with np.errstate(all="raise"):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == [-np.inf] * 4


@pytest.mark.parametrize("count", [1, 2, 3])
def test_no_operator_warns_of_what_is_infinite(count: int) -> None:
    """Every function that takes so many tensors and no more, whether it takes these values or not."""
    values = [float("inf"), float("-inf"), float("nan"), 0.0, -1.0, 3e38]
    called = 0
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for name in functions.__all__:
            for dtype in (tl.float16, tl.float32, tl.int64):
                finite = [0.0, -1.0, 5.0, 4e18, 2.0, -4e18]
                x = tl.tensor(values if dtype is tl.float32 else finite, dtype=tl.float64).to(dtype)
                try:
                    getattr(functions, name)(*(x.clone() for _ in range(count)))
                except (RuntimeError, TypeError, IndexError, ValueError):
                    continue
                called += 1
    assert called > 20
