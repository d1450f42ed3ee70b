"""Names and literals of C++, and what stands between the brackets of a function."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from torchgen_lite.languages.cpp.signature import CppParameter
from torchgen_lite.languages.text import doc_lines, one_line

# Names that no argument can have. Alternative spellings (`and`, `not`) are keywords too.
KEYWORDS = frozenset("""
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
    char32_t class compl concept const consteval constexpr constinit const_cast continue co_await
    co_return co_yield decltype default delete do double dynamic_cast else enum explicit export extern
    false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr
    operator or or_eq private protected public register reinterpret_cast requires return short signed
    sizeof static static_assert static_cast struct switch template this thread_local throw true try
    typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
    """.split())
# Parameters that generated functions have of their own.
KEYSETS = frozenset({"dispatchKeySet", "_keys"})
# Macros that standard headers define, or the compiler.
MACROS = frozenset("""
    EOF INFINITY NAN NULL __BASE_FILE__ __COUNTER__ __DATE__ __FILE__ __GNUC__ __INCLUDE_LEVEL__ __LINE__
    __OPTIMIZE__ __STDC__ __TIMESTAMP__ __TIME__ __VERSION__ __cplusplus assert errno linux offsetof stderr stdin
    stdout unix
    """.split())
_OF_LIBTORCH = ("AT_", "C10_", "STABLE_TORCH_", "STD_TORCH_", "TORCH_")
# Names that a parameter would hide: types without a namespace, macros, and the generated functions'
# own names, which may also begin with an underscore.
_USED = MACROS | frozenset("""
    FILE int8_t int16_t int32_t int64_t size_t uint8_t uint16_t uint32_t uint64_t
    Kernel Operator Self StableIValue TensorMethods
    common_device device_guard self_ should_compute_output task_should_compute_output
    """.split())


def is_macro(name: str) -> bool:
    """Whether a header defines a macro of this name.

    >>> is_macro("assert"), is_macro("TORCH_LIBRARY"), is_macro("torch_op")
    (True, True, False)
    """
    return name in MACROS or (name.startswith(_OF_LIBTORCH) and name.isupper())


def function_name(name: str) -> str:
    """A name that C++ takes for a function or a namespace.

    >>> function_name("add"), function_name("default")
    ('add', 'default_')
    """
    return f"{name}_" if name in KEYWORDS or is_macro(name) else name


@lru_cache(maxsize=4096)
def identifier(name: str) -> str:
    """A name that C++ takes for a parameter, and that hides nothing generated code uses.

    >>> identifier("self"), identifier("default"), identifier("int64_t"), identifier("_node")
    ('self', 'default_', 'int64_t_', '_node_')
    """
    is_used = name in KEYWORDS or name in _USED or is_macro(name)
    return f"{name}_" if is_used or (name[:1] == "_" and name not in KEYSETS) else name


def quote(text: str) -> str:
    """A string literal; what is not printable ASCII is escaped byte by byte.

    >>> print(quote('say "x"'), quote("a\\n"))
    "say \\"x\\"" "a\\012"
    """
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    # An octal escape has at most three digits, so no character behind it can become a part of it.
    parts = [
        f"\\{chr(b)}" if chr(b) in '"\\' else chr(b) if 32 <= b < 127 else f"\\{b:03o}"
        for b in text.encode(errors="surrogateescape")
    ]
    return f'"{"".join(parts)}"'


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


def forwarded(parameters: Iterable[CppParameter]) -> list[str]:
    """The parameters as arguments of another call.

    >>> forwarded([CppParameter("int64_t", "default")])
    ['default_']
    """
    return [identifier(p.name) for p in parameters]
