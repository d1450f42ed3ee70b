"""Rules about entries of one name: variants whose schemas disagree, and overloads that Python cannot tell apart."""

from __future__ import annotations

from collections import Counter, defaultdict

from torchgen_lite.analysis.derive.layout import TensorOptions
from torchgen_lite.analysis.derive.names import root_of
from torchgen_lite.analysis.derive.views import copy_name, needs_copy
from torchgen_lite.analysis.finding import Reported, finding
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import Diagnostic
from torchgen_lite.diagnostics.suggest import is_slip, meant
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema import Argument, SchemaKind
from torchgen_lite.schema.grouped import by_name
from torchgen_lite.schema.model import bare_type


def variant_disagrees(resolved: Resolved) -> Reported:
    """TG416: `foo_` or `foo.out` takes other arguments than every overload of `foo`.

    PyTorch matches the variants of an operator by arguments and defaults (torchgen
    `FunctionSchema.signature`). The order is not compared: a method begins with `self`. A composite
    variant needs no group.
    """
    overloads = defaultdict(list)
    for operator in resolved.declared:
        if operator.kind is SchemaKind.functional:
            function = operator.function
            overloads[function.packet].append(function)
    for operator in resolved.declared:
        function = operator.function
        namespace, name, overload = functional_key(function)
        candidates = overloads.get((namespace, name), [])
        same_overload = (other for other in candidates if other.func.overload_name == overload)
        named = next(same_overload, None)
        if named is None or named is function or operator.is_composed:
            continue
        if named.structured_delegate or function.structured_delegate:
            # The check of delegates reports this.
            continue
        difference = _difference(function, named)
        if difference and all(_difference(function, other) for other in candidates):
            yield _disagreement(function, named, difference)


def functional_key(function: NativeFunction) -> tuple[str, str, str]:
    """The namespace, name and overload of the functional variant, if there is one."""
    schema = function.func
    overload = schema.overload_name
    if schema.out:
        overload = "" if overload == "out" else overload.removesuffix("_out")
    return (function.namespace, root_of(schema.base_name), overload)


def _inputs(function: NativeFunction) -> dict[str, tuple[str, bool, str | None]]:
    """What variants must agree on, by argument name."""
    inputs = {}
    for argument in function.func.inputs:
        inputs[argument.name] = bare_type(argument.type), argument.kwarg_only, argument.default
    return inputs


def _difference(variant: NativeFunction, functional: NativeFunction) -> str:
    """The first argument that differs: one of the variant's, or else one that it lacks."""
    inputs = _inputs(variant)
    other = _inputs(functional)
    # Out variants of factories take tensor options from the given tensor.
    optional = TensorOptions._fields if variant.func.out else ()
    wrong = [name for name, value in inputs.items() if other.get(name) != value]
    wrong += [name for name in other if name not in inputs and name not in optional]
    return wrong[0] if wrong else ""


def _disagreement(function: NativeFunction, functional: NativeFunction, name: str) -> Diagnostic:
    here = by_name(function.func.arguments).get(name)
    there = by_name(functional.func.arguments).get(name)
    called = functional.func.local_name
    message = f"`{function.func.local_name}` and `{called}` take different arguments"
    hint = f"`{called}` takes `{', '.join(map(str, functional.func.arguments))}`"
    place = functional.func.name_span
    if there is not None:
        place = there.span or place
    other = (place, "its functional variant")
    if here is None:
        return finding(function, "TG416", message, None, f"no `{name}`", hint, other)
    return finding(function, "TG416", message, here.span, "not the same", hint, other)


def view_without_copy(resolved: Resolved) -> Reported:
    """TG417: a view whose `<name>_copy` is missing or takes other arguments.

    A missing one counts only if other views have theirs, as in PyTorch's own file.
    """
    expected = any("view_copy" in function.tags for function in resolved.functions)
    for operator in resolved.declared:
        function = operator.function
        schema = operator.schema
        if not (schema.is_aliasing and needs_copy(function)):
            continue
        name = copy_name(function)
        declared = resolved.declared_by_name.get(f"{function.namespace}::{name}")
        copy = declared.function if declared else None
        if copy is not None and _inputs(copy) != _inputs(function):
            yield finding(
                function,
                "TG417",
                f"`{function.func.local_name}` and its copy take different arguments",
                schema.span,
                "the view",
                "give both the same arguments",
                (copy.func.span, "the copy"),
            )
        elif copy is None and expected:
            yield finding(
                function,
                "TG417",
                f"view `{function.func.local_name}` has no `{name}`",
                schema.name_span,
                "no copy",
                f"declare `{name}` with the tag `view_copy`: functionalization calls it",
            )


def misspelled_namespace(resolved: Resolved) -> Reported:
    """TG430: a few operators in a namespace whose name is one letter away from that of most others.

    Digits count as meant: `attention2` and `attention3` are two libraries.
    """
    counts = Counter(f.namespace for f in resolved.functions if not f.is_pytorchs)
    meant_instead = {}
    for name, count in counts.items():
        alike = [other for other in counts if is_slip(name, other) and counts[other] > count]
        is_letter = [other for other in alike if _letters(other) != _letters(name)]
        if is_letter:
            meant_instead[name] = is_letter[0]
    for function in resolved.functions:
        other = meant_instead.get(function.namespace)
        if other is not None:
            yield finding(
                function,
                "TG430",
                f"`{function.namespace}` is another namespace than `{other}`, where most operators are",
                function.func.name_span,
                "a namespace of its own",
                meant(function.namespace, other),
            )


def _letters(name: str) -> str:
    return "".join(character for character in name if not character.isdigit())


# Types that accept the same Python values.
_SAME = {"SymInt": "int", "SymBool": "bool", "SymFloat": "float", "DeviceIndex": "int"}


def _python_type(argument: Argument) -> str:
    base, bracket, _ = bare_type(argument.type).removesuffix("?").partition("[")
    return _SAME.get(base, base) + ("[]" if bracket else "")


def call_key(function: NativeFunction) -> tuple[object, ...]:
    """Equal for overloads that the shortest possible call cannot choose between.

    That call passes only the required arguments, by position where possible.
    """
    required = function.func.required
    positional = tuple(_python_type(a) for a in required if not a.kwarg_only)
    keywords = tuple(sorted((a.name, _python_type(a)) for a in required if a.kwarg_only))
    return (*function.packet, positional, keywords)


def indistinguishable_overloads(resolved: Resolved) -> Reported:
    """TG411: the later of two overloads can only be called by its overload name."""
    names = Counter(f.packet for f in resolved.functions)
    seen: dict[tuple[object, ...], NativeFunction] = {}
    for function in resolved.functions:
        if names[function.packet] == 1:
            continue
        first = seen.setdefault(call_key(function), function)
        if first is function:
            continue
        yield finding(
            function,
            "TG411",
            f"`{function.func.local_name}` and `{first.func.local_name}` cannot be told apart by a call",
            function.func.span,
            "same arguments",
            None,
            (first.func.span, "chosen first"),
        )
