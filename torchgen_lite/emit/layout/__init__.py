"""Columns: rendered text, one statement a line, becomes lines that fit.

Note [Layout]
A template writes each statement on one line, however long, with its indentation, its blank lines and its
comments. `lay_out` divides the lines that are too long: in Python as black 26 does (`python.py`), in
C++ as clang-format 21 does with the `.clang-format` of this repository (`cpp.py`). What fits stays as it is,
so text that has been laid out passes through unchanged. No formatter runs when code is generated: black takes
fifty times as long, and clang-format is another program. Tests run both over what this makes.

What a template may rely on:
- Comments, strings of several lines, statements with a comment behind them, and what is between `# fmt: off` and
  `# fmt: on` (`// clang-format off`, `on`) stay as they are. So do lines of the preprocessor but `#if` and `#error`.
- A comma before a closing brace of C++ asks for one item a line, as it does of clang-format. One before a closing
  bracket of Python does in a line that is too long; in others a template has no such comma but that of a one-tuple.
- In Python, brackets may be opened at the end of a line and closed on one of their own, with an item on each line
  between: a table. Then each item is laid out by itself.
- In C++, `template <...>` has a line of its own, lambdas and functions have those of their blocks, and member
  initialisers stand as they are to stand.
- Spaces inside a line, brackets that could go, quotes and blank lines are the template's.
"""

from __future__ import annotations


def lay_out(path: str, text: str) -> str:
    """The text of a generated file, with lines that fit where there is a way to divide them."""
    # Most runs need the rules of one language only.
    if path.endswith((".py", ".pyi")):
        from torchgen_lite.emit.layout.python_file import lay_out_python

        return lay_out_python(text)
    if path.endswith((".h", ".cpp", ".cu")):
        from torchgen_lite.emit.layout.cpp_file import lay_out_cpp

        return lay_out_cpp(text)
    return text
