"""The operators that modules register, read from the installed PyTorch after importing them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from inspect import unwrap
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any

from torchgen_lite.diagnostics import Diagnostic, Label
from torchgen_lite.loader.python.kernel_modules import line_span
from torchgen_lite.loader.sources import read_source
from torchgen_lite.loader.torch.registry import registered_kernels
from torchgen_lite_tools.importing.library import Definition, Extra, Implementation, Library
from torchgen_lite_tools.importing.python_recorder import Recorded, author_of, recording
from torchgen_lite_tools.importing.torch_process import ask_torch
from torchgen_lite_tools.importing.torch_schemas import registered_schema


def read_modules(modules: Sequence[str], namespace: str) -> Library:
    """What modules register; with a namespace, all of its operators and no others.

    TG011 without PyTorch, TG012 for modules that cannot be imported. The current folder is on their
    search path.
    """
    answer = ask_torch(_read, modules, namespace, what=f"importing `{', '.join(modules)}`")
    if isinstance(answer, Library):
        return answer
    return Library(diagnostics=[answer])


def _read(torch: Any, modules: Sequence[str], namespace: str) -> Library:
    """Raises ImportError for a module that cannot be imported."""
    before = _every_kernel(torch)
    with recording(torch) as recorded:
        for module in modules:
            import_one(module)
    library = Library()
    reader = _Reader(torch, recorded, library)
    for name, kernels in sorted(_every_kernel(torch).items()):
        if namespace:
            is_ours = name.partition("::")[0] == namespace
        else:
            is_ours = kernels != before.get(name)
        if is_ours:
            reader.read(name, None if namespace else before.get(name))
    library.shorten()
    return library


def import_one(module: str) -> None:
    """Import a module. Raises ImportError, whatever it raises: that is reported to its author."""
    try:
        import_module(module)
    except (Exception, SystemExit) as error:
        reason = repr(error) if isinstance(error, SystemExit) else str(error)
        raise ImportError(f"cannot import `{module}`: {reason}") from error


def read_definition(torch: Any, name: str) -> tuple[Definition | None, str, str]:
    """An operator as it is defined; else None and why its schema cannot be written. Last is how PyTorch prints the
    schema, which is empty if it has only kernels."""
    text = _printed_schema(torch, name)
    if text == "(none)":
        return None, "", ""
    base, _, overload = name.partition(".")
    schema, problem = registered_schema(torch, base, overload)
    if schema is None:
        return None, problem, text
    registered = torch._C._get_operation_overload(base, overload)
    tags = tuple(sorted(tag.name for tag in registered[2])) if registered else ()
    return Definition(name, str(schema), tags), "", text


def _printed_schema(torch: Any, name: str) -> str:
    """The schema as PyTorch prints it, `(none)` if it has none."""
    for line in torch._C._dispatch_dump(name).splitlines():
        if line.startswith("schema: "):
            return str(line.removeprefix("schema: "))
    return "(none)"


def _every_kernel(torch: Any) -> dict[str, frozenset[str]]:
    """The keys of the kernels of each operator."""
    keys = {}
    for name in torch._C._dispatch_get_all_op_names():
        kernels = registered_kernels(torch, name)
        keys[name] = frozenset(kernel.key for kernel in kernels)
    return keys


class _Reader:
    """Reads operators into a library, with the names of functions."""

    def __init__(self, torch: Any, recorded: Recorded, library: Library) -> None:
        self.torch = torch
        self.recorded = recorded
        self.library = library
        self.home = str(Path(torch.__file__).parent)
        # The function that each name was used for, since the module may have none: `register_vmap` returns None.
        self.named: dict[tuple[str, str], Any] = {}

    def read(self, name: str, before: frozenset[str] | None) -> None:
        """Read an operator. `before`: its keys before the import; None if the modules define it."""
        if before is None:
            self._define(name)
        for registered in registered_kernels(self.torch, name):
            key = registered.key
            self.library.statements += 1
            if before and key in before:
                continue
            if registered.is_fallthrough:
                message = f"`{name}` falls through at {key}, which YAML cannot say"
                self._report("TG602", message, help_=f"{registered.place}")
                continue
            function = self.recorded.kernels.get((name, key))
            kernel = self._kernel(name, key, function)
            if kernel:
                implementation = Implementation(name, key, kernel, is_named=function is not None)
                self.library.implementations.append(implementation)
        self._add_extras(name)

    def _kernel(self, name: str, key: str, function: Any) -> str:
        """The name of a kernel: that of its function, or one that is assumed; "" for none."""
        if function is not None:
            return self._name(function, name, f"kernel for {key}", "kernels")
        if (name, key) in self.recorded.wrapped:
            return ""
        local_name = name.partition("::")[2].replace(".", "_")
        return f"{local_name}_{key.lower()}"

    def _define(self, name: str) -> None:
        definition, problem, text = read_definition(self.torch, name)
        if definition is not None:
            self.library.definitions.append(definition)
        elif text:
            self._report("TG604", f"`{name}`: {problem}", help_=text)

    def _add_extras(self, name: str) -> None:
        """Add fake, vmap and autocast; report a gradient, which an entry needs as a formula."""
        given = self.recorded.given
        fake = self.torch._library.simple_registry.singleton.find(name).fake_impl.kernel
        # Operators that return nothing get a fake from PyTorch, which has no author.
        functions = {
            "fake": given.get((name, "fake")) or (fake and author_of(fake.func, self.home)),
            "vmap": given.get((name, "vmap")),
        }
        for field, function in functions.items():
            word = function is not None and self._name(function, name, field, "fakes")
            if word:
                self.library.extras.append(Extra(name, field, word))
        dtypes = self.recorded.autocast.get(name, {})
        self.library.add_autocast(name, {device: str(dtype) for device, dtype in dtypes.items()})
        if (name, "autograd") in given:
            function = given[name, "autograd"]
            shown = f"{function.__module__}:{_shown(function)}"
            message = f"`{name}` takes its gradient from `{shown}`"
            help_ = "write `derivatives:`, or keep the call of `register_autograd`"
            self._report("TG607", message, function, help_)

    def _name(self, function: Any, operator: str, what: str, kind: str) -> str:
        """A function's name, as found in configured modules; "" if it has none."""
        function = author_of(function, self.home) or function
        word = _shown(function)
        module = getattr(function, "__module__", "")
        what_is_so = f"the {what} of `{operator}` is `{word}`"
        if not word.isidentifier() or not module:
            message = f"{what_is_so}, which is not a module-level function"
            self._report("TG607", message, function, "make it a function of its own")
            return ""
        held = getattr(sys.modules.get(module), word, None)
        unwrapped = unwrap(function)
        if (
            _is_another(held, function)
            or self.named.setdefault((module, word), unwrapped) is not unwrapped
        ):
            message = f"{what_is_so}, and so is another function of `{module}`"
            self._report("TG607", message, function, "give it a name of its own")
            return ""
        modules = self.library.modules.setdefault(kind, [])
        if module not in modules:
            modules.append(module)
        return f"{module}.{word}"

    def _report(
        self, code: str, message: str, function: Any = None, help_: str | None = None
    ) -> None:
        label = _line_of(function)
        self.library.diagnostics.append(Diagnostic(code, message, label, help=help_))


def _is_another(held: Any, function: Any) -> bool:
    """Whether the module's function of this name is another one; many fakes are called `_`."""
    is_plain = isinstance(held, FunctionType) and held.__name__ == function.__name__
    return is_plain and unwrap(held) is not unwrap(function)


def _shown(function: Any) -> str:
    """The name of a function, or of the type of another object, such as `functools.partial`."""
    if isinstance(function, MethodType):
        return f"{_shown(function.__self__)}.{function.__name__}"
    return str(getattr(function, "__qualname__", f"{type(function).__qualname__}(...)"))


def _line_of(function: Any) -> Label | None:
    code = getattr(function, "__code__", None)
    if code is None or isinstance(function, MethodType):
        return None
    source, _ = read_source(Path(code.co_filename), Path.cwd())
    if source is None:
        return None
    return Label(line_span(source, code.co_firstlineno), "this function")
