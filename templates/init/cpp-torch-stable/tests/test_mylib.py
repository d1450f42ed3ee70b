import mylib
import torch


def test_scale() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    out = mylib.scale(x, 3.0)
    out.sum().backward()
    assert out.tolist() == [3.0, 6.0]
    assert x.grad is not None and x.grad.tolist() == [3.0, 3.0]
