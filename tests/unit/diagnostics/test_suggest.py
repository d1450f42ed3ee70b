"""What counts as a slip of the keyboard."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from torchgen_lite.diagnostics.suggest import is_slip

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
