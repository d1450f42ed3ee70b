"""Line breaking: rendered text with one statement per line becomes lines that fit.

Note [Layout]
A template writes each statement on one line, however long, with its indentation, blank lines and
comments. `lay_out` breaks lines that are too long: in Python as black 26 does (`python.py`), in
C++ as clang-format 21 does with the `.clang-format` of this repository (`cpp.py`). Lines that fit
stay as they are, so laid-out text passes through unchanged. No formatter runs when code is
generated: black is fifty times slower, and clang-format is a separate program. Tests run both over
the output.

What a template may rely on:
- Comments, multi-line strings, statements with a trailing comment, and text between `# fmt: off`
  and `# fmt: on` (`// clang-format off`, `on`) stay as they are. So do preprocessor lines other
  than `#if` and `#error`.
- In C++, a comma before a closing brace asks for one item per line, as with clang-format. In
  Python, a comma before a closing bracket does so if the line is too long; elsewhere a template
  writes no trailing comma except in a one-tuple.
- In Python, a bracket may be opened at the end of a line and closed on its own line, with one item
  per line in between: a table. Each item is then laid out by itself.
- In C++, the template puts `template <...>` and each line of a block on its own line, and writes
  member initialisers in their final layout.
- Spaces within a line, redundant brackets, quotes and blank lines are left to the template.
"""

from __future__ import annotations


def lay_out(path: str, text: str) -> str:
    """The text of a generated file, with lines broken to fit wherever possible."""
    # Most runs need the rules of one language only.
    if path.endswith((".py", ".pyi")):
        from torchgen_lite.emit.layout.python_file import lay_out_python

        return lay_out_python(text)
    if path.endswith((".h", ".cpp", ".cu")):
        from torchgen_lite.emit.layout.cpp_file import lay_out_cpp

        return lay_out_cpp(text)
    return text
