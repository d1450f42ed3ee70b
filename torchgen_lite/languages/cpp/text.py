"""Names and literals of C++, and what stands between the brackets of a function."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from torchgen_lite.languages.cpp.reserved import HIDDEN_BY_PARAMETERS, KEYWORDS, MACROS
from torchgen_lite.languages.cpp.signature import CppParameter
from torchgen_lite.languages.text import doc_lines, one_line
from torchgen_lite.schema.grouped import HasName

# Parameters that generated functions have of their own.
KEYSETS = frozenset({"dispatchKeySet", "_keys"})
_OF_LIBTORCH = ("AT_", "C10_", "STABLE_TORCH_", "STD_TORCH_", "TORCH_")
# Families of macros that have small letters, too: `M_PIl`, `PRId64`, `Py_None`, `C10_DEFINE_int`.
_IN_MIXED_CASE = re.compile("M_[A-Z0-9_]|PRI[a-z]|SCN[a-z]|Py[A-Z_]|SYS_|(?:C10|TORCH)_DE")


def is_macro(name: str) -> bool:
    """Whether a header defines a macro of this name.

    >>> is_macro("assert"), is_macro("TORCH_LIBRARY"), is_macro("torch_op")
    (True, True, False)
    """
    return name in MACROS or (name.startswith(_OF_LIBTORCH) and name.isupper())


def may_be_macro(name: str) -> bool:
    """Whether a header may define a macro of this name: standard headers have thousands in capitals, such as `M_PI` and
    `EIO`, and more than any list has.

    >>> may_be_macro("M_PI"), may_be_macro("PRId64"), may_be_macro("LU"), may_be_macro("add")
    (True, True, False, False)
    """
    is_in_capitals = name.isupper() and len(name) > 2
    return is_in_capitals or _IN_MIXED_CASE.match(name) is not None or is_macro(name)


def function_name(name: str) -> str:
    """A name that C++ takes for a function or a namespace.

    >>> function_name("add"), function_name("default")
    ('add', 'default_')
    """
    if name in KEYWORDS or may_be_macro(name):
        return f"{name}_"
    return name


@lru_cache(maxsize=4096)
def identifier(name: str) -> str:
    """A name that C++ takes for a parameter, and that hides nothing generated code uses.

    >>> identifier("self"), identifier("default"), identifier("int64_t"), identifier("_node")
    ('self', 'default_', 'int64_t_', '_node_')
    """
    is_used = name in KEYWORDS or name in HIDDEN_BY_PARAMETERS or may_be_macro(name)
    if is_used or (name[:1] == "_" and name not in KEYSETS):
        return f"{name}_"
    return name


def quote(text: str) -> str:
    """A string literal; what is not printable ASCII is escaped byte by byte.

    >>> print(quote('say "x"'), quote("a\\n"))
    "say \\"x\\"" "a\\012"
    """
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    escaped = map(_escaped, text.encode(errors="surrogateescape"))
    return f'"{"".join(escaped)}"'


def message(text: str) -> str:
    """The string literal of a message of the compiler's. It is not compiled, and clang takes no numeric escapes there.

    >>> print(message('say "é"'))
    "say \\"é\\""
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _escaped(byte: int) -> str:
    """An octal escape has at most three digits, so no character behind it can become a part of it."""
    if byte in b'"\\':
        return f"\\{byte:c}"
    return f"{byte:c}" if 32 <= byte < 127 else f"\\{byte:03o}"


def doc_comment(text: str | None) -> tuple[str, ...]:
    """Lines for a declaration's doc comment; no final backslash continues one on the next line.

    >>> print(doc_comment("Twice.\\n\\nC:\\\\"))
    ('Twice.', '', 'C:\\\\x5c')
    """
    lines = [one_line(line).replace("??/", "? ?/") for line in doc_lines(text)]
    return tuple([f"{line[:-1]}\\x5c" if line.endswith("\\") else line for line in lines])


def parameter_list(parameters: Iterable[CppParameter]) -> str:
    """Parameters without defaults: `const at::Tensor& self, const at::Scalar& alpha`."""
    return ", ".join([f"{p.type} {identifier(p.name)}" for p in parameters])


def defaulted_list(parameters: Iterable[CppParameter]) -> str:
    """Parameters with their defaults: `const at::Tensor& self, const at::Scalar& alpha = 1`."""
    return ", ".join([p._replace(name=identifier(p.name)).declaration for p in parameters])


def forwarded(parameters: Iterable[HasName]) -> list[str]:
    """The parameters, or the arguments of a schema, as arguments of another call.

    >>> forwarded([CppParameter("int64_t", "default")])
    ['default_']
    """
    return [identifier(p.name) for p in parameters]
