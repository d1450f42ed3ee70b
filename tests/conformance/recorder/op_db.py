"""What PyTorch's operators give for PyTorch's own sample inputs: `python op_db.py RESULTS SAMPLES`.

Writes one line for each of them: the name and a digest of every sample's results and gradients. Two
processes that print the same lines have computed the same, to the last bit.
"""

from __future__ import annotations

import hashlib
import sys
import warnings
from collections.abc import Iterator
from functools import reduce
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_leaves

DTYPES = (torch.float32, torch.complex64, torch.int64, torch.bool)
NOT_IN_NUMPY = (torch.bfloat16, torch.complex32)


def shown(value: object) -> str:
    """A value with all that is in it."""
    if not isinstance(value, torch.Tensor):
        return repr(value)
    value = value.detach()
    about = f"{value.dtype} {tuple(value.shape)} {value.layout}"
    if value.layout is not torch.strided:
        value = value.to_dense()
    if value.dtype in NOT_IN_NUMPY:
        value = value.to(torch.complex64 if value.is_complex() else torch.float32)
    values = value.numpy(force=True).tobytes()
    return f"{about} {hashlib.sha256(values).hexdigest()}"


def gradients(results: list[object], given: list[object]) -> list[torch.Tensor]:
    """The gradients of the sum of all results."""
    used = [r for r in results if isinstance(r, torch.Tensor) and r.requires_grad]
    leaves = [g for g in given if isinstance(g, torch.Tensor) and g.requires_grad]
    if not used or not leaves:
        return []
    total = reduce(torch.add, [r.abs().sum() if r.is_complex() else r.sum() for r in used])
    found = torch.autograd.grad(total, leaves, allow_unused=True)
    return [g for g in found if g is not None]


def run(info: Any, samples: int) -> Iterator[str]:
    """A digest of each sample."""
    dtype = next((d for d in DTYPES if d in info.dtypes), None)
    if dtype is None:
        return
    with_gradients = info.supports_autograd and dtype.is_floating_point
    torch.manual_seed(1)
    for sample in islice(info.sample_inputs("cpu", dtype, requires_grad=with_gradients), samples):
        torch.manual_seed(2)
        given = (sample.input, sample.args, sample.kwargs)
        try:
            results = tree_leaves(info.op(sample.input, *sample.args, **sample.kwargs))
            text = " ".join(map(shown, [*results, *gradients(results, tree_leaves(given))]))
        except Exception as error:
            text = f"{type(error).__name__} {error}"
        yield hashlib.sha256(text.encode()).hexdigest()[:16]


def main() -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    # This also fills most of the memory that nobody initializes.
    torch.use_deterministic_algorithms(True, warn_only=True)
    lines = [f"{info.formatted_name} {' '.join(run(info, int(sys.argv[2])))}\n" for info in op_db]
    Path(sys.argv[1]).write_text("".join(lines))


if __name__ == "__main__":
    main()
