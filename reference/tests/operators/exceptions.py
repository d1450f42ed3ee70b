"""What differs from PyTorch on its own inputs, by the title under which `docs/differences.md` gives the reason."""

from __future__ import annotations

import re

from tests.installed import RELEASE

_SINCE = "As in PyTorch 2.13"
# The operators follow 2.13.
LATER = (
    (_SINCE, "arange", "", r"shape: \[\d+\] for|refused: RuntimeError: step must be nonzero"),
    (_SINCE, "native_group_norm", "function", "strides"),
    (_SINCE, "nn.functional.group_norm", "error", "accepted: .*to be greater than 0, got 0"),
    (_SINCE, "neg|relu", "error", "class: RuntimeError.* for NotImplementedError"),
)
# Title, entries of `op_db`, ways to call, what the difference says.
EXCEPTIONS = [
    ("A number where `out=` is given", "copysign", "out", "refused: TypeError|class: TypeError"),
    ("Classes of errors", "arange", "error", "class: RuntimeError"),
    ("dtypes", "view_as_complex", "", "refused: RuntimeError: view_as_complex is only supported"),
    ("Equal elements", "topk|sort|argsort", "", "value"),
    ("Equal elements", "max|min|argmax|argmin", "gradient", "value"),
    ("Not compared", "nn.functional.gelu", "out, transposed", "value"),
    ("Not compared", "matmul|nn.functional.linear", "out, transposed", "accepted"),
    ("Complex results", "logsumexp|mean", "out", "refused: RuntimeError: result type Complex"),
    (
        "Accepted here, refused there",
        "std|var",
        "out",
        "accepted: .*(Unsupported dtype Half|not implemented for .Complex)",
    ),
    ("Accepted here, refused there", "narrow", "error", "accepted: .*start must be an 0-dim"),
    ("Nuclear norms", "norm.nuc", "", "refused: NotImplementedError|class: NotImplementedError"),
    ("Overlap of an input with `out`", "index_select", "error", "accepted"),
    ("Storages grow", "gather|cat", "error", "accepted: .*storage that is not resizable"),
    (
        "Second derivatives",
        "nn.functional.hardsigmoid|nn.functional.layer_norm|native_layer_norm",
        "second",
        "accepted",
    ),
    *(LATER if RELEASE >= (2, 14) else ()),
]


def title_of(name: str, how: str, text: str) -> str | None:
    """The title that explains a difference; None if there is none."""
    for title, names, ways, texts in EXCEPTIONS:
        if re.fullmatch(names, name) and re.match(ways, how) and re.match(texts, text):
            return title
    return None
