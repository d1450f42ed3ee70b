"""The operators that entries refer to by name: those of earlier files, and PyTorch's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from torchgen_lite.diagnostics import Span, did_you_mean
from torchgen_lite.loader.entry.entry import FieldSpans, NativeFunction
from torchgen_lite.loader.entry.reader import EntryReader, short
from torchgen_lite.loader.versions import Version, has_release, meet, version_text
from torchgen_lite.loader.yaml.nodes import Node, ScalarNode
from torchgen_lite.schema.kept import kept

# Gives the operators that PyTorch derives from functions; a higher layer knows how.
Derive = Callable[[Sequence[NativeFunction]], Iterable[NativeFunction]]
Native = Mapping[str, NativeFunction]
"""The operators of a PyTorch release by full name, derived ones included."""


class Earlier:
    """Finds functions by name, for one file.

    An operator that is only derived (`isnan.out`, which `autogen` asks for) counts as declared.
    When it is found, it is added to `functions` without the kernel that PyTorch writes for it. The
    same goes for an operator of PyTorch.
    """

    def __init__(
        self,
        functions: list[NativeFunction],
        derive: Derive,
        native: Native | None = None,
        release: Version = (),
    ) -> None:
        self.functions = functions
        self._release = release
        self._derive = derive
        self._native = native or {}
        # With no operators to refer to, a bare name is an unfinished schema.
        self.has_names = bool(functions or native)
        self._positions: dict[str, int] = {}
        # Of all functions of a name, which are for different releases.
        self._every: dict[str, list[int]] = {}
        self._indexed = 0

    def find(self, reader: EntryReader, name: str, node: Node) -> int | None:
        """The position of `add.Tensor` or `mylib::add` in `functions`; TG312 if there is none.

        A name without a namespace means the operator in `aten`, or else the first in any other.
        """
        wanted = name.removeprefix("aten::")
        self._index()
        if wanted not in self._positions:
            lent = self._lent(reader, name, node)
            if lent is not None:
                self.functions.append(lent)
                self._index()
        return self._positions.get(wanted)

    def positions(self, name: str) -> list[int]:
        """Where all functions of a full name are."""
        self._index()
        return self._every.get(name, [])

    def has(self, name: str) -> bool:
        self._index()
        is_known = name in self._positions or name in self._derived
        return is_known or self.is_native(name if "::" in name else f"aten::{name}")

    def is_native(self, name: str) -> bool:
        """Whether PyTorch has an operator of that full name."""
        return name in self._native

    def look_up(self, reader: EntryReader, node: ScalarNode) -> NativeFunction | None:
        """The operator that an entry names and adds to; TG312 if there is none."""
        self._index()
        name = node.value
        position = self._positions.get(name.removeprefix("aten::"))
        releases = _releases(reader)
        known = None if position is None else self.functions[position]
        if known is not None and not meet(known.torch, releases):
            same = [f for f in self.functions if f.name == known.name and meet(f.torch, releases)]
            known = same[-1] if same else None
        if known is None:
            return self._lent(reader, name, node)
        span = reader.span(node)
        places = FieldSpans.at(span, "func")
        return NativeFunction(known.func.named_at(span), known.namespace, field_spans=places)

    def _lent(self, reader: EntryReader, name: str, node: Node) -> NativeFunction | None:
        """An operator that no file declares, borrowed without its kernels; TG312 if there is none."""
        wanted = name.removeprefix("aten::")
        derived = self._derived
        if wanted in derived:
            return derived[wanted]._replace(dispatch=())
        native = self._native.get(wanted if "::" in wanted else f"aten::{wanted}")
        if native is not None:
            return adopt(native, reader.span(node))
        names = [*self._positions, *derived]
        names += [whole.removeprefix("aten::") for whole in self._native]
        release = reader.dialect.for_torch
        releases = _releases(reader)
        if has_release(releases, release):
            reader.report(
                "TG312",
                f"operator `{short(name)}` is not declared",
                node,
                "no such operator",
                did_you_mean(wanted, names) or (_OWN if self._native else _NO_FILE),
            )
        else:
            version = version_text(release[:2])
            reader.report(
                "TG346",
                f"PyTorch {version} does not have `{short(name)}`, which is for `{releases}`",
                node,
                "left out",
                _NO_SCHEMA,
            )
        return None

    def _index(self) -> None:
        """Index the functions added since the last call."""
        for position in range(self._indexed, len(self.functions)):
            function = self.functions[position]
            self._every.setdefault(function.name, []).append(position)
            name = function.func.local_name
            if not function.is_for(self._release) and name in self._positions:
                continue
            if function.namespace == "aten":
                self._positions[name] = position
            else:
                self._positions.setdefault(function.name, position)
                self._positions.setdefault(name, position)
        self._indexed = len(self.functions)

    @kept
    def _derived(self) -> dict[str, NativeFunction]:
        return {f.name.removeprefix("aten::"): f for f in self._derive(self.functions)}


def _releases(reader: EntryReader) -> str | None:
    """The range of an entry that is not read yet."""
    node = reader.node("torch")
    return node.value if isinstance(node, ScalarNode) else None


def adopt(native: NativeFunction, span: Span | None) -> NativeFunction:
    """A PyTorch operator that an entry names: its schema and properties, without its kernels."""
    return native._replace(
        func=native.func.named_at(span),
        dispatch=(),
        ufunc_inner_loop=(),
        autogen=(),
        manual_kernel_registration=False,
        tags=tuple([tag for tag in native.tags if tag != "generated"]),
        field_spans=FieldSpans.at(span, "func", "dispatch", entry=span),
    )


def unstructured(function: NativeFunction) -> NativeFunction:
    """The operator with plain functions as kernels; the types of the kernels stay the same."""
    return function._replace(
        is_part_of_structured=function.shares_structured,
        structured=False,
        structured_delegate=None,
        structured_inherits=None,
        precomputed=(),
    )


_NO_SCHEMA = "write its whole schema, for code that is built with other releases too"
_OWN = "correct the name, or declare the operator with its whole schema: PyTorch does not have it"
_NO_FILE = 'name the file that declares it before this; `native = "torch"` takes those of PyTorch'
