"""What a call gives that both versions serve: another gradient, another shape when traced, another precision.

    derivatives:                              derivatives:
      self: grad                                self: grad * 2

No call fails, so nobody notices: TG376. Formulas and expressions are compared under the new names of arguments, which
are put into their trees. What a target does not register is not compared: target cpp-torch-stable has no formulas.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from operator import attrgetter
from typing import NamedTuple

from torchgen_lite.analysis.checks.compiled import looked_into
from torchgen_lite.analysis.comparison.lost_calls import listed_keys, shown_at
from torchgen_lite.analysis.comparison.sides import Offer
from torchgen_lite.analysis.derive.layout import tensors_in
from torchgen_lite.analysis.finding import Change, Changes, Witness
from torchgen_lite.analysis.kernels import REFERENCE
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.policy import Origin
from torchgen_lite.analysis.selection.cover import difference
from torchgen_lite.analysis.served import Served
from torchgen_lite.diagnostics import Span
from torchgen_lite.diagnostics.text import quoted
from torchgen_lite.formulas.model import Expression, Name, mapped
from torchgen_lite.loader.entry.axes import Axed, Axes
from torchgen_lite.loader.entry.derivatives import DEFAULT, NOT_DIFFERENTIABLE, Derivatives
from torchgen_lite.loader.entry.entry import DispatchEntry, KernelRow
from torchgen_lite.loader.entry.fakes import Fake
from torchgen_lite.loader.entry.kernel_languages import KERNEL_LANGUAGES
from torchgen_lite.loader.entry.known_tags import KNOWN_TAGS
from torchgen_lite.loader.versions import is_within
from torchgen_lite.schema.grouped import grouped, names_of

_FORMULAS = frozenset({Origin.autograd, Origin.formulas})
_AUTOCAST = frozenset({Origin.autocast, Origin.autocast_over})
_FAKES = frozenset({Origin.fake, Origin.traced_view})
# How a compiler calls it to learn of results.
_TRACED = Witness(key="Meta")
_Text = tuple[str, Span | None]  # A formula with the names of the new version, and its place.


def compare_formulas(old: Offer, new: Offer) -> Changes:
    """TG376 for another formula; TG368 for one that is gone, although others are left."""
    is_said = old.operator.function.derivatives or new.operator.function.derivatives
    if not is_said or not _are_served(old, new, _FORMULAS):
        return
    was = _in_effect(old.operator)
    now = _in_effect(new.operator)
    if was is None:
        return
    before = _formulas(was, old)
    after = _formulas(now, new) if now is not None else {}
    old_names = {new_name: old_name for old_name, new_name in old.names.items()}
    for key, name in {**before, **after}:
        text, there = _formula_for(key, name, before)
        other, here = _formula_for(key, name, after)
        if not text:
            continue
        where = "" if key == DEFAULT else f" for `{key}`"
        backend = key.removeprefix("Autograd") if key != DEFAULT else ""
        shown = Witness("gradient", old_names.get(name, name), key=backend)
        if not other or other == NOT_DIFFERENTIABLE != text:
            message = f"`{name}` has no formula{where} any more"
            yield Change("TG368", message, here, "", there, shown)
        elif other != text:
            message = f"the formula of `{name}`{where} changed from `{text}` to `{other}`"
            yield Change("TG376", message, here, "changed", there, shown)
    if now is not None and was.output_differentiability != now.output_differentiability:
        here = now.differentiability_span
        there = was.differentiability_span
        message = "other results are differentiable"
        yield Change("TG376", message, here, "changed", there, Witness("gradient"))


def _formula_for(key: str, name: str, texts: Mapping[tuple[str, str], _Text]) -> _Text:
    """For a key that has no formula of its own, the other one is in effect."""
    return texts.get((key, name)) or texts.get((DEFAULT, name)) or ("", None)


def _in_effect(operator: Operator) -> Derivatives | None:
    """Its own formulas, or those of the variant that it shares them with."""
    if operator.function.derivatives is not None:
        return operator.function.derivatives
    return operator.info.function.derivatives if operator.info is not None else None


def _formulas(derivatives: Derivatives, offer: Offer) -> dict[tuple[str, str], _Text]:
    """The formulas by key and argument."""
    texts = {}
    for key, formulas in derivatives.variants:
        for formula in formulas:
            word = _with_new_names(formula.word, offer)
            text = word or _renamed(formula.expression, offer)
            for name in formula.names:
                texts[key, offer.named(name)] = (text, formula.span)
    return texts


def _renamed(written: Expression | None, offer: Offer) -> str:
    """The text of an expression with the new names, which is None if it can't be read."""

    def rename(node: Expression) -> Expression:
        if isinstance(node, Name):
            return replace(node, text=offer.named(node.text))
        return mapped(node, rename)

    if written is None:
        return ""
    return str(rename(written))


