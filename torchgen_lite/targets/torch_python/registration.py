"""`_registration.py`: what is registered for each operator, as data, and the call that does it.

Operator("ops.yaml:3", "torch_ops::muladd", "muladd(Tensor a, Tensor b, float s) -> Tensor")
Rule("torch_ops::muladd", "fake", _fakes.muladd)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from torchgen_lite.analysis.derive.names import root_of
from torchgen_lite.analysis.fakes import results_of
from torchgen_lite.dialects import torch_library
from torchgen_lite.dialects.python_names import BUILTIN_TYPES
from torchgen_lite.dialects.text import bracketed, import_line, quote, tuple_text
from torchgen_lite.schema import Argument, BaseType, SchemaKind
from torchgen_lite.schema.model import bare_type
from torchgen_lite.targets.output import OutputFile
from torchgen_lite.targets.torch_python.fakes import is_view, named_function
from torchgen_lite.targets.torch_python.model import Operator, Package

# Files that are the same in each package.
_FIXED = (
    "autocast",
    "library",
    "promotion",
    "rules",
    "support",
    "torch_version",
    "tracing",
    "transaction",
)


def build_registration(
    package: Package,
    kernels: Sequence[tuple[str, str, str]],
    fakes: Mapping[str, str],
    autograd: Collection[str],
) -> Iterator[OutputFile]:
    """The file of registrations, the package, and the files that do not depend on the operators."""
    rules = list(_rules(package, kernels, fakes, autograd))
    options = package.options
    modules = [
        name
        for name in ("_autocast", "_autograd", "_fakes", "_kernels", "_library", "_tracing")
        if any(f" {name}." in rule or f"\n    {name}." in rule for rule in rules)
    ]
    items = [
        quote(package.name),
        "OPERATORS",
        "RULES",
        f"kind={quote(options.library.upper())}",
        f"defines={options.is_defining}",
        f"load={quote(options.load)}",
        *(["calls=_autograd.CALLS"] if autograd else []),
    ]
    context = {
        "modules": ", ".join(modules or ["_library"]),
        "operators": [_operator(package, o) for o in package.operators],
        "rules": rules,
        "call": bracketed("register(", items),
    }
    yield OutputFile(f"{package.root}/_registration.py", "torch_python/registration.py.j2", context)
    for name in _FIXED:
        yield OutputFile(f"{package.root}/_{name}.py", f"torch_python/{name}.py.j2", {})
    hidden = {*BUILTIN_TYPES, "RegistrationError", "functions", "_registration", "_functions"}
    hidden |= {f"_{name}" for name in (*_FIXED, "autograd", "fakes", "kernels")}
    names = sorted(o.flat for o in package.own if o.flat not in hidden)
    line = import_line(".functions", names) if names else ""
    context = {"import_functions": line, "names": names}
    yield OutputFile(f"{package.root}/__init__.py", "torch_python/package.py.j2", context)
    yield OutputFile(f"{package.root}/py.typed", "python/py.typed.j2", {})


def _operator(package: Package, operator: Operator) -> str:
    function = operator.function
    items = [quote(operator.place), quote(operator.name), quote(operator.bare_schema)]
    tags = [*function.tags, *_kind_tags(operator)]
    if tags and not operator.is_torchs:
        items.append(f"tags={tuple_text([quote(t) for t in tags], indent=8)}")
    versions = torch_library.version_clauses(function.torch)
    if versions:
        items.append(f"torch={versions}")
    if operator.is_torchs:
        items.append("is_torchs=True")
    return bracketed("Operator(", items, indent=4, tail=",")


def _kind_tags(operator: Operator) -> list[str]:
    """`inplace` and `out` where PyTorch allows them: with these such operators can be compiled."""
    results = results_of(operator.schema)
    written = [a for a in operator.schema.arguments if a.is_write]
    kind = operator.kind
    if not written or any(not isinstance(a.type, BaseType) for a in written):
        return []
    same = [r.argument.name if r.argument else "" for r in results] == [a.name for a in written]
    tags = operator.function.tags
    if kind is SchemaKind.out and same and "out" not in tags:
        return ["out"] if all(a.kwarg_only for a in written) else []
    first = operator.schema.arguments[0]
    alone = len(written) == 1 and written[0] is first and not first.kwarg_only
    return ["inplace"] if same and alone and "inplace" not in tags else []


def _rules(
    package: Package,
    kernels: Sequence[tuple[str, str, str]],
    fakes: Mapping[str, str],
    autograd: Collection[str],
) -> Iterator[str]:
    for operator in package.operators:
        name = operator.name
        for of, key, expression in kernels:
            if of == name:
                yield _rule(name, key, expression)
        if operator.is_torchs:
            continue
        if name in fakes:
            yield _rule(name, "fake", fakes[name])
            if is_view(operator):
                yield _rule(name, "view", fakes[name])
        sibling = _functional(package, operator)
        if sibling is not None:
            expression = f"_tracing.functional({quote(sibling.name)})"
            yield _rule(name, "functionalize", expression)
        if name in autograd:
            yield _rule(name, "setup_context", f"_autograd.{operator.flat}_setup_context")
            yield _rule(name, "backward", f"_autograd.{operator.flat}_backward")
        vmap = operator.function.vmap
        found = package.module_of("fakes", vmap) if vmap else None
        if found is not None:
            yield _rule(name, "vmap", named_function(operator, "vmap", found))
        if operator.function.autocast:
            yield _rule(name, "autocast", f"_autocast.{operator.function.autocast}")


def _functional(package: Package, operator: Operator) -> Operator | None:
    """For an operator that gives back what it writes, the one that computes it: `scale` for `scale_`."""
    if operator.kind not in (SchemaKind.inplace, SchemaKind.out):
        return None
    results = [r.argument.name if r.argument else "" for r in results_of(operator.schema)]
    if results != [a.name for a in operator.schema.arguments if a.is_write]:
        return None
    wanted = [_passed(a) for a in operator.schema.arguments if not a.is_out]
    root = root_of(operator.schema.base_name)
    for other in package.own:
        arguments = [_passed(a) for a in other.schema.arguments]
        is_root = other.schema.base_name == root and other.kind is SchemaKind.functional
        if is_root and arguments == wanted and len(other.schema.returns) == len(results):
            same_namespace = other.function.namespace == operator.function.namespace
            return other if same_namespace else None
    return None


def _passed(argument: Argument) -> tuple[str, str, bool]:
    """Name, type, and whether it goes by keyword: the one operator's arguments are passed to the other."""
    return argument.name, bare_type(argument.type), argument.kwarg_only


def _rule(name: str, what: str, expression: str) -> str:
    return bracketed("Rule(", [quote(name), quote(what), expression], indent=4, tail=",")
