"""The field `autocast:`: the precision in which an operator runs under `torch.autocast`.

    autocast: float32               autocast: {dtype: float32, only: [x], result: x}

With `only`, other tensors stay as they are; with `result`, results are cast back to the dtype of
that argument. An operator of PyTorch may have the rule of CUDA, `autocast: like CUDA`, and a
backend's file all of these rules: they are the lists in a header of PyTorch, which other devices
have in common with it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from torchgen_lite.diagnostics import Span, not_compared
from torchgen_lite.loader.entry.reader import EntryReader
from torchgen_lite.loader.entry.shapes import Shape, plain, words
from torchgen_lite.loader.sources import read_source
from torchgen_lite.loader.torch.files import find_torch_files
from torchgen_lite.loader.versions import parse_version, version_text
from torchgen_lite.loader.yaml.nodes import ListNode, Node, ScalarNode, is_text

DTYPES = ("float32", "lower_precision")
_FIELDS = ("dtype", "only", "result")
LIKE_CUDA = "like CUDA"
# PyTorch's lists, and what they mean. `norm`, whose kernel calls another overload, gives float32 too.
_LISTS = {
    "LOWER_PRECISION_FP": "lower_precision",
    "FP32": "float32",
    "FP32_SET_OPT_DTYPE": "dtype_argument",
    "DIFFERENT_REDISPATCH_SIGNATURE": "float32",
    "PROMOTE": "promote",
}
_LIST = re.compile(rf"#define AT_FORALL_({'|'.join(_LISTS)})\(_\)((?:.*\\\n)*.*)")
_NAMED = re.compile(r'_\((\w+)(?:, (\w+))?\)|_\(ADD_NS\(\w+\),\s*\\\s*"([\w.]+)"')


@dataclass(frozen=True, slots=True)
class Autocast:
    """The dtype that tensors are cast to.

    `dtype` may also be `promote`, the widest of the arguments, or `dtype_argument`: the operator is asked for a
    result in float32. `result` is the argument whose dtype results are cast back to; it is empty if there is none.
    `only` are the tensors that are cast, if not all, with their places. `backend` is the one whose operators of
    PyTorch have the rule.
    """

    dtype: str
    result: str = ""
    span: Span | None = not_compared()
    backend: str = "PrivateUse1"
    only: tuple[str, ...] = ()
    places: tuple[Span, ...] = not_compared(())

    @property
    def key(self) -> str:
        """The key at which an operator of PyTorch has the rule."""
        return f"Autocast{self.backend}"


def rules_like_cuda(reader: EntryReader, node: Node) -> dict[str, str]:
    """The operators in PyTorch's lists, without `aten::`, each with its rule; TG337 if they are not there."""
    if reader.dialect.autocast:
        return _read_lists(reader.dialect.autocast)
    files, _ = find_torch_files()
    version = parse_version(files.version) if files is not None else ()
    release = reader.dialect.for_torch
    if files is not None and version[: len(release)] == release[: len(version)]:
        source, _ = read_source(files.autocast, files.autocast.parent)
        if source is not None:
            return _read_lists(source.text)
    wanted = f"PyTorch {version_text(release)}" if release else "PyTorch"
    reader.report(
        "TG337",
        f"the rules of CUDA are in a header of {wanted}, which is not here",
        node,
        "not known",
        "install it, put its wheel into this folder, or write the rules",
    )
    return {}


@lru_cache(maxsize=2)
def _read_lists(header: str) -> dict[str, str]:
    return {
        whole or f"{name}.{overload}".rstrip("."): _LISTS[word]
        for word, listed in _LIST.findall(header)
        for name, overload, whole in _NAMED.findall(listed)
    }


def read_autocast(reader: EntryReader, name: str, node: Node) -> Autocast | None:
    """The value of the field, or None and diagnostics if it can't be read."""
    if isinstance(node, ListNode) or reader.missing_space(node) is not None:
        reader.wrong_type(name, node, "a dtype, or a mapping such as `{dtype: float32, result: x}`")
        return None
    if isinstance(node, ScalarNode):
        text = reader.text(name)
        if text == LIKE_CUDA:
            return _like_cuda(reader, node)
        known = text is not None and _is_dtype(reader, node)
        return Autocast(text, span=reader.span(node)) if text is not None and known else None
    fields = {}
    only = []
    for key, value in reader.read_keys(node):
        if not reader.choice("TG337", "autocast field", key.value, key, _FIELDS):
            return None
        if key.value == "only":
            only = reader.words_of("only", value)
            if isinstance(value, ListNode) and not value.items:
                reader.report("TG337", "`only` names no tensor", value, "empty", "leave it out")
            continue
        if not is_text(value) or not value.value:
            reader.wrong_type(key.value, value, "a name")
            return None
        if key.value == "dtype" and not _is_dtype(reader, value):
            return None
        fields[key.value] = value
    result = fields.get("result")
    span = reader.span(result or node)
    if "dtype" not in fields:
        reader.report("TG337", "no dtype to cast to", span, "here", "add `dtype: float32`")
        return None
    names, places = zip(*only) if only else ((), ())
    back = result.value if result else ""
    return Autocast(fields["dtype"].value, back, span, only=names, places=places)


def _like_cuda(reader: EntryReader, node: ScalarNode) -> Autocast | None:
    namespace = reader.dialect.namespace
    operator = (reader.text("func") or "").partition("(")[0]
    name = operator.strip() if namespace in ("", "aten") else f"{namespace}::{operator}"
    rules = rules_like_cuda(reader, node)
    rule = rules.get(name.removeprefix("aten::"))
    if rules and rule is None:
        reader.report(
            "TG337",
            f"CUDA has no autocast rule for `{name}`",
            node,
            "no rule",
            "leave it out: the operator takes its tensors as they are",
        )
    return Autocast(rule, span=reader.span(node)) if rule else None


def _is_dtype(reader: EntryReader, node: ScalarNode) -> bool:
    return reader.choice("TG337", "autocast rule", node.value, node, DTYPES)


_ONLY = words(r"\w", least=1)
_MAPPING = {
    "type": "object",
    "properties": {"dtype": {"enum": list(DTYPES)}, "only": _ONLY, "result": {"type": "string"}},
    "additionalProperties": False,
    "required": ["dtype"],
}
SHAPE = Shape(plain(anyOf=[{"enum": [*DTYPES, LIKE_CUDA]}, _MAPPING]), read_autocast)