def _are_served(old: Offer, new: Offer, origins: frozenset[Origin]) -> bool:
    """Whether a target registers such a kernel in both versions, or the operators are PyTorch's own."""
    pairs = zip(old.served, new.served)
    return any(_registers(was, origins) and _registers(now, origins) for was, now in pairs)


def _registers(served: Served | None, origins: frozenset[Origin]) -> bool:
    if served is None:
        return False
    is_bare = not served.policy.knows_formulas and origins is _FORMULAS
    return is_bare or not origins.isdisjoint(served.origins)


def compare_fakes(old: Offer, new: Offer) -> Changes:
    """TG378: what is known of results before they are computed."""
    if _are_served(old, new, _FAKES | {Origin.axes}):
        yield from _compare_axes(old, new)
    was = old.operator.function
    now = new.operator.function
    if was.fake is None or now.fake is None or not _are_served(old, new, _FAKES):
        return
    if was.fake.function or now.fake.function:
        return  # What a function says is not known: TG382.
    before = _rules(was.fake, old)
    after = _rules(now.fake, new)
    if before != after:
        message = "results have another shape, dtype or device when they are traced"
        # Which inputs pass a check is not known.
        shown = _TRACED if before.fields != after.fields else None
        yield new.changed("TG378", message, "fake", old, "changed", shown)


def _compare_axes(old: Offer, new: Offer) -> Changes:
    was = old.operator.axes
    now = new.operator.axes
    if was is None or now is None or _canonical(was, old) == _canonical(now, new):
        return
    message = "`axes` says something else, which shapes, `vmap` and sharding follow"
    shown = None
    if _canonical(was, old, has_marks=False) != _canonical(now, new, has_marks=False):
        shown = _TRACED
    yield new.changed("TG378", message, "axes", old, "changed", shown)


class _Rules(NamedTuple):
    """What is said of results, and what is checked, in the names of the new version."""

    fields: Sequence[tuple[str, str, str]]
    checks: Sequence[str]


def _rules(fake: Fake, offer: Offer) -> _Rules:
    fields = []
    for rule in fake.rules:
        for field, value in rule.fields:
            fields.append((rule.name, field, _renamed(value, offer)))
    checks = [_renamed(check.condition, offer) for check in fake.checks]
    return _Rules(sorted(fields), sorted(checks))


def _canonical(line: Axes, offer: Offer, *, has_marks: bool = True) -> object:
    """The line with numbers in place of the names of axes, which are nobody's business. Marks say nothing of shapes."""
    numbers: dict[str, int] = {}

    def numbered(axed: Axed) -> list[tuple[int, bool, str]]:
        axes = []
        for axis in axed.axes:
            number = numbers.setdefault(axis.name, len(numbers))
            axes.append((number, axis.is_star, axis.mark if has_marks else ""))
        return axes

    tensors = [numbered(tensor) for tensor in line.tensors]
    results = [numbered(result) for result in line.results]
    called = [offer.named(tensor.name) for tensor in line.tensors]
    added = [tensor.is_added and has_marks for tensor in line.tensors]
    return called, tensors, results, added


