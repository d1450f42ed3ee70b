"""What the matrix compares with can be compared, whatever its dtype: a comparison that fails is no refusal."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.torch

DTYPES = """bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex32 complex64
    complex128 float8_e4m3fn float8_e5m2""".split()


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_each_dtype_is_compared(name: str, shape: tuple[int, ...]) -> None:
    import torch

    from tests.compose.probe import Wrong
    from tests.compose.treatments import agree

    dtype = getattr(torch, name)
    ones, zeros = (torch.full(shape, value).to(dtype) for value in (1.0, 0.0))
    agree([ones], [ones.clone()], has_strides=True)
    if ones.numel():
        for found, wanted in ((ones, zeros), (zeros, ones)):
            with pytest.raises(Wrong, match="another result"):
                agree([found], [wanted], has_strides=True)


def test_a_comparison_that_fails_is_a_wrong_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    from tests.compose import treatments
    from tests.compose.probe import Wrong

    def fails(found: torch.Tensor, wanted: torch.Tensor) -> bool:
        raise NotImplementedError("no comparison")

    monkeypatch.setattr(treatments, "_is_close", fails)
    with pytest.raises(Wrong, match="not compared: no comparison"):
        treatments.agree([torch.ones(2)], [torch.ones(2)], has_strides=True)
