"""What Python files register through `torch.library`, read from their text: see Note [Nothing of Python is passed over]."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from torchgen_lite.diagnostics import Diagnostic, Label, Source
from torchgen_lite.loader.entry.dispatch_table import key_names
from torchgen_lite.loader.python.kernel_modules import line_span, signature_of
from torchgen_lite.schema import parse_schema
from torchgen_lite_tools.importing.library import (
    CATCH_ALL,
    Definition,
    Extra,
    Implementation,
    Library,
)
from torchgen_lite_tools.importing.python_calls import (
    Registration,
    Scan,
    Suspect,
    Unread,
    calls_of,
    given_away,
    made_operator,
    passed_on,
    registering,
    registers_itself,
    scanned,
    understood,
)
from torchgen_lite_tools.importing.python_modules import FUNCTIONS, Module, parse_module
from torchgen_lite_tools.importing.python_schemas import infer_python_schema

# What speaks of PyTorch's registrations, and what may be one of their names: a file with neither registers only by
# a name that another file passes on.
_MENTIONS = re.compile(r"\blibrary\b|\b_?custom_ops?\b|\bregister_fake\b|\btriton_op\b")
_MAY_CALL = re.compile(
    rf"{_MENTIONS.pattern}|\b(?:define|impl|impl_abstract|fallback|_register_fake)\b"
    r"|\bregister_(?:kernel|vmap|autograd|autocast|torch_dispatch)\b"
)
_WORD = re.compile(r"[A-Za-z_]\w*")
_PLAIN = "CompositeExplicitAutograd"


def read_python(sources: Iterable[Source], library: Library) -> None:
    """Add what Python files register."""
    every = list(sources)
    others = dict[str, Module]()
    library.files += len(every)
    rest = {source.path: source for source in every}
    waiting = [source for source in every if _MAY_CALL.search(source.text)]
    modules = list[Module]()
    scans = dict[str, list[Scan]]()
    known = set[str]()
    is_final = False
    while waiting or not is_final:
        # Once no file is left that may register, all is looked at with what every file says.
        is_final = not waiting
        scans = {} if is_final else scans
        for source in waiting:
            del rest[source.path]
        modules += _parsed(waiting, others, library)
        for module in modules:
            if module.source.path not in scans:
                scans[module.source.path] = _scanned(module)
        known = registering([scan for several in scans.values() for scan in several])
        words = {path.rpartition(".")[2] for path in known}
        words |= {word for module in modules for word in _passed_words(module)}
        waiting = [
            source for source in rest.values() if not words.isdisjoint(_WORD.findall(source.text))
        ]
    for module in modules:
        try:
            _read_module(module, library, known)
        except RecursionError:
            _report_file(library, module.source, "is nested too deeply", 1)


def _scanned(module: Module) -> list[Scan]:
    try:
        return list(scanned(module))
    except RecursionError:
        return []  # It is reported when the module is read.


def _passed_words(module: Module) -> Iterator[str]:
    """The names under which a module passes on what registers: libraries, and other names for functions of PyTorch."""
    for word in {*module.assigned, *module.imported}:
        try:
            if registers_itself(module, ast.Name(word, ast.Load())):
                yield word
        except RecursionError:
            yield word


def _parsed(
    sources: Iterable[Source], others: dict[str, Module], library: Library
) -> Iterator[Module]:
    for source in sources:
        try:
            yield parse_module(source, others)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            if _MENTIONS.search(source.text) or "torch" in source.text:
                _report_file(library, source, "is not Python", getattr(error, "lineno", None) or 1)


def _report_file(library: Library, source: Source, why: str, line: int) -> None:
    label = Label(line_span(source, line), "here")
    library.diagnostics.append(Diagnostic("TG601", f"this file {why}", label))


def _read_module(module: Module, library: Library, known: set[str]) -> None:
    met = unread = 0
    speaks = _MENTIONS.search(module.source.text) is not None
    for node, conditions in module.statements:
        for call in calls_of(node):
            try:
                registration = understood(module, call, conditions, known)
                if registration is not None:
                    _READERS[registration.kind](registration, library)
                    met += 1
            except Unread as why:
                if speaks or not isinstance(why, Suspect) or why.is_certain:
                    unread += 1
                    _report_unread(library, module, call, call.node, str(why))
    for given in passed_on(module):
        unread += 1
        why_not = "this is passed on: what it registers then is not known"
        _report_unread(library, module, f"`{ast.unparse(given)}`", given, why_not)
    for given in given_away(module):
        unread += 1
        why_not = "this library is given to a function that is in none of these files"
        _report_unread(library, module, f"`{ast.unparse(given)}`", given, why_not)
    library.statements += met + unread
    if met or unread:
        library.python[module.source.path] = met, unread


def _report_unread(library: Library, module: Module, what: object, at: ast.expr, why: str) -> None:
    label = Label(line_span(module.source, at.lineno), why)
    library.diagnostics.append(Diagnostic("TG614", f"{what} was not read", label))


def _name(registration: Registration) -> str:
    """The operator's whole name: from a text, `torch.ops.mylib.f.default`, or an operator that was made."""
    given = registration.given.get("name")
    namespace, _ = registration.owner
    path = registration.path("name")
    if isinstance(given, ast.expr):
        name = made_operator(registration.module, given)
    else:
        name = ""
    if path.startswith("torch.ops."):
        name = path.removeprefix("torch.ops.").replace(".", "::", 1).removesuffix(".default")
    name = name or registration.text("name")
    if namespace and "::" not in name:
        name = f"{namespace}::{name}"
    if not re.fullmatch(r"\w+::\w+(\.\w+)?", name):
        raise Unread(f"`{name}` is not the whole name of an operator")
    return name


