"""What PyTorch's own lists of inputs call, a reference may call, as a function and as a method, for the results that it
gives."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

from tests.formulas.test_calls_alike import generated
from tests.formulas.test_calls_of_torch import kind_of

pytestmark = pytest.mark.torch

# More of an operator differ in shapes, and not in kinds.
SAMPLES = 12

Reference = tuple[str, tuple[str, ...], tuple[str, ...], str]
"""A call, the kinds of its arguments, the names of its keywords, and the results, all in the words of a schema."""


def references() -> Iterator[Reference]:
    """The calls of functions and methods that samples make."""
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    from tests.conformance.samples import samples

    seen: set[tuple[object, ...]] = set()
    for info in op_db:
        for sample in islice(samples(info, torch.float32), SAMPLES):
            values = (sample.input, *sample.args)
            kinds = [kind_of(value) for value in (*values, *sample.kwargs.values())]
            if None in kinds:
                continue
            words = tuple(map(str, kinds)), tuple(sample.kwargs)
            callees = {}
            if getattr(torch, info.name, None) is info.op:
                callees[f"torch.{info.name}"] = info.op
            if isinstance(sample.input, torch.Tensor):
                callees[info.name] = getattr(torch.Tensor, info.name, None)
            for called, callee in callees.items():
                if (called, *words) in seen or called.rpartition(".")[2].startswith("_"):
                    continue
                seen.add((called, *words))
                try:
                    returns = results(callee(*values, **sample.kwargs))
                except (RuntimeError, TypeError):
                    # There is no such method, or it takes other arguments or dtypes.
                    continue
                if returns:
                    yield (called, *words, returns)


def results(value: Any) -> str:
    """The types that a schema has for what a call gives; empty if these entries have none."""
    if isinstance(value, tuple):
        kinds = [kind_of(item) for item in value]
        return f"({', '.join(map(str, kinds))})" if None not in kinds and len(kinds) > 1 else ""
    return kind_of(value) or ""


def entry(index: int, reference: Reference) -> str:
    """An operator with this reference, of arguments of its own."""
    called, kinds, keywords, returns = reference
    names = [f"a{i}" for i in range(len(kinds))]
    declared = ", ".join(f"{kind} {name}" for kind, name in zip(kinds, names))
    count = len(names) - len(keywords)
    given = [*names[:count]]
    if not called.startswith("torch."):
        called = f"{given.pop(0)}.{called}"
    given += [f"{keyword}={name}" for keyword, name in zip(keywords, names[count:])]
    return (
        f"- func: lib::op_{index}({declared}) -> {returns}\n"
        "  dispatch: {CPU: f, Meta: g}\n"
        f"  samples: {{calls: [], reference: '{called}({', '.join(given)})'}}\n"
    )


def test_no_call_of_a_sample_is_refused() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = sorted(references())
    assert len(found) > 800
    text = "".join(entry(index, one) for index, one in enumerate(found))
    refused = [
        (one.code, one.message, one.label.span.text if one.label else "")
        for one in generated(text, "torch-python").diagnostics
        if one.severity == "error" and one.code != "TG302"
    ]
    assert refused == []
