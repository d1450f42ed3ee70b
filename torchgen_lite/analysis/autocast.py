"""Check `autocast:` against the schema: what is cast, and what is cast back."""

from __future__ import annotations

from collections.abc import Iterator

from torchgen_lite.analysis.finding import Found, findings
from torchgen_lite.analysis.kernels import DENSE_BACKENDS
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import Diagnostic, did_you_mean
from torchgen_lite.loader.autocast import Autocast
from torchgen_lite.schema import SchemaKind
from torchgen_lite.schema.dispatch_kind import DispatchKind, dispatch_kind


def check_autocast(resolved: Resolved) -> Iterator[Diagnostic]:
    """Every mistake in an `autocast:`."""
    for operator in resolved.declared:
        autocast = operator.function.autocast
        if autocast is not None:
            yield from findings(operator.function, _check(operator, autocast))
            if operator.name in resolved.lent:
                yield from findings(operator.function, _check_key(operator, autocast))


def _check(operator: Operator, autocast: Autocast) -> Iterator[Found]:
    schema, name = operator.schema, operator.schema.full_name
    if operator.kind is not SchemaKind.functional:
        message = f"`{name}` writes to its arguments, which can't be cast"
        yield Found("TG337", message, autocast.span, "here", "leave it out")
    if not autocast.result:
        return
    tensors = [a.name for a in schema.arguments if dispatch_kind(a.type) is DispatchKind.tensor]
    if autocast.result not in tensors:
        hint = did_you_mean(autocast.result, tensors)
        message = f"`{name}` has no tensor `{autocast.result}`"
        yield Found("TG337", message, autocast.span, "not a tensor of this operator", hint)


def _check_key(operator: Operator, autocast: Autocast) -> Iterator[Found]:
    """An operator of PyTorch has its rule for one backend, and may have kernels for another one."""
    backends = {entry.key for entry in operator.function.dispatch} & DENSE_BACKENDS
    if backends and autocast.backend not in backends:
        name = operator.schema.local_name
        message = f"the autocast rule of PyTorch's `{name}` is for `{autocast.backend}`"
        hint = "a backend's file has rules for its own backend: `autocast: like CUDA`"
        yield Found("TG337", message, autocast.span, "no kernel of this entry is", hint)
