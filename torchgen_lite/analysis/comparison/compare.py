"""Compare two versions of the operators: what callers of the old one can't rely on in the new one.

    - func: f(Tensor self, int dim=0) -> Tensor       - func: f(Tensor self, int dim=1) -> Tensor

gives TG357 with a label at `1`, and a secondary one at the old `0`.

Note [Three levels]
`source`, the widest level, is everything that can break code calling the operators, by PyTorch's
rules. `call` leaves out what affects only the caller's source text: the name of a positional
argument, the name of a return, whether there is a method. A compiled or exported call depends on
the operator's name, positions and keywords; those findings count at both levels. `kernel` is what
only implementers notice: kernels whose C++ type changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import chain
from typing import Literal

from torchgen_lite.analysis.comparison import changed_calls, terms
from torchgen_lite.analysis.comparison.lost_calls import lost_calls
from torchgen_lite.analysis.comparison.overload_order import compare_order
from torchgen_lite.analysis.comparison.sides import Offer, Side
from torchgen_lite.analysis.comparison.values import narrowed_value
from torchgen_lite.analysis.compatible import (
    accepts_in_size,
    alias_key,
    same_default,
)
from torchgen_lite.analysis.finding import Change, Changes, Witness, finding
from torchgen_lite.analysis.implementing import Rank, compare_kernels
from torchgen_lite.analysis.operators import Operator, functions_of
from torchgen_lite.diagnostics import Diagnostic, Diagnostics, Label, read_code
from torchgen_lite.diagnostics.text import counted
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema import Argument, BaseType, FunctionSchema, walk_type
from torchgen_lite.schema.grouped import by_name, names_of
from torchgen_lite.schema.kind import VARIANTS

Level = Literal["source", "call", "kernel"]
_Compare = Callable[[Offer, Offer], Changes]
_REMOVED = "removed"
_CALL = Witness()
_SOURCE_ONLY = frozenset({"TG362", "TG365", "TG381"})


def compare_operators(old: Side, new: Side, *, level: Level = "source") -> Diagnostics:
    """What is incompatible in `new`, in the order of the old version.

    An operator derived in both versions changes only with its base, so it is not reported
    separately. Of one that only one version has over PyTorch's, only calls are compared: the rest is PyTorch's in both.
    """
    functions = functions_of(new.operators)
    new_by_name = by_name((*new.lent, *new.operators))
    lent = set(names_of((*old.lent, *new.lent)))
    old_names = set(names_of(old.operators))
    diagnostics = []
    for operator in (*old.operators, *old.lent):
        now = new_by_name.get(operator.name)
        if now is None:
            removed = _removed(operator.function, functions, old_names)
            diagnostics.append(replace(removed, witness=old.write(operator, _CALL)))
        elif not (operator.is_derived and now.is_derived):
            was = old.offer(operator, _new_names(operator.schema, now.schema))
            if level == "kernel":
                compares: Sequence[_Compare] = () if operator.name in lent else (_compare_kernels,)
            else:
                compares = (_compare_calls,) if operator.name in lent else _OF_CALLERS
            for change in _changes(was, new.offer(now, {}), compares):
                if level != "call" or not _is_source_only(change, operator.schema):
                    line = old.write(operator, change.witness) if change.witness else ""
                    diagnostics.append(replace(_diagnostic(change, now.function), witness=line))
    return tuple(diagnostics)


def _changes(old: Offer, new: Offer, compares: Sequence[_Compare]) -> Changes:
    for compare in compares:
        yield from compare(old, new)


def _new_names(old: FunctionSchema, new: FunctionSchema) -> dict[str, str]:
    """What arguments of the old version are called now, where that differs."""
    pairs = zip(names_of(old.arguments), names_of(new.arguments))
    kept = names_of(new.arguments)
    return {was: now for was, now in pairs if was not in kept}


def _is_source_only(change: Change, old: FunctionSchema) -> bool:
    """Whether calls by position and keyword are unaffected."""
    if change.code != "TG353":
        return change.code in _SOURCE_ONLY
    return any(argument.name_span == change.there for argument in old.positional)


def _diagnostic(change: Change, function: NativeFunction) -> Diagnostic:
    diagnostic = finding(
        function,
        change.code,
        f"`{function.func.full_name}`: {change.message}",
        change.here,
        change.label,
        None,
        (change.there, "was this"),
    )
    if diagnostic.label is None:  # It has no place in the new version.
        diagnostic = replace(diagnostic, label=next(iter(diagnostic.secondary), None), secondary=())
    return replace(diagnostic, operator=function.name)


def _removed(
    function: NativeFunction, new: Sequence[NativeFunction], old: Collection[str]
) -> Diagnostic:
    """TG350, or TG351 if other overloads remain. Renames are recognized by their arguments, and
    renamed operators also by their kernels."""
    schema = function.func
    name = schema.full_name
    overloads = [f for f in new if f.packet == function.packet]
    if overloads:
        code = "TG351"
        what = "overload"
        alike = [other for other in overloads if _is_like(function, other)]
    else:
        code = "TG350"
        what = "operator"
        alike = [other for other in new if _is_like(function, other)]
        alike = [f for f in alike if f.dispatch and f.dispatch == function.dispatch]
    renamed = next((other.func for other in alike if other.name not in old), None)
    became = f"renamed to `{renamed.full_name}`" if renamed else "removed"
    there = schema.name_span or schema.span
    label = Label(there, "was declared here") if there else None
    others = []
    if renamed and renamed.name_span:
        others.append(Label(renamed.name_span, "its new name"))
    return Diagnostic(
        code,
        f"{what} `{name}` was {became}",
        label,
        tuple(others),
        operator=function.name,
    )


def _is_like(function: NativeFunction, other: NativeFunction) -> bool:
    schema = function.func
    return (other.func.arguments, other.func.returns) == (schema.arguments, schema.returns)


def _compare_kernels(old: Offer, new: Offer) -> Changes:
    """TG366: a kernel for the old schema does not fit the new one."""
    difference = compare_kernels(old.operator.function, new.operator.function)
    if difference.rank is Rank.aborts:
        yield Change(
            "TG366",
            "kernels have another type",
            difference.new and difference.new.span,
            "here",
            difference.old and difference.old.span,
        )


def compare_schemas(old: FunctionSchema, new: FunctionSchema) -> Changes:
    """The findings about one schema; none if PyTorch calls `new` backward compatible with `old`."""
    if (old.is_vararg, old.is_varret) != (new.is_vararg, new.is_varret):
        yield Change("TG363", "`...` was added or removed", new.span, "", old.span)
    yield from _compare_returns(old, new)
    old_split = _first_out(old.arguments)
    new_split = _first_out(new.arguments)
    old_out = old.arguments[old_split:]
    new_out = new.arguments[new_split:]
    yield from _compare_places(old.arguments[:old_split], new.arguments[:new_split], new_out)
    yield from _compare_places(old_out, new_out, new.arguments[:new_split], is_out=True)


def _first_out(arguments: Sequence[Argument]) -> int:
    """Where the out arguments begin (c10 `findFirstOutArg`, which does not look at defaults)."""
    out = (n for n, argument in enumerate(arguments) if argument.kwarg_only and argument.is_write)
    return next(out, len(arguments))


def _compare_places(
    old: Sequence[Argument],
    new: Sequence[Argument],
    others: Sequence[Argument],
    *,
    is_out: bool = False,
) -> Changes:
    """Compare arguments; `others` are the arguments in the other part of the new version."""
    now = by_name(new)
    elsewhere = by_name(others)
    known = set(names_of(old))
    kept = []
    for position, argument in enumerate(old):
        same = now.get(argument.name)
        stands_here = new[position] if position < len(new) else None
        if same is not None:
            kept.append(same)
            yield from _compare_argument(argument, same)
        elif argument.name in elsewhere:
            moved = elsewhere[argument.name]
            words = "is no longer an out argument" if is_out else "is now an out argument"
            message = f"argument `{argument.name}` {words}"
            shown = _named(argument)
            yield Change("TG354", message, moved.name_span, "here", argument.name_span, shown)
        elif stands_here is not None and stands_here.name not in known:
            kept.append(stands_here)
            here = stands_here.name_span
            there = argument.name_span
            message = f"argument `{argument.name}` was renamed to `{stands_here.name}`"
            yield Change("TG353", message, here, "another name", there, _named(argument))
            yield from _compare_argument(argument, stands_here)
        else:
            here = stands_here.span if stands_here is not None else None
            message = f"argument `{argument.name}` was removed"
            label = "is in its place" if here else ""
            yield Change("TG352", message, here, label, argument.span, _named(argument))
    yield from _compare_order(kept, new)
    if not is_out:
        for argument in new:
            if argument not in kept and argument.default is None:
                message = f"new argument `{argument.name}` has no default"
                label = "old callers don't pass this"
                yield Change("TG356", message, argument.span, label, None, _CALL)


def _named(argument: Argument) -> Witness:
    """A call that gives the argument by its name."""
    return Witness(argument=argument.name)


def _by_position(argument: Argument) -> Witness | None:
    """A call that gives everything up to the argument by position; keyword-only ones have no position."""
    if argument.kwarg_only:
        return None
    return Witness(argument=argument.name, by_position=True, distinct=True)


def _compare_order(kept: Sequence[Argument], new: Sequence[Argument]) -> Changes:
    """TG354. `kept` are the new versions of the old arguments, in the old order."""
    order = [argument for argument in new if argument in kept]
    for was, argument in zip(kept, order):
        if was is not argument:
            message = f"argument `{argument.name}` was moved"
            label = f"`{was.name}` was before it"
            yield Change("TG354", message, argument.span, label, None, _by_position(argument))
            return
    last = max((new.index(argument) for argument in kept), default=-1)
    for position, argument in enumerate(new[: last + 1]):
        if argument not in kept:
            after = next(a for a in new[position:] if a in kept)
            message = f"new argument `{argument.name}` comes before `{after.name}`"
            shown = _by_position(after)
            yield Change("TG354", message, argument.span, "belongs at the end", None, shown)
            return


def _compare_argument(old: Argument, new: Argument) -> Changes:
    name = new.name
    if new.kwarg_only and not old.kwarg_only:
        message = f"argument `{name}` became keyword-only"
        yield Change("TG355", message, new.span, "", old.span, _by_position(old))
    if not accepts_in_size(new.type, old.type):
        message = f"argument `{name}` takes `{new.type}`, and used to take `{old.type}`"
        value = narrowed_value(old.type, new.type)
        shown = None
        if value:
            shown = Witness(argument=old.name, by_position=old.default is None, value=value)
        yield Change("TG359", message, new.type_span, "narrower", old.type_span, shown)
    if alias_key(new.type) != alias_key(old.type):
        yield Change(
            "TG360",
            f"the alias annotation of argument `{name}` changed",
            new.type_span,
            "changed",
            old.type_span,
        )
    if old.default is None:
        return
    if new.default is None:
        message = f"argument `{name}` lost its default `{old.default}`"
        yield Change("TG358", message, new.span, "required now", old.default_span, _CALL)
    elif not same_default(old, new):
        what = f"the default of argument `{name}`"
        message = f"{what} changed from `{old.default}` to `{new.default}`"
        yield Change("TG357", message, new.default_span, "changed", old.default_span, _CALL)


def _compare_returns(old: FunctionSchema, new: FunctionSchema) -> Changes:
    if len(old.returns) != len(new.returns):
        message = f"it returns {len(new.returns)} values, and used to return {len(old.returns)}"
        here = new.returns[-1].span if new.returns else None
        there = old.returns[-1].span if old.returns else None
        yield Change("TG361", message, here, "here", there, _CALL)
        return
    for was, now in zip(old.returns, new.returns):
        if not accepts_in_size(was.type, now.type):
            message = f"a return value is `{now.type}`, and used to be `{was.type}`"
            yield Change("TG361", message, now.span, "changed", was.span, _CALL)
        if alias_key(was.type) != alias_key(now.type):
            yield Change(
                "TG360",
                "the alias annotation of a return value changed",
                now.span,
                "changed",
                was.span,
            )
        if was.name != now.name:
            yield Change(
                "TG362",
                f"return value `{was.name or ''}` was renamed to `{now.name or ''}`",
                now.span,
                "another name",
                was.span,
            )


def _compare_variants(old: Offer, new: Offer) -> Changes:
    """TG365, where some target follows `variants`."""
    if not any(target is not None and target.policy.has_variants for target in new.served):
        return
    lost = set(old.operator.function.variants) - set(new.operator.function.variants)
    for variant in VARIANTS:
        if variant in lost:
            message = f"the {variant} variant was removed"
            label = f"no `{variant}`"
            yield new.changed("TG365", message, "variants", old, label, Witness(variant))


def _compare_calls(old: Offer, new: Offer) -> Changes:
    """What is lost under any target; targets mostly agree."""
    changes: dict[tuple[str, str], Change] = {}
    for was, now in zip(old.served, new.served):
        if was is not None and now is not None:
            for change in lost_calls(old.operator, was, new.operator, now):
                changes.setdefault((change.code, change.message), change)
        elif was is not None:
            message = f"{was.policy.speaks_of} no longer has it"
            shown = Witness(target=was.policy.target)
            changes["TG375", message] = Change("TG375", message, witness=shown)
    for change in changes.values():
        if change.code != "TG367" or not _is_functionalized(new):
            yield change


def _is_functionalized(offer: Offer) -> bool:
    """Whether some target has calls functionalized: one beside others is enough."""
    return any(
        target is not None and target.functionalizes(offer.operator) for target in offer.served
    )


def _compare_terms(old: Offer, new: Offer) -> Changes:
    """What options offer, and the functions behind names."""
    before = old.side.terms
    after = new.side.terms
    if before is not None and after is not None:
        yield from terms.compare_offers(before, after, old.operator, new.operator)
        yield from terms.compare_uses(before, after, old.operator, new.operator)


_OF_CALLERS: Sequence[_Compare] = (
    lambda old, new: compare_schemas(old.operator.schema, new.operator.schema),
    _compare_variants,
    _compare_calls,
    changed_calls.compare_availability,
    changed_calls.compare_formulas,
    changed_calls.compare_fakes,
    changed_calls.compare_autocast,
    changed_calls.compare_promises,
    changed_calls.compare_functions,
    changed_calls.compare_cells,
    changed_calls.compare_references,
    lambda old, new: compare_order(old.operator, new.operator),
    _compare_terms,
)


def added_operators(old: Sequence[Operator], new: Sequence[Operator]) -> list[str]:
    before = set(names_of(old))
    return [operator.name for operator in new if operator.name not in before]


def changed_compatibly(
    old: Sequence[Operator], new: Sequence[Operator], reported: Collection[str]
) -> list[str]:
    """The changed schemas of operators without findings."""
    now = {operator.name: operator.schema.local_text for operator in new}
    kept = now.keys() - set(reported)
    left = [(o.schema.local_text, now[o.name]) for o in old if o.name in kept]
    return [text for before, text in left if text != before]


def causes(
    old: Sequence[Operator], new: Sequence[Operator], diagnostics: Sequence[Diagnostic]
) -> list[str]:
    """How many findings there are of each kind: "108 removed: 101 of them with `Dimname`, which nothing has any more"."""
    known = set[str]().union(*(_types(operator.schema) for operator in new))
    schemas = {operator.name: operator.schema for operator in old}
    kinds: dict[str, list[str]] = {}
    for diagnostic in diagnostics:
        is_removed = diagnostic.code in ("TG350", "TG351")
        title = _REMOVED if is_removed else read_code(diagnostic.code).title
        kinds.setdefault(title, []).append(diagnostic.operator or "")
    texts = []
    for title, names in kinds.items():
        text = f"{counted(len(names), 'time')}: {title}"
        if title == _REMOVED:
            text = f"{len(names)} {title}"
            text += _with_types([_types(schemas[name]) - known for name in names])
        texts.append(text)
    return texts


def _with_types(lost: Sequence[set[str]]) -> str:
    """Which types operators had that no operator has any more."""
    parts = []
    for name, count in Counter(chain.from_iterable(lost)).items():
        parts.append(f"{count} of them with `{name}`, which no argument has any more")
    return f": {', '.join(parts)}" if parts else ""


def _types(schema: FunctionSchema) -> set[str]:
    names: set[str] = set()
    for type_ in schema.types:
        names.update(part.name for part in walk_type(type_) if isinstance(part, BaseType))
    return names
