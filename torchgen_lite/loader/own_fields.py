"""Fields that PyTorch does not have: `torch`, `guard`, `fake`, `derivatives`, `samples`, `vmap`, `autocast`.

`fake`, `derivatives` and `samples` have a language of their own: `loader.fakes`, `loader.derivatives`
and `loader.samples` read them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from torchgen_lite.loader.fields import AUTOCAST_RULES
from torchgen_lite.loader.reader import KERNEL_NAME, EntryReader, short
from torchgen_lite.loader.versions import parse_range
from torchgen_lite.loader.yaml_nodes import MapNode

if TYPE_CHECKING:
    from torchgen_lite.loader.derivatives import Derivatives
    from torchgen_lite.loader.fakes import Fake
    from torchgen_lite.loader.samples import Sample

_GUARD = re.compile(r"#(?:if[ \t]+\S[^\n\\]*|ifn?def[ \t]+[A-Za-z_][A-Za-z0-9_]*)", re.ASCII)


def read_own_fields(reader: EntryReader) -> dict[str, object]:
    """The fields of ours that the entry has, by attribute."""
    values: dict[str, object] = {}
    fields = reader.fields
    if "torch" in fields:
        values["torch"] = _read_range(reader)
    if "guard" in fields:
        values["guard"] = _read_guard(reader)
    if "fake" in fields:
        values["fake"] = _read_fake(reader)
    if "derivatives" in fields:
        values["derivatives"] = _read_derivatives(reader)
    if "samples" in fields:
        values["samples"] = _read_samples(reader)
    if "vmap" in fields:
        values["vmap"] = _read_function(reader, "vmap")
    if "autocast" in fields:
        values["autocast"] = _read_autocast(reader)
    return values


def _read_fake(reader: EntryReader) -> Fake | None:
    # Imported here, as below: PyTorch's own entries never have these fields.
    from torchgen_lite.loader.fakes import read_fake

    return read_fake(reader, reader.fields["fake"][1])


def _read_samples(reader: EntryReader) -> tuple[Sample, ...]:
    from torchgen_lite.loader.samples import read_samples

    return read_samples(reader, reader.fields["samples"][1])


def _read_function(reader: EntryReader, name: str) -> str | None:
    text = reader.text(name)
    if text is not None and ("::" in text or not KERNEL_NAME.fullmatch(text)):
        message = f"`{short(text)}` is not the name of a Python function"
        reader.report("TG334", message, reader.span(reader.fields[name][1]), "not a name")
        return None
    return text


def _read_autocast(reader: EntryReader) -> str | None:
    text = reader.text("autocast")
    span = reader.span(reader.fields["autocast"][1])
    if text is not None and reader.choice("TG337", "autocast rule", text, span, AUTOCAST_RULES):
        return text
    return None


def _read_range(reader: EntryReader) -> str | None:
    text = reader.text("torch")
    if text is not None and parse_range(text) is None:
        message = f"`{short(text)}` is not a version range"
        span = reader.span(reader.fields["torch"][1])
        reader.report("TG119", message, span, "here", 'write it like ">=2.6,<2.9"')
        return None
    return text


def _is_guard(text: str) -> bool:
    """One condition on one line, which ends there: brackets are closed, and no comment is open.

    >>> _is_guard("#if (A || B) && C"), _is_guard("#if A) || (B"), _is_guard("#if A /* x")
    (True, False, False)
    """
    if not _GUARD.fullmatch(text):
        return False
    text, depth = text.partition("//")[0], 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth < 0:
            return False
    return depth == 0 and "/*" not in text and "*/" not in text and text.strip() != "#if"


def _read_guard(reader: EntryReader) -> str | None:
    text = reader.text("guard")
    if text is not None and not _is_guard(text.strip()):
        message = f"`{short(text)}` is not a build guard"
        span = reader.span(reader.fields["guard"][1])
        reader.report("TG122", message, span, "here", 'write it like "#ifndef USE_ROCM"')
        return None
    return text.strip() if text is not None else None


def _read_derivatives(reader: EntryReader) -> Derivatives | None:
    """Formulas by argument name; several arguments with one formula are a comma list."""
    node = reader.fields["derivatives"][1]
    if not isinstance(node, MapNode):
        reader.wrong_type("derivatives", node, "a mapping from arguments to formulas")
        return None
    from torchgen_lite.loader.derivatives import read_derivatives

    return read_derivatives(reader, reader.read_keys(node), reader.span(node))
