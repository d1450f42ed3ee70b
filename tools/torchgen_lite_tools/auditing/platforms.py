"""On which Linux a library runs: the versions of symbols that it needs, against the policies of manylinux.

The policies are auditwheel's, which repairs wheels by them: the newest versions of symbols of glibc and libstdc++ that a
platform promises, and the libraries that it has (PEP 599, PEP 600).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite_tools.auditing.elf import MACHINES, Binary

# Libraries of PyTorch, of its CUDA and of Python, which are there where a library of operators is loaded.
_BESIDE = re.compile(
    r"lib(?:c10|torch|shm|python|cuda|cudart|cudnn|cublas|nvrtc|nv|hip|amdhip|roc)"
)
# The C library of Alpine.
_MUSL = "libc.musl-"


class Platform(NamedTuple):
    """The oldest platform that has what all libraries need, or `linux_...` if none promises it; the newest version of
    each kind of symbol, and the libraries that no policy has and that are not beside it."""

    tag: str
    newest: dict[str, str]
    missing: tuple[str, ...]


def platform_of(binaries: Sequence[Binary]) -> Platform | None:
    """None where no policy of manylinux has anything to say: no binary, a Linux without glibc, another machine."""
    libraries = [library for binary in binaries for library in binary.needed]
    if not binaries or any(library.startswith(_MUSL) for library in libraries):
        return None
    if binaries[0].machine not in MACHINES.values():
        return None
    policies = _policies(binaries[0].machine)
    versions: list[str] = []
    needed: dict[str, set[str]] = {}
    for binary in binaries:
        for library, of_library in binary.versions.items():
            needed.setdefault(library, set()).update(of_library)
            versions += of_library
    missing = tuple(_missing(binaries, policies))
    policy = policies.linux if missing else policies.versioned_symbols_policy(needed)
    return Platform(policy.name, _newest(versions), missing)


def _policies(machine: str) -> Any:
    from auditwheel.architecture import Architecture
    from auditwheel.libc import Libc
    from auditwheel.policy import WheelPolicies

    return WheelPolicies(libc=Libc.GLIBC, arch=Architecture(machine))


def _missing(binaries: Sequence[Binary], policies: Any) -> Iterator[str]:
    """The libraries that must be brought along."""
    beside = {PurePosixPath(one.name).name for one in binaries}
    allowed: set[str] = set(policies.lowest.whitelist)
    for library in sorted({library for one in binaries for library in one.needed}):
        is_loader = library.startswith(("ld-linux", "ld64"))
        if library not in allowed | beside and not is_loader and not _BESIDE.match(library):
            yield library


def _newest(versions: Collection[str]) -> dict[str, str]:
    """`{"GLIBC": "2.34", "GLIBCXX": "3.4.30"}`."""
    newest: dict[str, str] = {}
    for version in versions:
        kind, _, number = version.partition("_")
        if re.fullmatch(r"[0-9]+(\.[0-9]+)*", number) and _numbers(number) > _numbers(
            newest.get(kind, "0")
        ):
            newest[kind] = number
    return dict(sorted(newest.items()))


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def check_platform(platform: Platform, wanted: Sequence[str], machine: str) -> Iterator[Diagnostic]:
    """TG620: a platform that is promised, and is older than what the library needs."""
    policies = {policy.name: policy for policy in _policies(machine)}
    by_tag = {
        alias: policy for policy in policies.values() for alias in (policy.name, *policy.aliases)
    }
    needed = policies[platform.tag]
    for tag in wanted:
        if tag not in by_tag:
            message = f"`{tag}` is no platform of {machine} that a policy of manylinux describes"
            yield Diagnostic("TG620", message)
        elif needed.priority < by_tag[tag].priority:
            needs = ", ".join(f"{kind} {number}" for kind, number in platform.newest.items())
            if platform.missing:
                needs = ", ".join(f"`{library}`" for library in platform.missing)
            yield Diagnostic("TG620", f"the library needs {needs}, which `{tag}` does not promise")