def _keys(registration: Registration, default: str) -> list[str]:
    """The keys of devices (`"cpu"`), or those that have these names."""
    given = registration.constant("types", None) or default
    names = key_names("")
    by_device = {name.lower(): key for name, key in names.items()}
    by_device |= {"default": _PLAIN, "privateuseone": "PrivateUse1"}
    words = map(str, given if isinstance(given, tuple) else (given,))
    keys = [names.get(word) or by_device.get(word, "") for word in words]
    if "" in keys:
        raise Unread(f"`{given}` is no dispatch key")
    return keys


def _tags(registration: Registration) -> set[str]:
    given = registration.given.get("tags")
    parts: list[ast.AST] = []
    if isinstance(given, (ast.Tuple, ast.List)):
        parts += given.elts
    elif given:
        parts.append(given)
    tags = set()
    for part in parts:
        tags.add(registration.module.path(part) if isinstance(part, ast.expr) else "")
    if not all(tag.startswith(("torch.Tag.", "torch._C.Tag.")) for tag in tags):
        raise Unread("its tags are computed")
    return {tag.rpartition(".")[2] for tag in tags}


def _define(registration: Registration, library: Library, text: str, tags: Iterable[str]) -> str:
    """Add a definition; its name."""
    schema, problems = parse_schema(text)
    if schema is None:
        raise Unread(problems[0].message)
    name = schema.full_name
    listed = tuple(sorted(tags))
    definition = Definition(
        name, str(schema), listed, span=registration.span, asks=registration.asks
    )
    library.definitions.append(definition)
    return name


def _read_custom_op(registration: Registration, library: Library) -> None:
    name = _name(registration)
    keys = _keys(registration, _PLAIN)
    tags = _tags(registration)
    # A schema may begin with the name.
    text = (registration.text("schema") or _inferred(registration, tags)).partition("(")[2]
    _define(registration, library, f"{name}({text}", {*tags, "pt2_compliant_tag"})
    _add_kernel(registration, library, name, keys)
    if registration.kind == "triton_op":
        _add_extra(registration, library, name, "fake")
        message = f"`{name}` is a `triton_op`, into which `torch.compile` looks"
        help_ = "add `triton: CompositeExplicitAutograd` to its entry"
        _report(registration, library, message, help_)


def _inferred(registration: Registration, tags: set[str]) -> str:
    function = registration.function()
    mutates = registration.constant("mutates_args", ())
    if function is None:
        raise Unread("the function that has its types is not in these files")
    if tags & {"inplace", "out"}:
        raise Unread("its tags say what its schema is: give `schema=`")
    try:
        return infer_python_schema(*function, mutates if isinstance(mutates, (str, tuple)) else ())
    except ValueError as why:
        raise Unread(str(why)) from None


def _read_definition(registration: Registration, library: Library) -> None:
    schema = registration.text("schema").strip()
    namespace, key = registration.owner
    if not namespace:
        schema = registration.text("name") + schema
    elif "::" not in schema.partition("(")[0]:
        schema = f"{namespace}::{schema}"
    name = _define(registration, library, schema, _tags(registration))
    if "fn" in registration.given:
        _add_kernel(registration, library, name, [key or CATCH_ALL])


def _read_kernel(registration: Registration, library: Library) -> None:
    name = _name(registration)
    keys = _keys(registration, registration.owner[1] or CATCH_ALL)
    _add_kernel(registration, library, name, keys)


