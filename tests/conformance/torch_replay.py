"""Read the registrations of an installed torch and replay them into a dispatcher of ours."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from torchgen_lite.runtime import Dispatcher, Library, fallthrough_kernel

_REGISTRATION = re.compile(
    r"^(?P<key>\w+)(?P<alias>\[alias\])?(?P<inactive> \(inactive\))?: (?P<rest>.*)$"
)


def registrations(name: str, dump: str) -> list[tuple[str, bool, str]]:
    """(key, falls through, debug) of every kernel in a `_dispatch_dump`, newest first for each key.

    The dump does not say which kernels fall through. The table does for runtime keys; torch can be asked
    about alias keys, but cannot read the names of all its runtime keys.
    """
    import torch

    cells = computed(torch._C._dispatch_dump_table(name))
    found = []
    for line in dump.splitlines():
        match = _REGISTRATION.match(line)
        if match is None or match["key"] in ("name", "schema", "debug"):
            continue
        if match["alias"]:
            fallthrough = torch._C._dispatch_kernel_for_dispatch_key_is_fallthrough(
                name, match["key"]
            )
        else:
            fallthrough = cells[match["key"]].startswith("fallthrough ")
        fallthrough = fallthrough and match["inactive"] is None
        found.append((match["key"], fallthrough, match["rest"].rsplit(" :: ", 1)[0]))
    return found


def computed(dump_table: str) -> dict[str, str]:
    """`_dispatch_dump_table` as {key: cell}."""
    return dict(line.split(": ", 1) for line in dump_table.splitlines() if line)


@lru_cache(maxsize=1)
def torch_fallbacks() -> dict[str, tuple[bool, str]]:
    """{key: (falls through, debug)} of the backend fallbacks, read off an operator without kernels."""
    import torch

    library = torch.library.Library("torchgen_lite_probe", "DEF")
    library.define("nothing() -> ()")
    cells = computed(torch._C._dispatch_dump_table("torchgen_lite_probe::nothing"))
    fallbacks = {}
    for key, cell in cells.items():
        debug, _, origin = cell.rpartition(" [")
        assert origin == "backend fallback]", cell
        fallbacks[key] = (debug.startswith("fallthrough "), debug.removeprefix("fallthrough "))
    return fallbacks


def kernel(*arguments: Any, **keywords: Any) -> Any:
    """Takes the place of a kernel of torch; it is never called."""


def dispatcher_with_torch_fallbacks() -> tuple[Dispatcher, Library]:
    dispatcher = Dispatcher()
    library = Library("_", "IMPL", dispatcher=dispatcher)
    for key, (fallthrough, debug) in torch_fallbacks().items():
        library.fallback(fallthrough_kernel if fallthrough else kernel, key, debug=debug)
    return dispatcher, library


def replay(dispatcher: Dispatcher, name: str, dump: str, libraries: dict[str, Library]) -> None:
    """Register in ours what torch has for an operator; older kernels first."""
    namespace = name.partition("::")[0]
    if namespace not in libraries:
        libraries[namespace] = Library(namespace, "FRAGMENT", dispatcher=dispatcher)
    libraries[namespace].define_stubs(name, "", kernel, kernel)
    for key, fallthrough, debug in reversed(registrations(name, dump)):
        libraries[namespace].impl(
            name, fallthrough_kernel if fallthrough else kernel, key, debug=debug
        )
