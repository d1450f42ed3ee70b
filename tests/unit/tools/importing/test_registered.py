"""Two records of what a library registers: where they differ, and what is counted as new on purpose."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from torchgen_lite.analysis.computed_table import Registrations
from torchgen_lite.diagnostics import render_concise
from torchgen_lite.loader.torch.stock_fallbacks import STOCK_FALLBACKS
from torchgen_lite_tools.importing import torch_process
from torchgen_lite_tools.importing.registered import Generated, Registered, compare

MADE = "registered at /lib/generated/cpp-torch/src/register_lib.cpp:{}"
FILES = ("cpp-torch/src/register_lib.cpp",)
SCHEMA = "lib::f(Tensor x) -> Tensor"


def record(
    *keys: str,
    schema: str = SCHEMA,
    tags: tuple[str, ...] = (),
    aliasing: str = "FROM_SCHEMA",
    place: str = MADE,
) -> Registered:
    """`lib::f` with kernels at these keys, each in a block of its own; `~CPU` falls through."""
    kernels = {
        key.lstrip("~"): ("fallthrough " if key.startswith("~") else "") + place.format(line)
        for line, key in enumerate(keys)
    }
    table = Registrations("lib::f", kernels, STOCK_FALLBACKS)
    return Registered(schema, tags, aliasing, place.format(1), table)


BEFORE = record("CPU", place="registered at csrc/ops.cpp:{}")


def differences(
    before: Mapping[str, Registered], after: Mapping[str, Registered], *own: str
) -> list[str]:
    found = compare(before, after, Generated({"lib::f": ["CPU"]}, {"lib::f": own}, FILES))
    return render_concise(found.differences).splitlines()


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (BEFORE, record("CPU"), []),
        (BEFORE, record("CPU", place="registered at register_lib.cpp:{}"), []),
        (
            BEFORE,
            record("CUDA"),
            [
                "error[TG617] 'lib::f' has another dispatch table (CPU: missing, before kernel; "
                "CUDA: kernel, before missing)"
            ],
        ),
        (
            BEFORE,
            record("~CPU"),
            [
                "error[TG617] 'lib::f' has another dispatch table (CPU: kernel 'fallthrough', before kernel)"
            ],
        ),
        (
            BEFORE,
            record("CPU", "CompositeExplicitAutograd")._replace(tags=("core",)),
            [
                "error[TG617] 'lib::f' has other tags (they are 'core', and were none)",
                "error[TG617] 'lib::f' has another dispatch table (",
            ],
        ),
        (
            BEFORE,
            record("CPU", schema="lib::f(Tensor y) -> Tensor"),
            [
                "error[TG617] 'lib::f' has another schema (it is 'lib::f(Tensor y) -> Tensor', and was "
                "'lib::f(Tensor x) -> Tensor')"
            ],
        ),
        (
            BEFORE,
            record("CPU", schema="lib::f(Tensor x, int n=1) -> Tensor"),
            [
                "error[TG617] 'lib::f' has another schema (it is 'lib::f(Tensor x, int n=1) -> Tensor', and was "
                "'lib::f(Tensor x) -> Tensor')"
            ],
        ),
        (
            BEFORE._replace(aliasing="PURE_FUNCTION"),
            record("CPU"),
            [
                "error[TG617] 'lib::f' has another alias analysis (it is FROM_SCHEMA, and was PURE_FUNCTION)"
            ],
        ),
        (
            BEFORE,
            record("CPU", place="registered at csrc/ops.cpp:{}"),
            [
                "error[TG617] generated code does not define 'lib::f' (it is registered at csrc/ops.cpp:1: does the build "
                "compile anew?)"
            ],
        ),
        (
            BEFORE,
            record("CPU", place="registered at csrc/ops.cpp:{}")._replace(place=MADE.format(1)),
            [
                "error[TG617] generated code does not register a kernel at CPU of 'lib::f' (it is registered at "
                "csrc/ops.cpp:0: does the build compile anew?)"
            ],
        ),
    ],
    ids=[
        "same",
        "in-its-folder",
        "key",
        "fallthrough",
        "tags",
        "name",
        "arguments",
        "aliasing",
        "stale",
        "kernel",
    ],
)
def test_how_an_operator_differs(before: Registered, after: Registered, said: list[str]) -> None:
    found = differences({"lib::f": before}, {"lib::f": after})
    assert len(found) == len(said)
    for line, expected in zip(found, said):
        assert line == expected if expected.endswith(")") else line.startswith(expected)


def test_operators_that_come_and_go() -> None:
    assert differences({"lib::f": BEFORE}, {}) == ["error[TG617] 'lib::f' is no longer registered"]
    assert differences({}, {"lib::f": record("CPU")}) == [
        "error[TG617] 'lib::f' was not registered before"
    ]


def test_names_of_an_inferred_schema_are_no_difference() -> None:
    inferred = record(
        "CPU", schema="lib::f(Tensor _0, int _1) -> Tensor _0", aliasing="CONSERVATIVE"
    )
    named = record("CPU", schema="lib::f(Tensor x, int n) -> Tensor")
    moved = Generated({"lib::f": ()}, {}, FILES)
    assert compare({"lib::f": inferred}, {"lib::f": named}, moved)[:3] == ((), 1, 1)
    other = named._replace(schema="lib::f(Tensor x, float n) -> Tensor")
    assert differences({"lib::f": inferred}, {"lib::f": other}) == [
        "error[TG617] 'lib::f' has another schema (it is 'lib::f(Tensor x, float n) -> Tensor', and was "
        "'lib::f(Tensor x, int n) -> Tensor')"
    ]


def test_kernels_of_python_stay_where_they_are() -> None:
    python = {"Autograd": "registered at lib/ops.py:7", "CPU": MADE.format(2)}
    after = record("CPU")
    after = after._replace(table=after.table._replace(kernels=python))
    before = record("CPU", "Autograd", place="registered at csrc/ops.cpp:{}")
    assert differences({"lib::f": before}, {"lib::f": after}, "Autograd") == []


def test_kernels_that_generated_code_adds_are_counted() -> None:
    moved = Generated({"lib::f": ()}, {"lib::f": {"Autograd"}}, FILES)
    found = compare({"lib::f": BEFORE}, {"lib::f": record("CPU", "Autograd")}, moved)
    assert found == ((), 1, 0, {"Autograd": 1}, ())


@pytest.mark.parametrize(
    ("before", "own"),
    [(BEFORE, ()), (record("CPU", "AutogradCPU"), ("Autograd",))],
    ids=["of-nobody", "over-a-kernel"],
)
def test_other_kernels_that_are_new_are_differences(
    before: Registered, own: tuple[str, ...]
) -> None:
    [line] = differences({"lib::f": before}, {"lib::f": record("CPU", "Autograd")}, *own)
    assert line.startswith("error[TG617] 'lib::f' has another dispatch table (Autograd")


def test_what_was_never_there_is_not_compared() -> None:
    found = compare({}, {}, Generated({"lib::f": ()}, {}, FILES))
    assert found == ((), 0, 0, {}, ("lib::f",))


def test_a_question_without_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise ModuleNotFoundError

    monkeypatch.setattr(torch_process, "import_torch", missing)
    asked = torch_process.answer(lambda torch: torch, ())
    assert asked == (None, ("TG011", "PyTorch is not installed"))
