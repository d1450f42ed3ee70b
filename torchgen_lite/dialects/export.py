"""The whole program as JSON, for people who write bindings in other languages; see docs/export.md.

{"version": 1, "kind": "ops", "ops": [{"name": "add", "overload": "Tensor", ...}], ...}
"""

from __future__ import annotations

from torchgen_lite.analysis.derive import Derived, VariantGroup, ViewGroup, derive
from torchgen_lite.analysis.derive.backend_index import kernels_of
from torchgen_lite.analysis.derive.layout import has_symint
from torchgen_lite.analysis.derive.registrations import registrations
from torchgen_lite.analysis.program import Program
from torchgen_lite.dialects import torch_pyi, torch_python
from torchgen_lite.dialects.cpp import dispatcher, native, public
from torchgen_lite.loader.entry import NativeFunction

# Goes up when a field changes its meaning or goes away; new fields leave it as it is.
EXPORT_VERSION = 1

Json = dict[str, object]


def export_program(program: Program) -> Json:
    """Everything that is known of every function, declared and derived, as plain values."""
    derived = derive(program.functions, program.tags)
    return {
        "version": EXPORT_VERSION,
        "kind": "ops",
        "ops": [export_function(derived, function) for function in derived.functions],
        "groups": [_group(group) for group in derived.groups],
        "view_groups": [_view_group(group) for group in derived.view_groups],
    }


def export_function(derived: Derived, function: NativeFunction) -> Json:
    """One function. Names of other functions are full: `aten::add.out`."""
    schema = function.func
    name = function.name
    group = derived.group_of.get(name)
    return {
        "name": schema.base_name,
        "overload": schema.overload_name,
        "namespace": function.namespace,
        "func": str(schema),
        "kind": derived.kinds[name].value,
        "generated": name in derived.generated,
        "variants": list(function.variants),
        "structured": function.structured,
        "structured_delegate": function.delegate,
        "group": None if group is None else group.functional.name,
        "view": _view(derived, name),
        "tags": list(derived.tags[name]),
        "dispatch": {
            key: {"kernel": kernel.kernel, "structured": kernel.structured}
            for key, kernel in kernels_of(function).items()
        },
        "registered": {r.key: r.origin for r in registrations(derived, name)},
        "signatures": _signatures(function),
    }


def _view(derived: Derived, name: str) -> Json | None:
    group = derived.view_group_of.get(name)
    if group is None:
        return None
    for role in ("view", "view_copy", "view_inplace"):
        member = getattr(group, role)
        if member is not None and member.name == name:
            return {"role": role, "of": group.view.name}
    return None


def _signatures(function: NativeFunction) -> Json:
    style = public.styles(function)[-1]
    kernels = kernels_of(function).values()
    symint = has_symint(function.func) and any(kernel.takes_symint for kernel in kernels)
    method = "function" not in function.variants
    return {
        "cpp": [str(signature) for signature in public.signatures(function)],
        "cpp_faithful": str(public.signature(function, style)),
        "dispatcher": str(dispatcher.signature(function)),
        "native": str(native.signature(function, symint=symint)),
        "python": str(torch_python.signature(function, method=method)),
        "pyi": list(torch_pyi.signatures(function)),
    }


def _name(function: NativeFunction | None) -> str | None:
    return None if function is None else function.name


def _group(group: VariantGroup) -> Json:
    return {
        "functional": _name(group.functional),
        "out": _name(group.out),
        "inplace": _name(group.inplace),
        "mutable": _name(group.mutable),
        "structured": group.structured,
    }


def _view_group(group: ViewGroup) -> Json:
    return {
        "view": _name(group.view),
        "view_copy": _name(group.view_copy),
        "view_inplace": _name(group.view_inplace),
    }
