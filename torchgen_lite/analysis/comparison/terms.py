"""What options and functions behind names mean to the callers of an operator: the terms on which it is offered.

    [target.torch-python]                     [target.torch-python]
    kernels = ["mylib.kernels"]               kernels = ["mylib.kernels"]
                                              final = true

No schema and no key changes, and kernels that other libraries register are passed by: TG388. A term is what callers may
rely on. One that only the old version has is lost. Targets say what their options offer (`targets.terms`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from torchgen_lite.analysis.finding import Change, Changes, Witness
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.diagnostics import Span


class Term(NamedTuple):
    """What an option or a field offers: `thing` tells it from others of the same setting.

    `lost` is the message, with its code, where only the old version offers it. A setting is in the `table` of a target,
    `""` for an option of the configuration, or `fields` for a field of the entry.
    """

    table: str
    setting: str
    thing: str
    code: str
    lost: str

    @property
    def key(self) -> tuple[str, str, str]:
        return self.table, self.setting, self.thing


class Use(NamedTuple):
    """A function in a module, by what it is used for: a key of `dispatch`, a field, a name in formulas.

    `is_kernel` is a function that computes results. It is its authors' business as long as it stands in the same `file`;
    what the others do is said of the operator.
    """

    option: str
    field: str
    name: str
    file: str
    code: str
    place: Span | None
    is_kernel: bool


class Terms(NamedTuple):
    """The terms of one version. `offers` are those of an operator, `uses` its functions by target and by what for. `takes`
    says whether a target has an operator; `place` finds an option, by table and name.
    """

    offers: Callable[[Operator], Iterable[Term]]
    uses: Callable[[Operator], Mapping[tuple[str, str], Use]]
    takes: Callable[[str, Operator], bool]
    place: Callable[[str, str], Span | None]

    def place_of(self, term: Term, operator: Operator) -> Span | None:
        if term.table == FIELDS:
            return operator.function.place(term.setting)
        return self.place(term.table, term.setting)


FIELDS = "fields"
# The calls that run what a field names.
_OF_FIELDS = {
    "dispatch": Witness(),
    "fake": Witness(key="Meta"),
    "vmap": Witness("vmap"),
    "derivatives": Witness("gradient"),
}


def compare_offers(old: Terms, new: Terms, was: Operator, now: Operator) -> Changes:
    """Terms that are lost; of several things that one setting offered, the first. Of a target that no longer has the
    operator, TG375 says enough.
    """
    kept = {term.key for term in new.offers(now)}
    # What the entry itself no longer has is said by other codes: options are asked about the operator as it was.
    kept |= {term.key for term in new.offers(was) if term.table != FIELDS}
    reported = set()
    for term in old.offers(was):
        setting = term.table, term.setting
        if term.key in kept or setting in reported or not new.takes(term.table, now):
            continue
        reported.add(setting)
        here = new.place_of(term, now)
        there = old.place_of(term, was)
        label = "changed" if here else ""
        # Registrations are gone. What other terms offer shows in no call, or not in every one.
        shown = None
        if term.code in ("TG364", "TG375"):
            shown = Witness()
        yield Change(term.code, term.lost, here, label, there, shown)


def compare_uses(old: Terms, new: Terms, was: Operator, now: Operator) -> Changes:
    """TG382: a function of the same name whose code is another one."""
    after = new.uses(now)
    reported = set()
    for key, use in old.uses(was).items():
        other = after.get(key)
        if other is None or other.code == use.code or other.name != use.name:
            continue
        is_elsewhere = other.file != use.file
        if use.name in reported or (use.is_kernel and not is_elsewhere):
            continue
        reported.add(use.name)
        if is_elsewhere:
            where = f", in `{other.file}` and no longer in `{use.file}`"
        else:
            where = ""
        message = f"`{use.name}`, which `{use.field}` names, has other code{where}"
        shown = _OF_FIELDS.get(use.field)
        yield Change("TG382", message, other.place, "does something else", use.place, shown)