def compare_autocast(old: Offer, new: Offer) -> Changes:
    """TG379, also where one of the versions says nothing."""
    served = (*old.served, *new.served)
    if not any(_registers(target, _AUTOCAST) for target in served):
        return
    tensors = list(map(old.named, names_of(tensors_in(old.operator.schema.arguments))))
    before = _precision(old, tensors)
    after = _precision(new, tensors)
    if before != after:
        message = f"under `torch.autocast` it runs in {after}, and used to run in {before}"
        yield new.changed("TG379", message, "autocast", old, witness=_autocast_witness(old, new))


def _autocast_witness(old: Offer, new: Offer) -> Witness:
    """With tensors of the precision that one of the versions casts."""
    for autocast in (old.operator.function.autocast, new.operator.function.autocast):
        if autocast is not None and autocast.dtype == "float32":
            return Witness("autocast", value="bfloat16")
    return Witness("autocast")


def _precision(offer: Offer, tensors: Sequence[str]) -> str:
    autocast = offer.operator.function.autocast
    if autocast is None:
        return "the dtype of its arguments"
    text = f"`{autocast.dtype}`"
    named = list(map(offer.named, autocast.only)) or tensors
    alone = [f"`{name}`" for name in tensors if name in named]
    if len(alone) < len(tensors):
        listed = ", ".join(alone) or "no tensor"
        text += f" for {listed} alone"
    if autocast.result:
        text += f", cast back to that of `{offer.named(autocast.result)}`"
    return text


def compare_promises(old: Offer, new: Offer) -> Changes:
    """TG380 for a promise that is gone or another one; TG382 for one that is new."""
    if new.operator.function.unstable and not old.operator.function.unstable:
        yield new.changed("TG380", "it is `unstable` now", "unstable", old, "promised nothing")
    was = _promises(old)
    now = _promises(new)
    for (field, label), word in was.items():
        other = now.get((field, label))
        if other == word:
            continue
        message = f"`{field}: {word}` was removed"
        if other:
            message = f"`{field}` changed from `{word}` to `{other}`"
        yield new.changed("TG380", message, field, old, label, _of_promise(field, word))
    # What PyTorch's own file adds is its own affair.
    if not all(served is None or served.policy.knows_formulas for served in new.served):
        return
    for (field, label), word in now.items():
        if (field, label) not in was:
            message = f"`{field}: {word}` was added"
            yield new.changed("TG382", message, field, old, witness=_of_promise(field, word))


def _of_promise(field: str, word: str) -> Witness | None:
    """PyTorch's tags can be read; what else compilers are told shows in no call."""
    if field == "tags" and word in KNOWN_TAGS:
        return Witness("tags")
    return None


def _promises(offer: Offer) -> dict[tuple[str, str], str]:
    """What is said to those who handle calls without running them: the words, by field and by what follows without
    them. Tags are for every target, the others for one that registers rules for `vmap`, too."""
    function = offer.operator.function
    promises = {("tags", f"no `{tag}`"): tag for tag in offer.operator.tags}
    if any(map(_keeps_promises, offer.served)):
        promises["effects", "calls may be dropped"] = function.effects or ""
        promises["checkpoint", "checkpoints may keep other results"] = function.checkpoint or ""
        for compiler in function.decompose:
            promises["decompose", f"no `{compiler}`"] = compiler
        for key in sorted(looked_into(offer.operator)):
            promises["triton", f"no `{key}`"] = key
        promises["flops", "calls are counted differently"] = _renamed(function.flops, offer)
    return {promise: word for promise, word in promises.items() if word}


def _keeps_promises(served: Served | None) -> bool:
    if served is None:
        return False
    return served.policy.is_pytorch or Origin.vmap in served.policy.makes


def compare_availability(old: Offer, new: Offer) -> Changes:
    """TG377: releases of PyTorch, or builds, that have it no longer."""
    was = old.operator.function
    now = new.operator.function
    before = _releases(old)
    after = _releases(new)
    if not is_within(before, after):
        had = _listed(old.ranges)
        has = _listed(new.ranges)
        message = f"it exists only for PyTorch {has}, and used to exist for {had}"
        if had == has:
            has = _listed([new.side.releases])
            had = _listed([old.side.releases])
            message = f"the project supports only PyTorch {has}, and used to support {had}"
        yield new.changed("TG377", message, "torch", old)
    if now.guard is not None and now.guard != was.guard:
        had = f", and used to exist under `{was.guard}`" if was.guard else ""
        message = f"it exists only under `{now.guard}`{had}"
        yield new.changed("TG377", message, "guard", old)