def _read_gradient(registration: Registration, library: Library) -> None:
    message = f"`{_name(registration)}` takes its gradient from `{registration.module.name}:{_written(registration)}`"
    help_ = "write `derivatives:`, or keep the call of `register_autograd`"
    _report(registration, library, message, help_)


def _read_autocast(registration: Registration, library: Library) -> None:
    library.add_autocast(
        _name(registration), {registration.text("types"): registration.path("cast_inputs")}
    )


def _read_extra(registration: Registration, library: Library) -> None:
    field = "vmap" if registration.kind == "register_vmap" else "fake"
    _add_extra(registration, library, _name(registration), field)


def _add_kernel(
    registration: Registration, library: Library, name: str, keys: Sequence[str]
) -> None:
    if registration.path("fn") == "torch.library.fallthrough_kernel":
        message = f"`{name}` falls through at {keys[0]}, which YAML cannot say"
        label = Label(registration.span, "a fallthrough is not a kernel")
        library.diagnostics.append(Diagnostic("TG602", message, label))
        return
    function = registration.function()
    asks = " ".join(registration.asks)
    # With `with_keyset`, a kernel takes one more.
    if function and "with_keyset" not in registration.given:
        signature = signature_of(function[1])
    else:
        signature = None
    kernel = _named(registration, library, name, f"kernel for {', '.join(keys)}", "kernels")
    library.implementations += [
        Implementation(name, key, kernel, span=registration.span, asks=asks, signature=signature)
        for key in keys
    ]


def _add_extra(registration: Registration, library: Library, name: str, field: str) -> None:
    function = registration.function()
    word = _named(registration, library, name, field, "fakes")
    signature = signature_of(function[1]) if function else None
    library.extras.append(
        Extra(name, field, word, signature, registration.span, " ".join(registration.asks))
    )


def _named(
    registration: Registration, library: Library, operator: str, what: str, kind: str
) -> str:
    """The whole name of the function that is registered; "" if it has none, which is reported."""
    given = registration.given.get("fn")
    function = registration.function()
    if given is None:
        raise Unread("there is no function")
    prefix = f"{registration.module.name}."
    if isinstance(given, FUNCTIONS):
        path = prefix + given.name
    else:
        path = registration.path("fn")
    module, _, word = path.rpartition(".")
    if module != registration.module.name:
        home = registration.module.others.get(module)
    else:
        home = registration.module
    subject = f"the {what} of `{operator}` is `{_written(registration)}`"
    is_known = home is None or word in {*home.functions, *home.assigned, *home.imported}
    # A method is none, nor is a name that no import brings.
    if not module or not is_known or any(part[:1].isupper() for part in module.split(".")):
        message = f"{subject}, which is not a module-level function"
        _report(registration, library, message, "make it a function of its own")
        return ""
    if home and word in home.functions and not (function and function[0].has(function[1])):
        message = f"{subject}, and so is another function of `{module}`"
        _report(registration, library, message, "give it a name of its own")
        return ""
    modules = library.modules.setdefault(kind, [])
    modules += [] if module in modules else [module]
    return path


def _written(registration: Registration) -> str:
    """How messages name the function that is registered."""
    given = registration.given.get("fn")
    if isinstance(given, FUNCTIONS):
        return given.name
    if isinstance(given, ast.Call):
        return f"{ast.unparse(given.func)}(...)"
    if isinstance(given, ast.Lambda):
        return "<lambda>"
    if given:
        return ast.unparse(given)
    return "?"


def _report(registration: Registration, library: Library, message: str, help_: str) -> None:
    node = registration.given.get("fn") or registration.node
    home, node = registration.function() or (registration.module, node)
    if isinstance(node, FUNCTIONS) and node.decorator_list:
        node = node.decorator_list[0]
    label = Label(line_span(home.source, node.lineno), "this function")
    library.diagnostics.append(Diagnostic("TG607", message, label, help=help_))


_READERS: dict[str, Callable[[Registration, Library], None]] = {
    "custom_op": _read_custom_op,
    "triton_op": _read_custom_op,
    "define": _read_definition,
    "Library.define": _read_definition,
    "impl": _read_kernel,
    "Library.impl": _read_kernel,
    "register_kernel": _read_kernel,
    "register_fake": _read_extra,
    "impl_abstract": _read_extra,
    "Library._register_fake": _read_extra,
    "register_vmap": _read_extra,
    "register_autograd": _read_gradient,
    "register_autocast": _read_autocast,
}
