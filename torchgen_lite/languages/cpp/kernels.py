"""Where kernels are: a name of the YAML as a C++ name."""

from __future__ import annotations

from torchgen_lite.languages.cpp.text import function_name


def split_kernel(kernel: str, namespace: str) -> tuple[str, str]:
    """Namespace and name of a kernel as the YAML names it; the global namespace is empty.

    >>> split_kernel("add_cpu", "mylib"), split_kernel("a::b::add", "mylib"), split_kernel("::add", "mylib")
    (('mylib', 'add_cpu'), ('a::b', 'add'), ('', 'add'))
    """
    is_global = kernel.startswith("::")
    parts = kernel.removeprefix("::").replace(".", "::").split("::")
    *scopes, name = map(function_name, parts)
    return "::".join(scopes) if scopes or is_global else namespace, name


def global_name(scope: str, name: str) -> str:
    """The name of something in a namespace, from wherever it is used.

    >>> global_name("a::b", "add"), global_name("", "add")
    ('::a::b::add', '::add')
    """
    return f"::{scope}::{name}" if scope else f"::{name}"


def qualified(kernel: str, namespace: str) -> str:
    """A kernel's full name.

    >>> qualified("add_cpu", "mylib")
    '::mylib::add_cpu'
    """
    return global_name(*split_kernel(kernel, namespace))


def split_class(scope: str) -> tuple[str, str]:
    """Namespace and name of a class; the namespace may be empty.

    >>> split_class("torch_xla::XLANativeFunctions"), split_class("XLANativeFunctions")
    (('torch_xla', 'XLANativeFunctions'), ('', 'XLANativeFunctions'))
    """
    namespace, _, name = scope.rpartition("::")
    return namespace, name
