"""All functions with their properties and groups, compared with torchgen's."""

from __future__ import annotations

import pytest

from tests.installed import todays_torchgen
from tests.torchgen.conftest import Theirs, full_name
from tests.torchgen.exceptions import KIND, NOT_VIEWS
from torchgen_lite.analysis.derive.views import copy_name, needs_copy
from torchgen_lite.analysis.resolve import Resolved

pytestmark = pytest.mark.torch


def test_every_function_in_order(ours: Resolved, theirs: Theirs) -> None:
    assert [operator.name for operator in ours.operators] == list(theirs.functions)
    assert len(ours.declared) > 2500


def test_schemas_of_derived_functions(ours: Resolved, theirs: Theirs) -> None:
    for name, function in theirs.functions.items():
        assert str(ours.by_name[name].function.func) == str(function.func)


def test_generated(ours: Resolved, theirs: Theirs) -> None:
    tagged = {name for name, f in theirs.functions.items() if "generated" in f.tags}
    assert {o.name for o in ours.operators if o.is_derived} == tagged


def test_kinds(ours: Resolved, theirs: Theirs) -> None:
    different = [
        name
        for name, f in theirs.functions.items()
        if f.func.kind().name != ours.by_name[name].kind.value
    ]
    assert sorted(different) == sorted(KIND.names)


@todays_torchgen
def test_tags(ours: Resolved, theirs: Theirs) -> None:
    for name, function in theirs.functions.items():
        assert set(ours.by_name[name].tags) == function.tags, name


def test_fields_of_derived_functions(ours: Resolved, theirs: Theirs) -> None:
    for name, function in theirs.functions.items():
        mine = ours.by_name[name].function
        assert {str(v.name) for v in function.variants} == set(mine.variants), name
        assert function.device_guard == mine.device_guard, name
        assert function.device_check.name == (mine.device_check or "ExactSame"), name
        assert (
            function.use_const_ref_for_mutable_tensors == mine.use_const_ref_for_mutable_tensors
        ), name
        assert function.structured == mine.structured, name
        delegate = function.structured_delegate
        assert (None if delegate is None else str(delegate)) == mine.structured_delegate, name
        assert function.structured_inherits == mine.structured_inherits, name


def test_groups(ours: Resolved, theirs: Theirs) -> None:
    mine = [[f.name for f in group.functions()] for group in ours.groups]
    assert mine == [[full_name(f) for f in group.functions()] for group in theirs.groups]
    structured = [group.structured for group in ours.groups]
    assert structured == [group.structured for group in theirs.groups]
    assert any(structured)


def test_views(ours: Resolved, theirs: Theirs) -> None:
    views = {name for name, f in theirs.functions.items() if f.is_view_op}
    mine = {operator.name for operator in ours.operators if operator.is_view}
    assert views - mine == set(NOT_VIEWS.names)
    assert mine <= views


def test_view_groups(ours: Resolved, theirs: Theirs) -> None:
    mine = [[f.name for f in group.functions()] for group in ours.views]
    assert mine == [[full_name(f) for f in group.functions()] for group in theirs.view_groups]


def test_view_copies(ours: Resolved, theirs: Theirs) -> None:
    from torchgen.model import get_view_copy_name, gets_generated_view_copy

    for group in theirs.view_groups:
        view = ours.by_name[full_name(group.view)].function
        assert needs_copy(view) == gets_generated_view_copy(group.view)
        if needs_copy(view):
            assert copy_name(view) == str(get_view_copy_name(group.view))
            assert copy_name(view) == str(group.view_copy.func.name)
