"""What counts as a slip of the keyboard."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchgen_lite.diagnostics.suggest import is_slip, misspelled, suggest

WORDS = st.text("abcd", min_size=1, max_size=8)


@given(WORDS, st.data())
def test_one_letter_or_two_neighbors(word: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(word) - 1))
    slips = {
        word[:at] + word[at + 1 :],
        word[:at] + "x" + word[at:],
        word[:at] + "x" + word[at + 1 :],
    }
    slips.add(word[:at] + word[at : at + 2][::-1] + word[at + 2 :])
    for other in slips - {word}:
        assert is_slip(word, other)
        assert is_slip(other, word)


@given(WORDS)
def test_no_less_and_no_more(word: str) -> None:
    assert not is_slip(word, word)
    assert not is_slip(word, f"xx{word}")
    assert not is_slip(word, f"x{word}x")
    assert not is_slip(word, f"{word}xx")
    assert not is_slip(f"{word}xx", word)
    assert not is_slip(f"ab{word}", f"xy{word}")


@pytest.mark.parametrize(
    ("name", "other"),
    [("sigmoyd", "sigmoid"), ("gelu_bakward", "gelu_backward"), ("logsoftmax", "log_softmax")],
)
def test_a_function_that_is_misspelled(name: str, other: str) -> None:
    assert str(misspelled(name, ["exp", other])) == f"did you mean `{other}`?"


@pytest.mark.parametrize(
    ("name", "other"),
    [("gelu_backward", "gelu"), ("gelu_backward", "gelu_vmap"), ("relu_cuda", "relu_cpu")],
)
def test_a_function_that_is_still_to_be_written(name: str, other: str) -> None:
    assert misspelled(name, ["exp", other]) is None


def test_neighbors_in_the_other_order_come_before_a_word_that_shares_as_many_letters() -> None:
    assert suggest("lnit", ["list", "lint"]) == "lint"
    assert suggest("expp", ["exp2", "exp"]) == "exp"
