"""What a project's templates may do: print what they are given, without access to Python.

Note [Sandbox]
`check` renders the templates of an untrusted branch. They can read the public attributes of
targets' views, of data (`x.items()`, `name.upper()`) and of Jinja's own objects. A path, module,
function or class that a view may hold one day has no attributes here. If a project has no
templates, ours are rendered without a sandbox, which is faster.
"""

from __future__ import annotations

import datetime
from types import BuiltinMethodType, MethodType
from typing import Any

from jinja2.sandbox import ImmutableSandboxedEnvironment

from torchgen_lite.emit.recorder import Recorder

_DATA = frozenset({
    *(type(None), bool, int, float, complex, str, bytes, tuple, list, dict, set, frozenset),
    *(datetime.date, datetime.datetime, datetime.time),
})  # fmt: skip


class Sandbox(ImmutableSandboxedEnvironment):
    """An environment for untrusted templates. `homes` are other packages whose views they may
    read."""

    homes: tuple[str, ...]

    def is_plain(self, value: object) -> bool:
        """Whether it is data, a view or a Jinja object: templates may read all its public
        attributes."""
        home = type(value).__module__
        return (
            type(value) in _DATA
            or home.startswith(("jinja2.", "markupsafe", "torchgen_lite.targets."))
            or isinstance(value, Recorder)
            or any(home == name or home.startswith(f"{name}.") for name in self.homes)
        )

    def is_safe_attribute(
        self,
        obj: Any,
        attr: str,
        value: Any,
    ) -> bool:
        """Allow attributes of plain values, and fields of other objects in views."""
        if not super().is_safe_attribute(obj, attr, value):
            return False
        is_ours = type(obj).__module__.startswith("torchgen_lite.")
        return self.is_plain(obj) or (is_ours and not callable(value))

    def is_safe_callable(self, obj: Any) -> bool:
        """Allow methods of plain values, Jinja's functions, macros and blocks."""
        if not super().is_safe_callable(obj):
            return False
        # `str.format` is wrapped, so that it cannot read attributes that templates may not.
        method = getattr(obj, "__wrapped__", obj)
        if isinstance(method, (BuiltinMethodType, MethodType)):
            return self.is_plain(method.__self__)
        return self.is_plain(obj) or any(obj is value for value in self.globals.values())
