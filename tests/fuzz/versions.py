"""Pairs of versions of a whole program: what an edit does to callers is known, and `breaking` has to say the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

from tests.fuzz.outcomes import is_worse, outcomes
from tests.fuzz.pairs import lost
from tests.fuzz.programs import BACKENDS, COMPOSED, Case, Entry, Programs, mark
from torchgen_lite.analysis.comparison.compare import compare_operators
from torchgen_lite.analysis.kernels import own_kernels
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.program import Program
from torchgen_lite.cli.against.version import Version
from torchgen_lite.cli.breaking import judged_changes
from torchgen_lite.diagnostics import has_errors
from torchgen_lite.schema import FunctionSchema, SchemaKind
from torchgen_lite.targets.generation import generation_of
from torchgen_lite.targets.registered import side_of


class Edit(NamedTuple):
    """The next version. `at` is the edited group, if it is one; `lost` are operators that serve their callers worse.

    Of an edit `is_harmless`, nothing may be said; of another one, only of operators in its group. One that `is_of_calls`
    changes nothing but which kernels serve them, so that something has to be said exactly of calls that are served worse.
    """

    case: Case
    at: int | None = None
    lost: frozenset[str] = frozenset()
    is_harmless: bool = False
    is_of_calls: bool = False


# How to edit a case, whose program is the old one. None if there is nothing of that kind to edit.
Make = Callable[[Programs, Case, Program], Edit | None]


def name_of(entry: Entry) -> str:
    """The full name of an entry's operator."""
    return str(entry["func"]).partition("(")[0]


def _chosen(
    made: Programs, case: Case, suits: Callable[[Entry], Any]
) -> tuple[Case, int, Entry] | None:
    """A copy of the case, and one of its entries that suit, with the group where it is."""
    copy = case._replace(groups=deepcopy(case.groups), options=deepcopy(case.options))
    found = [(at, one) for at, group in enumerate(copy.groups) for one in group if suits(one)]
    if not found:
        return None
    at, entry = made.chooser.choice(found)
    return copy, at, entry


def served_in(program: Program, targets: Callable[[str], bool] = lambda name: True) -> set[str]:
    """The operators that some target of the configuration takes."""
    chosen = [
        name for name in [one.name for one in generation_of(program).registering] if targets(name)
    ]
    return {one.name for name in chosen for one in generation_of(program).asked(name).operators}


def derived_in(program: Program) -> set[str]:
    """The operators that have no entry."""
    return {one.name for one in program.resolved.operators if one.is_derived}


def _edited(found: tuple[Case, int, Entry] | None, lost: set[str], **fields: object) -> Edit | None:
    """Other fields of an entry; None takes a field away. What is lost is at most the entry's operator."""
    if found is None:
        return None
    case, at, entry = found
    for name, value in fields.items():
        if value is None:
            entry.pop(name)
        else:
            entry[name] = value
    return Edit(case, at, frozenset(lost & {name_of(entry)}))


def _harmless(edit: Edit | None) -> Edit | None:
    return edit and edit._replace(is_harmless=True, lost=frozenset())


def doc(made: Programs, case: Case, program: Program) -> Edit | None:
    return _harmless(_edited(_chosen(made, case, lambda one: True), set(), doc="Another text."))


def order(made: Programs, case: Case, program: Program) -> Edit | None:
    """The first group stays: its namespace is that of what is generated."""
    groups = [*case.groups[1:]]
    made.chooser.shuffle(groups)
    return Edit(case._replace(groups=(case.groups[0], *groups)), is_harmless=True)


def another_group(made: Programs, case: Case, program: Program) -> Edit | None:
    group = made.group(len(case.groups), case.namespace)
    return Edit(case._replace(groups=(*case.groups, group)), is_harmless=True)


def brackets(made: Programs, case: Case, program: Program) -> Edit | None:
    found = _chosen(made, case, _formulas)
    if found is None:
        return None
    formulas = {**found[2]["derivatives"]}
    formulas |= {name: f"( {text} )" for name, text in _formulas(found[2]).items()}
    return _harmless(_edited(found, set(), derivatives=formulas))


def order_of_targets(made: Programs, case: Case, program: Program) -> Edit | None:
    copy = deepcopy(case.options)
    copy[""]["targets"] = [*reversed(program.config.targets)]
    return Edit(case._replace(options=copy), is_harmless=True)


def shards(made: Programs, case: Case, program: Program) -> Edit | None:
    copy = deepcopy(case.options)
    for target in ("python", "cpp-torch", "cpp-torch-stable", "cpp-runtime"):
        copy[target]["shards"] = 3
    return Edit(case._replace(options=copy), is_harmless=True)


def _has_only_backends(entry: Entry) -> bool:
    """Whether the kernels are those of devices, and nothing else serves a call."""
    keys = set(entry.get("dispatch", COMPOSED))
    return "structured_delegate" not in entry and keys < set(BACKENDS) - {"Meta"}


