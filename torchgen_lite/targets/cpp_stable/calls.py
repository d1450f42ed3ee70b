"""The typed calls: `operators.h` with one struct for an operator, and `functions.h` with defaults.

Note [Operators that C++ cannot call]
`torch_call_dispatcher` of libtorch 2.13 takes several results off its stack from the last to the first and
converts each by the type of its mirror image: the last by the type of the first. With `(Tensor, int)`
that is an error, with `(Tensor, Tensor?)` a wild pointer. So an operator has a typed call only if its
results have the same types read from both ends. Kernels are not concerned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchgen_lite.dialects.cpp import stable
from torchgen_lite.dialects.cpp.signature import signature_headers, unrooted_signature
from torchgen_lite.targets.cpp.calls import (
    FunctionView,
    OperatorView,
    Taken,
    call_view,
    distinct,
    free_signatures,
    function_file,
    function_view,
    operator_files,
    operator_view,
    umbrella_file,
)
from torchgen_lite.targets.cpp.layout import Blocks, Layout, include_blocks
from torchgen_lite.targets.cpp.model import Operator
from torchgen_lite.targets.output import OutputFile


def build_calls(operators: Sequence[Operator], layout: Layout) -> Iterator[OutputFile]:
    """`call_operator.h`, `operators.h`, `operators.cpp` (a pair for each shard), `functions.h`."""
    yield OutputFile(layout.header("version.h"), "cpp_stable/version.h.j2", {})
    context = {"namespace": layout.namespace, "folder": layout.folder}
    yield OutputFile(layout.header("call_operator.h"), "cpp_stable/call_operator.h.j2", context)

    def includes(own: Sequence[Operator]) -> dict[str, object]:
        return {"includes": declaration_includes(own, layout), "has_pointer": False}

    source = "cpp_stable/operators.cpp.j2"
    yield from operator_files(source, layout, operators, struct_view, includes, {})
    if layout.shards != (None,):
        yield umbrella_file(layout, "operators")
    functions = list(function_views(operators))
    limits = ["limits"] if any("limits" in view.headers for view in functions) else []
    headers = include_blocks(limits, before=[layout.own("operators.h")])
    yield function_file(layout, "functions", headers, functions)


def declaration_includes(operators: Sequence[Operator], layout: Layout) -> Blocks:
    """What declarations of these operators need: our header, PyTorch's, the standard library's."""
    version = [layout.own("version.h")] if any(o.guard for o in operators) else []
    return include_blocks(signature_headers(o.signature for o in operators), before=version)


def struct_view(operator: Operator) -> OperatorView:
    """The struct of one operator, with a call if there can be one."""
    calls = [call_view(operator, "call")] if is_callable(operator) else []
    return operator_view(operator, *calls)


def is_callable(operator: Operator) -> bool:
    """Whether libtorch gives the results as they are; see Note [Operators that C++ cannot call]."""
    types = [stable.owned_type(r.type) for r in operator.schema.returns]
    return types == types[::-1]


def function_views(operators: Sequence[Operator]) -> Iterator[FunctionView]:
    """The free functions of what can be called, with defaults."""
    taken: Taken = set()
    for operator in filter(is_callable, operators):
        for signature in free_signatures(operator, stable.arguments):
            if distinct(signature, taken):
                # Among functions nothing can hide `std`: a function of that name doesn't.
                shown = unrooted_signature(signature)
                yield function_view(operator, shown, operator.names)
