"""Rules about `autogen`: its lines must name exactly the derived variants."""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_lite.analysis.finding import Reported, finding
from torchgen_lite.analysis.lint.variants import functional_key
from torchgen_lite.analysis.operators import functions_of, related_to
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import Diagnostic, Help, Suggestion
from torchgen_lite.loader.entry.entry import NativeFunction


def autogen_disagrees(resolved: Resolved) -> Reported:
    """TG415: a group's `autogen` lines and the variants derived for it differ.

    As in torchgen `NativeFunctionsGroup`, only groups with a functional and an out variant count:
    `autogen` lines where nothing can be derived are not reported.
    """
    for group in resolved.groups:
        variants = list(group.functions())
        asked: set[str] = set()
        given: set[str] = set()
        for variant in variants:
            asked.update(name.rpartition("::")[2] for name in variant.autogen)
            if not variant.is_written:
                given.add(variant.func.local_name)
        if asked != given:
            yield _disagreement(variants, asked, given)


def _disagreement(
    members: Sequence[NativeFunction], asked: set[str], given: set[str]
) -> Diagnostic:
    """Reported at the entry with the `autogen` line, or at the first in the file."""
    declared = [f for f in members if f.is_written]
    declared.sort(key=lambda f: f.func.name_span.start if f.func.name_span else 0)
    function = next((f for f in declared if f.autogen), declared[0] if declared else members[0])
    span = function.place("autogen")
    message = f"variants of `{function.func.local_name}` are not those that `autogen` names"
    if given:
        right = ", ".join(sorted(given))
        written = ", ".join(function.autogen)
        hint: Help = Suggestion(f"write `autogen: {right}`", written, right)
    else:
        hint = "leave `autogen` out: the group is complete"
    surplus = sorted(asked - given)
    missing = sorted(given - asked)
    parts = []
    if surplus:
        parts.append(f"not derived: {', '.join(surplus)}")
    if missing:
        parts.append(f"not named: {', '.join(missing)}")
    return finding(function, "TG415", message, span, "; ".join(parts), hint)


def autogen_of_composite(resolved: Resolved) -> Reported:
    """TG418: `autogen` where nothing is derived because all variants are composite.

    Composite operators have derived variants only in the core set (torchgen
    `add_generated_native_functions`).
    """
    asking = [o for o in resolved.declared if o.function.autogen and o.is_composed]
    if not asking:
        return
    related = related_to(asking, resolved.declared)
    computed = {functional_key(o.function) for o in related if not o.is_composed}
    for function in functions_of(asking):
        if "core" in function.tags or functional_key(function) in computed:
            continue
        yield finding(
            function,
            "TG418",
            f"nothing is derived from `{function.func.local_name}`, which is composed of other operators",
            function.place("autogen"),
            "not derived",
            "leave `autogen` out, or give it a CompositeExplicitAutograd kernel",
        )
