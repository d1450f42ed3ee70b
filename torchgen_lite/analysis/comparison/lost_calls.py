"""The calls of an operator that an old version serves, and a new one no longer serves as well.

    - func: f(Tensor self) -> Tensor            - func: f(Tensor self) -> Tensor
      dispatch:                                   dispatch:
        CompositeImplicitAutograd: f                CompositeExplicitAutograd: f

loses the gradient on every backend: TG368. Both sides are computed tables, so that this says of a change what `table`
says of each version.

Note [What a call loses]
A cell has a kernel, or only a fallback, or nothing; less than before is a loss. Two kinds of cells need more care. At an
autograd key, a kernel that records may become one that records nothing. And some cells are no promise to callers:

- An autograd key of a backend that serves no call in one of the versions, unless `dispatch` has a kernel for it.
- Nested tensors that a composed kernel serves only because it suits everything. PyTorch calls that no break either.
- What follows from other cells: BackendSelect, Undefined below it, and the bookkeeping of views and versions.
- A kernel of functionalization where calls are functionalized without it.
- Autograd keys in PyTorch's own file, whose formulas are in `derivatives.yaml`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torchgen_lite.analysis.computed_table import Cell
from torchgen_lite.analysis.derive.layout import tensors_in
from torchgen_lite.analysis.finding import Change, Changes, Way, Witness
from torchgen_lite.analysis.kernels import COMPOSITE_IMPLICIT, DEVICES
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.policy import AUTHORS, Origin
from torchgen_lite.analysis.registrations import FUNCTIONALIZE, Registration
from torchgen_lite.analysis.served import Served, Strength
from torchgen_lite.diagnostics import Span
from torchgen_lite.diagnostics.text import quoted
from torchgen_lite.runtime.table import MISSING
from torchgen_lite.schema import SchemaKind

# They follow from other cells, and nobody calls for them; TG379 is about `autocast`.
_FOLLOW = frozenset(
    {
        Origin.autocast,
        Origin.autocast_over,
        Origin.backend_select,
        Origin.raises_versions,
        Origin.unknown_view,
        Origin.view,
    }
)


def lost_calls(operator: Operator, old: Served, now: Operator, new: Served) -> Changes:
    """TG364 and TG367 to TG369: a finding for each way in which calls are served worse."""
    if now.function.manual_kernel_registration or old.table == new.table:
        return
    lost: dict[str, list[Cell]] = {}
    for slot in old.table.sets.slots:
        if slot in old.table.sets.members["Autograd"]:
            code = _lost_above(slot, operator, old, new)
        elif slot == FUNCTIONALIZE and old.functionalizes(operator) and not new.functionalizes(now):
            code = "TG367"
        elif slot == FUNCTIONALIZE and (new.is_composed or old.origin(slot) not in AUTHORS):
            code = None
        else:
            code = _lost_at(slot, old, new)
        if code is not None:
            lost.setdefault(code, []).append(old.cells[slot])
    for code, cells in lost.items():
        place = now.function.place("derivatives") if code == "TG368" else None
        message, label = _field_words(code, cells, old) or _words(code, cells, operator, new)
        here = place or now.function.place("dispatch")
        there = _place(operator, code, old.registered.get(cells[0].source))
        yield Change(code, message, here, label, there, _witness(code, cells))


def _lost_at(slot: str, old: Served, new: Served) -> str | None:
    """How calls are worse at a key that is not one of autograd; None if they are not."""
    if new.strength(slot) >= old.strength(slot) or not _is_promised(slot, old, new):
        return None
    if new.strength(slot) and new.cells[slot].origin != MISSING:
        return "TG369"
    return "TG364"


def _lost_above(slot: str, operator: Operator, old: Served, new: Served) -> str | None:
    """How calls are worse at an autograd key, but for those that are worse at the backend too."""
    table_ = old.table
    codes = set()
    namesake = {slot.removeprefix("Autograd")} & table_.sets.backends
    backends = table_.sets.backends_of[slot] or namesake
    if old.policy.knows_formulas:
        for backend in backends:
            before, was_recorded = old.call(slot, backend)
            after, is_recorded = new.call(slot, backend)
            if not before or new.strength(backend) < old.strength(backend):
                continue
            if was_recorded and not is_recorded and _is_differentiable(operator):
                codes.add("TG368")
            # PyTorch has no tensors with an autograd key that it has no fallback for.
            elif after < before and (slot in table_.fallbacks or not old.policy.in_pytorch):
                codes.add("TG369" if after else "TG364")
    return max(codes, default=None)


def returns_view(operator: Operator) -> bool:
    """Whether a result shares memory with an argument, which no copy can."""
    return any(value.annotation and not value.is_write for value in operator.schema.returns)


def _is_differentiable(operator: Operator) -> bool:
    """Whether a call can have a gradient: it takes tensors, and returns or changes some."""
    schema = operator.schema
    takes_tensors = bool(tensors_in(schema.arguments))
    gives_tensors = bool(tensors_in(schema.returns) or tensors_in(schema.written))
    is_out = operator.kind is SchemaKind.out
    return takes_tensors and gives_tensors and not is_out


def _is_promised(slot: str, old: Served, new: Served) -> bool:
    """Whether callers rely on a cell that is not one of autograd: see Note [What a call loses]."""
    is_composed = old.cells[slot].source == COMPOSITE_IMPLICIT
    if old.origin(slot) in _FOLLOW or (is_composed and slot.startswith("NestedTensor")):
        return False
    return slot != "Undefined" or new.strength("BackendSelect") is not Strength.kernel


# The fields of an entry that make kernels.
_FIELDS = {
    Origin.fake: "fake",
    Origin.traced_view: "fake",
    Origin.vmap: "vmap",
    Origin.loop: "vmap",
    Origin.axes: "axes",
}


def _witness(code: str, cells: Sequence[Cell]) -> Witness | None:
    """A call that is served worse: one of the first kind of tensors."""
    if code == "TG368":
        return Witness("gradient")
    if code == "TG367":
        return Witness("functionalize")
    return shown_at([cell.key for cell in cells])


def shown_at(keys: Sequence[str]) -> Witness | None:
    """A call that gets to the first of these keys that a caller can make a call for."""
    for key in keys:
        if key in _SHOWN:
            return Witness(key=key)
        for prefix, way in _WAYS.items():
            if key.startswith(prefix):
                return Witness(way)
    return None


# The keys of tensors that a caller makes, and how others are got to.
_SHOWN = frozenset({"CPU", "Meta", "SparseCPU", *DEVICES})
_WAYS: Mapping[str, Way] = {
    "FuncTorchBatched": "vmap",
    "Autograd": "gradient",
    "Autocast": "autocast",
}


def _field_words(code: str, cells: Sequence[Cell], was: Served) -> tuple[str, str] | None:
    """The same where a field of the entry made the kernels, which has no key under `dispatch`."""
    makers = {was.registered[cell.source].origin for cell in cells if cell.source in was.registered}
    fields = {_FIELDS.get(origin, "") for origin in makers}
    if code != "TG364" or len(fields) != 1 or "" in fields:
        return None
    gone = listed_keys(list(dict.fromkeys([cell.source for cell in cells])))
    return f"`{fields.pop()}` was removed, and nothing else serves {gone}", ""


def _words(code: str, cells: Sequence[Cell], operator: Operator, new: Served) -> tuple[str, str]:
    """The message, and the label where the new version has its kernels."""
    worse = listed_keys([cell.key for cell in cells])
    if code == "TG367":
        return "calls can no longer be functionalized", ""
    if code == "TG368":
        return f"no gradient is recorded at {worse} any more", ""
    if code == "TG369":
        return f"only a fallback is left for {worse}", ""
    now = new.table
    gone = list(dict.fromkeys([cell.source for cell in cells if cell.source not in now.kernels]))
    if not gone:
        return f"nothing serves {worse} any more", ""
    if now.own is not None:
        return f"own -> {_fallen(operator, new)}", f"no {listed_keys(gone)}"
    verb = "dispatch keys {} were removed" if len(gone) > 1 else "dispatch key {} was removed"
    return verb.format(listed_keys(gone)), f"no {listed_keys(gone)}"


def _fallen(operator: Operator, new: Served) -> str:
    """What a fallback of the backend makes of a call: it has the CPU compute on copies."""
    if new.strength("CPU") is not Strength.kernel:
        return "missing: the CPU, where a fallback runs it, has no kernel either"
    if returns_view(operator):
        return "wrong: a fallback copies, so what is written to the view is lost"
    return "fallback on the CPU, or missing if the backend has no fallback"


def listed_keys(keys: Sequence[str]) -> str:
    """`CPU`, `CUDA`, `XLA` and 9 more."""
    shown = quoted(keys[:3])
    if len(keys) > 3:
        return f"{shown} and {len(keys) - 3} more"
    return shown


def _place(operator: Operator, code: str, registration: Registration | None) -> Span | None:
    """Where the old version has what is lost: a kernel, formulas, or the rule of `vmap` or `autocast`."""
    if registration is None:
        return None
    if registration.kernel is not None:
        return registration.kernel.key_span
    field = "derivatives" if code == "TG368" else registration.origin.name
    return operator.function.place(field)
