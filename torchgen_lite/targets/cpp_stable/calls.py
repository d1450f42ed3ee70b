"""The typed calls: `operators.h` with one struct for an operator, and `functions.h` with defaults.

Note [Operators that C++ cannot call]
`torch_call_dispatcher` in libtorch 2.13 pops several results from last to first, but converts them
with the types from first to last. With `(Tensor, int)` that is an error, with `(Tensor, Tensor?)` a
wild pointer. So an operator has a typed call only if its result types are a palindrome. Kernels are
not affected.
"""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_lite.languages.cpp import stable
from torchgen_lite.languages.cpp.signature import (
    signature_headers,
    signatures_of,
    unrooted_signature,
)
from torchgen_lite.targets.cpp import calls
from torchgen_lite.targets.cpp.layout import (
    Blocks,
    Layout,
    copied_files,
    include_blocks,
    version_header,
)
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.output import Files


def build_calls(operators: Sequence[CppOperator], layout: Layout) -> Files:
    """`call_operator.h`, `operators.h` for each shard, `functions.h`."""
    yield from copied_files(layout, "cpp_stable", "version.h", "call_operator.h")

    def includes(declared: Sequence[CppOperator]) -> Blocks:
        return [[layout.own("call_operator.h")], *declaration_includes(declared, layout)]

    yield from calls.operator_headers(layout, operators, includes, is_callable, is_hidden=True)
    # Nothing can hide `std` here: a function of that name does not.
    called = filter(is_callable, operators)
    functions = list(calls.free_functions(called, stable.arguments, unrooted_signature, {}))
    limits = calls.function_headers(functions) & {"limits"}
    headers = include_blocks(limits, before=[layout.own("operators.h")])
    yield calls.function_file(layout, "functions", headers, functions)


def declaration_includes(operators: Sequence[CppOperator], layout: Layout) -> Blocks:
    """What declarations of these operators need: our header, PyTorch's, the standard library's."""
    version = version_header(operators, layout)
    return include_blocks(signature_headers(signatures_of(operators)), before=version)


def is_callable(operator: CppOperator) -> bool:
    """Whether libtorch returns the results correctly; see Note [Operators that C++ cannot call]."""
    types = [stable.owned_type(r.type) for r in operator.schema.returns]
    return types == types[::-1]
