"""The whole program as JSON, for authors of bindings in other languages; see docs/export.md.

{"version": 2, "kind": "ops", "ops": [{"name": "add", "overload": "Tensor", ...}], ...}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from torchgen_lite.analysis.checks.compiled import is_opaque
from torchgen_lite.analysis.derive.layout import has_symint
from torchgen_lite.analysis.derive.model import VariantGroup, ViewGroup
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.policy import PYTORCH
from torchgen_lite.analysis.program import Program
from torchgen_lite.analysis.registrations import Registration
from torchgen_lite.analysis.registrations import registrations as registrations_of
from torchgen_lite.languages.cpp import native, public
from torchgen_lite.languages.python import torch_pyi, torch_python
from torchgen_lite.loader.entry.entry import DispatchEntry, KernelRow
from torchgen_lite.schema import Argument, Return
from torchgen_lite.schema.kind import VARIANTS
from torchgen_lite.schema.model import bare_type

# Incremented when a field changes its meaning or is removed, but not when one is added.
EXPORT_VERSION = 2

Json = dict[str, object]
Keyed = Mapping[str, str]
_NOTHING: Mapping[str, Any] = MappingProxyType({})


def export_program(
    program: Program,
    targets: Sequence[str] = (),
    registrations: Iterable[Registration] | None = None,
    beneath: Mapping[str, Keyed] = _NOTHING,
) -> Json:
    """Everything that is known about every operator, declared and derived, as plain values.

    `registrations` are those of the targets, by default what PyTorch would register, and
    `beneath` what PyTorch has registered for its own.
    """
    registered: dict[str, dict[str, str]] = {}
    every = registrations_of(program, PYTORCH) if registrations is None else registrations
    for registration in every:
        by_key = registered.setdefault(registration.operator.name, {})
        by_key[registration.key] = registration.origin.name
    resolved = program.resolved
    copying = [o for o in resolved.copying if registrations is None or o.name in registered]
    return {
        "version": EXPORT_VERSION,
        "kind": "ops",
        "target": targets[0] if targets else None,
        "targets": list(targets),
        "ops": [
            export_operator(
                operator, registered.get(operator.name, {}), beneath.get(operator.name, {})
            )
            for operator in (*resolved.operators, *copying)
        ],
        "groups": [
            {**_members(group), "structured": group.structured} for group in resolved.groups
        ],
        "view_groups": list(map(_members, resolved.views)),
    }


def export_operator(
    operator: Operator,
    registered: Keyed,
    beneath: Keyed = _NOTHING,
) -> Json:
    """One operator. It refers to other operators by their full names: `aten::add.out`."""
    function = operator.function
    schema = operator.schema
    group = operator.group
    return {
        "name": schema.base_name,
        "overload": schema.overload_name,
        "namespace": function.namespace,
        "func": str(schema),
        "arguments": list(map(_argument, schema.arguments)),
        "returns": list(map(_return, schema.returns)),
        "doc": function.doc,
        "kind": operator.kind.value,
        "generated": operator.is_derived,
        "variants": list(function.variants),
        "structured": function.structured,
        "structured_delegate": function.delegate,
        "group": None if group is None else group.functional.name,
        "view": _view(operator),
        "tags": list(operator.tags),
        "dispatch": {kernel.key: _kernel(operator, kernel) for kernel in operator.kernels},
        "registered": registered,
        "registered_by_pytorch": dict(beneath),
        "signatures": _signatures(operator),
    }


def _kernel(operator: Operator, entry: DispatchEntry) -> Json:
    if entry.rows:
        rows = [_row(operator, entry, row) for row in entry.rows]
        return {"kernel": None, "structured": False, "rows": rows}
    return {"kernel": native.kernel(operator, entry)[1], "structured": entry.is_structured}


def _row(operator: Operator, entry: DispatchEntry, row: KernelRow) -> Json:
    return {
        "kernel": row.kernel,
        "when": row.text or None,
        "tune": list(map(dict, row.tune)),
        "language": row.language or None,
        "opaque": is_opaque(operator, entry.key) if row.language else None,
    }


def _argument(argument: Argument) -> Json:
    return {
        "name": argument.name,
        "type": bare_type(argument.type),
        "alias": str(argument.annotation) if argument.annotation else None,
        "default": argument.default,
        "kwarg_only": argument.kwarg_only,
    }


def _return(value: Return) -> Json:
    alias = str(value.annotation) if value.annotation else None
    return {"name": value.name, "type": bare_type(value.type), "alias": alias}


def _view(operator: Operator) -> Json | None:
    group = operator.views
    if group is not None:
        for role, name in _members(group).items():
            if name == operator.name:
                return {"role": role, "of": group.view.name}
    return None


def _signatures(operator: Operator) -> Json:
    function = operator.function
    style = public.styles(function)[-1]
    is_symbolic = has_symint(function.func) and "SymInt" in map(native.sizes_of, operator.kernels)
    variant = next(variant for variant in VARIANTS if variant in function.variants)
    return {
        "cpp": [str(signature) for signature in public.signatures(function)],
        "cpp_faithful": str(public.signature(function, style)),
        "dispatcher": str(public.dispatched(function)),
        "native": str(native.signature(function, "SymInt" if is_symbolic else "int")),
        "python": str(torch_python.signature(function, variant)),
        "pyi": list(torch_pyi.signatures(function)),
    }


def _members(group: VariantGroup | ViewGroup) -> Json:
    """The full name of the member in each role."""
    members = group._asdict().items()
    return {role: None if member is None else member.name for role, member in members}
