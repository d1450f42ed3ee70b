"""`breaking` and `upgrade` from other releases to the installed one, compared with what torchgen says about both.

The wheels of releases are in the folder that TORCHGEN_LITE_WHEELS names (`pip download --no-deps torch==2.9.1`); each is
asked with its own torchgen. Without the variable there is one "release": the installed one with its entries changed.
"""

from __future__ import annotations

import io
import json
import os
import random
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tests.conformance.release_facts import PACKAGED
from tests.conftest import Result
from torchgen_lite.analysis.implementing import SAID, Rank
from torchgen_lite.cli import main

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch
Run = Callable[..., Result]
Facts = dict[str, dict[str, Any]]
KEY = "PrivateUse1"
WHEELS = sorted(Path(os.environ.get("TORCHGEN_LITE_WHEELS", os.devnull)).glob("torch-*.whl"))


class Release(NamedTuple):
    """A release as the commands name it, and what its torchgen says about its functions."""

    path: Path
    facts: Facts


def ask_torchgen(folder: Path, native: Path | None = None) -> Facts:
    """Read the facts of a release in a separate process; `native` replaces the packaged file."""
    packaged = folder / PACKAGED
    script = Path(__file__).with_name("release_facts.py")
    files = (native or packaged / "native_functions.yaml", packaged / "tags.yaml")
    command = [sys.executable, "-P", script, folder, *files]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    assert Path(answer["torchgen"]).is_relative_to(folder)
    return dict(answer["functions"])


@pytest.fixture(scope="module")
def installed() -> Path:
    gen = pytest.importorskip("torchgen.gen")
    return Path(gen.__file__).parent.parent


@pytest.fixture(scope="module")
def new(installed: Path) -> Facts:
    return ask_torchgen(installed)


@pytest.fixture(scope="module", params=["edited", *(wheel.name for wheel in WHEELS)])
def old(
    request: pytest.FixtureRequest, installed: Path, tmp_path_factory: pytest.TempPathFactory
) -> Release:
    folder = tmp_path_factory.mktemp("release")
    if request.param == "edited":
        path = folder / "edited.yaml"
        entries = yaml.load(
            (installed / PACKAGED / "native_functions.yaml").read_text(), yaml.CSafeLoader
        )
        edited = edit(entries, random.Random(18))
        path.write_text(yaml.dump(edited, Dumper=yaml.CSafeDumper, sort_keys=False, width=10_000))
        return Release(path, ask_torchgen(installed, path))
    [wheel] = [path for path in WHEELS if path.name == request.param]
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder, [n for n in archive.namelist() if n.startswith("torchgen/")])
    return Release(wheel, ask_torchgen(folder))


Entry = dict[str, Any]


def edit(entries: list[Entry], chance: random.Random) -> list[Entry]:
    """Half of the operators, as an earlier release may have had them."""
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        base = entry["func"].partition("(")[0].partition(".")[0]
        groups.setdefault(base.removesuffix("_"), []).append(entry)
    # torchgen has special rules for factory functions, and for one that is named after another.
    del groups["normal_functional"]
    for group in groups.values():
        if chance.randrange(2) or not all("(Tensor" in entry["func"] for entry in group):
            continue
        if any("structured_delegate" in entry for entry in group):
            plain(group)
        elif len(group) == 1 and "autogen" not in group[0]:
            # torchgen wants an out variant for what has kernels, and has to be able to derive it.
            is_composed = "dispatch" not in group[0]
            texts = [change(group[0]["func"]) for change in SCHEMAS]
            texts = [
                t
                for t in texts
                if t != group[0]["func"] and is_schema(t) and (is_composed or "-> Tensor" in t)
            ]
            group[0]["func"] = chance.choice(texts or [group[0]["func"]])
            if "(Tensor self" in group[0]["func"] and chance.randrange(2):
                group[0]["variants"] = "function, method"
                group[0].pop("python_module", None)
            key = chance.choice(KEYS)
            if "-> Tensor" in group[0]["func"]:
                group[0].pop("dispatch", None)
                if key:
                    group[0]["dispatch"] = {key: "kernel"}
    # Some operators are new since.
    return [entry for entry in entries if not entry["func"].startswith(("fft_", "_foreach_norm"))]


def is_schema(text: str) -> bool:
    from torchgen.model import FunctionSchema

    try:
        return str(FunctionSchema.parse(text)) == text and bool(torch._C.parse_schema(text))
    except (AssertionError, RuntimeError, ValueError, KeyError):
        return False


def plain(group: list[Entry]) -> None:
    """Operators that are structured now had plain kernels."""
    for entry in group:
        is_out = entry.pop("structured", False)
        if entry.pop("structured_delegate", None) is not None and "dispatch" not in entry:
            entry["dispatch"] = {"CompositeExplicitAutograd": "kernel"}
        for name in ("structured_inherits", "precomputed", "ufunc_inner_loop"):
            entry.pop(name, None)
        if is_out and "dispatch" not in entry:
            entry["dispatch"] = {"CPU": "kernel"}


