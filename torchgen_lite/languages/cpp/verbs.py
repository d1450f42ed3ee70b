"""The verbs of C++ that templates call: `{{ op.signature.parameters | cpp.parameters }}`. Note [Verbs]."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from torchgen_lite.languages.cpp import text

VERBS: Mapping[str, Callable[..., object]] = {
    "cpp.defaults": text.defaulted_list,
    "cpp.doc": text.doc_comment,
    "cpp.free_name": text.free_name,
    "cpp.identifier": text.identifier,
    "cpp.parameters": text.parameter_list,
    "cpp.quote": text.quote,
}
