"""The canonical form of a file."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from torchgen_lite.loader.entry.reader import Dialect
from torchgen_lite.loader.formats.fmt import format_text
from torchgen_lite.loader.formats.native_functions import load_native_functions

UGLY = """\
# The header stays.



# About f.
-   func: f.out( Tensor  self,*, Tensor(a!) out )->Tensor(a!)
    # The kernels.
    dispatch:
          CPU,CUDA: k   # fast
          # slow
          Meta :  m
    variants: method,function  # both
    structured: true
    precomputed:
      - dim -> int dim
    doc: |
        Text

          indented.
    # At the end.
- {func: "g() -> ()"}
- tags: [core]
  # Why it is here.
  func: h(int x) -> ()
"""

FINE = """\
# The header stays.


# About f.
- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  doc: |
    Text

      indented.
  variants: function, method  # both
  structured: True
  precomputed:
  - dim -> int dim
  # The kernels.
  dispatch:
    CPU, CUDA: k   # fast
    # slow
    Meta: m
  # At the end.
- func: g() -> ()
# Why it is here.
- func: h(int x) -> ()
  tags: [core]
"""


def test_canonical_form() -> None:
    text = UGLY.replace('- {func: "g() -> ()"}', "- func: g() -> ()").replace("dim ->", "self ->")
    result, found = format_text(text)
    assert found == ()
    assert result == FINE.replace("dim ->", "self ->")


def test_items_stand_below_the_key_as_in_pytorchs_file_and_two_further_in_for_our_fields() -> None:
    entry = "- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
    right = (
        f"{entry}  precomputed:\n  - self -> int dim\n  samples:\n    - (randn(3), out=randn(3))\n"
    )
    wrong = right.replace("  - self", "      - self").replace("    - (randn", "  - (randn")
    assert format_text(wrong) == (right, ())


@pytest.mark.parametrize("blank", [0, 1, 2, 3])
def test_at_most_two_blank_lines(blank: int) -> None:
    lines = ["- func: f() -> ()  # first", *[""] * blank, "- func: gg() -> ()  # second", ""]
    kept = lines if blank < 3 else [*lines[:1], *lines[2:]]
    assert format_text("\n".join(lines))[0] == "\n".join(kept)


def test_comments_that_are_aligned_stay_so() -> None:
    text = "- func: f() -> ()           # the schema\n  variants: function,method # with two spaces, at least\n"
    assert format_text(text)[0] == (
        "- func: f() -> ()           # the schema\n  variants: function, method  # with two spaces, at least\n"
    )


def test_canonical_form_is_stable() -> None:
    fine = FINE.replace("dim ->", "self ->")
    assert format_text(fine)[0] == fine


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# only a comment\n",
        "- {func: f() -> ()}\n",
        "- func: f(\n",
        "- a: [\n",
        "- func: f() -> ()\n  dispatch: {CPU: k,\n    CUDA: j}\n",
        '- func: "f(str s=\\"  x\\") -> ()"\n',
        "- func: &a f() -> ()\n",
    ],
)
def test_what_is_not_understood_stays(text: str) -> None:
    assert format_text(text)[0] == text


@pytest.mark.parametrize(
    ("text", "formatted"),
    [
        ("- func: f() -> ()\r\n  tags:   core\r\n", "- func: f() -> ()\r\n  tags: core\r\n"),
        ("- func: f() -> ()\r\n  tags: core\n", "- func: f() -> ()\n  tags: core\n"),
    ],
    ids=["all CRLF", "mixed"],
)
def test_line_ends(text: str, formatted: str) -> None:
    assert format_text(text)[0] == formatted
    assert format_text(formatted)[0] == formatted


def test_a_class_of_python() -> None:
    read = partial(load_native_functions, dialect=Dialect(opaque=("a.B",)))
    assert format_text("- func: f(Tensor   x,a.B y)->()\n", read=read) == (
        "- func: f(Tensor x, a.B y) -> ()\n",
        (),
    )


def test_our_own_file_is_canonical() -> None:
    path = Path(__file__).parents[4] / "native_functions.yaml"
    text = path.read_text("utf-8")
    assert format_text(text) == (text, ())


@pytest.mark.torch
def test_pytorchs_file_keeps_its_meaning() -> None:
    from torchgen_lite.diagnostics import Source
    from torchgen_lite.loader.formats.native_functions import load_native_functions
    from torchgen_lite.loader.torch.files import find_torch_files

    files, _ = find_torch_files()
    if files is None:
        pytest.skip("no PyTorch")
    text = files.native_functions.read_text("utf-8")
    result, found = format_text(text)
    assert found == () and result != text
    assert format_text(result)[0] == result
    before, _ = load_native_functions([Source("a", text)])
    assert load_native_functions([Source("b", result)])[0] == before
