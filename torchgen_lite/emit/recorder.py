"""What a template calls of a module, recorded where it is called.

Note [A head is made after its body]
A template of the target python captures its body first, and calls what it uses by name:
`{{ framework("save") }}(self)` prints `_save(self)`. The head, which the template prints next,
imports what the body has called. So a call added to a template, ours or a user's, imports what it
calls, and no list of names repeats the branches of a template.
"""

from __future__ import annotations

from collections.abc import Mapping

from torchgen_lite.diagnostics import Help, did_you_mean
from torchgen_lite.languages.python.signature import ImportedName
from torchgen_lite.targets.output import CalledModule


class UnknownName(Exception):
    """A template calls a `name` that the module lacks."""

    def __init__(self, called: CalledModule, name: str) -> None:
        super().__init__(f"`{called.module}` has no `{name}`, which the template calls")
        self.name = name
        self.help: Help = did_you_mean(name, called.known or ()) or (
            f"define or import it in `{called.module}`"
        )


class Recorder:
    """One module while one template is rendered: called with a name, it gives the local name."""

    def __init__(self, called: CalledModule) -> None:
        self.module = called.module
        self._called = called
        self._names: set[ImportedName] = set()

    def __call__(self, name: str, alias: str = "") -> str:
        """The local name, which is imported from now on. Raises UnknownName."""
        called = self._called
        if called.known is not None and name not in called.known:
            raise UnknownName(called, name)
        local = alias or f"{called.prefix}{name}"
        self._names.add(ImportedName(name, local if local != name else ""))
        return local

    @property
    def imported(self) -> list[ImportedName]:
        """What has been called so far, sorted."""
        return sorted(self._names)


def recording(context: Mapping[str, object]) -> dict[str, object]:
    """The context for one rendering, with a recorder for each module that templates call."""
    return {
        name: Recorder(value) if isinstance(value, CalledModule) else value
        for name, value in context.items()
    }