def _releases(offer: Offer) -> list[str]:
    """The ranges of releases that have the operator, each within what the project supports."""
    return [",".join(filter(None, (offer.side.releases, text))) for text in offer.ranges]


def _listed(ranges: Sequence[str]) -> str:
    if "" in ranges:
        return "all releases"
    return quoted(ranges, " or ")


def compare_functions(old: Offer, new: Offer) -> Changes:
    """TG381: how a target's function is called, for the old schema under the options of each version."""
    if old.side.called is None or new.side.called is None:
        return
    same = new.operator.function._replace(func=old.operator.function.func)
    # That a target leaves the operator out is said already; one that is new has no callers.
    passed_by = old.taken ^ new.taken
    for target, called in old.side.called.items():
        if target in passed_by:
            continue
        before = called(old.operator.function)
        if target in new.side.called:
            yield from _other_signature(target, before, new.side.called[target](same))
        elif before:
            message = f"target `{target}` no longer has it"
            yield Change("TG375", message, witness=Witness(target=target))


def _other_signature(target: str, old: Sequence[str], new: Sequence[str]) -> Changes:
    """The first line that is another one. Lines that are new are nobody's loss."""
    for was, now in zip_longest(old, new[: len(old)]):
        if was != now:
            has = f"has `{now}`, and used to have" if now else "no longer has"
            message = f"target `{target}` {has} `{was}`"
            yield Change("TG381", message, witness=_other_call(target, was, now or ""))
            return


def _other_call(target: str, was: str, now: str) -> Witness | None:
    """A call of the function as it was: without what has a default no longer, or else with everything. A framework has
    tensors of its own, and a method is one of the caller's class.
    """
    place, _, name = was.partition(" ")
    if place == "module":
        return Witness("import", value=name)
    if place == "framework" or not now:
        return None
    has_fewer_defaults = now.count(" = ") < was.count(" = ")
    is_short = has_fewer_defaults or place in ("package", "namespace")
    return Witness("call" if is_short else "full", target=target)


def compare_cells(old: Offer, new: Offer) -> Changes:
    """TG382: kernels, and functions that fields name, that others replace."""
    for was, now in zip(old.served, new.served):
        if was is not None and now is not None and was.table != now.table:
            yield from _replaced(was, now, old, new)
    yield from _reselected(old, new)
    for field, function_of in (("fake", _maker), ("vmap", _batcher)):
        before = function_of(old.operator)
        after = function_of(new.operator)
        if before and after and before != after:
            message = f"`{field}` is {after}, and used to be {before}"
            shown = _TRACED if field == "fake" else Witness("vmap")
            yield new.changed("TG382", message, field, old, witness=shown)


def compare_references(old: Offer, new: Offer) -> Changes:
    """TG382: another reference, where compilers put it in the operator's place or it is a kernel. A function that it
    names is compared as `terms.compare_uses` does."""
    was = _reference(old)
    now = _reference(new)
    if was and now and was != now:
        message = "`reference`, which takes the operator's place, is another expression"
        shown = Witness() if _is_kernel(new) else None
        yield new.changed("TG382", message, "samples", old, "changed", shown)


def _reference(offer: Offer) -> str:
    """The text of a reference that is run in place of the operator, with the names of the new version."""
    function = offer.operator.function
    if function.samples is None or not (function.decompose or _is_kernel(offer)):
        return ""
    reference = function.samples.reference
    if reference is None:
        return ""
    texts = [ast.unparse(reference.tree)]
    for _, value, _ in reference.let:
        texts.append(ast.unparse(value))
    return _with_new_names("\n".join(texts), offer)


def _with_new_names(text: str, offer: Offer) -> str:
    return re.sub(r"\w+", lambda word: offer.named(word[0]), text)


def _is_kernel(offer: Offer) -> bool:
    return offer.operator.function.has_kernel(REFERENCE)


