"""Which formulas belong to which operator (torchgen `match_differentiability_info`).

An operator uses the formulas written for it; an in-place or out variant without any uses those of the
functional variant; the copying variant of a view uses those of the view; a derived functional
variant uses those of its base.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from torchgen_lite.analysis.derive.signature import Signature
from torchgen_lite.analysis.differentiability.info import read_info
from torchgen_lite.analysis.differentiability.model import DifferentiabilityInfo
from torchgen_lite.analysis.differentiability.vocabulary import callable_operators
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.loader.entry.derivatives import Derivatives
from torchgen_lite.schema import SchemaKind

Infos = Mapping[str, DifferentiabilityInfo]


class Matches(NamedTuple):
    """The facts of each operator with formulas, by name (`aten::add.Tensor`) and autograd key.

    `infos` holds only written formulas (and those copied for copying views), by operator name.
    """

    of: Mapping[str, Infos]
    infos: Mapping[str, Infos]


def match_derivatives(operators: Sequence[Operator]) -> Matches:
    """Match the written formulas with all operators that use them."""
    counter: Counter[str] = Counter()
    callable_ = callable_operators([o.function for o in operators if not o.is_derived])
    infos: dict[str, Infos] = {
        operator.name: read_info(operator.function, written, counter, callable_)
        for operator, written in _written(operators)
    }
    if not infos:
        return Matches({}, {})
    _add_view_copies(operators, infos)
    shared = {}
    for operator in operators:
        if operator.name in infos and not operator.function.is_auto:
            is_functional = operator.kind is SchemaKind.functional
            shared[operator.signature.without_defaults, is_functional] = infos[operator.name]
    matching = {}
    for operator in operators:
        used = _find(operator, infos, shared)
        if used:
            matching[operator.name] = used
    return Matches(matching, infos)


def _written(operators: Sequence[Operator]) -> list[tuple[Operator, Derivatives]]:
    """The formulas in source order, which numbers nodes with the same name."""
    formulas = [
        (operator, operator.function.derivatives)
        for operator in operators
        if operator.function.derivatives is not None and not operator.is_derived
    ]
    files: dict[str, int] = {}
    places = []
    for index, (_, written) in enumerate(formulas):
        path = ""
        start = 0
        if written.span:
            path = written.span.source.path
            start = written.span.start
        places.append((files.setdefault(path, len(files)), start, index))
    return [formulas[index] for _, _, index in sorted(places)]


def _add_view_copies(operators: Sequence[Operator], infos: dict[str, Infos]) -> None:
    for operator in operators:
        group = operator.views
        if group is None or group.view_copy is None or group.view is not operator.function:
            continue
        copy_name = group.view_copy.name
        if operator.name in infos and copy_name not in infos:
            copied = {}
            for key, info in infos[operator.name].items():
                # torchgen names their nodes after the view's.
                node_name = info.node_name and f"{info.node_name}_copy"
                copied[key] = replace(info, node_name=node_name)
            infos[copy_name] = copied


def _find(
    operator: Operator, infos: Mapping[str, Infos], shared: Mapping[tuple[Signature, bool], Infos]
) -> Infos | None:
    """`shared` are the facts by signature, and whether they are of a functional operator."""
    if operator.is_derived and operator.kind is SchemaKind.out:
        return None
    if operator.name in infos:
        return infos[operator.name]
    signature = operator.signature.without_defaults
    others = shared.get((signature, False)) if operator.is_derived else None
    return shared.get((signature, True)) or others
