"""Operators on a class of the library: `python demo.py` behind a build, or with the path of the library."""

import sys
from pathlib import Path

import torch

BUILT = Path(__file__).parent / "build" / "libtorch_classes.so"
torch.ops.load_library(sys.argv[1] if len(sys.argv) > 1 else BUILT)
ops, Table = torch.ops.torch_classes, torch.classes.torch_classes.Table

odd = Table(torch.tensor([3, 1]), torch.tensor([0.3, 0.1]))
even = Table(torch.tensor([2]), torch.tensor([0.2]))
print(ops.look_up(odd, torch.tensor([[1, 2], [3, 4]]), missing=-1.0))
print(ops.look_up(ops.merge([odd, even]), torch.arange(5)))
