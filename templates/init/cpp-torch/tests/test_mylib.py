from pathlib import Path

import torch

torch.ops.load_library(str(Path(__file__).parents[1] / "build" / "libmylib.so"))


def test_scale() -> None:
    x = torch.tensor([1.0, 2.0])
    assert torch.ops.mylib.scale(x, 3.0).tolist() == [3.0, 6.0]
