"""Check the fields that say something to compilers and counters: `decompose:`, `triton:`, `flops:`, `checkpoint:`,
`effects:`."""

from __future__ import annotations

from collections.abc import Collection

from torchgen_lite.analysis.fakes.check import mistakes
from torchgen_lite.analysis.finding import Findings, Found, Reported, finding
from torchgen_lite.analysis.kernels import lacks_reference
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.formulas import kinds
from torchgen_lite.formulas.model import Expression, Literal, Unary
from torchgen_lite.loader.entry.entry import KernelRow, NativeFunction
from torchgen_lite.loader.entry.kernel_languages import KERNEL_LANGUAGES, TRITON, is_traced_key


def check_decompose(operator: Operator, compilers: Collection[str]) -> Findings:
    """TG387, where nothing can be put in the place of an operator's calls."""
    yield from _unsuited(operator, "decompose", lacks_reference(operator.function))


def check_triton(operator: Operator, keys: Collection[str]) -> Findings:
    """TG387, where no kernel can be put in the place of calls, or compilers know nothing of its language."""
    problem = _not_launched(operator)
    if problem:
        yield _unused(operator, "triton", problem)
    for entry in operator.function.dispatch:
        if entry.key not in keys:
            continue
        for row in entry.rows:
            if row.language not in ("", TRITON):
                title = KERNEL_LANGUAGES[row.language].title
                yield Found(
                    "TG387",
                    f"`triton` names `{entry.key}`, and compilers see nothing of `{row.kernel}`, which is in {title}",
                    row.kernel_span,
                    "opaque",
                    f"take `{entry.key}` out of `triton`",
                )


def looked_into(operator: Operator) -> frozenset[str]:
    """The keys whose kernels compilers look into: those of `triton`, and where each kernel says that it is in Triton."""
    keys = {*operator.function.triton}
    if not _not_launched(operator):
        for entry in operator.function.dispatch:
            if {row.language for row in entry.rows} == {TRITON}:
                keys.add(entry.key)
    return frozenset(keys)


def language_of(operator: Operator, key: str, row: KernelRow) -> str:
    """What a kernel for a key is written in, as people read it, or empty: `Triton`, `Numba, opaque to compilers`."""
    if not row.language:
        return ""
    title = KERNEL_LANGUAGES[row.language].title
    return f"{title}, opaque to compilers" if is_opaque(operator, key) else title


def is_opaque(operator: Operator, key: str) -> bool:
    """Whether compilers see no more of a kernel for a key, in whatever language, than its call."""
    return not is_traced_key(key) and key not in looked_into(operator)


def _not_launched(operator: Operator) -> str:
    """Why compilers put no launch of a Triton kernel in the place of calls; empty if they can."""
    is_returned = operator.schema.returns_alias
    return _problem(operator, "triton", "returns an argument" if is_returned else "")


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
    overloads = operator.others.overloads[operator.function.packet]
    yield from _unsuited(operator, "flops", "is one of several overloads" if overloads[1:] else "")


def _unsuited(operator: Operator, field: str, problem: str) -> Findings:
    reason = _problem(operator, field, problem)
    if reason:
        yield _unused(operator, field, reason)


def _problem(operator: Operator, field: str, problem: str) -> str:
    if operator.function.is_pytorchs:
        return "is an operator of PyTorch"
    if operator.is_only_composed:
        return "is composed of others, which is all that compilers see"
    if operator.function.effects is not None and field in ("decompose", "triton"):
        return "has effects"
    return problem


def _unused(operator: Operator, field: str, problem: str) -> Found:
    return Found(
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
    if function.is_pytorchs:
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
