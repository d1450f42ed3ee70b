"""Python signatures for the argument parser and for the stubs, equal to torchgen's in every character."""

from __future__ import annotations

from typing import Any

import pytest

from tests.installed import todays_torchgen
from tests.torchgen.conftest import Theirs
from tests.torchgen.exceptions import MIXED_NAMES, NO_TYPE, RESERVED_NAME, SCALAR
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.languages.python import torch_pyi, torch_python
from torchgen_lite.languages.python.torch_python import PythonSignature

pytestmark = [pytest.mark.torch, todays_torchgen]
METHOD = pytest.mark.parametrize("method", [False, True], ids=["function", "method"])


def both(
    ours: Resolved, theirs: Theirs, method: bool, out: bool
) -> list[tuple[str, Any, PythonSignature]]:
    """(name, torchgen's signature, our signature), with or without the out argument."""
    from torchgen.api import python

    refused = []
    found = []
    for name, function in theirs.functions.items():
        try:
            expected = python.signature(function, method=method)
        except ValueError:
            refused.append(name)
            continue
        mine = torch_python.signature(
            ours.by_name[name].function, "method" if method else "function"
        )
        found.append((name, expected, mine if out else mine._replace(out=None)))
    assert refused == list(RESERVED_NAME.names)
    return found


@METHOD
@pytest.mark.parametrize("out", [False, True], ids=["without-out", "out"])
@pytest.mark.parametrize("symint", [False, True], ids=["int", "symint"])
def test_argument_parser(
    ours: Resolved, theirs: Theirs, method: bool, out: bool, symint: bool
) -> None:
    for _, expected, mine in both(ours, theirs, method, out):
        text = expected.signature_str(skip_outputs=not out, symint=symint)
        assert torch_python.signature_text(mine, "SymInt" if symint else "int") == text


def on_one_line(stub: str) -> str:
    """A stub of torchgen without its line breaks, with our annotation of `Scalar`."""
    joined = stub.replace("(\n    ", "(").replace(",\n    ", ", ").replace(",\n)", ")")
    return joined.replace("  # fmt: skip\n    ...", " ...").replace(SCALAR.theirs, SCALAR.ours)


@METHOD
@pytest.mark.parametrize("out", [False, True], ids=["without-out", "out"])
def test_stubs(ours: Resolved, theirs: Theirs, method: bool, out: bool) -> None:
    refused = []
    for name, expected, mine in both(ours, theirs, method, out):
        try:
            text = expected.signature_str_pyi(skip_outputs=not out)
        except ValueError:
            refused.append(name)
            continue
        if name in NO_TYPE.names:
            assert text.endswith(NO_TYPE.theirs)
            text = text.removesuffix(NO_TYPE.theirs) + NO_TYPE.ours
        assert torch_pyi.signature_text(mine) == on_one_line(text)
        # torchgen fails for a function whose only argument is the skipped out argument.
        if expected.arguments(skip_outputs=not out):
            spread = expected.signature_str_pyi_vararg(skip_outputs=not out)
            assert torch_pyi.vararg_signature_text(mine) == (spread and on_one_line(spread))
    assert sorted(refused) == sorted(MIXED_NAMES.names)
