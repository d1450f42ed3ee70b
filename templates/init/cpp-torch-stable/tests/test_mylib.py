import mylib
import torch


def test_scale() -> None:
    x = torch.tensor([1.0, 2.0])
    assert mylib.ops.scale(x, 3.0).tolist() == [3.0, 6.0]
