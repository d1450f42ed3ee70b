"""`ufunc_inner_loop`: which inner loop serves which element types.

    ufunc_inner_loop:
      Generic: add (AllAndComplex, BFloat16, Half, ComplexHalf)
      ScalarOnly: add (Bool)

`Generic` loops come in scalar and in vector form, `ScalarOnly` ones only in scalar form; both give the
operator kernels for CPU and CUDA (the loader adds them to `dispatch`).
"""

from __future__ import annotations

from typing import NamedTuple

from torchgen_lite.loader.entry import NativeFunction

_INTEGRAL = ("Byte", "Char", "Int", "Long", "Short")
_FLOATING = ("Float", "Double")
_COMPLEX = ("ComplexFloat", "ComplexDouble")
# Names that stand for several element types; `Integral` is without `Bool`.
TYPE_CLASSES: dict[str, tuple[str, ...]] = {
    "Integral": _INTEGRAL,
    "Floating": _FLOATING,
    "Complex": _COMPLEX,
    "All": _INTEGRAL + _FLOATING,
    "AllAndComplex": _INTEGRAL + _FLOATING + _COMPLEX,
    "FloatingAndComplex": _FLOATING + _COMPLEX,
}


class InnerLoop(NamedTuple):
    """A loop: the key it is for, the function of one element, and the element types."""

    key: str
    name: str
    types: tuple[str, ...]


def inner_loops(function: NativeFunction) -> tuple[InnerLoop, ...]:
    """The inner loops of an entry, each element type once and in order."""
    return tuple(_inner_loop(key, text) for key, text in function.ufunc_inner_loop)


def _inner_loop(key: str, text: str) -> InnerLoop:
    name, _, rest = text.partition("(")
    words = [word.strip() for word in rest.removesuffix(")").split(",")]
    types = [type_ for word in words if word for type_ in TYPE_CLASSES.get(word, (word,))]
    return InnerLoop(key, name.strip(), tuple(dict.fromkeys(types)))