SCHEMAS: tuple[Callable[[str], str], ...] = (
    lambda text: text.replace(") ->", ", int was_here) ->", 1),
    lambda text: text.replace("=None", "", 1),
    lambda text: text.replace(", *, ", ", ", 1),
    lambda text: text.replace("SymInt", "int"),
    lambda text: re.sub(r"Tensor\? (\w+[,)])", r"Tensor \1", text),
    lambda text: text.replace("int ", "SymInt ", 1),
    lambda text: text.replace("float ", "Scalar ", 1),
    lambda text: text.replace("Tensor self", "Tensor(a) self", 1),
    lambda text: text.replace("int dim", "int was_dim", 1),
    lambda text: text.replace("(", ".was(", 1) if "." not in text.partition("(")[0] else text,
    lambda text: text.replace("-> (Tensor, Tensor", "-> (Tensor output, Tensor other", 1),
    lambda text: text.replace("=False", "=True", 1),
    lambda text: text.replace("-> Tensor", "-> (Tensor, Tensor)", 1),
    lambda text: text.replace("SymInt[2]", "SymInt[]", 1).replace("int[1]", "int[2]", 1),
)
# Without a table the kernel is composed of other operators.
KEYS = ("", "", "CompositeExplicitAutograd", "CPU", "CPU, CUDA", "CUDA, MPS", "SparseCPU, CPU")


# breaking


def is_compatible(old: str, new: str) -> bool:
    before, after = torch._C.parse_schema(old), torch._C.parse_schema(new)
    return bool(after.is_backward_compatible_with(before))


@cache
def served(keys: frozenset[str]) -> frozenset[str]:
    """The keys under which the running dispatcher finds a kernel, where kernels are registered for these."""
    name = f"torchgen_lite_upgrades::f{served.cache_info().misses}"
    library = torch._C._dispatch_library("FRAGMENT", "torchgen_lite_upgrades", "")
    library.def_(f"{name}(Tensor x) -> Tensor")
    for key in keys - UNREAD:
        library.impl_t_t(name, key)
    table = torch._C._dispatch_dump_table(name).splitlines()
    found = {line.partition(":")[0] for line in table if line}
    return frozenset(found) | (keys & UNREAD)


# Keys that torchgen knows, and the parser of the dispatcher does not.
UNREAD = frozenset({"QuantizedMeta", "NestedTensorHPU", "NestedTensorMeta"})


def test_breaking(run: Run, old: Release, new: Facts) -> None:
    """For each operator: whether it is removed, whether PyTorch calls it compatible, and kernels for the same keys."""
    asked = ("breaking", "--torch", "--against", str(old.path), "--output-format", "json")
    found: dict[str, set[str]] = {}
    for one in json.loads(run(*asked).stdout)["diagnostics"]:
        found.setdefault(one["operator"].removeprefix("aten::"), set()).add(one["code"])
    wrong = []
    for name, was in old.facts.items():
        codes = found.get(name, set())
        expected = expected_of(was, new.get(name))
        if was["generated"] and new.get(name, was)["generated"] and name in new:
            # It changes with the operator that it follows, and the change is reported there.
            expected = {}
        for kind, is_there in expected.items():
            if is_there != bool(codes & CODES[kind]):
                wrong.append((name, kind, is_there, sorted(codes)))
        if not expected and codes:
            wrong.append((name, "", False, sorted(codes)))
    assert wrong == []


CODES = {
    "removed": {"TG350", "TG351"},
    "schema": {f"TG{number}" for number in (*range(352, 364), 367)},
    "keys": {"TG364"},
    "variants": {"TG365"},
}


def lost(before: list[str], after: list[str]) -> set[str]:
    """The keys under which nothing is called any more, except for two kinds that do not count as a break.

    At autograd keys, formulas serve operators that used to be composed of others, and torchgen does not see formulas.
    Nested tensors lose operators that are no longer composed; PyTorch makes such changes in each release.
    """
    gone = served(frozenset(before)) - served(frozenset(after))
    gone = {key for key in gone if not key.startswith("Autograd")}
    if {*before} >= COMPOSED and {*after} >= EXPLICIT:
        gone = {key for key in gone if not key.startswith("NestedTensor")}
    return gone


COMPOSED, EXPLICIT = {"CompositeImplicitAutograd"}, {"CompositeExplicitAutograd"}


def expected_of(was: dict[str, Any], now: dict[str, Any] | None) -> dict[str, bool]:
    if now is None:
        return {"removed": True}
    return {
        "removed": False,
        "schema": not is_compatible(was["schema"], now["schema"]),
        "keys": bool(lost(was["keys"], now["keys"])) and not now["by_hand"],
        "variants": not set(was["variants"]) <= set(now["variants"]),
    }


# upgrade


