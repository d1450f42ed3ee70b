"""aten entries: whether PyTorch has them with this schema, and can make their variants."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain

from torchgen_lite.analysis.derive.copying import COPIES, copying_entries, takes_results
from torchgen_lite.analysis.derive.model import VariantGroup
from torchgen_lite.analysis.finding import Reported, finding
from torchgen_lite.analysis.implementing import SAID, Rank, compare_kernels
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import Help, Suggestion, did_you_mean
from torchgen_lite.loader.entry.entry import DispatchEntry, NativeFunction
from torchgen_lite.loader.versions import Version


def check_native(resolved: Resolved, releases: Collection[Version]) -> Reported:
    """TG315 to TG318, TG373 and TG374, against the PyTorch operators in the program's context; `releases` are that of
    the context, and the one that entries are read for."""
    for function in resolved.functions:
        # Kernels for ExecuTorch are registered there, so PyTorch need not have the operator.
        is_meant = function.place("kernels") is None and all(map(function.is_for, releases))
        if function.namespace == "aten" and is_meant:
            yield from _check_schema(resolved, function)
    yield from _check_mixed(resolved)
    yield from _check_copies(resolved)


_OWN = "give your own operators a namespace: `mylib::{}`, or `namespace` in the configuration"


def _check_schema(resolved: Resolved, function: NativeFunction) -> Reported:
    native = resolved.lent.get(function.name)
    name = function.func.local_name
    if native is None:
        names = [operator.schema.local_name for operator in resolved.lent.values()]
        advice = _with_a_dot(resolved, function, names)
        yield finding(
            function,
            "TG315",
            f"PyTorch has no operator `{name}`",
            None,
            "never called",
            advice or did_you_mean(name, names) or _OWN.format(name),
        )
        return
    difference = compare_kernels(function, native.function)
    if difference.rank is Rank.same:
        return
    in_file = difference.old
    in_torch = difference.new
    at_fault = in_file.span if in_file is not None else function.func.span
    if in_file is None:
        label = f"`{in_torch}` is missing"
    elif in_torch is not None:
        label = f"PyTorch has `{in_torch}`"
    else:
        label = "PyTorch does not have it"
    yield finding(
        function,
        "TG316" if difference.rank is Rank.aborts else "TG317",
        f"the schema of `{name}` differs from that of PyTorch: {SAID[difference.rank]}",
        at_fault,
        label,
        f"PyTorch has `{native.schema.local_text}`",
    )


def _with_a_dot(
    resolved: Resolved, function: NativeFunction, names: Collection[str]
) -> Help | None:
    """The help for `mylib.scale`, where a dot stands between the namespace and the name as in `torch.ops`."""
    base, dot, overload = function.func.local_name.partition(".")
    namespaces = {declared.namespace for declared in resolved.functions}
    is_like_one = did_you_mean(function.func.local_name, names) is not None
    is_of_torch = any(name.partition(".")[0] == base for name in names)
    if not dot or is_of_torch or (is_like_one and base not in namespaces):
        return None
    right = f"{base}::{overload}"
    return Suggestion(
        f"write `{right}`: a dot comes before the name of an overload",
        f"{base}.{overload}",
        right,
        is_safe=False,
    )


def _check_mixed(resolved: Resolved) -> Reported:
    """A backend file lists an operator's variants together (torchgen `parse_backend_yaml`)."""
    together = [group.functions() for group in resolved.groups]
    alone = [[f] for f in resolved.functions if f.name not in resolved.group_of]
    for functions in chain(together, alone):
        plain: list[tuple[NativeFunction, DispatchEntry]] = []
        autograd: list[tuple[NativeFunction, DispatchEntry]] = []
        for function in functions:
            for entry in function.dispatch:
                if entry.backend and entry.backend.class_name:
                    listed = autograd if entry.key.startswith("Autograd") else plain
                    listed.append((function, entry))
        if not plain or not autograd:
            continue
        function, entry = autograd[0]
        variant, other = plain[0]
        yield finding(
            function,
            "TG318",
            f"`{function.func.local_name}` is under `autograd`, and its variant `{variant.func.local_name}` under `supported`",
            entry.key_span,
            "here",
            None,
            (other.key_span, "in the other list"),
        )


def _check_copies(resolved: Resolved) -> Reported:
    """Variants that don't follow from the functional one, or whose derived kernel cannot copy."""
    reported = set()
    for group, entry, variant in _made(resolved):
        functional = group.functional
        if variant is functional or _has(resolved, variant.name, entry.key):
            continue
        name = variant.func.local_name
        base = functional.func.local_name
        if not takes_results(group, variant):
            yield finding(
                functional,
                "TG373",
                f"no kernel of `{name}` can be derived from that of `{base}`",
                entry.key_span,
                f"`{name}` writes to tensors that this one does not return",
                f"write a separate kernel, and add `{name}` to the list",
            )
            continue
        # The backend's key, also for a kernel at its autograd key.
        copy = COPIES[variant.func.kind()]
        key = entry.backend.key if entry.backend else ""
        is_known = f"aten::{copy}" in resolved.lent
        if is_known and not _has(resolved, f"aten::{copy}", key) and (copy, key) not in reported:
            reported.add((copy, key))
            yield finding(
                functional,
                "TG374",
                f"`{name}` is derived from `{base}` and copies its result with `{copy}`, "
                f"which has no kernel for {key}",
                entry.key_span,
                f"`{name}` is derived from it",
                f"add `{copy}` to `supported`, and write its kernel",
            )


def _made(resolved: Resolved) -> Iterator[tuple[VariantGroup, DispatchEntry, NativeFunction]]:
    """Each kernel that results are copied from, with each variant."""
    for group in resolved.groups:
        for entry in copying_entries(group):
            for variant in group.functions():
                yield group, entry, variant


def _has(resolved: Resolved, name: str, key: str) -> bool:
    """Whether the operator's entry has a kernel for the key."""
    operator = resolved.declared_by_name.get(name)
    return operator is not None and any(kernel.key == key for kernel in operator.kernels)
