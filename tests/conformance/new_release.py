"""What the installed PyTorch has and the tables of this project lack.

    python -m tests.conformance.new_release

Each line names something to add and where: keys and what they stand for, tags, types, fallbacks, attributes of
autograd's contexts, fields and schemas that nothing here can read. The exit code is 1 if there is any. Where there is nothing to add, `table`,
`why`, `lint`, `generate` with `--torch` and `breaking` know this release; `releases.py` runs the tests with it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import Any

from torchgen_lite import load
from torchgen_lite.analysis.computed_table import is_fallthrough
from torchgen_lite.key_sets import KeySets, key_sets
from torchgen_lite.key_tables import CURRENT, RELEASES, dispatch_keys, table_of
from torchgen_lite.languages.python.reserved import CONTEXT_ATTRIBUTES
from torchgen_lite.loader.entry.known_tags import KNOWN_TAGS, TAGS_SINCE
from torchgen_lite.loader.torch.stock_fallbacks import STOCK_FALLBACKS
from torchgen_lite.loader.versions import parse_version
from torchgen_lite.schema import parse_schema
from torchgen_lite.schema.type_names import BASE_TYPES, TYPES_UNTIL

KEYS = "torchgen_lite/key_tables.py"
TAGS = "torchgen_lite/loader/entry/known_tags.py"
TYPES = "torchgen_lite/schema/type_names.py"
SAVED = "torchgen_lite/languages/python/reserved.txt"


def differences(torch: Any) -> Iterator[str]:
    """Everything that is to be added for this torch."""
    release = parse_version(torch.__version__)[:2]
    if release not in RELEASES:
        yield f"{KEYS}: RELEASES has no {'.'.join(map(str, release))}"
    theirs = _values(torch._C)
    ours = {n: v for n, v in dispatch_keys(table_of(release)).items() if not _is_marker(n)}
    yield from _missing(KEYS, "key", theirs, ours)
    if theirs == ours:
        yield from _sets(torch._C, key_sets(table_of(release)))
    elif theirs.keys() == ours.keys():
        yield f"{KEYS}: the keys have another order: {', '.join(theirs)}"
    known = [tag for tag in KNOWN_TAGS if TAGS_SINCE.get(tag, release) <= release]
    yield from _missing(TAGS, "tag", list(torch.Tag.__members__), known)
    yield from _types(release)
    # What generated code keeps there is named after arguments, which never begin with an underscore.
    for name in sorted(set(dir(torch.autograd.Function)) - CONTEXT_ATTRIBUTES):
        if not name.startswith("_"):
            yield f"{SAVED}: attribute `{name}` of `ctx` is new"
    if table_of(release) is CURRENT:
        yield from _fallbacks(torch)
    yield from _unread(torch)


def _types(release: tuple[int, ...]) -> Iterator[str]:
    """The types that PyTorch's generator reads; graph modules occur in no schema."""
    from torchgen.model import BaseTy

    gone = {name for name, last in TYPES_UNTIL.items() if last < release}
    theirs = {one.name for one in BaseTy} - {"GraphModule"}
    here = theirs & BASE_TYPES - gone
    yield from _missing(TYPES, "type", sorted(theirs), sorted(here | TYPES_UNTIL.keys() - gone))


def _missing(place: str, what: str, theirs: Iterable[str], ours: Iterable[str]) -> Iterator[str]:
    theirs, ours = list(theirs), list(ours)
    for name in theirs:
        if name not in ours:
            yield f"{place}: {what} `{name}` is new"
    for name in ours:
        if name not in theirs:
            yield f"{place}: {what} `{name}` is gone"


def _is_marker(name: str) -> bool:
    return name.startswith(("StartOf", "EndOf"))


def _values(c: Any) -> dict[str, int]:
    """The keys and their values, up to the last alias. c10 prints markers as keys of an unknown backend."""
    last = "CompositeExplicitAutogradNonFunctional"
    names = [
        str(c._dispatch_key_name(c.DispatchKey(value)))
        for value in range(int(c.DispatchKey.__members__[last]) + 1)
    ]
    markers = ("Undefined", "Unknown")
    return {n: v for v, n in enumerate(names) if v == 0 or not n.endswith(markers)}


def _sets(c: Any, sets: KeySets) -> Iterator[str]:
    values = dispatch_keys(sets.table)

    def key(name: str) -> Any:
        return c.DispatchKey(values[name])

    for alias, members in sets.members.items():
        served = [n for n in sets.slots[1:] if c._dispatch_is_included_in_alias(key(n), key(alias))]
        yield from _missing(KEYS, f"a member of {alias},", served, sorted(members))
    for name in sets.slots:
        found = c._dispatch_get_backend_keyset_from_autograd(key(name)).raw_repr()
        yield from _missing(
            KEYS, f"a backend of {name},", sets.names(found), sorted(sets.backends_of[name])
        )


def _fallbacks(torch: Any) -> Iterator[str]:
    library = torch.library.Library("torchgen_lite_new_release", "DEF")
    library.define("nothing() -> ()")
    dump = torch._C._dispatch_dump_table("torchgen_lite_new_release::nothing")
    theirs = dict(line.split(": ", 1) for line in dump.splitlines())
    place = "torchgen_lite/loader/torch/stock_fallbacks.txt"
    yield from _missing(place, "the fallback of", theirs, STOCK_FALLBACKS)
    for key in theirs.keys() & STOCK_FALLBACKS.keys():
        if theirs[key].startswith("fallthrough ") != is_fallthrough(STOCK_FALLBACKS[key]):
            yield f"{place}: the fallback of `{key}` lets calls pass, or no longer does"


def _unread(torch: Any) -> Iterator[str]:
    for name in torch._C._dispatch_get_all_op_names():
        text = str(torch._C._get_schema(*name.partition(".")[::2]))
        schema, found = parse_schema(text)
        if schema is None or str(schema) != " ".join(text.split()):
            yield f"torchgen_lite/schema: cannot read `{text}`: {'; '.join(d.message for d in found)}"
    for diagnostic in load(torch=True).diagnostics:
        yield f"torchgen_lite/loader: {diagnostic.code}: {diagnostic.message}"


def main() -> int:
    if find_spec("torch") is None:
        sys.exit("PyTorch is not installed here")
    import torch

    found = list(differences(torch))
    print("\n".join(found) or f"PyTorch {torch.__version__}: nothing to add")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
