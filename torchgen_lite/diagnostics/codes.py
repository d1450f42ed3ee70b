"""Every diagnostic code. A code keeps its meaning forever; a retired one is not used again.

0xx configuration and command line, 1xx YAML and keys, 2xx schema syntax, 3xx across entries,
4xx lint: overloads, aliasing, dispatch, 5xx templates and targets, 6xx imported libraries, 9xx internal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .code import Code
from .codes_compare import COMPARE_CODES
from .codes_cpp import CPP_CODES
from .codes_cross import CROSS_CODES
from .codes_derivatives import DERIVATIVE_CODES
from .codes_import import IMPORT_CODES
from .codes_lint import LINT_CODES
from .codes_native import NATIVE_CODES
from .codes_run import RUN_CODES
from .codes_runtime import RUNTIME_CODES
from .codes_schema import SCHEMA_CODES
from .codes_stable import STABLE_CODES
from .codes_target import TARGET_CODES
from .codes_torch import TORCH_CODES
from .codes_yaml import YAML_CODES

__all__ = ["CODES", "Code", "explain", "render_codes_page"]

EVERY: tuple[Code, ...] = (
    *RUN_CODES,
    *YAML_CODES,
    *SCHEMA_CODES,
    *CROSS_CODES,
    *NATIVE_CODES,
    *LINT_CODES,
    *IMPORT_CODES,
    *TARGET_CODES,
    *DERIVATIVE_CODES,
    *TORCH_CODES,
    *STABLE_CODES,
    *CPP_CODES,
    *RUNTIME_CODES,
    *COMPARE_CODES,
)
CODES: dict[str, Code] = {code.code: code for code in sorted(EVERY)}
# The letters of other packages' codes; none of our codes can match, now or later.
_OF_OTHERS = "(?!TG)[A-Z]{2,8}"


def is_of_others(code: str) -> bool:
    """Whether a code may belong to another package, whose target need not be loaded."""
    return re.fullmatch(_OF_OTHERS + "[0-9]{3}", code) is not None


def begins_code(text: str) -> bool:
    """Whether one of our codes begins with this text, or a code of another package may."""
    return any(code.startswith(text) for code in CODES) or (
        re.fullmatch(_OF_OTHERS + "[0-9]{0,3}", text) is not None
    )


def add_codes(codes: Iterable[Code]) -> None:
    """Add the codes of another package. Raises ValueError for one that is reserved."""
    for code in codes:
        if not is_of_others(code.code):
            raise ValueError(f"`{code.code}` is not a code such as `ABC001`")
        CODES.setdefault(code.code, code)


def explain(code: str) -> str | None:
    """The explanation of a code for the terminal, or None if there is no such code."""
    found = CODES.get(code.upper())
    if found is None:
        return None
    text = f"{found.code}: {found.title} ({found.severity})\n\n{found.explanation}\n"
    for title, example in _examples(found):
        indented = "\n".join(f"    {line}".rstrip() for line in example.splitlines())
        text += f"\n{title}:\n\n{indented}\n"
    return text


def _examples(code: Code) -> tuple[tuple[str, str], tuple[str, str]]:
    """The examples with their titles."""
    return (f"Bad, {code.where}" if code.where else "Bad", code.bad), ("Good", code.good)


def render_codes_page() -> str:
    """`docs/diagnostics.md`: every code with its explanation, as Markdown."""
    parts = [
        "# Diagnostics\n\nThis page is made from the table in `torchgen_lite/diagnostics/codes.py`; "
        "a test compares the two, and another runs each example: `torchgen-lite lint` on the operators that "
        "it shows, or the commands behind `$` in a folder with the files below `-- PATH --`.\n"
    ]
    for code in CODES.values():
        parts.append(f"\n## {code.code}: {code.title}\n\n*{code.severity}.* {code.explanation}\n")
        for title, example in _examples(code):
            language = "yaml" if example.startswith("- ") and "\n$ " not in example else "console"
            parts.append(f"\n{title}:\n\n```{language}\n{example.rstrip()}\n```\n")
    return "".join(parts)
