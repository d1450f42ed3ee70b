"""Which libtorch a library runs with, by the functions that it calls of it.

A library for libtorch's stable ABI calls functions of C, `aoti_torch_*` and `torch_*`, which stay; one that calls functions
of C++ runs with the release that it was built with. `stable_abi.txt` has the functions by release.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.languages.cpp.stable import Release
from torchgen_lite.loader.sources import blocks_beside
from torchgen_lite.loader.versions import version_text

_SHIM = re.compile("(?:aoti_)?torch_")
# A name of C++ in one of libtorch's namespaces, itself or among its arguments: `N` opens a name with a namespace.
_CXX = re.compile("_Z.*?N[VK]*(?:2at|3c10|5torch|6caffe2)[0-9]")


class Abi(NamedTuple):
    """`kind` is `stable`, `libtorch` or `none`, and `release` the first that has all functions of the stable ABI;
    `because` are those that only it has. `symbols` are of C++, and `unknown` of no release that is known.
    """

    kind: str
    release: Release | None
    because: tuple[str, ...]
    symbols: tuple[str, ...]
    unknown: tuple[str, ...]


@cache
def releases() -> Mapping[str, Release]:
    """The first release with each function."""
    found = {}
    for number, names in blocks_beside(__file__).items():
        major, minor = number.split(".")
        for name in names.split():
            found[name] = (int(major), int(minor))
    return found


def abi_of(imports: Iterable[str]) -> Abi:
    """What the symbols that a library imports say.

    >>> abi_of(["aoti_torch_get_dim", "torch_from_blob", "memcpy"]).release
    (2, 11)
    >>> abi_of(["_ZN2at4_ops4relu4callERKNS_6TensorE"]).kind
    'libtorch'
    """
    wanted = sorted(imports)
    known = {name: releases()[name] for name in wanted if name in releases()}
    cxx = tuple(name for name in wanted if _CXX.match(name))
    unknown = tuple(name for name in wanted if _SHIM.match(name) and name not in known)
    release = max(known.values(), default=None)
    because = tuple(name for name, needed in known.items() if needed == release)
    kind = "libtorch" if cxx else "stable" if known or unknown else "none"
    return Abi(kind, release, because, cxx, unknown)


def check_abi(abi: Abi, oldest: Release | None) -> Iterator[Diagnostic]:
    """TG621: what a library for the stable ABI, with releases from the `oldest` on, may not import."""
    if abi.symbols:
        more = f" and {len(abi.symbols) - 1} more" if len(abi.symbols) > 1 else ""
        message = f"a library for the stable ABI imports `{abi.symbols[0]}`{more}, which is libtorch's C++"
        yield Diagnostic("TG621", message)
    for name in abi.unknown:
        message = f"the library imports `{name}`, which is not in the stable ABI of any release that is known"
        yield Diagnostic("TG621", message)
    if oldest is not None and abi.release is not None and abi.release > oldest:
        names = f"`{abi.because[0]}`"
        message = f"the library needs libtorch {version_text(abi.release)}, which has {names}"
        yield Diagnostic("TG621", f"{message}, and `target-version` is {version_text(oldest)}")
