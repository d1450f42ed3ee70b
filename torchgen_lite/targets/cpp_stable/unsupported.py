"""Entries that the stable ABI does not support: a diagnostic instead of a compile error or an abort."""

from __future__ import annotations

from collections.abc import Iterator

from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.diagnostics import Diagnostic, Span
from torchgen_lite.dialects.cpp import stable
from torchgen_lite.dialects.cpp.stable import Release
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.schema import Type
from torchgen_lite.targets.cpp.selection import check_structured

# Keys with a name that `c10::parseDispatchKey` of 2.13 does not know. A test asks torch.
UNREAD_KEYS = frozenset(
    {
        *(f"Quantized{b}" for b in "HIP XLA MPS IPU HPU VE Lazy MTIA MAIA Meta".split()),
        *(f"Sparse{b}" for b in "XLA IPU HPU Lazy MTIA MAIA".split()),
        *(f"SparseCsr{b}" for b in "XLA IPU HPU Lazy MTIA MAIA".split()),
        *(f"NestedTensor{b}" for b in "HIP XLA MPS IPU VE Lazy MTIA MAIA".split()),
        *(f"Autograd{b}" for b in "HIP VE MTIA MAIA".split()),
        *(
            f"{functionality}PrivateUse{number}"
            for functionality in ("Quantized", "Sparse", "SparseCsr", "NestedTensor")
            for number in (2, 3)
        ),
    }
)
# Tags for which `stableivalue_conversions.h` has a case; `inplace` and `out` have none.
SUPPORTED_TAGS = frozenset("""
    core cudagraph_unsafe data_dependent_output dynamic_output_shape flexible_layout generated
    inplace_view maybe_aliasing_or_mutating needs_contiguous_strides needs_exact_strides
    needs_fixed_stride_order nondeterministic_bitwise nondeterministic_seeded out_variant pointwise
    pt2_compliant_tag reduction view_copy
    """.split())
_INSTEAD = {
    "Scalar": "take a `float`, an `int`, or a `Tensor` without dimensions",
    "complex": "take two `float`s",
    "SymBool": "take a `bool`",
    "Storage": "take a `Tensor`",
    "Dimname": "take an `int`",
}


def check_entry(operator: Operator, target: Release | None) -> Iterator[Diagnostic]:
    """Everything in one entry that the stable ABI, or the oldest release wanted, does not support."""
    function, schema = operator.function, operator.schema
    arguments = [(a.type, f"argument `{a.name}`", a.type_span, False) for a in schema.arguments]
    returns = [(r.type, "result", r.span, True) for r in schema.returns]
    for type_, what, span, returned in (*arguments, *returns):
        yield from _check_type(function, type_, what, span or schema.span, returned, target)
    yield from _check_dispatch(operator)
    for tag in function.tags:
        if tag not in SUPPORTED_TAGS:
            yield finding(
                function,
                "TG534",
                f"the stable ABI has no tag `{tag}`",
                function.place("tags"),
                "left out",
            )


def _check_type(
    function: NativeFunction,
    type_: Type,
    what: str,
    span: Span | None,
    returned: bool,
    target: Release | None,
) -> Iterator[Diagnostic]:
    part = stable.unsupported(type_, returned=returned)
    if part is not None:
        message = f"the stable ABI cannot carry `{part}`"
        help_ = f"{_INSTEAD.get(part, 'use another type')}, or leave the operator out with `skip`"
        yield finding(function, "TG530", message, span, f"the type of {what}", help_)
    elif target is not None and stable.since(type_) > target:
        release = release_text(stable.since(type_))
        message = f"`{type_}` is carried from libtorch {release} on"
        help_ = f'`target-version` is "{release_text(target)}": raise it, or use `skip`'
        yield finding(function, "TG532", message, span, f"the type of {what}", help_)


def _check_dispatch(operator: Operator) -> Iterator[Diagnostic]:
    yield from check_structured(operator, "TG531", "the stable ABI has no structured kernels")
    for entry in operator.own_kernels:
        if entry.key in UNREAD_KEYS:
            message = f"libtorch does not find the key `{entry.key}` by its name"
            yield finding(operator.function, "TG533", message, entry.key_span, "here")


def release_text(release: Release) -> str:
    """`2.13`."""
    return f"{release[0]}.{release[1]}"
