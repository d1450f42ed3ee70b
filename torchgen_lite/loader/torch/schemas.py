"""The schemas of PyTorch's public operators by base name, which formulas call without declaring them.

`schemas.txt` has those of PyTorch 2.13; `tests/torchgen/test_functions_of_torch.py` compares it with PyTorch.
"""

from __future__ import annotations

import re
from functools import cache

from torchgen_lite.loader.sources import lines_beside
from torchgen_lite.schema import FunctionSchema
from torchgen_lite.schema.grouped import grouped


@cache
def _texts() -> dict[str, list[str]]:
    return grouped(lines_beside(__file__), lambda line: re.split("[.(]", line, maxsplit=1)[0])


@cache
def schemas_of(name: str) -> tuple[FunctionSchema, ...]:
    """The overloads of a function, in PyTorch's order.

    >>> [schema.overload_name for schema in schemas_of("pow")], schemas_of("sigmoyd")
    (['Tensor_Tensor', 'Scalar', 'Tensor_Scalar'], ())
    """
    return tuple([FunctionSchema.parse(text) for text in _texts().get(name, ())])
