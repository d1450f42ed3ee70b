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
    rest = {one.path: one for one in every}
    found = [one for one in every if _MAY_CALL.search(one.text)]
    modules = list[Module]()
    scans = dict[str, list[Scan]]()
    known = set[str]()
    is_final = False
    while found or not is_final:
        # Once no file is left that may register, all is looked at with what every file says.
        is_final = not found
        scans = {} if is_final else scans
        for source in found:
            del rest[source.path]
        modules += _parsed(found, others, library)
        for module in modules:
            if module.source.path not in scans:
                scans[module.source.path] = _scanned(module)
        known = registering([one for several in scans.values() for one in several])
        words = {path.rpartition(".")[2] for path in known}
        words |= {word for module in modules for word in _passed_words(module)}
        found = [one for one in rest.values() if not words.isdisjoint(_WORD.findall(one.text))]
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
                one = understood(module, call, conditions, known)
                if one is not None:
                    _READERS[one.kind](one, library)
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


def _name(one: Registration) -> str:
    """The operator's whole name: from a text, `torch.ops.mylib.f.default`, or an operator that was made."""
    given, (namespace, _), path = one.given.get("name"), one.owner, one.path("name")
    if isinstance(given, ast.expr):
        name = made_operator(one.module, given)
    else:
        name = ""
    if path.startswith("torch.ops."):
        name = path.removeprefix("torch.ops.").replace(".", "::", 1).removesuffix(".default")
    name = name or one.text("name")
    if namespace and "::" not in name:
        name = f"{namespace}::{name}"
    if not re.fullmatch(r"\w+::\w+(\.\w+)?", name):
        raise Unread(f"`{name}` is not the whole name of an operator")
    return name


def _keys(one: Registration, default: str) -> list[str]:
    """The keys of devices (`"cpu"`), or those that have these names."""
    given = one.constant("types", None) or default
    names = key_names("")
    by_device = {name.lower(): key for name, key in names.items()}
    by_device |= {"default": _PLAIN, "privateuseone": "PrivateUse1"}
    words = map(str, given if isinstance(given, tuple) else (given,))
    keys = [names.get(word) or by_device.get(word, "") for word in words]
    if "" in keys:
        raise Unread(f"`{given}` is no dispatch key")
    return keys


def _tags(one: Registration) -> set[str]:
    given = one.given.get("tags")
    parts: list[ast.AST] = []
    if isinstance(given, (ast.Tuple, ast.List)):
        parts += given.elts
    elif given:
        parts.append(given)
    tags = set()
    for part in parts:
        tags.add(one.module.path(part) if isinstance(part, ast.expr) else "")
    if not all(tag.startswith(("torch.Tag.", "torch._C.Tag.")) for tag in tags):
        raise Unread("its tags are computed")
    return {tag.rpartition(".")[2] for tag in tags}


def _define(one: Registration, library: Library, text: str, tags: Iterable[str]) -> str:
    """Add a definition; its name."""
    schema, problems = parse_schema(text)
    if schema is None:
        raise Unread(problems[0].message)
    name = schema.full_name
    listed = tuple(sorted(tags))
    found = Definition(name, str(schema), listed, span=one.span, asks=one.asks)
    library.definitions.append(found)
    return name


def _read_custom_op(one: Registration, library: Library) -> None:
    name = _name(one)
    keys = _keys(one, _PLAIN)
    tags = _tags(one)
    # A schema may begin with the name.
    text = (one.text("schema") or _inferred(one, tags)).partition("(")[2]
    _define(one, library, f"{name}({text}", {*tags, "pt2_compliant_tag"})
    _add_kernel(one, library, name, keys)
    if one.kind == "triton_op":
        _add_extra(one, library, name, "fake")
        message = f"`{name}` is a `triton_op`, into which `torch.compile` looks"
        _report(one, library, message, "add `triton: CompositeExplicitAutograd` to its entry")


def _inferred(one: Registration, tags: set[str]) -> str:
    found = one.function()
    mutates = one.constant("mutates_args", ())
    if found is None:
        raise Unread("the function that has its types is not in these files")
    if tags & {"inplace", "out"}:
        raise Unread("its tags say what its schema is: give `schema=`")
    try:
        return infer_python_schema(*found, mutates if isinstance(mutates, (str, tuple)) else ())
    except ValueError as why:
        raise Unread(str(why)) from None


