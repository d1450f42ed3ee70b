"""Fields of an entry that its schema or another entry contradicts."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from torchgen_lite.analysis.derive.names import root_of
from torchgen_lite.analysis.finding import Findings, Found, Reported, finding, of_each
from torchgen_lite.analysis.kernels import COMPOSITE_KEYS, REFERENCE, lacks_reference
from torchgen_lite.analysis.operators import Operator, related_to
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import Help, Suggestion
from torchgen_lite.key_sets import key_sets
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema import BaseType, OptionalType, SchemaKind
from torchgen_lite.schema.grouped import names_of
from torchgen_lite.schema.kind import is_inplace_name

_IN_PLACE_VIEW = "inplace_view"
_SEEDED = "nondeterministic_seeded"


def check_methods(function: NativeFunction) -> Findings:
    """TG125: torchgen `NativeFunction.__post_init__` and `ComputeTensorMethod`."""
    if "method" not in function.variants:
        return
    if function.func.out:
        problem = "it has out arguments"
        written = ", ".join(function.variants)
        hint: Help = Suggestion("write `variants: function`", written, "function")
    elif "self" not in names_of(function.func.positional):
        problem = "it has no `self`"
        hint = "a method is called on its positional argument `self`"
    else:
        return
    yield Found(
        "TG125",
        f"`{function.func.local_name}` cannot be a method: {problem}",
        function.place("variants"),
        "a method",
        hint,
    )


def check_tags(resolved: Resolved, known: Collection[str]) -> Reported:
    """TG126 for views, and TG127 in releases that know the tag it asks for."""
    written = []
    for operator in resolved.declared:
        # Tags of PyTorch's operators are PyTorch's.
        if _IN_PLACE_VIEW in operator.function.tags and operator.function.place("tags"):
            written.append(operator)
    if written:
        yield from _check_what_is_made(resolved, written)
        yield from _check_out_of_place(resolved, written)
    if _SEEDED in known:
        yield from of_each(resolved.functions, (_check_generators,))


def _check_what_is_made(resolved: Resolved, tagged: Sequence[Operator]) -> Reported:
    """In-place views whose functional variant is no view."""
    related = related_to(tagged, resolved.declared)
    functional = {o.signature: o for o in related if o.kind is SchemaKind.functional}
    for operator in tagged:
        made = functional.get(operator.signature)
        if made is None or made.schema.is_aliasing or operator.kind is not SchemaKind.inplace:
            continue
        function = operator.function
        local = made.schema.local_name
        yield finding(
            function,
            "TG126",
            f"`{function.func.local_name}` is no view: `{local}` returns none",
            function.place("tags"),
            "not a view",
            f"leave `{_IN_PLACE_VIEW}` out, or say with `(a)` what `{local}` returns",
        )


def _check_out_of_place(resolved: Resolved, tagged: Sequence[Operator]) -> Reported:
    """In-place views beside which there is no operator with their name and no underscore, as torchgen asks for."""
    names = _out_of_place_names(resolved)
    for operator in tagged:
        function = operator.function
        root = root_of(operator.schema.base_name)
        # PyTorch derives `resize` from its `resize_`; without its file, what it has is not known.
        may_be_there = not resolved.lent or function.name in resolved.lent
        is_there = (function.namespace, root) in names
        is_theirs = function.is_pytorchs and may_be_there
        if is_theirs or is_there or operator.kind is not SchemaKind.inplace:
            continue
        yield finding(
            function,
            "TG126",
            f"`{function.func.local_name}` has no out-of-place view",
            function.place("tags"),
            "a view of nothing",
            f"declare `{root}`, which returns `Tensor(a)`, or leave `{_IN_PLACE_VIEW}` out",
        )


def check_own_tags(function: NativeFunction) -> Findings:
    """TG126, for tags that an entry contradicts by itself."""
    place = function.place("tags")
    if "generated" in function.tags and function.is_written:
        yield Found(
            "TG126",
            "`generated` marks what PyTorch's generator derives",
            place,
            "not written by hand",
            "leave the tag out",
        )
    is_in_place = is_inplace_name(function.func.base_name) and function.func.written
    if _IN_PLACE_VIEW in function.tags and not is_in_place:
        yield Found(
            "TG126",
            f"`{function.func.local_name}` does not change a tensor in place",
            place,
            "not in place",
            f"leave `{_IN_PLACE_VIEW}` out: the annotation `(a)` says what is a view",
        )


def _out_of_place_names(resolved: Resolved) -> frozenset[tuple[str, str]]:
    """The namespaces and names of functional operators and views, with those that `autogen` derives."""
    names = set(resolved.overloads)
    for function in resolved.functions:
        for name in function.autogen:
            names.add((function.namespace, name.partition(".")[0]))
    return frozenset(names)


def _check_generators(function: NativeFunction) -> Findings:
    for argument in function.func.arguments:
        type_ = argument.type.elem if isinstance(argument.type, OptionalType) else argument.type
        is_generator = isinstance(type_, BaseType) and type_.name == "Generator"
        if is_generator and _SEEDED not in function.tags:
            yield Found(
                "TG127",
                f"`{function.func.local_name}` takes a generator but has no tag `{_SEEDED}`",
                argument.span,
                "random",
                f"add `tags: {_SEEDED}`",
            )


def check_names(resolved: Resolved) -> Reported:
    """Two operators must not have the same name in generated code."""
    seen: dict[str, NativeFunction] = {}
    for function in resolved.functions:
        name = function.flat_name("aten")
        first = seen.setdefault(name, function)
        if first is not function:
            yield finding(
                function,
                "TG306",
                f"`{function.func.local_name}` and `{first.func.local_name}` are both called `{name}`",
                None,
                "here",
                None,
                (first.func.name_span, "the other one"),
            )


def check_autogen(resolved: Resolved) -> Reported:
    """`autogen` must not list a declared operator."""
    for function in resolved.functions:
        for name in function.autogen:
            declared = f"{function.namespace}::{name.rpartition('::')[2]}"
            operator = resolved.declared_by_name.get(declared)
            if operator is not None and operator.function.is_written:
                yield finding(
                    function,
                    "TG308",
                    f"autogen names `{name}`, which is declared",
                    function.place("autogen"),
                    "here",
                    "leave it out of `autogen`",
                    (operator.schema.name_span, "declared here"),
                )


def check_rows(function: NativeFunction) -> Findings:
    """What is wrong with the rows of keys that have several kernels."""
    if any(entry.rows for entry in function.dispatch):
        # Imported here: few entries have rows.
        from torchgen_lite.analysis.checks.selections import check_selections

        yield from check_selections(function)


def check_references(function: NativeFunction) -> Findings:
    """TG389: `reference` under `dispatch`, where it can be no kernel."""
    for entry in function.dispatch:
        if entry.kernel != REFERENCE:
            continue
        problem = lacks_reference(function)
        if entry.key not in COMPOSITE_KEYS | key_sets().backends:
            problem = f"is not called at `{entry.key}` to be computed"
        elif function.is_pytorchs:
            problem = "is an operator of PyTorch, which its reference may be, too"
        if problem:
            yield Found(
                "TG389",
                f"`{function.func.full_name}` cannot be its reference: it {problem}",
                entry.kernel_span,
                "here",
                "name a kernel; one that is called `reference` has its namespace or module in front",
            )
