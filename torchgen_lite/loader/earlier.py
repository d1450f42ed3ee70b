"""The operators of earlier files, to which the backend format and ExecuTorch's add kernels by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from torchgen_lite.diagnostics import did_you_mean
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.loader.reader import EntryReader, short
from torchgen_lite.loader.yaml_nodes import Node

# What PyTorch derives from functions, which is known to a floor above.
Derive = Callable[[Sequence[NativeFunction]], Iterable[NativeFunction]]


class Earlier:
    """Finds functions by name, for one file.

    An operator that is only derived (`isnan.out`, for which `autogen` asks) is as good as a declared one:
    it joins `functions` when it is found, without the kernel that PyTorch writes for it.
    """

    def __init__(self, functions: list[NativeFunction], derive: Derive) -> None:
        self.functions = functions
        self._derive = derive
        self._positions: dict[str, int] = {}
        self._indexed = 0
        self._derived: dict[str, NativeFunction] | None = None

    def find(self, reader: EntryReader, name: str, node: Node) -> int | None:
        """Where `add.Tensor` or `mylib::add` is in `functions`; TG312 if there is none.

        Without a namespace it is the one in `aten`, or the first of that name in another.
        """
        wanted = name.removeprefix("aten::")
        position = self._position(wanted)
        if position is None:
            names = [*self._positions, *self._derived_by_name()]
            hint = did_you_mean(wanted, names) if names else _NO_FILE
            message = f"operator `{short(name)}` is not declared"
            reader.report("TG312", message, reader.span(node), "no such operator", hint)
        return position

    def _position(self, name: str) -> int | None:
        self._index()
        if name not in self._positions:
            derived = self._derived_by_name().get(name)
            if derived is not None:
                self.functions.append(replace(derived, dispatch=()))
                self._index()
        return self._positions.get(name)

    def _index(self) -> None:
        """Take in the functions that have joined since."""
        for position in range(self._indexed, len(self.functions)):
            function = self.functions[position]
            if function.namespace == "aten":
                self._positions[function.func.local_name] = position
            else:
                self._positions.setdefault(function.name, position)
                self._positions.setdefault(function.func.local_name, position)
        self._indexed = len(self.functions)

    def _derived_by_name(self) -> dict[str, NativeFunction]:
        if self._derived is None:
            derived = self._derive(self.functions)
            self._derived = {function.name.removeprefix("aten::"): function for function in derived}
        return self._derived


_NO_FILE = "name the file that declares it before this"