def another_backend(made: Programs, case: Case, program: Program) -> Edit | None:
    found = _chosen(
        made, case, lambda one: _has_only_backends(one) and "XPU" not in one["dispatch"]
    )
    if found is None:
        return None
    kernels = {**found[2]["dispatch"], "XPU": "k_another"}
    return _harmless(_edited(found, set(), dispatch=kernels))


def without_a_backend(made: Programs, case: Case, program: Program) -> Edit | None:
    # A structured operator has to keep one.
    found = _chosen(
        made,
        case,
        lambda one: _has_only_backends(one) and len(one["dispatch"]) > ("structured" in one),
    )
    if found is None:
        return None
    gone = made.chooser.choice([*found[2]["dispatch"]])
    kernels = {key: kernel for key, kernel in found[2]["dispatch"].items() if key != gone}
    return _edited(found, served_in(program), dispatch=kernels)


def another_key(made: Programs, case: Case, program: Program) -> Edit | None:
    """One kernel more or less, at any key."""
    found = _chosen(made, case, lambda one: "structured_delegate" not in one)
    if found is None:
        return None
    kernels = {**found[2].get("dispatch", {})}
    if kernels and made.often(0.5):
        del kernels[made.pick([*kernels])]
    else:
        kernels[made.pick((*BACKENDS, *COMPOSED, "Autograd", "AutogradCPU", "Tracer", "Functionalize"))] = "k_more"  # fmt: skip
    edit = _edited(found, set(), dispatch=kernels)
    return edit and edit._replace(is_of_calls=True)


def without_an_operator(made: Programs, case: Case, program: Program) -> Edit | None:
    found = _chosen(made, case, lambda one: "structured" not in one)
    if found is None:
        return None
    copy, at, entry = found
    copy.groups[at].remove(entry)
    if not copy.groups[0]:
        return None
    return Edit(copy, at, frozenset({name_of(entry)}))


def _formulas(entry: Entry) -> dict[str, str]:
    """The formulas that give one gradient each, by argument."""
    every: dict[str, Any] = entry.get("derivatives", {})
    return {
        name: text
        for name, text in every.items()
        if isinstance(text, str) and text != "not_differentiable" and "," not in name
    }


def _is_recorded(entry: Entry) -> bool:
    """Whether formulas are what makes it differentiable."""
    kernels = entry.get("dispatch", {})
    return bool(
        _formulas(entry)
        and kernels
        and kernels.keys() <= {*BACKENDS, "CompositeExplicitAutograd"} - {"Meta"}
    )


def _formula_targets(case: Case) -> Callable[[str], bool]:
    """The targets that register formulas: not packages that have only stubs."""
    made = {"cpp-torch"}
    if "kernels" in case.options["python"]:
        made.add("python")
    if "autograd" not in case.options["torch-python"]:
        made.add("torch-python")
    return made.__contains__


def without_formulas(made: Programs, case: Case, program: Program) -> Edit | None:
    served = served_in(program, _formula_targets(case))
    edit = _edited(_chosen(made, case, _is_recorded), served, derivatives=None)
    return edit and edit._replace(is_of_calls=True)


def another_gradient(made: Programs, case: Case, program: Program) -> Edit | None:
    found = _chosen(made, case, _is_recorded)
    if found is None:
        return None
    formulas = {**found[2]["derivatives"]}
    formulas |= {name: f"({text}) * 5" for name, text in _formulas(found[2]).items()}
    return _edited(found, served_in(program, _formula_targets(case)), derivatives=formulas)


def another_schema(made: Programs, case: Case, program: Program) -> Edit | None:
    """An argument with another name, or without its default, where nothing else names it."""
    fields = {"derivatives", "samples", "fake"}
    found = _chosen(made, case, lambda one: not fields & one.keys())
    if found is None or len(found[0].groups[found[1]]) > 1:
        return None
    before = FunctionSchema.parse(found[2]["func"])
    arguments = [one for one in before.arguments if one.name != "self"]
    if not arguments:
        return None
    one = made.chooser.choice(arguments)
    text = str(found[2]["func"])
    edits = [text.replace(f" {one.name}", f" {one.name}_new", 1)]
    if one.default is not None:
        edits.append(text.replace(f"{one.name}={one.default}", one.name, 1))
    func = made.chooser.choice(edits)
    try:
        is_lost = lost(made.chooser, before, FunctionSchema.parse(func)) is not None
    except ValueError:  # There is no such signature.
        return None
    return _edited(found, {name_of(found[2])} if is_lost else set(), func=func)


def skip(made: Programs, case: Case, program: Program) -> Edit | None:
    targets = [one.name for one in generation_of(program).registering]
    if not targets:
        return None
    target = made.pick(targets)
    names = [
        one.name for one in generation_of(program).asked(target).operators if not one.is_derived
    ]
    if not names:
        return None
    copy, name = deepcopy(case.options), made.pick(names)
    before = copy[target].get("skip", [])
    assert isinstance(before, list)
    copy[target]["skip"] = [*before, name]
    at = next(at for at in range(len(case.groups)) if name in case.names(at))
    return Edit(case._replace(options=copy), at, frozenset({name}))


