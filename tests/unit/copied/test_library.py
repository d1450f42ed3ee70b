"""Checks before a registration. `tests/torch_python` tests registrations themselves.

Registrations last as long as their process, so nothing is registered here.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from torchgen_lite.languages.python.torch_library import version_clauses

pytestmark = pytest.mark.torch


@pytest.mark.parametrize(
    ("versions", "is_for"),
    [
        (">=99", False),
        ("<2", False),
        ("==1.13.*", False),
        ("~=1.5", False),
        ("!=2.*,!=3.*", False),
        (">=2.6,<99", True),
        ("!=2.5.*", True),
        ("~=2.6", True),
    ],
)
def test_which_torch_a_range_is_for(versions: str, is_for: bool) -> None:
    from torchgen_lite.copied.torch_python._library import Operator, RegistrationError
    from torchgen_lite.copied.torch_python._versions import check_versions

    clauses = eval(version_clauses(versions))
    try:
        check_versions([Operator("ops.yaml:1", "bad::first", "", {}, torch=clauses)])
    except RegistrationError as error:
        assert str(error).startswith("ops.yaml:1: `bad::first` is for torch ")
        assert not is_for
    else:
        assert is_for


def test_functions_that_formulas_call_are_in_torch() -> None:
    from torchgen_lite.copied.torch_python._library import RegistrationError
    from torchgen_lite.copied.torch_python._versions import check_calls

    check_calls(("ops.yaml:1", "exp"))
    with pytest.raises(RegistrationError, match="ops.yaml:2: a formula calls `frobnicate`, which"):
        check_calls(("ops.yaml:1", "exp"), ("ops.yaml:2", "frobnicate"))


def test_a_function_is_imported_when_it_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from torchgen_lite.copied.torch_python._library import RegistrationError
    from torchgen_lite.copied.torch_python._named import named

    monkeypatch.syspath_prepend(tmp_path)
    double = named("ops.yaml:1", "support_test_module", "double")
    (tmp_path / "support_test_module.py").write_text("def double(x): return 2 * x\n")
    assert double(4) == 8
    gone = named("ops.yaml:2", "support_test_module", "gone")
    with pytest.raises(RegistrationError) as raised:
        gone(4)
    assert str(raised.value) == "ops.yaml:2: module `support_test_module` has no function `gone`"


def test_what_an_operator_writes_to() -> None:
    import torch

    from torchgen_lite.copied.torch_python._writes import written_arguments

    assert written_arguments(torch.ops.aten.add_.Tensor) == [0]
    assert written_arguments(torch.ops.aten.add.out) == ["out"]
    assert written_arguments(torch.ops.aten.add.Tensor) == []


@pytest.mark.parametrize(("can", "way"), [(True, "as they are"), (False, "boxed"), (None, "boxed")])
def test_calls_go_on_in_the_quickest_way(
    monkeypatch: pytest.MonkeyPatch, can: bool | None, way: str
) -> None:
    """PyTorch 2.14 has one without conversions, for operators whose results are tensors; before, there is none."""
    from torchgen_lite.copied.torch_python import _library

    def new_ways(handle: Any, call: Any, boxed: Any) -> Any:
        assert (handle, call, boxed) == (
            op._handle,
            op._cpp_dispatch_handle,
            op._handle.redispatch_boxed,
        )
        return None, lambda *args: ("as they are", *args)

    boxed = SimpleNamespace(redispatch_boxed=lambda *args: ("boxed", *args))
    op: Any = SimpleNamespace(
        _handle=boxed, _cpp_dispatch_handle=object(), _can_enable_pyobj_dispatch=lambda: can
    )
    module = (
        SimpleNamespace()
        if can is None
        else SimpleNamespace(_dispatch_make_pyobj_dispatch_fns=new_ways)
    )
    monkeypatch.setattr(_library, "_C", module)
    registering: Any = SimpleNamespace(op=op)
    assert _library.through_the_dispatcher(registering, "keys")(1, 2) == (way, "keys", 1, 2)
