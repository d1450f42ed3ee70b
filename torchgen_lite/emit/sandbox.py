"""What templates of a project may do: print what they are given, and nothing that leads to Python.

Note [Sandbox]
`check` renders the templates of whoever wrote the branch. They get at what views of targets show, at what data has
(`x.items()`, `name.upper()`) and at Jinja's own objects. A path, a module, a function or a class that a view may
hold one day has no attributes here. Where a project has no templates, ours are rendered without a sandbox,
which is faster.
"""

from __future__ import annotations

import datetime
from types import BuiltinMethodType, MethodType
from typing import Any

from jinja2.sandbox import ImmutableSandboxedEnvironment

_DATA = frozenset({
    *(type(None), bool, int, float, complex, str, bytes, tuple, list, dict, set, frozenset),
    *(datetime.date, datetime.datetime, datetime.time),
})  # fmt: skip


class Sandbox(ImmutableSandboxedEnvironment):
    """An environment for templates that nobody has looked at. `homes` are packages of others whose views they read."""

    homes: tuple[str, ...] = ()

    def is_plain(self, value: object) -> bool:
        """Data, a view, or something of Jinja's, all of whose public attributes a template may have."""
        home = type(value).__module__
        return (
            type(value) in _DATA
            or home.startswith(("jinja2.", "markupsafe", "torchgen_lite.targets."))
            or any(home == name or home.startswith(f"{name}.") for name in self.homes)
        )

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """What plain values have, and fields of what else there is in views."""
        if not super().is_safe_attribute(obj, attr, value):
            return False
        is_ours = type(obj).__module__.startswith("torchgen_lite.")
        return self.is_plain(obj) or (is_ours and not callable(value))

    def is_safe_callable(self, obj: Any) -> bool:
        """A method of a plain value, a function of Jinja's, a macro, a block."""
        if not super().is_safe_callable(obj):
            return False
        # `str.format` comes wrapped, so that it reads no attribute that is kept from templates.
        method = getattr(obj, "__wrapped__", obj)
        if isinstance(method, (BuiltinMethodType, MethodType)):
            return self.is_plain(method.__self__)
        return self.is_plain(obj) or any(obj is value for value in self.globals.values())
