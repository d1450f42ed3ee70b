"""The verbs of C++ that templates call: `{{ op.signature.parameters | cpp.parameters }}`. Note [Verbs]."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from torchgen_lite.languages.cpp import kernels, text
from torchgen_lite.languages.text import one_line

VERBS: Mapping[str, Callable[..., object]] = {
    "cpp.defaults": text.defaulted_list,
    "cpp.doc": text.doc_comment,
    "cpp.forwarded": text.forwarded,
    "cpp.free_name": text.free_name,
    "cpp.function": text.function_name,
    "cpp.identifier": text.identifier,
    "cpp.line": one_line,
    "cpp.parameters": text.parameter_list,
    "cpp.qualified": kernels.qualified,
    "cpp.quote": text.quote,
}