def _read_definition(one: Registration, library: Library) -> None:
    schema, (namespace, key) = one.text("schema").strip(), one.owner
    if not namespace:
        schema = one.text("name") + schema
    elif "::" not in schema.partition("(")[0]:
        schema = f"{namespace}::{schema}"
    name = _define(one, library, schema, _tags(one))
    if "fn" in one.given:
        _add_kernel(one, library, name, [key or CATCH_ALL])


def _read_kernel(one: Registration, library: Library) -> None:
    _add_kernel(one, library, _name(one), _keys(one, one.owner[1] or CATCH_ALL))


def _read_gradient(one: Registration, library: Library) -> None:
    message = f"`{_name(one)}` takes its gradient from `{one.module.name}:{_written(one)}`"
    _report(one, library, message, "write `derivatives:`, or keep the call of `register_autograd`")


def _read_autocast(one: Registration, library: Library) -> None:
    library.add_autocast(_name(one), {one.text("types"): one.path("cast_inputs")})


def _read_extra(one: Registration, library: Library) -> None:
    _add_extra(one, library, _name(one), "vmap" if one.kind == "register_vmap" else "fake")


def _add_kernel(one: Registration, library: Library, name: str, keys: Sequence[str]) -> None:
    if one.path("fn") == "torch.library.fallthrough_kernel":
        message = f"`{name}` falls through at {keys[0]}, which YAML cannot say"
        label = Label(one.span, "a fallthrough is not a kernel")
        library.diagnostics.append(Diagnostic("TG602", message, label))
        return
    found = one.function()
    asks = " ".join(one.asks)
    # With `with_keyset`, a kernel takes one more.
    if found and "with_keyset" not in one.given:
        signature = signature_of(found[1])
    else:
        signature = None
    kernel = _named(one, library, name, f"kernel for {', '.join(keys)}", "kernels")
    library.implementations += [
        Implementation(name, key, kernel, span=one.span, asks=asks, signature=signature)
        for key in keys
    ]


def _add_extra(one: Registration, library: Library, name: str, field: str) -> None:
    found = one.function()
    word = _named(one, library, name, field, "fakes")
    signature = signature_of(found[1]) if found else None
    library.extras.append(Extra(name, field, word, signature, one.span, " ".join(one.asks)))


def _named(one: Registration, library: Library, operator: str, what: str, kind: str) -> str:
    """The whole name of the function that is registered; "" if it has none, which is reported."""
    given = one.given.get("fn")
    found = one.function()
    if given is None:
        raise Unread("there is no function")
    own = f"{one.module.name}."
    if isinstance(given, FUNCTIONS):
        path = own + given.name
    else:
        path = one.path("fn")
    module, _, word = path.rpartition(".")
    if module != one.module.name:
        home = one.module.others.get(module)
    else:
        home = one.module
    said = f"the {what} of `{operator}` is `{_written(one)}`"
    is_known = home is None or word in {*home.functions, *home.assigned, *home.imported}
    # A method is none, nor is a name that no import brings.
    if not module or not is_known or any(part[:1].isupper() for part in module.split(".")):
        message = f"{said}, which is not a module-level function"
        _report(one, library, message, "make it a function of its own")
        return ""
    if home and word in home.functions and not (found and found[0].has(found[1])):
        message = f"{said}, and so is another function of `{module}`"
        _report(one, library, message, "give it a name of its own")
        return ""
    modules = library.modules.setdefault(kind, [])
    modules += [] if module in modules else [module]
    return path


def _written(one: Registration) -> str:
    """How messages name the function that is registered."""
    given = one.given.get("fn")
    if isinstance(given, FUNCTIONS):
        return given.name
    if isinstance(given, ast.Call):
        return f"{ast.unparse(given.func)}(...)"
    if isinstance(given, ast.Lambda):
        return "<lambda>"
    if given:
        return ast.unparse(given)
    return "?"


def _report(one: Registration, library: Library, message: str, help_: str) -> None:
    home, node = one.function() or (one.module, one.given.get("fn") or one.node)
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