def without_a_target(made: Programs, case: Case, program: Program) -> Edit | None:
    targets = [*program.config.targets]
    gone = made.pick(targets)
    if len(targets) < 2:
        return None
    copy = deepcopy(case.options)
    copy[""]["targets"] = [name for name in targets if name != gone]
    if gone == "docs":
        return Edit(case._replace(options=copy), is_harmless=True)
    taken = served_in(program, gone.__eq__) - derived_in(program)
    return Edit(case._replace(options=copy), None, frozenset(taken))


def another_package(made: Programs, case: Case, program: Program) -> Edit | None:
    if "python" not in program.config.targets:
        return None
    copy = deepcopy(case.options)
    copy["python"]["package"] = "elsewhere"
    taken = served_in(program, "python".__eq__) - derived_in(program)
    return Edit(case._replace(options=copy), None, frozenset(taken))


def without_a_fake(made: Programs, case: Case, program: Program) -> Edit | None:
    found = _chosen(made, case, lambda one: "fake" in one and _has_only_backends(one))
    return _edited(found, served_in(program, "torch-python".__eq__), fake=None)


def another_fake(made: Programs, case: Case, program: Program) -> Edit | None:
    found = _chosen(made, case, lambda one: "like" in one.get("fake", ()))
    if found is None:
        return None
    fake = {**found[2]["fake"], "dtype": "float64"}
    return _edited(found, served_in(program, "torch-python".__eq__), fake=fake)


def without_autocast(made: Programs, case: Case, program: Program) -> Edit | None:
    served = served_in(program, {"torch-python", "cpp-torch"}.__contains__)
    return _edited(_chosen(made, case, lambda one: "autocast" in one), served, autocast=None)


EDITS: tuple[Make, ...] = (
    *(doc, order, another_group, brackets, order_of_targets, shards, another_backend),
    *(
        without_a_backend,
        another_key,
        without_an_operator,
        without_formulas,
        another_gradient,
        another_schema,
    ),
    *(skip, without_a_target, another_package, without_a_fake, another_fake, without_autocast),
)


def found_in(old: Program, new: Program) -> set[str]:
    """The operators of which `breaking` says something."""
    version = Version("old", old, Path(), "")
    found = judged_changes(version, new, "source", {}).found
    return {one.operator for one in found}


def wrong_calls(old: Program, new: Program, target: str) -> Iterator[str]:
    """Calls of a target that are served worse, of which nothing is said, or the other way round."""
    before, after = (generation_of(program).asked(target) for program in (old, new))
    names = {one.name for one in before.operators if _is_called_with_a_tensor(one)}
    names &= {one.name for one in after.operators}
    sides = side_of(old, [before]), side_of(new, [after])
    # That another kernel serves a call as well is TG382; that a target has an operator no longer is about more than calls.
    changes = compare_operators(*sides, level="call")
    found = {one.operator for one in changes if one.code not in ("TG382", "TG375")} & names
    recorded = {one.name for one in before.operators if _may_be_recorded(one)}
    was, now = outcomes(old, before), outcomes(new, after)
    worse = {
        name: (call, outcome, now[name, call])
        for (name, call), outcome in was.items()
        if name in names and is_worse(name in recorded, outcome, now[name, call])
    }
    for name in found ^ worse.keys():
        yield f"{target}: {name}: {worse.get(name, 'no call is lost')}, but {[*map(str, changes)]}"


def _is_called_with_a_tensor(operator: Operator) -> bool:
    """And without kernels of which the oracle does not know whether they redispatch."""
    tensor = any(str(one.type) in ("Tensor", "Tensor(a!)") for one in operator.schema.arguments)
    keys = {kernel.key for kernel in own_kernels(operator.function)}
    return tensor and not keys & {"ADInplaceOrView", "BackendSelect"}


def _may_be_recorded(operator: Operator) -> bool:
    is_tensor = any("Tensor" in str(one.type) for one in operator.schema.returns)
    return is_tensor and operator.kind is not SchemaKind.out


def wrong_verdicts(
    made: Programs, case: Case, edit: Edit, old: Program, new: Program
) -> Iterator[str]:
    """What `breaking` says of an edit, and should not, or the other way round."""
    versions = (old, new)
    if any(program.has_errors or _refuses(program) for program in versions):
        return
    for target in [one.name for one in generation_of(old).registering] if edit.is_of_calls else ():
        yield from wrong_calls(old, new, target)
    found = found_in(old, new)
    if edit.is_harmless and found:
        yield f"`breaking` finds {sorted(found)} in what is harmless"
    if not edit.lost <= found:
        yield f"`breaking` misses {sorted(edit.lost - found)}"
    if edit.at is not None:
        others = {name for name in found if mark(edit.at) not in name}
        if others:
            yield f"`breaking` finds {sorted(others)}, of which nothing was edited"


def _refuses(program: Program) -> bool:
    """Whether a target finds mistakes in its options."""
    chosen = [
        generation_of(program).asked(name)
        for name in [one.name for one in generation_of(program).registering]
    ]
    return any(has_errors(selection.diagnostics) for selection in chosen)
