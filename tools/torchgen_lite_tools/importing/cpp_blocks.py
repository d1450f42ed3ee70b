"""A block of registrations while it is read: what is known there, and what is added to the library."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from tree_sitter import Node

from torchgen_lite.diagnostics import Diagnostic, Help, Label, Span
from torchgen_lite.loader.entry.reader import KERNEL_NAME
from torchgen_lite_tools.importing.cpp_functions import (
    Function,
    Functions,
    function_of_lambda,
)
from torchgen_lite_tools.importing.cpp_kernels import BOXED, Kernel, read_kernel
from torchgen_lite_tools.importing.cpp_tree import CppTree, literal
from torchgen_lite_tools.importing.library import Implementation, Library

# A literal that begins with a name: `"f"`, `"lib::f.out"`, `"f(Tensor x) -> Tensor"`.
_NAMED = re.compile(r'"(?:\w+::)*(\w+)(?=["(.])')
# Where a boxed kernel finds its arguments.
_STACK = re.compile(r"\bStableIValue\s*(?:\*|\[)|\bStack\s*[*&]")


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads `TORCH_LIBRARY_IMPL(namespace, key, variable)` into a library, given the functions that all files declare.

    The block stands at `place`, and may be one that `defines` a namespace, or one of the stable ABI.
    `tags` are the variables about tags, by name, each with its value if that is certain. `read` has what is read once,
    and `others` the readers of all files, by path. `modules` are the variables, each with a prefix for names: those of
    pybind11 (a `binder`) may have submodules. `asks` is about the namespace. A function that a block calls has the
    conditions of the call. `given` are its parameters, and variables of a block: where each has its value, with the reader
    of that place, or None for one that is not known.
    """

    tree: CppTree
    library: Library
    functions: Functions
    tags: Mapping[str, Node | None]
    used: tuple[str, ...]
    read: set[tuple[str, ...]]
    others: Mapping[str, Reader]
    modules: dict[str, str]
    given: dict[str, tuple[Reader, Node] | None] = field(default_factory=dict)
    namespace: str = ""
    key: str = ""
    around: tuple[str, ...] = ()
    binder: str = ""
    asks: list[str] = field(default_factory=list)
    conditions: tuple[str, ...] = ()
    depth: int = 0
    place: Span | None = None
    defines: bool = False
    is_stable: bool = False

    def report(
        self, code: str, message: str, node: Node, text: str, help_: Help | None = None
    ) -> None:
        label = Label(self.tree.span(node), text)
        self.library.diagnostics.append(Diagnostic(code, message, label, help=help_))

    def refuse(self, node: Node) -> None:
        """Report a statement that is no registration known here."""
        names = list(dict.fromkeys(_NAMED.findall(self.tree.span(node).text)))
        names = names or self._given_names(node)
        if not self.binder:
            listed = ", ".join(f"`{name}`" for name in names)
            what = f"this registration of {listed}" if names else "this registration"
            return self.report("TG601", f"{what} is not understood", node, "this")
        kind = re.search(r"\b(class|enum|exception)_?\b", self.tree.of(node))
        if kind:
            why = f"this is no operator: {kind[1]}"
        else:
            why = "this is not understood"
        return self.report_unread(names[0] if names else "?", node, why)

    def _given_names(self, node: Node) -> list[str]:
        """The names that a call of this function gives to what a statement registers."""
        names = list[str]()
        for word in re.findall(r"\w+", self.tree.of(node)):
            given = self.given.get(word)
            text = given and literal(given[0].tree, given[1])
            names += _NAMED.findall(f'"{text}"') if text else []
        return names

    def meant(self, node: Node) -> tuple[Reader, Node]:
        """Where a parameter or a variable has its value, with the reader of that place; any other node as it is."""
        given = self.given.get(self.tree.of(node)) if node.type == "identifier" else None
        return given or (self, node)

    def read_kernel(self, node: Node) -> tuple[Kernel, Reader, Node]:
        """A kernel, and where it is named, with the reader of that place."""
        kernel = read_kernel(self.tree, node)
        word = kernel.name.partition("::")[0]
        if word not in self.given:
            return kernel, self, node
        given = self.given[word]
        if given is None or word != kernel.name:
            problem = f"what `{word}` is here is not known"
            return kernel._replace(name="", problem=problem), self, node
        home, value = given
        meant = read_kernel(home.tree, value)
        return meant._replace(key=kernel.key or meant.key), home, value

    def report_unread(self, name: str, node: Node, why: str) -> None:
        """Report what is bound and becomes no entry."""
        message = f"`{name}` is bound with {self.binder} and was not read"
        self.report("TG614", message, node, why)

    def find(self, kernel: Kernel) -> list[Function]:
        """The functions that a kernel's name refers to, or a lambda."""
        if kernel.name:
            return self.functions.find(kernel.name, self.around, self.used)
        found = kernel.function and function_of_lambda(self.tree, kernel.function)
        return [found] if found else []

    def conditions_of(self, node: Node) -> tuple[str, ...] | None:
        """The preprocessor conditions of a registration; None, which is reported, for too many."""
        conditions = self.tree.conditions(node)
        if conditions is None:
            message = "this registration is below more conditions than a guard can repeat"
            self.report("TG601", message, node, "this", "give its file a build of its own")
            return None
        return tuple(dict.fromkeys((*self.conditions, *conditions)))

    def add_kernel(self, name: str, key: str, asks: str, kernel: Kernel, node: Node) -> None:
        """Add a kernel, or report why it cannot be one; what its author has to change is reported, too."""
        cannot = f"`{name}` has a kernel for {key} that YAML cannot express"
        overloads = self.find(kernel)
        problem = kernel.problem or (BOXED if overloads and all(map(_is_boxed, overloads)) else "")
        if problem:
            if "name" in problem:
                help_ = "give it a name"
            else:
                help_ = "it remains handwritten"
            self.library.refused.add(name)
            return self.report("TG602", cannot, node, problem, help_)
        function, *template = kernel.name.partition("<")
        path = overloads[0].path if overloads else self._path(function)
        shown = "::".join(path) if len(path) > 1 else f"::{path[0]}"
        shown += "".join(template)
        if not KERNEL_NAME.fullmatch(shown):
            problem = "this is an instance of a template"
            help_ = "give it a function of its own"
            self.library.refused.add(name)
            return self.report("TG602", cannot, node, problem, help_)
        if any(overload.is_member for overload in overloads):
            message = f"kernel `{shown}` of `{name}` is a static member of a class"
            class_ = shown.rpartition("::")[0]
            help_ = (
                f'name the class in the options of the C++ target: `kernel-classes = ["{class_}"]`'
            )
            self.report("TG606", message, node, "in a class", help_)
        if overloads and all(overload.is_hidden for overload in overloads):
            message = f"kernel `{shown}` of `{name}` can be called only in its own file"
            help_ = "move it out of the unnamed namespace, and remove `static`"
            self.report("TG606", message, node, "generated code has to call it", help_)
        conditions = self.conditions_of(node)
        span = self.tree.span(node)
        if conditions is not None:
            functions = tuple(overloads)
            is_named = bool(overloads)
            implementation = Implementation(
                name, key, shown, conditions, is_named, span, functions, asks
            )
            self.library.implementations.append(implementation)
        return None

    def _path(self, function: str) -> tuple[str, ...]:
        """The namespaces and name of a function that none of the files declares."""
        if function.startswith("::"):
            return tuple(function.removeprefix("::").split("::"))
        return (*filter(None, self.around), *function.split("::"))


def _is_boxed(function: Function) -> bool:
    """Whether a function takes a stack of boxed values instead of the operator's arguments."""
    return any(_STACK.search(text) for text in function.parameters)
