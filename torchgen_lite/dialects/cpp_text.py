"""C++ text laid out as clang-format lays it out with the `.clang-format` of this repository.

Note [Clang-format by construction]
As with black, no formatter runs over what is generated, and none would change it. The style is that of
PyTorch's own C++: 80 columns, `const at::Tensor& self`, a list on its line or one item a line. A test runs
clang-format over every signature of PyTorch.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from torchgen_lite.dialects.cpp.signature import CppParameter
from torchgen_lite.dialects.cpp.types import CType

LINE_LENGTH = 80
CONTINUATION = 4

# What no argument can be called. Alternative spellings (`and`, `not`) are keywords too.
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
# What a parameter would hide: types without a namespace, macros, and names that generated functions give to
# what is theirs. They begin with an underscore, too.
_USED = frozenset("""
    EOF FILE INFINITY NAN NULL assert errno linux offsetof stderr stdin stdout unix
    int8_t int16_t int32_t int64_t size_t uint8_t uint16_t uint32_t uint64_t
    Kernel Operator Self StableIValue TensorMethods
    common_device device_guard self_ should_compute_output task_should_compute_output
    """.split())


def function_name(name: str) -> str:
    """A name that C++ takes for a function or a namespace.

    >>> function_name("add"), function_name("default")
    ('add', 'default_')
    """
    return f"{name}_" if name in KEYWORDS else name


def identifier(name: str) -> str:
    """A name that C++ takes for a parameter, and that hides nothing generated code uses.

    >>> identifier("self"), identifier("default"), identifier("int64_t"), identifier("_node")
    ('self', 'default_', 'int64_t_', '_node_')
    """
    if name in KEYWORDS or name in _USED or (name[:1] == "_" and name not in KEYSETS):
        return f"{name}_"
    return name


def free_name(name: str, avoided: Collection[str]) -> str:
    """A name that nothing else has, where another one would hide it.

    >>> free_name("schema", {"schema", "schema_"}), free_name("add", {"schema"})
    ('schema__', 'add')
    """
    while name in avoided:
        name += "_"
    return name


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


def parameter(
    argument: CppParameter, *, default: bool = False, indent: int = CONTINUATION, tail: int = 1
) -> str:
    """`const at::Scalar& alpha = 1`, in two lines where one is too long; `tail` characters follow it."""
    type_, name = str(argument.type), identifier(argument.name)
    value = str(argument.default) if default and argument.default is not None else ""
    text = f"{type_} {name} = {value}" if value else f"{type_} {name}"
    if indent + len(text) + tail <= LINE_LENGTH:
        return text
    margin = "\n" + " " * (indent + CONTINUATION)
    if value and indent + len(f"{type_} {name} =") <= LINE_LENGTH:
        return f"{type_} {name} ={margin}{value}"
    return f"{type_}{margin}{name} = {value}" if value else f"{type_}{margin}{name}"


def parameters(
    arguments: Sequence[CppParameter], *, defaults: bool = False, indent: int = 0, tail: int = 1
) -> list[str]:
    """The parameters of a function whose declaration stands at `indent`; `tail` characters close it."""
    deep, last = indent + CONTINUATION, len(arguments) - 1
    return [
        parameter(a, default=defaults, indent=deep, tail=tail if i == last else 1)
        for i, a in enumerate(arguments)
    ]


def parameter_list(parameters: Iterable[CppParameter], *, defaults: bool = False) -> str:
    """Parameters as a function declares them: `const at::Tensor& self, const at::Scalar& alpha = 1`."""
    named = [p._replace(name=identifier(p.name)) for p in parameters]
    return ", ".join([(p if defaults else p._replace(default=None)).declaration for p in named])


def call(head: str, items: Sequence[str], close: str = ")", *, indent: int = 0) -> str:
    """`head` (which ends with an opening bracket), items and `close`: one line, or one item a line.

    >>> call("return f(", ["a", "b"], ");")
    'return f(a, b);'
    """
    text = f"{head}{', '.join(items)}{close}"
    if not items or ("\n" not in text and indent + len(text) <= LINE_LENGTH):
        return text
    scope = head.rfind("::", 0, LINE_LENGTH - indent)
    if "\n" not in head and indent + len(head) > LINE_LENGTH and scope > 0:
        # Too long for a line even so: the name goes below its scope.
        indent += CONTINUATION
        rest = call(head[scope + 2 :], items, close, indent=indent)
        return f"{head[: scope + 2]}\n{' ' * indent}{rest}"
    margin = "\n" + " " * (indent + CONTINUATION)
    return f"{head}{margin}{f',{margin}'.join(items)}{close}"


def declaration(
    head: str, returns: CType | str, name: str, items: Sequence[str], close: str, *, indent: int = 0
) -> str:
    """A function: `head` (`static `), return type, name, parameters, `close` (`);`, `) {`).

    The return type has a line of its own only where not even the opening bracket fits behind it.
    """
    inner = ", ".join(items)
    text = f"{head}{returns} {name}({inner}{close}"
    if "\n" not in text and indent + len(text) <= LINE_LENGTH:
        return text
    _, const, body = close.partition(" const")
    flat = text.removesuffix(const + body)
    if const and len(items) > 1 and "\n" not in flat and indent + len(flat) <= LINE_LENGTH:
        # Up to the bracket it fits. A single parameter has a line of its own even so.
        return f"{flat}\n{' ' * (indent + CONTINUATION)}const{body}"
    opening = f"{head}{returns} {name}("
    if indent + len(opening) + (0 if items else len(close)) <= LINE_LENGTH:
        return call(opening, items, close, indent=indent)
    first = f"{head}{returns}"
    if indent + len(first) > LINE_LENGTH:
        first = template_arguments(first, indent=indent)
    opening = f"{name}("
    laid = call(opening, items, close, indent=indent)
    if items and laid.startswith(f"{opening}\n") and len(name) < CONTINUATION:
        # After so short a name there is nothing to gain by another line: parameters stand below each other.
        margin = ",\n" + " " * (indent + len(opening))
        laid = f"{opening}{margin.join(items)}{close}"
    return f"{first}\n{' ' * indent}{laid}"


def template_arguments(type_: str, *, indent: int = 0) -> str:
    """A type with its outermost template arguments one a line.

    >>> print(template_arguments("::std::tuple<at::Tensor, ::std::array<bool, 3>>"))
    ::std::tuple<
        at::Tensor,
        ::std::array<bool, 3>>
    """
    start = type_.find("<")
    if start < 0:
        return type_
    depth, parts, last = 0, [], start + 1
    for position in range(start + 1, len(type_)):
        character = type_[position]
        if character == "<":
            depth += 1
        elif character == ">":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(type_[last:position].strip())
            last = position + 1
    end = type_.rfind(">")
    parts.append(type_[last:end].strip())
    margin = "\n" + " " * (indent + CONTINUATION)
    return f"{type_[: start + 1]}{margin}{f',{margin}'.join(parts)}{type_[end:]}"


def constant(head: str, value: str, *, indent: int = 0) -> str:
    """`static constexpr const char* name = "aten::add";`, the value on the next line if it is too long."""
    if indent + len(head) + 4 + len(value) <= LINE_LENGTH:
        return f"{head} = {value};"
    margin = "\n" + " " * (indent + CONTINUATION)
    opening = 0 if value.startswith('"') else value.find("<") + 1
    if opening and indent + CONTINUATION + len(value) >= LINE_LENGTH:
        return f"{head} = {value[:opening]}{margin}{value[opening:]};"
    return f"{head} ={margin}{value};"


def braced(items: Sequence[str], *, indent: int = 0, tail: int = 1) -> str:
    """A braced list at column `indent`, with `tail` characters behind it.

    >>> braced(["at::Tag::core", "at::Tag::pointwise"])
    '{at::Tag::core, at::Tag::pointwise}'
    """
    text = f"{{{', '.join(items)}}}"
    if indent + len(text) + tail <= LINE_LENGTH:
        return text
    margin = ",\n" + " " * (indent + 1)
    return f"{{{margin.join(items)}}}"


def assignment(
    target: str, head: str, items: Sequence[str], close: str = ");", *, indent: int = 0
) -> str:
    """`target = head(items);`, broken behind the `=` if that is enough or the only way.

    >>> print(assignment("const auto grad", "at::linear(", ["x" * 30, "y" * 30]))
    const auto grad =
        at::linear(xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx, yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy);
    """
    value, deep = f"{head}{', '.join(items)}{close}", indent + CONTINUATION
    if indent + len(target) + 3 + len(value) <= LINE_LENGTH:
        return f"{target} = {value}"
    is_short = indent + len(target) + 3 + len(head) <= LINE_LENGTH
    if deep + len(head) > LINE_LENGTH or (deep + len(value) > LINE_LENGTH and is_short):
        return call(f"{target} = {head}", items, close, indent=indent)
    left = assigned(target, indent=indent)
    return f"{left} =\n{' ' * deep}{call(head, items, close, indent=deep)}"


def assigned(target: str, *, indent: int = 0) -> str:
    """What stands to the left of ` =`: `std::tie(...)` has one item a line where it is too long."""
    head, bracket, items = target.rstrip(")").partition("(")
    if not bracket or indent + len(target) + 2 <= LINE_LENGTH:
        return target
    return call(f"{head}(", items.split(", "), ")", indent=indent)
