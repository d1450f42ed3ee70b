"""The rule about `autogen`: its lines name what is derived, no more and no less."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from operator import attrgetter

from torchgen_lite.analysis.derive.names import out_overload, root_of
from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.lint.variants import functional_key
from torchgen_lite.analysis.resolve import Resolved, resolve
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.schema.kind import is_inplace_name


def autogen_disagrees(resolved: Resolved) -> Iterator[Diagnostic]:
    """TG415: a group's `autogen` lines and the variants derived for it differ.

    As in torchgen `NativeFunctionsGroup`, only groups with both a functional and an out variant count: what
    is asked for where nothing can be derived is not spoken of.
    """
    suspects = resolve(list(_suspects(resolved)))
    derived = {id(operator.function) for operator in suspects.operators if operator.is_derived}
    for group in suspects.groups:
        variants = list(group.functions())
        asked = {name.rpartition("::")[2] for f in variants for name in f.autogen}
        given = {f.func.local_name for f in variants if id(f) in derived}
        if asked != given:
            yield _disagreement(variants, asked, given)


def _suspects(resolved: Resolved) -> Iterator[NativeFunction]:
    """The functions of those names where variants may be derived; deriving for all takes too long.

    That is where `autogen` stands, and where variants of one name leave out the functional one.
    """
    names: defaultdict[tuple[str, str], list[NativeFunction]] = defaultdict(list)
    for function in filter(attrgetter("is_written"), resolved.functions):
        names[function.namespace, root_of(function.func.base_name)].append(function)
    for members in names.values():
        asks = any(f.autogen for f in members)
        if (asks or _may_lack_functional(members)) and not all(map(_asks_for_its_own, members)):
            yield from members


def _asks_for_its_own(function: NativeFunction) -> bool:
    """Whether this is a functional operator that names at most its own out variant, as most do.

    If all of one name are like this they are in no group together, and nothing can disagree.
    """
    schema = function.func
    if schema.out or is_inplace_name(schema.base_name):
        return False
    if function.autogen:
        own = f"{schema.base_name}.{out_overload(schema.overload_name)}"
        if len(function.autogen) > 1 or function.autogen[0].rpartition("::")[2] != own:
            return False
    return not any(argument.is_write for argument in schema.arguments)


def _may_lack_functional(members: Sequence[NativeFunction]) -> bool:
    """Whether there are more out variants, or in-place ones, than functional ones."""
    out = inplace = 0
    for function in members:
        if is_inplace_name(function.func.base_name):
            inplace += 1
        elif function.func.out:
            out += 1
    return bool(out and inplace) and max(out, inplace) > len(members) - out - inplace


def _disagreement(
    members: Sequence[NativeFunction], asked: set[str], given: set[str]
) -> Diagnostic:
    """Said of the entry with the `autogen` line, or of the first in the file."""
    declared = [f for f in members if f.is_written]
    declared.sort(key=lambda f: f.func.name_span.start if f.func.name_span else 0)
    function = next((f for f in declared if f.autogen), declared[0] if declared else members[0])
    span = function.place("autogen")
    message = f"variants of `{function.func.local_name}` are not those that `autogen` names"
    if given:
        hint = f"write `autogen: {', '.join(sorted(given))}`"
    else:
        hint = "leave `autogen` out: the group is complete"
    surplus, missing = sorted(asked - given), sorted(given - asked)
    parts = [f"not derived: {', '.join(surplus)}"] if surplus else []
    parts += [f"not named: {', '.join(missing)}"] if missing else []
    return finding(function, "TG415", message, span, "; ".join(parts), hint)


def autogen_of_composite(resolved: Resolved) -> Iterator[Diagnostic]:
    """TG418: `autogen` where nothing is derived: all variants are composed of other operators.

    Only those of the core set have derived variants nevertheless (torchgen `add_generated_native_functions`).
    """
    asking = [o for o in resolved.declared if o.function.autogen and o.is_composed]
    if not asking:
        return
    computed = {functional_key(o.function) for o in resolved.declared if not o.is_composed}
    for function in [operator.function for operator in asking]:
        if "core" in function.tags or functional_key(function) in computed:
            continue
        message = (
            f"nothing is derived from `{function.func.local_name}`, which is composed of others"
        )
        span = function.place("autogen")
        hint = "leave `autogen` out, or give it a CompositeExplicitAutograd kernel"
        yield finding(function, "TG418", message, span, "not derived", hint)
