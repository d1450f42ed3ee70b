"""Tags as libtorch knows them: `at::Tag` is an enumeration, so C++ has names for its members alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.namespaces import TORCH_NAMESPACES
from torchgen_lite.analysis.program import Program
from torchgen_lite.diagnostics import Diagnostic, did_you_mean
from torchgen_lite.loader.entry import NativeFunction
from torchgen_lite.loader.known_tags import KNOWN_TAGS


def known_tags(program: Program) -> frozenset[str]:
    """PyTorch's tags. The project's own, `tags` of the configuration, are not in the enumeration."""
    own = set(program.config.tags) - set(KNOWN_TAGS)
    return frozenset({*KNOWN_TAGS, *program.tags} - own)


def check_tags(program: Program, functions: Sequence[NativeFunction]) -> Iterator[Diagnostic]:
    """TG543: undeclared tags in definitions."""
    known = known_tags(program).union(program.config.tags)
    for function in functions:
        if function.namespace in TORCH_NAMESPACES:
            continue
        for tag in function.tags:
            if tag not in known:
                message = f"libtorch has no tag `{tag}`"
                place, help_ = function.place("tags"), did_you_mean(tag, known)
                help_ = help_ or "a tag of the project is declared with `tags` in the configuration"
                yield finding(function, "TG543", message, place, "not a tag", help_)
