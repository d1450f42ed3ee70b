"""Forward mode for the corpus in one target, as JSON: `python -m tests.formulas.forward TARGET`.

The dot-product test: a tangent that is carried forward and then multiplied by a gradient is that gradient, carried
back and then multiplied by the tangent. PyTorch's own autograd agrees with the gradients (`test_corpus.py`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from tests.formulas.programs import GRAD, OTHER, _complex, _dtype, inputs, load
from tests.formulas.rows import ROWS, WRITES, Row


def products(row: Row, call: Any, torch: Any, without: Sequence[str]) -> list[float]:
    """The product of each mode, with the same gradient and the same tangent."""
    made = {}
    for mode in ("backward", "forward"):
        named = inputs(row, lambda data: torch.tensor(data, dtype=_dtype(torch, data)))
        leaf = named[row.of][0] if row.of == "xs" else named[row.of]
        tangent = torch.tensor(OTHER, dtype=torch.float64)[: len(leaf), : len(leaf[0])] / 3
        for name in without:
            named.pop(name, None)
        made[mode] = product(row, call, torch, mode, named, leaf, tangent.contiguous())
    return [made["backward"], made["forward"]]


def product(
    row: Row, call: Any, torch: Any, mode: str, named: dict[str, Any], leaf: Any, tangent: Any
) -> float:
    data = _complex(GRAD) if row.is_complex else GRAD
    grads = [torch.tensor(data, dtype=_dtype(torch, data)) for _ in row.used]
    with torch.autograd.forward_ad.dual_level():
        given = dict(named)
        if mode == "forward":
            active = torch.autograd.forward_ad.make_dual(leaf, tangent)
        else:
            active = leaf.requires_grad_()
        given[row.of] = [active, *named["xs"][1:]] if row.of == "xs" else active
        if row.schema == WRITES:
            given["self"] = active * 1
        results = call(*given.values())
        results = results if isinstance(results, (tuple, list)) else [results]
        used = [results[index] for index in row.used]
        if mode == "backward":
            (found,) = torch.autograd.grad(used, [leaf], grads, allow_unused=True)
            return 0.0 if found is None else (found.conj() * tangent).sum().real.item()
        found = [torch.autograd.forward_ad.unpack_dual(one).tangent for one in used]
        pairs = [(g, t) for g, t in zip(grads, found) if t is not None]
        return float(sum((g.conj() * t).sum().real.item() for g, t in pairs))


def main(target: str) -> None:
    """Print what each row gives, or why it is refused."""
    torch, functions, without = load(target)
    found: dict[str, Any] = {}
    for index, row in enumerate(ROWS):
        if not row.is_refused(target) and not row.raises:
            call = getattr(functions, f"row{index}" + "_" * (row.schema == WRITES))
            try:
                found[row.formula] = products(row, call, torch, without)
            except RuntimeError as error:
                found[row.formula] = str(error).partition("::")[2].partition(" ")[2]
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
