"""Check `autocast:` against the schema: what is cast, and what is cast back."""

from __future__ import annotations

from torchgen_lite.analysis.derive.layout import tensors_in
from torchgen_lite.analysis.finding import Findings, Found
from torchgen_lite.analysis.kernels import DENSE_BACKENDS
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.diagnostics import did_you_mean
from torchgen_lite.loader.entry.autocast import Autocast
from torchgen_lite.schema import SchemaKind
from torchgen_lite.schema.dispatch_kind import DispatchKind, dispatch_kind
from torchgen_lite.schema.grouped import names_of


def check_autocast(operator: Operator, autocast: Autocast) -> Findings:
    """Every mistake in an `autocast:`."""
    schema = operator.schema
    name = operator.schema.full_name
    if operator.kind is not SchemaKind.functional:
        yield Found(
            "TG337",
            f"`{name}` writes to its arguments, which can't be cast",
            autocast.span,
            "here",
            "leave it out",
        )
    tensors = [a.name for a in schema.arguments if dispatch_kind(a.type) is DispatchKind.tensor]
    if autocast.result and autocast.result not in tensors:
        yield Found(
            "TG337",
            f"`{name}` has no tensor `{autocast.result}`",
            autocast.span,
            "not a tensor of this operator",
            did_you_mean(autocast.result, tensors),
        )
    every = names_of(tensors_in(schema.arguments))
    if not every:
        yield Found(
            "TG337",
            f"`{name}` takes no tensors, which could be cast",
            autocast.span,
            "not used",
            "leave it out",
        )
    for i, (named, at) in enumerate(zip(autocast.only, autocast.places)):
        if named not in every or named in autocast.only[:i]:
            why = "is named twice" if named in every else f"is no tensor of `{name}`"
            yield Found(
                "TG337",
                f"`{named}` {why}",
                at,
                "not cast",
                did_you_mean(named, [tensor for tensor in every if tensor not in autocast.only]),
            )
    # An operator of PyTorch has its rule for one backend, and may have kernels for another one.
    backends = operator.function.keys & DENSE_BACKENDS
    if operator.name in operator.others.lent and backends and autocast.backend not in backends:
        yield Found(
            "TG337",
            f"the autocast rule of PyTorch's `{schema.local_name}` is for `{autocast.backend}`",
            autocast.span,
            "no kernel of this entry is",
            "a backend's file has rules for its own backend: `autocast: like CUDA`",
        )
