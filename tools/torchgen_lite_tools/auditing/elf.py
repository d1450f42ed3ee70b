"""What a shared library of Linux says of itself: the libraries and symbols that it needs.

Note [What a stranger built]
A file may say anything. pyelftools reads it, in as many steps as the file asks for, so what is iterated has bounds, and
whatever goes wrong is one diagnostic about the file. A file that goes beyond them is refused: what is said of a library is
said of all its symbols.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from torchgen_lite.cli.session import Refused
from torchgen_lite.diagnostics import Diagnostic

Item = TypeVar("Item")
MAGIC = b"\x7fELF"
# More symbols than any library has.
_MOST = 2_000_000
# What Linux calls machines, which names of policies end with.
MACHINES = {
    "EM_X86_64": "x86_64",
    "EM_AARCH64": "aarch64",
    "EM_386": "i686",
    "EM_PPC64": "ppc64le",
    "EM_S390": "s390x",
    "EM_ARM": "armv7l",
    "EM_RISCV": "riscv64",
    "EM_LOONGARCH": "loongarch64",
}


class Binary(NamedTuple):
    """A shared library: where it is, and how it is shown. `versions` are those of symbols that it needs, such as
    `GLIBC_2.17`, by the library that has them; `imports` are the symbols that it does not define.
    """

    path: Path
    name: str
    machine: str
    needed: tuple[str, ...]
    versions: dict[str, set[str]]
    imports: frozenset[str]


def read_binary(path: Path, name: str) -> Binary:
    """Read a shared library. Raises Refused."""
    elffile = _elffile()
    try:
        with path.open("rb") as stream:
            elf = elffile.ELFFile(stream)
            machine = MACHINES.get(elf["e_machine"], str(elf["e_machine"]))
            sections = {section.name: section for section in elf.iter_sections()}
            needed = tuple(_needed(sections.get(".dynamic")))
            imports = frozenset(_imports(sections.get(".dynsym")))
            return Binary(
                path, name, machine, needed, _versions(sections.get(".gnu.version_r")), imports
            )
    # A library for well-formed files raises anything about others.
    except Exception as error:
        message = str(error) or type(error).__name__
        raise Refused(
            Diagnostic("TG006", f"cannot read `{name}` as a shared library: {message}")
        ) from None


def _elffile() -> Any:
    try:
        from elftools.elf import elffile
    except ImportError:
        help_ = 'pip install "auditwheel>=6.5,<7"'
        raise Refused(
            Diagnostic("TG012", "`audit` needs auditwheel and pyelftools", help=help_)
        ) from None
    return elffile


def _bounded(items: Iterable[Item]) -> Iterator[Item]:
    for index, item in enumerate(items):
        if index >= _MOST:
            raise ValueError(f"it has more than {_MOST} symbols")
        yield item


def _needed(dynamic: Any) -> Iterator[str]:
    if dynamic is None:
        return
    for tag in _bounded(dynamic.iter_tags("DT_NEEDED")):
        yield tag.needed


def _versions(section: Any) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    if section is None:
        return found
    for library, versions in _bounded(section.iter_versions()):
        for version in _bounded(versions):
            found.setdefault(library.name, set()).add(version.name)
    return found


def _imports(symbols: Any) -> Iterator[str]:
    """Weak ones, which a process may lack, are not needed."""
    if symbols is None:
        return
    for symbol in _bounded(symbols.iter_symbols()):
        is_needed = symbol["st_info"]["bind"] == "STB_GLOBAL" and symbol["st_shndx"] == "SHN_UNDEF"
        if is_needed and symbol.name:
            yield symbol.name
