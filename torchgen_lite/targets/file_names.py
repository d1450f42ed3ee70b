"""Names of files that stay apart on disks that ignore case, and that every system has.

Note [Names that differ in case]
`add_t.h` and `add_T.h` would be the same file on many disks. If names differ only in case, those
with capital letters get a suffix that encodes which letters are capitals: `add_T-1.h`. Operator
names have no hyphen, so the result never collides; a lower-case name stays the same when another is
added. `con.h` would be a device of Windows, in each folder: it is `con-op.h`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

WINDOWS_DEVICES = frozenset(
    ["con", "prn", "aux", "nul"]
    + [f"{device}{number}" for device in ("com", "lpt") for number in range(10)]
)


def file_names(names: Collection[str]) -> dict[str, str]:
    """The name of the file for each name.

    >>> file_names(["add_t", "add_T", "Sub", "ADD_t"])
    {'add_t': 'add_t', 'add_T': 'add_T-1', 'Sub': 'Sub', 'ADD_t': 'ADD_t-1c'}
    """
    alike = Counter(map(str.lower, set(names)))
    files = {}
    for name in names:
        files[name] = f"{name}-op" if name.lower() in WINDOWS_DEVICES else name
        bits = 0
        for letter in name:
            bits = 2 * bits + letter.isupper()
        if bits and alike[name.lower()] > 1:
            files[name] = f"{name}-{bits:x}"
    return files
