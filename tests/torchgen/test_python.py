"""Python signatures, character for character: for the argument parser, and for the stubs."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

from tests.torchgen.conftest import Theirs, full_name
from tests.torchgen.exceptions import MIXED_NAMES, NO_TYPE, RESERVED_NAME
from torchgen_lite.analysis.derive import Derived, operator_name
from torchgen_lite.dialects import torch_pyi, torch_python
from torchgen_lite.dialects.torch_overloads import overloads
from torchgen_lite.dialects.torch_python import PythonSignature

pytestmark = pytest.mark.torch
METHOD = pytest.mark.parametrize("method", [False, True], ids=["function", "method"])


def both(
    ours: Derived, theirs: Theirs, method: bool, out: bool
) -> list[tuple[str, Any, PythonSignature]]:
    """(name, their signature, ours), with or without the out argument."""
    from torchgen.api import python

    refused = []
    found = []
    for name, function in theirs.functions.items():
        try:
            expected = python.signature(function, method=method)
        except ValueError:
            refused.append(name)
            continue
        mine = torch_python.signature(ours.function_of[name], method=method)
        found.append((name, expected, mine if out else mine.without_out()))
    assert refused == list(RESERVED_NAME.names)
    return found


@METHOD
@pytest.mark.parametrize("out", [False, True], ids=["without-out", "out"])
@pytest.mark.parametrize("symint", [False, True], ids=["int", "symint"])
def test_argument_parser(
    ours: Derived, theirs: Theirs, method: bool, out: bool, symint: bool
) -> None:
    for _, expected, mine in both(ours, theirs, method, out):
        text = expected.signature_str(skip_outputs=not out, symint=symint)
        assert torch_python.signature_text(mine, symint=symint) == text


@METHOD
@pytest.mark.parametrize("out", [False, True], ids=["without-out", "out"])
def test_stubs(ours: Derived, theirs: Theirs, method: bool, out: bool) -> None:
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
        assert torch_pyi.signature_text(mine) == text
        # torchgen fails where leaving the out argument out leaves nothing.
        if expected.arguments(skip_outputs=not out):
            spread = expected.signature_str_pyi_vararg(skip_outputs=not out)
            assert torch_pyi.vararg_signature_text(mine) == spread
    assert sorted(refused) == sorted(MIXED_NAMES.names)


def test_named_tuples(ours: Derived, theirs: Theirs) -> None:
    from torchgen.api.python import returns_structseq_pyi

    found = 0
    for name, expected, mine in both(ours, theirs, method=False, out=True):
        if name not in MIXED_NAMES.names:
            pair = returns_structseq_pyi(expected)
            assert torch_pyi.named_tuple(mine) == (None if pair is None else pair[1])
            found += pair is not None
    assert found > 100


def test_groups_with_out(ours: Derived, theirs: Theirs) -> None:
    from torchgen.api import python

    def pair(function: Any) -> Any:
        return python.PythonSignatureNativeFunctionPair(python.signature(function), function)

    for group in theirs.groups:
        mine = ours.group_of[full_name(group.out)]
        expected = python.PythonSignatureGroup.from_pairs(pair(group.functional), pair(group.out))
        merged = torch_python.with_out(
            torch_python.signature(mine.functional), torch_python.signature(mine.out)
        )
        assert str(merged) == expected.signature.signature_str()
        assert torch_pyi.signature_text(merged) == expected.signature.signature_str_pyi()


@METHOD
def test_overloads(ours: Derived, theirs: Theirs, method: bool) -> None:
    """What is merged under one name, and the order in which it is tried."""
    bindings = pytest.importorskip("torchgen.packaged.autograd.gen_python_functions")
    functions = [f for name, f in theirs.functions.items() if name not in RESERVED_NAME.names]
    deprecated = str(theirs.folder / "autograd" / "deprecated.yaml")
    pairs = bindings.load_signatures(functions, deprecated, method=method, skip_deprecated=True)
    by_name = defaultdict(list)
    for pair in pairs:
        by_name[str(pair.function.func.name.name)].append(pair)
    count = 0
    for named in by_name.values():
        try:
            expected = bindings.group_overloads(named)
        except RuntimeError:
            continue  # torch has no binding for these: an out variant is without its partner.
        mine = overloads([ours.function_of[full_name(p.function)] for p in named], method=method)
        assert [(str(o.signature), operator_name(o.base)) for o in mine] == [
            (o.signature.signature_str(), full_name(o.base)) for o in expected
        ]
        assert [o.out and operator_name(o.out) for o in mine] == [
            o.outplace and full_name(o.outplace) for o in expected
        ]
        count += 1
    assert count == (1555 if method else 1571)
