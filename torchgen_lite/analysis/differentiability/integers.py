"""Results that would get a gradient although their fake makes them integers."""

from __future__ import annotations

from collections.abc import Iterator

from torchgen_lite.analysis.fakes.results import rules_by_result
from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.formulas.language import INTEGRAL_DTYPES
from torchgen_lite.formulas.model import Name
from torchgen_lite.schema import return_names


def check_integers(resolved: Resolved) -> Iterator[Diagnostic]:
    """Entries that lack `output_differentiability`: libtorch rejects integers that require grad."""
    for operator in resolved.declared:
        function = operator.function
        derivatives = function.derivatives
        if derivatives is None or function.fake is None:
            continue
        info = resolved.autograd[operator.name].info
        if info is None or not info.slots or info.output_differentiability is not None:
            continue
        rules = rules_by_result(function)
        dtypes = {i: rule.get("dtype") for i, rule in rules.items() if i in info.outputs}
        names = {i: d.text for i, d in dtypes.items() if isinstance(d, Name)}
        found = {i: text for i, text in names.items() if text in INTEGRAL_DTYPES}
        if not found:
            continue
        index, dtype = next(iter(found.items()))
        name, full_name = return_names(function.func)[index], function.func.full_name
        message = f"result `{name}` of `{full_name}` is `{dtype}`, and has no gradient"
        flags = [i in info.outputs and i not in found for i in range(len(function.func.returns))]
        hint = "leave `derivatives` out"
        if any(flags):
            hint = f"add `output_differentiability: [{', '.join(map(str, flags))}]`"
        yield finding(function, "TG343", message, derivatives.span, "missing here", hint)
