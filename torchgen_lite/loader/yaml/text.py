"""Maps the text of a YAML scalar back to the characters of the file that it was read from."""

from __future__ import annotations

from torchgen_lite.diagnostics import Locate, Source, Span
from torchgen_lite.loader.yaml.nodes import ScalarNode

_SPACE = " \t\r\n\x85\u2028\u2029"
_HEX_LENGTH = {"x": 2, "u": 4, "U": 8}


def scalar_locator(source: Source, node: ScalarNode) -> Locate:
    """A function from offsets in the scalar's value to a span of the file."""
    value = node.value
    start = node.start + (node.style in ("'", '"'))
    if source.text.startswith(value, start):
        return source.locator(start)
    offsets: list[int] = []

    def locate_folded(begin: int, end: int) -> Span:
        if not offsets:
            offsets.extend(character_offsets(source.text, node))
        first = offsets[min(begin, len(value))]
        last = offsets[min(end, len(value)) - 1] + 1 if end > begin else first
        return Span(source, first, max(last, first))

    return locate_folded


def character_offsets(text: str, node: ScalarNode) -> list[int]:
    """The offset in the file of each character of the value, and one more for the end.

    Folding, chomping, indentation and escapes all keep the order of the characters that aren't
    white space, so walking along both texts finds each of them. White space in the value stands for
    the run of white space (or line ends) at its place.
    """
    position = node.start
    end = node.end
    if node.style in ("|", ">"):
        line_end = text.find("\n", position)
        position = end if line_end < 0 else line_end + 1
    elif node.style:
        position += 1
        end -= 1
    offsets = []
    for character in node.value:
        position, length = _next_unit(text, position, end, character, node.style)
        offsets.append(min(position, max(end - 1, node.start)))
        position += length
    offsets.append(min(position, max(end, node.start)))
    return offsets


def _next_unit(text: str, position: int, end: int, wanted: str, style: str) -> tuple[int, int]:
    """The start and the length of the first unit from `position` on that gives `wanted`."""
    blank = wanted in _SPACE
    while position < end:
        character = text[position]
        if style == '"' and character == "\\":
            following = text[position + 1 : position + 2]
            # An escaped line end gives nothing.
            if following not in ("\n", "\r", ""):
                return position, 2 + _HEX_LENGTH.get(following, 0)
            position += 2
            continue
        if style == "'" and character == "'":
            return position, 2
        if character in _SPACE:
            if blank:
                return position, 1
            position += 1
            continue
        # Folding adds a space even if the file has none left; it is put before the next character.
        return (position, 0) if blank else (position, 1)
    return position, 0
