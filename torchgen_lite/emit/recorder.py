"""What a template calls of a module, recorded where it is called.

Note [A head is made after its body]
A template of the target python captures its body first, and calls what it uses by name:
`{{ framework("save") }}(self)` prints `_save(self)`. The head, which the template prints next,
imports what the body has called. So a call added to a template, ours or a user's, imports what it
calls, and no list of names repeats the branches of a template.
"""

from __future__ import annotations

from collections.abc import Mapping

from torchgen_lite.diagnostics import Diagnostic, Help, did_you_mean
from torchgen_lite.languages.python.signature import ImportedName
from torchgen_lite.targets.output import CalledModule

# By option, module and name.
Lacking = dict[tuple[str, str, str], Diagnostic]


class NotImported(Exception):
    """A template calls a `name` that its head cannot import."""

    def __init__(
        self,
        message: str,
        name: str,
        help: Help,
    ) -> None:
        super().__init__(message)
        self.name = name
        self.help = help


class Recorder:
    """One module while one template is rendered: called with a name, it gives the local name."""

    def __init__(self, called: CalledModule, lacking: Lacking | None = None) -> None:
        self.module = called.module
        self._lacking = lacking
        self._called = called
        self._names: set[ImportedName] = set()
        self._is_printed = False

    def __call__(self, name: str, alias: str = "") -> str:
        """The local name, which the head will import. Raises NotImported."""
        called = self._called
        if called.known is not None and name not in called.known:
            message = f"`{called.module}` has no `{name}`, which the template calls"
            hint = did_you_mean(name, called.known) or f"define or import it in `{called.module}`"
            if self._lacking is None or not called.option:
                raise NotImported(message, name, hint)
            self._lacking[called.option, called.module, name] = Diagnostic(
                "TG510", message, help=hint
            )
        local = alias or f"_{name}"
        imported = ImportedName(name, local if local != name else "")
        if self._is_printed and imported not in self._names:
            message = f"`{name}` is called below the head, which imports what was called before it"
            raise NotImported(message, name, "call it in the body, which the template sets first")
        self._names.add(imported)
        return local

    @property
    def imported(self) -> list[ImportedName]:
        """What has been called so far, sorted; the head prints it, and nothing else is called afterwards."""
        self._is_printed = True
        return sorted(self._names)


def recording(context: Mapping[str, object], lacking: Lacking | None = None) -> dict[str, object]:
    """The context for one rendering, with a recorder for each module that templates call.

    What a module lacks that an option names is added to `lacking`, if given: the option, and not the template, is to be
    mended there.
    """
    return {
        name: Recorder(value, lacking) if isinstance(value, CalledModule) else value
        for name, value in context.items()
    }
