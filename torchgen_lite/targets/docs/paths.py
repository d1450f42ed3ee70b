"""Where the page of an operator is: `mylib/add.Tensor.md`.

An operator called `index`, the name of a folder's page, or like a device of Windows gets a suffix
after a hyphen, which no operator's name has. Names that differ only in case stay apart too: see
Note [Names that differ in case].
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from posixpath import dirname, relpath

from torchgen_lite.targets.file_names import file_names

_INDEXES = ("index", "readme")
# Names of devices, which Windows has in every folder.
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul"]
    + [f"{device}{number}" for device in ("com", "lpt") for number in range(10)]
)


def page_paths(names: Collection[str], ending: str) -> Mapping[str, str]:
    """The path of each operator's page, by the operator's full name."""
    stems = {name: _stem(name) for name in names}
    files = file_names(stems.values())
    return {name: files[stem] + ending for name, stem in stems.items()}


def _stem(name: str) -> str:
    whole, dot, overload = name.partition(".")
    *namespaces, base = [f"{n}-op" if n.lower() in _DEVICES else n for n in whole.split("::")]
    if not overload and base.lower() in _INDEXES:
        base += "-op"
    return "/".join([*namespaces, base]) + dot + overload


def link(path: str, page: str) -> str:
    """The address of a page, as a link on another has it."""
    return relpath(path, dirname(page) or ".")
