"""Several kernels under one key: what is read, and what a condition can say."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchgen_lite import load

HEAD = """\
- func: my::f(Tensor x, Tensor? w, int n, int[] s) -> Tensor
  dispatch:
    CPU:
"""


def _loaded(root: Path, *rows: str) -> list[str]:
    """The messages for an entry with these rows under one key."""
    text = HEAD + "".join(f"      - {row}\n" for row in rows) + "  fake: {like: x}\n"
    (root / "native_functions.yaml").write_text(text)
    return [f"{d.code} {d.message}" for d in load(root=root).diagnostics]


def test_rows_are_read_in_order(tmp_path: Path) -> None:
    rows = ("{when: x.size(0) <= 8, kernel: small}", "{kernel: ns.whole}")
    assert _loaded(tmp_path, *rows) == []
    (function,) = load(root=tmp_path).functions
    (entry,) = function.dispatch
    assert entry.kernel == ""
    assert [(row.kernel, str(row.when), row.text) for row in entry.rows] == [
        ("small", "x.size(0) <= 8", "x.size(0) <= 8"),
        ("ns.whole", "None", ""),
    ]
    assert [(one.key, one.kernel) for one in entry.kernels] == [
        ("CPU", "small"),
        ("CPU", "ns.whole"),
    ]


@pytest.mark.parametrize(
    "condition",
    [
        "x.dtype in {half, bfloat16} and x.size(-1) % 8 == 0 and x.is_contiguous()",
        "w.defined() and w.dim() == 1",
        "not x.requires_grad or x.shape[0] > n",
        "x.is_aligned(16) and capability(x) >= 90",
        "len(s) == 2 and s[0] == max(n, 1)",
        "x.dim() > 1 && x.numel() < 1024",
        "true",
    ],
)
def test_what_a_condition_can_say(condition: str, tmp_path: Path) -> None:
    assert _loaded(tmp_path, f'{{when: "{condition}", kernel: a}}', "b") == []


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{when: x.max() > 0, kernel: a}", "TG390 no method `max` in conditions"),
        ("{when: m > 0, kernel: a}", "TG390 unknown name `m` in a condition"),
        ("{when: x.device == n, kernel: a}", "TG390 no attribute `device` in conditions"),
        ("{when: promote(x) == half, kernel: a}", "TG390 no function `promote` in conditions"),
        ("{when: ~n == 1, kernel: a}", "TG391 `~` is not for conditions"),
        ("{when: n, kernel: a}", "TG391 `n` is an integer, and a boolean is needed here"),
        (
            "{when: w.dim() == 1, kernel: a}",
            "TG391 `w` is a tensor or None, and a tensor is needed here",
        ),
        ("{when: 0 < n < 8, kernel: a}", "TG391 `0 < n < 8` compares the result of a comparison"),
        (
            "{when: x.is_aligned(), kernel: a}",
            "TG391 `x.is_aligned()` does not say by what the address is divisible",
        ),
        (
            "{when: x.is_aligned(0), kernel: a}",
            "TG391 `x.is_aligned(0)` does not say by what the address is divisible",
        ),
        (
            "{when: x.is_aligned(n), kernel: a}",
            "TG391 `x.is_aligned(n)` does not say by what the address is divisible",
        ),
        ("{when: x.dtype in half, kernel: a}", "TG219 `in` takes a list"),
        ("{if: n > 1, kernel: a}", "TG392 unknown field `if` in a row of kernels"),
        ("{when: n > 1}", "TG392 a row without a kernel"),
        (
            "{when: n > 1, kernel: reference}",
            "TG392 `reference` is no function, and a row calls one",
        ),
        ("{when: n > 1, kernel: a b}", "TG108 `a b` is not the name of a kernel"),
        ("[a]", "TG106 `CPU` takes a kernel, or a mapping with `when` and `kernel`, not a list"),
    ],
)
def test_what_a_row_cannot_say(row: str, message: str, tmp_path: Path) -> None:
    assert _loaded(tmp_path, row, "b") == [message]


@pytest.mark.parametrize("text", ["[]", "[a]"])
def test_a_list_has_several_kernels(text: str, tmp_path: Path) -> None:
    entry = f"- func: my::f(Tensor x) -> Tensor\n  dispatch: {{CPU: {text}}}\n"
    (tmp_path / "native_functions.yaml").write_text(entry)
    assert [d.code for d in load(root=tmp_path).diagnostics] == ["TG392"]