@pytest.fixture(scope="module")
def changes(old: Release, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What `upgrade` says about a backend that has kernels for half of the old release's operators."""
    folder = tmp_path_factory.mktemp("backend")
    config = folder / "torchgen_lite.toml"
    config.write_text('schema = ["ops.yaml"]\ntargets = ["cpp-torch"]\n')
    text = "".join(f"- func: {n}\n  dispatch: {{{KEY}: kernel}}\n" for n in mine(old.facts))
    (folder / "ops.yaml").write_text(text)
    stdout = io.StringIO()
    asked = ("upgrade", "--from", str(old.path), "--key", KEY, "--output-format", "json")
    main((*asked, "--config", str(config)), stdout, io.StringIO())
    found: dict[str, Any] = json.loads(stdout.getvalue())
    return found


def mine(facts: Facts) -> list[str]:
    return list(facts)[::2]


def test_kernels(changes: dict[str, Any], old: Release, new: Facts) -> None:
    """Gone, of another type, or fine: by names and by the types that both releases of torchgen give a kernel."""
    found = {
        one["operator"]: (one["code"], (one["help"] or "").rpartition("kernel is `")[2].rstrip("`"))
        for one in changes["diagnostics"]
    }
    milder = {row[0]: row[1:] for row in changes["changes"].get(MILDER, [])}
    ranks: dict[str, Rank] = {}
    wrong = []
    for name in mine(old.facts):
        was, now = old.facts[name], new.get(name)
        said = found.get(f"aten::{name}") or found.get(name)
        if now is None:
            expected, fits = "TG371", said is not None and said[0] == "TG371"
        else:
            ranks[name] = rank = rank_of(was, now)
            expected = rank.name
            if rank is Rank.aborts:
                fits = said is not None and said[0] == "TG372" and same(said[1], now["kernel"])
            else:
                fits = said is None
            is_mild = rank in (Rank.names, Rank.symint)
            fits = fits and milder.get(name) == ([SAID[rank], now["schema"]] if is_mild else None)
        if not fits:
            wrong.append((name, expected, said, milder.get(name)))
    assert wrong == []


MILDER = "different names, defaults or SymInt"


def rank_of(was: dict[str, Any], now: dict[str, Any]) -> Rank:
    (int_before, sym_before), (int_after, sym_after) = was["types"], now["types"]
    if int_before != int_after:
        return Rank.aborts
    if sym_before != sym_after:
        return Rank.symint
    return Rank.same if was["schema"] == now["schema"] else Rank.names


def same(ours: str, theirs: str) -> bool:
    texts = [text.replace("::std::", "std::").replace(" ", "") for text in (ours, theirs)]
    return texts[0] == texts[1]


def test_structure(changes: dict[str, Any], old: Release, new: Facts) -> None:
    rows = changes["changes"].get("structured or delegated differently", [])
    expected = [
        name
        for name in mine(old.facts)
        if name in new and structure(old.facts[name]) != structure(new[name])
    ]
    assert [row[0] for row in rows] == expected


def structure(fact: dict[str, Any]) -> tuple[bool, str | None]:
    return fact["structured"], fact["delegate"]


def end(facts: Facts, name: str, own: frozenset[str]) -> str:
    """What a call for a backend with these kernels ends in: "own", "composite" or "nothing"."""
    fact = facts[name]
    if name in own:
        return "own"
    called = fact["delegate"] or fact["follows"]
    if called is not None:
        return end(facts, called, own)
    if fact["view"] is not None and end(facts, fact["view"], own) == "nothing":
        return "nothing"
    if any(key.startswith("Composite") for key in fact["keys"] if key != NESTED):
        return "composite"
    return "nothing"


NESTED = "CompositeImplicitAutogradNestedTensor"


def test_composites_and_what_is_new(changes: dict[str, Any], old: Release, new: Facts) -> None:
    kernels, none = frozenset(mine(old.facts)), frozenset[str]()
    both = [name for name in old.facts if name in new]
    may_go = [
        name
        for name in both
        if name in kernels
        and (end(old.facts, name, none), end(new, name, none)) == ("nothing", "composite")
    ]
    needed = [
        name
        for name in both
        if end(old.facts, name, kernels) != "nothing" and end(new, name, kernels) == "nothing"
    ]
    added = [
        name
        for name in new
        if name not in old.facts
        # A delegating operator is reported with the operator that has the kernel.
        and new[name]["delegate"] is None
        and end(new, name, kernels) == "nothing"
        and {"CPU", "CUDA"} & set(new[name]["keys"])
    ]
    found = {title: [row[0] for row in rows] for title, rows in changes["changes"].items()}
    expected = {
        "now composed of other operators: your kernel may be unnecessary": may_go,
        "no longer served: a kernel is needed": needed,
        "new operators that CPU or CUDA have kernels for": added,
    }
    assert {title: found.get(title, []) for title in expected} == {
        title: sorted(names) for title, names in expected.items()
    }
