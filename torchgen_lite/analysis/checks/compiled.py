"""Check the fields that say something to compilers and counters: `decompose:`, `triton:`, `flops:`, `checkpoint:`,
`effects:`."""

from __future__ import annotations

from collections.abc import Collection

from torchgen_lite.analysis.fakes.check import mistakes
from torchgen_lite.analysis.finding import Findings, Found, Reported, finding
from torchgen_lite.analysis.kernels import lacks_reference
from torchgen_lite.analysis.namespaces import TORCH_NAMESPACES
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.formulas import kinds
from torchgen_lite.formulas.model import Expression, Literal, Unary
from torchgen_lite.loader.entry.entry import NativeFunction


def check_decompose(operator: Operator, compilers: Collection[str]) -> Findings:
    """TG387, where nothing can be put in the place of an operator's calls."""
    yield from _unsuited(operator, "decompose", lacks_reference(operator.function))


def check_triton(operator: Operator, keys: Collection[str]) -> Findings:
    """TG387, where no kernel can be put in the place of calls."""
    is_returned = any(value.annotation for value in operator.schema.returns)
    yield from _unsuited(operator, "triton", "returns an argument" if is_returned else "")


def check_checkpoint(operator: Operator, policy: str) -> Findings:
    """TG387, where results cannot be kept."""
    is_lost = policy == "save" and operator.schema.written
    yield from _unsuited(operator, "checkpoint", "writes to an argument" if is_lost else "")


def check_flops(operator: Operator, flops: Expression) -> Findings:
    """Mistakes in the expression, and TG387: PyTorch counts by the name, without the overload."""
    yield from mistakes(flops, frozenset({kinds.INT}), operator.schema)
    if isinstance(flops, Unary) and flops.operator == "-" and isinstance(flops.operand, Literal):
        yield Found(
            "TG333",
            f"`flops` is `{flops}`, less than 0",
            flops.span,
            "negative",
            "write how many operations a call takes",
        )
    names = [(f.namespace, f.func.base_name) for f in operator.others.functions]
    is_one = names.count((operator.function.namespace, operator.schema.base_name)) == 1
    yield from _unsuited(operator, "flops", "" if is_one else "is one of several overloads")


def _unsuited(operator: Operator, field: str, problem: str) -> Findings:
    if operator.function.namespace in TORCH_NAMESPACES:
        problem = "is an operator of PyTorch"
    elif operator.is_only_composed:
        problem = "is composed of others, which is all that compilers see"
    elif operator.function.effects is not None and field in ("decompose", "triton"):
        problem = "has effects"
    if problem:
        yield Found(
            "TG387",
            f"`{operator.schema.full_name}` has no use for `{field}`: it {problem}",
            operator.function.place(field),
            "not used",
            "leave it out",
        )


def check_effects(function: NativeFunction) -> Reported:
    """TG516 and TG517, of what is registered in PyTorch: compilers drop calls where PyTorch sees no effect, or does not
    look for one."""
    schema = function.func
    if function.namespace in TORCH_NAMESPACES:
        return
    has_class = any(str(argument.type).startswith("__torch__") for argument in schema.arguments)
    gives_nothing = not (schema.returns or schema.written or has_class)
    if function.effects is None and gives_nothing:
        yield finding(
            function,
            "TG516",
            f"`{schema.full_name}` returns nothing and writes to nothing, so `torch.compile` drops its calls",
            function.place("func"),
            "here",
            "write `effects: ordered`",
        )
    if function.effects is not None and (schema.written or schema.is_aliasing):
        yield finding(
            function,
            "TG517",
            f"PyTorch knows no effects of `{schema.full_name}`, which writes to an argument or returns one",
            function.place("effects"),
            "has no effect",
            "take it out, or return a copy",
        )


def check_kernels_of_triton(function: NativeFunction, keys: Collection[str]) -> Reported:
    """TG387: Triton launches kernels of Python, which are those for these keys."""
    for key in sorted({*function.triton}.difference(keys)):
        yield finding(
            function,
            "TG387",
            f"`triton`: no module of `kernels` has the kernel for `{key}`",
            function.place("triton"),
            "not in Python",
        )
