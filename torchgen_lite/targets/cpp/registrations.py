"""Files of registrations.

TORCH_LIBRARY_IMPL(mylib, CPU, m) {
  m.impl("scale", TORCH_FN(::mylib::scale_cpu));
}

Note [One file of registrations]
Every file pays again for the framework headers it includes: five seconds for libtorch's, while a
registration takes a tenth of a second. So there is one file, `register.cpp`, and one for each
device that a build may lack, `register_cuda.cpp`. With shards, each of them is split by operator
name, and the definitions stay in one file.

Note [The module of a library]
`import mylib._C` loads the shared library, and loading it runs the registrations; the module itself is
empty. It uses the limited API, so one build serves every Python from 3.10 on, and declares that it
needs no GIL. Free-threaded Python has no limited API, so the full API is used there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from torchgen_lite.key_tables import CURRENT
from torchgen_lite.languages.cpp.signature import CppSignature
from torchgen_lite.schema.grouped import grouped
from torchgen_lite.targets.cpp.layout import Layout, stem
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp.options import LibraryOptions
from torchgen_lite.targets.output import Files, Header, OutputFile

# The file for registrations that every build has.
REGISTER = "register"


# Neighbors with one condition, which is written once for all of them.
Guarded = Sequence[tuple[str, Sequence[Any]]]
# The definitions for each namespace of operators.
Libraries = Mapping[str, Guarded]


def guarded(parts: Iterable[Any], guard: Callable[[Any], str]) -> Guarded:
    """The parts in their order, each of which has such a `guard`."""
    return [(condition, list(neighbors)) for condition, neighbors in groupby(parts, guard)]


class Choice(NamedTuple):
    """A function that calls the first kernel of `rows` whose condition holds; an empty one always does. Without such a
    row it throws a `refusal`. A row has its condition, its kernel as it is called, and the name that is counted, of the
    operator and the key at this `place`.
    """

    guard: str
    place: str
    signature: CppSignature
    rows: Sequence[tuple[str, str, str]]
    refusal: str


@dataclass(frozen=True, slots=True)
class ImplCall:
    """One `m.impl(...)`: what is registered for an operator under a key, and its condition. `header` of
    the library declares a boxed kernel; one of the author's has to declare the kernels `declared`. It may need a
    function that makes a `choice`.
    """

    operator: CppOperator
    key: str
    kernel: str
    guard: str
    header: Header | None = None
    declared: Sequence[str] = ()
    choice: Choice | None = None

    @property
    def file(self) -> str:
        """The name of its file, without shard and extension. A boxed kernel needs no device."""
        if self.header:
            return REGISTER
        return file_of(self.key)


def file_of(key: str) -> str:
    """The file for registrations under a key: its device's own file, if a build may lack the
    device.

    >>> file_of("AutogradCUDA"), file_of("Vulkan"), file_of("CPU"), file_of("CompositeImplicitAutograd")
    ('register_cuda', 'register_vulkan', 'register', 'register')
    """
    devices = [device for device in _DEVICES if key.endswith(device)]
    if devices:
        return f"register_{devices[0].lower()}"
    return REGISTER


# Devices with a key for each functionality, and devices that are a single key.
_DEVICES = (
    *[backend for backend in CURRENT.backends if backend not in ("CPU", "Meta")],
    *[key for key in CURRENT.of_backends if key not in dict(CURRENT.per_backend)],
)


Some = TypeVar("Some", bound=ImplCall)


def blocks(registrations: Iterable[ImplCall]) -> list[tuple[str, str, Guarded]]:
    """A block for each namespace and key, sorted by name, so that a new operator moves none."""
    by_place = grouped(registrations, lambda one: (one.operator.library, one.key))
    rows = []
    for namespace, key in sorted(by_place):
        calls = by_place[namespace, key]
        parts = [(call.guard, call.operator, call.kernel) for call in calls]
        rows.append((namespace, key, guarded(parts, itemgetter(0))))
    return rows


def definitions(
    operators: Iterable[CppOperator],
    tag: Callable[[str], str],
    *,
    known_tags: Collection[str] | None = None,
) -> Libraries:
    """The operators of each namespace, with their tags; `tag` says how C++ spells one of the `known_tags`."""
    defined = []
    for operator in operators:
        tags = [t for t in operator.function.tags if known_tags is None or t in known_tags]
        defined.append((operator, list(map(tag, tags))))
    libraries = grouped(defined, lambda definition: definition[0].library)
    return {
        namespace: guarded(of_library, lambda definition: definition[0].guard)
        for namespace, of_library in libraries.items()
    }


def registration_files(
    libraries: Libraries,
    registrations: Iterable[Some],
    layout: Layout,
    options: LibraryOptions,
    macro: str,
    template: str,
    context: Callable[[Libraries, Sequence[Some]], Mapping[str, object]],
) -> Files:
    """The files; see Note [One file of registrations]. `macro` begins the names of those that open blocks, and
    `context` is what else the template prints."""
    opening = macro
    if options.library == "fragment":
        opening = f"{macro}_FRAGMENT"
    by_file = grouped(registrations, lambda one: stem(one.file, one.operator.shard))
    if libraries:
        by_file = {REGISTER: [], **by_file}
    for name, of_file in by_file.items():
        defined = libraries if name == REGISTER else {}
        demanded = [(call.guard, kernel) for call in of_file for kernel in call.declared]
        choices = [call.choice for call in of_file if call.choice is not None]
        shown = {
            "macros": (layout.opening(opening), layout.opening(f"{macro}_IMPL")),
            "libraries": defined,
            "blocks": blocks(of_file),
            "choices": list(map(tuple, dict.fromkeys(choices))),
            "declared": guarded(dict.fromkeys(demanded), itemgetter(0)),
            "headers": ", ".join(options.kernel_headers),
            "namespace": layout.namespace,
            **context(defined, of_file),
        }
        yield OutputFile(layout.source(f"{name}.cpp"), template, shown)


def module_file(layout: Layout, module: str) -> OutputFile:
    """The file for the module `_C` of the library."""
    context = {
        "module": module,
        "is_given": module in layout.given.values(),
        "namespace": layout.namespace,
        "folder": layout.folder,
    }
    return OutputFile(layout.source("module.cpp"), "cpp/module.cpp.j2", context)
