"""Which formulas belong to which operator (torchgen `match_differentiability_info`).

An operator uses the formulas written for it; an in-place or out variant without any uses those of the
functional variant; the copying variant of a view uses those of the view; a derived functional variant
uses those of the operator it was derived from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from torchgen_lite.analysis.derive.derive import derive
from torchgen_lite.analysis.derive.model import Derived
from torchgen_lite.analysis.derive.signature import Signature, signature_of
from torchgen_lite.analysis.differentiability.info import read_info
from torchgen_lite.analysis.differentiability.model import DifferentiabilityInfo
from torchgen_lite.analysis.differentiability.typed import callable_operators
from torchgen_lite.diagnostics import Diagnostic, Label, did_you_mean
from torchgen_lite.loader.derivatives import Derivatives, DerivativesEntry
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.schema import SchemaKind

Infos = Mapping[str, DifferentiabilityInfo]


@dataclass(frozen=True, slots=True)
class Matches:
    """For each operator by name (`aten::add.Tensor`) what its formulas say, by autograd key; absent
    without formulas.

    `infos` holds only what was written (and copied for copying views), by the operator's name.
    """

    of: Mapping[str, Infos]
    infos: Mapping[str, Infos]
    functions: tuple[NativeFunction, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = field(default=())


def match_derivatives(
    functions: Sequence[NativeFunction],
    entries: Sequence[DerivativesEntry] = (),
    derived: Derived | None = None,
) -> Matches:
    """Match the entries of a derivatives.yaml, and the `derivatives:` of the functions themselves."""
    derived = derive(functions) if derived is None else derived
    by_schema = {str(f.func): f for f in derived.functions}
    diagnostics: list[Diagnostic] = []
    counter: Counter[str] = Counter()
    operators = callable_operators(functions)
    infos: dict[str, Infos] = {}
    for entry in entries:
        function = by_schema.get(str(entry.schema))
        if function is None:
            diagnostics.append(_unmatched(entry, by_schema))
        else:
            infos[function.name] = read_info(function, entry.derivatives, counter, operators)
    for function in derived.functions:
        written: Derivatives | None = function.derivatives
        if written is not None and function.name not in derived.generated:
            infos.setdefault(function.name, read_info(function, written, counter, operators))
    _add_view_copies(derived, infos)
    functional, others = _by_signature(derived, infos)
    matched = {
        function.name: found
        for function in derived.functions
        if (found := _find(function, derived, infos, functional, others))
    }
    return Matches(matched, infos, derived.functions, tuple(diagnostics))


def _unmatched(entry: DerivativesEntry, by_schema: Mapping[str, NativeFunction]) -> Diagnostic:
    text = str(entry.schema)
    near = [s for s in by_schema if s.split("(")[0] == entry.schema.full_name]
    hint = f"the operator is declared as `{near[0]}`" if near else did_you_mean(text, by_schema)
    return Diagnostic(
        "TG326",
        f"no operator is declared as `{text[:120]}`",
        Label(entry.schema.span, "not declared") if entry.schema.span else None,
        help=hint,
        operator=entry.schema.full_name,
    )


def _add_view_copies(derived: Derived, infos: dict[str, Infos]) -> None:
    for group in derived.view_groups:
        if group.view_copy is None:
            continue
        copy_name, view_name = group.view_copy.name, group.view.name
        if view_name in infos and copy_name not in infos:
            # torchgen names their nodes after the view's.
            infos[copy_name] = {
                key: replace(info, node_name=info.node_name and f"{info.node_name}_copy")
                for key, info in infos[view_name].items()
            }


_BySignature = dict[Signature, Infos]


def _stripped(function: NativeFunction) -> Signature:
    return signature_of(function, function.func.kind())._replace(defaults=())


def _by_signature(
    derived: Derived, infos: Mapping[str, Infos]
) -> tuple[_BySignature, _BySignature]:
    """The facts by signature, of functional operators and of the others."""
    functional: _BySignature = {}
    others: _BySignature = {}
    for function in derived.functions:
        name = function.name
        if name in infos:
            is_functional = derived.kinds[name] is SchemaKind.functional
            (functional if is_functional else others)[_stripped(function)] = infos[name]
    return functional, others


def _find(
    function: NativeFunction,
    derived: Derived,
    infos: Mapping[str, Infos],
    functional: _BySignature,
    others: _BySignature,
) -> Infos | None:
    name = function.name
    generated = name in derived.generated
    if generated and derived.kinds[name] is SchemaKind.out:
        return None
    if name in infos:
        return infos[name]
    signature = _stripped(function)
    if signature in functional:
        return functional[signature]
    if generated and signature in others:
        return others[signature]
    return None
