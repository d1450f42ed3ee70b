"""Arrays of floats on two devices. Every operator is declared in `ops.yaml`.

>>> x = array([[1.0, 2.0], [3.0, 4.0]])
>>> (x + x * x).sum()
array(40.0, device='cpu')
>>> x.to("sim").exp().device
'sim'
"""

from tinyarr._array import Array, array
from tinyarr._ops import add, exp, full, mean, mul, neg, sum

__all__ = ["Array", "add", "array", "exp", "full", "mean", "mul", "neg", "sum"]
