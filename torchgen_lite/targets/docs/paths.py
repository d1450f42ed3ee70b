"""Where the page of an operator is: `mylib/add.Tensor.md`.

Note [Names that differ in case]
`add.t` and `add.T` would be the same file on many disks. If names differ only in case, those with
capital letters get a number that encodes which letters are capitals. Operator names consist of
letters, digits, underscores and dots, so a name with a hyphen never collides. An operator called
`index`, the name of a folder's page, is handled the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from posixpath import dirname, relpath

_INDEXES = ("index", "readme")
# Names of devices, which Windows has in every folder.
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul"]
    + [f"{device}{number}" for device in ("com", "lpt") for number in range(10)]
)


def page_paths(names: Collection[str], ending: str) -> Mapping[str, str]:
    """The path of each operator's page, by the operator's full name."""
    stems = {name: _stem(name) for name in names}
    alike = Counter(stem.lower() for stem in stems.values())
    return {
        name: f"{stem}{_capitals(stem) if alike[stem.lower()] > 1 else ''}{ending}"
        for name, stem in stems.items()
    }


def _stem(name: str) -> str:
    whole, dot, overload = name.partition(".")
    *namespaces, base = [f"{n}-op" if n.lower() in _DEVICES else n for n in whole.split("::")]
    if not overload and base.lower() in _INDEXES:
        base += "-op"
    return "/".join([*namespaces, base]) + dot + overload


def _capitals(stem: str) -> str:
    bits = int("".join(str(int(letter.isupper())) for letter in stem), 2)
    return f"-{bits:x}" if bits else ""


def link(path: str, page: str) -> str:
    """The address of a page, as a link on another has it."""
    return relpath(path, dirname(page) or ".")
