"""Structured operators: one implementation, written for the out variant, serves all three variants.

The kernels are in `templates/python/structured.py.j2`. The in-place variant checks that `self` has
the shape and dtype of the result; the out variant resizes its out arguments. The author writes the
meta function and the implementation. Meta kernels need no entry in the schema, because they are the
same kernels without the implementation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torchgen_lite.languages.python.names import identifier
from torchgen_lite.languages.text import quote
from torchgen_lite.schema import SchemaKind
from torchgen_lite.targets.python.model import Overload


class StructuredView(NamedTuple):
    """One generated kernel: `meta` describes the results, and `implementation` (empty for a Meta
    kernel) fills them.

    Both are called with `passed`. In-place and out variants get their results as arguments. Each of
    `results` is a local or an argument, its spec, and the implementation's argument for it.
    """

    overload: Overload
    meta: str
    implementation: str
    passed: Sequence[str]
    results: Sequence[tuple[str, str, str]]
    key: str
    is_inplace: bool
    is_out: bool


def structured_kernel(
    out: Overload, member: Overload, key: str, meta: str, implementation: str
) -> StructuredView:
    """The kernel of the variant `member` for one key, with the implementation written for `out`."""
    outs = [identifier(argument.name) for argument in out.schema.out]
    specs = [f"spec[{index}]" for index in range(len(outs))] if len(outs) > 1 else ["spec"]
    kind = member.kind
    names = ["self"] if kind is SchemaKind.inplace else outs
    return StructuredView(
        overload=member,
        meta=meta,
        implementation=implementation,
        passed=_passed(member),
        results=list(zip(names, specs, outs, strict=True)),
        key=quote(key),
        is_inplace=kind is SchemaKind.inplace,
        is_out=kind is SchemaKind.out,
    )


def _passed(member: Overload) -> list[str]:
    names = {identifier(a.name): a.kwarg_only for a in member.schema.arguments if not a.is_out}
    return [f"{name}={name}" if is_keyword else name for name, is_keyword in names.items()]