def _batcher(operator: Operator) -> str:
    """What runs calls under `torch.vmap`."""
    if operator.function.is_looped:
        return "a loop"
    if operator.function.vmap:
        return f"`{operator.function.vmap}`"
    return "axes" if operator.axes is not None else ""


def _maker(operator: Operator) -> str:
    """What makes fakes; TG378 compares rules with rules, and axes with axes."""
    fake = operator.function.fake
    if fake is None:
        if operator.axes is not None:
            return "axes"
        return ""
    if fake.function:
        return f"`{fake.function}`"
    return "rules"


def _reselected(old: Offer, new: Offer) -> Changes:
    """The kernels between which inputs change under a key that has several, before or now."""
    before = {entry.key: entry for entry in old.operator.own_kernels}
    function = new.operator.function
    for entry in new.operator.own_kernels:
        earlier = before.get(entry.key)
        # An entry with one kernel has no rows.
        if earlier is None or earlier.rows == entry.rows:
            continue
        compared = difference(_rows(earlier), _rows(entry), function.func, function.dtypes)
        if not compared.is_whole:
            message = f"the conditions of `{entry.key}` changed, and it is not decided which inputs run another kernel"
            yield new.changed("TG382", message, "dispatch", old)
        for was, now, example in compared.changed:
            runs = f"runs `{now}`" if now else "has no kernel"
            used = f"used to run `{was}`" if was else "used to have none"
            message = f"`{entry.key}` {runs} for `{example}`, and {used}"
            yield new.changed("TG382" if now else "TG364", message, "dispatch", old)
        yield from _rewritten(earlier, entry, old, new)


def _rewritten(earlier: DispatchEntry, entry: DispatchEntry, old: Offer, new: Offer) -> Changes:
    """Kernels of a key that keep their names, and are in another language, or get other options."""
    before = _rows_by_kernel(earlier)
    for name, rows in _rows_by_kernel(entry).items():
        former = before.get(name)
        if former is None:
            continue
        known = {"", *_languages(former)}
        for word in _languages(rows):
            if word not in known:
                language = KERNEL_LANGUAGES[word]
                message = f"`{name}` of `{entry.key}` is in {language.title} now, which needs `{language.package}`"
                yield new.changed("TG382", message, "dispatch", old)
        if _options(rows) != _options(former):
            message = f"`{name}` of `{entry.key}` gets {_options(rows)}, and used to get {_options(former)}"
            yield new.changed("TG382", message, "dispatch", old)


def _rows(entry: DispatchEntry) -> Sequence[KernelRow]:
    """Its rows; the only kernel of a key that has none takes every input."""
    return entry.rows or (KernelRow(entry.kernel, None),)


def _rows_by_kernel(entry: DispatchEntry) -> Mapping[str, Sequence[KernelRow]]:
    return grouped(_rows(entry), attrgetter("kernel"))


def _languages(rows: Iterable[KernelRow]) -> Iterable[str]:
    """The languages of kernels, each once."""
    return dict.fromkeys(map(attrgetter("language"), rows))


def _options(rows: Iterable[KernelRow]) -> str:
    """`block=64` or `block=128`, as `tune` lists them."""
    alternatives = []
    for options in chain.from_iterable(row.tune for row in rows):
        listed = ", ".join(f"{name}={value!r}" for name, value in options)
        alternatives.append(f"`{listed}`")
    return " or ".join(alternatives) or "no options"


def _replaced(was: Served, now: Served, old: Offer, new: Offer) -> Changes:
    """The cells that another kernel serves, by what it was and what it is."""
    if not was.policy.knows_formulas:
        return
    changed: dict[tuple[str, str], list[str]] = {}
    for slot in was.cells:
        before = was.kernel(slot)
        after = now.kernel(slot)
        if before and after and before != after:
            changed.setdefault((before, after), []).append(slot)
    for (before, after), keys in changed.items():
        runs = "runs" if len(keys) == 1 else "run"
        message = f"{listed_keys(keys)} {runs} `{after}`, and used to run `{before}`"
        yield new.changed("TG382", message, "dispatch", old, witness=shown_at(keys))
