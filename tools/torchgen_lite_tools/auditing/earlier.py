"""Which part of a version has to change since an earlier build: what PyTorch has once either is loaded.

Note [Builds tell less than files]
A build says what it registers: schemas, kernels by key, what compilers and autograd can do. It does not say what a kernel
computes, and a shared library says nothing of fakes and gradients that a package in Python has for it. What is not
compared is listed, so that `patch` is said of the rest.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from torchgen_lite.analysis.comparison.compare import compare_schemas
from torchgen_lite.diagnostics import Diagnostic, read_code
from torchgen_lite.diagnostics.text import counted
from torchgen_lite.schema import parse_schema
from torchgen_lite_tools.auditing.artefact import Artefact, is_elf, opened
from torchgen_lite_tools.auditing.bump import Bump
from torchgen_lite_tools.auditing.registry import Facts, ask_registry, computing

FactsByName = Mapping[str, Facts]

_UNSEEN = "what kernels compute, and whether results have changed: builds do not tell"
_UNSEEN_BESIDE = "whether compilers and `backward` can do what they could: one of the builds has fakes and gradients elsewhere"


def is_build(since: str) -> bool:
    """Whether `--since` names a shared library or a wheel; one of PyTorch is a release of its operators."""
    path = Path(since)
    if not path.is_file() or path.name.startswith("torch-"):
        return False
    return is_elf(path) or zipfile.is_zipfile(path)


def earlier_operators(since: str) -> tuple[Artefact, FactsByName] | Diagnostic:
    """What an earlier build is, and what it registers, which runs its code. Raises Refused."""
    with opened(Path(since)) as artefact:
        answer = ask_registry(artefact.loads, artefact.folder)
        if isinstance(answer, Diagnostic):
            return answer
        return artefact, answer


def bump_since_build(
    old: FactsByName, new: FactsByName, since: str, namespace: str, *, has_all: bool
) -> tuple[Bump, list[str]]:
    """The part of the version, and what is not compared. Both builds are looked up without their namespace if the build has
    given it. `has_all` says that both have their fakes and gradients with them.
    """
    before = _by_name(old, bool(namespace))
    after = _by_name(new, bool(namespace))
    gone = _keys_of(before) - _keys_of(after)
    breaks: list[str] = []
    others: list[str] = []
    for name, was in before.items():
        now = after.get(name)
        if now is None:
            breaks.append(f"`{name}` is gone")
            continue
        losses, schema_changes = _of_schema(was, now)
        losses += _lost(was, now, gone, has_all)
        breaks += [f"`{name}`: {text}" for text in losses]
        others += [f"`{name}`: {text}" for text in schema_changes]
        others += [f"`{name}`: {text}" for text in _gained(was, now, has_all)]
    added = [f"`{name}` is new" for name in after if name not in before]
    unseen = [_UNSEEN]
    if not has_all:
        unseen.append(_UNSEEN_BESIDE)
    unseen += [
        f"kernels for {key}: this build has none, and the earlier one has" for key in sorted(gone)
    ]
    changes = (*breaks, *others, *added)
    bump = Bump("patch", f"no change of what is registered since {since}")
    if breaks:
        bump = Bump("major", f"{counted(len(breaks), 'breaking change')} since {since}", changes)
    elif changes:
        bump = Bump("minor", f"{counted(len(changes), 'change')} since {since}", changes)
    return bump, unseen


def _by_name(found: FactsByName, is_given: bool) -> FactsByName:
    if not is_given:
        return found
    return {name.partition("::")[2]: facts for name, facts in found.items()}


def _keys_of(found: FactsByName) -> set[str]:
    """The keys of backends that a build has kernels for."""
    return {key for facts in found.values() for key in facts.keys} & computing()


def _of_schema(was: Facts, now: Facts) -> tuple[list[str], list[str]]:
    """What has changed in a schema: what breaks calls, and the rest."""
    before, _ = parse_schema(was.schema)
    after, _ = parse_schema(now.schema)
    if before is None or after is None:
        is_same = was.schema == now.schema
        return [] if is_same else [f"`{was.schema}` is now `{now.schema}`"], []
    breaks = []
    others = []
    for change in compare_schemas(before, after):
        if read_code(change.code).effect == "may change":
            others.append(change.message)
        else:
            breaks.append(change.message)
    if not breaks and not others and before.local_text != after.local_text:
        others.append(f"`{before.local_text}` is now `{after.local_text}`")
    return breaks, others


def _lost(was: Facts, now: Facts, gone: set[str], has_all: bool) -> Iterator[str]:
    """What calls could do, and cannot any more."""
    for key in sorted({*was.keys} & computing() - {*now.keys} - gone):
        is_served = now.differentiates == "composed" or "CompositeExplicitAutograd" in now.keys
        if not is_served:
            yield f"it has no kernel for {key} any more"
    if has_all and was.compiles != "no" and now.compiles == "no":
        yield "it has no fake any more, and `torch.compile` stops there"
    if has_all and _has_gradient(was) and not _has_gradient(now):
        yield "it has no gradient any more"


def _gained(was: Facts, now: Facts, has_all: bool) -> Iterator[str]:
    for key in sorted({*now.keys} & computing() - {*was.keys}):
        yield f"it has a kernel for {key}"
    if has_all and was.compiles == "no" and now.compiles != "no":
        yield "it has a fake"
    if has_all and not _has_gradient(was) and _has_gradient(now):
        yield "it has a gradient"


def _has_gradient(facts: Facts) -> bool:
    return facts.differentiates in ("formulas", "composed")
