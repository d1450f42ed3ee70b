"""Whether the conditions by which `dispatch` chooses a kernel are ones."""

from __future__ import annotations

from torchgen_lite.analysis.finding import Findings, Found, found_in
from torchgen_lite.diagnostics.text import quoted
from torchgen_lite.formulas import kinds
from torchgen_lite.formulas import model as nodes
from torchgen_lite.formulas.language import CONDITIONS, kinds_of_values
from torchgen_lite.formulas.model import Expression
from torchgen_lite.formulas.tree import Scope, Typed, every_part
from torchgen_lite.formulas.typed import type_formula
from torchgen_lite.key_tables import CURRENT
from torchgen_lite.loader.entry.entry import KernelRow, NativeFunction
from torchgen_lite.loader.entry.kernel_languages import KERNEL_LANGUAGES, TRITON, is_traced_key
from torchgen_lite.schema import FunctionSchema
from torchgen_lite.schema.grouped import names_of

_BOOL = frozenset({kinds.BOOL})


def typed_condition(condition: Expression, schema: FunctionSchema) -> Typed:
    """The tree of a row's `when`, for the arguments of an operator."""
    scope = Scope(kinds_of_values(schema.inputs), language=CONDITIONS)
    return type_formula(condition, scope, _BOOL)


def check_selections(function: NativeFunction) -> Findings:
    """TG390, TG391: what a condition cannot say. TG392: several kernels where there can be one only. TG393: languages."""
    for entry in function.dispatch:
        if entry.rows and function.structured:
            yield Found(
                "TG392",
                f"`{function.func.full_name}` is structured, and has one kernel for `{entry.key}`",
                entry.kernel_span,
                "several here",
                "choose in the kernel, or leave `structured` out",
            )
        for row in entry.rows:
            yield from _hidden_options(function, row)
            yield from _off_its_devices(entry.key, row)
            if row.when is None:
                continue
            for part in every_part(typed_condition(row.when, function.func)):
                if part.mistake is not None:
                    yield found_in(part, part.mistake)
                elif _asks_for_no_alignment(part.node):
                    message = f"`{part.node}` does not say by what the address is divisible"
                    yield Found("TG391", message, part.node.span, "here", "write `is_aligned(16)`")


def _hidden_options(function: NativeFunction, row: KernelRow) -> Findings:
    """TG392: an option of a kernel with the name of an argument, which the kernel gets, too."""
    if not row.tune:
        return
    arguments = set(names_of(function.func.arguments))
    for name, _ in row.tune[0]:
        if name in arguments:
            message = f"`{name}` is an argument of `{function.func.full_name}`, and an option of `{row.kernel}`"
            yield Found("TG392", message, row.kernel_span, "here", "give the option another name")


_BACKENDS = (*CURRENT.backends, *CURRENT.of_backends)


def _off_its_devices(key: str, row: KernelRow) -> Findings:
    """TG393: a kernel in a language that runs on no tensor with the key; keys of no backend have tensors of all."""
    language = KERNEL_LANGUAGES.get(row.language)
    if language is None:
        return
    if is_traced_key(key) and row.language != TRITON:
        message = f"`{row.kernel}` is in {language.title}, and compilers run kernels for `{key}` on tensors without memory"
        hint = "give it to `CompositeExplicitAutograd`, or to the key of a device"
        yield Found("TG393", message, row.kernel_span, "here", hint)
        return
    backends = [backend for backend in _BACKENDS if key.endswith(backend)]
    if not backends or any(map(language.runs_for, backends)):
        return
    message = f"`{row.kernel}` is in {language.title}, which does not run for `{key}`"
    places = quoted(language.backends, " and ")
    hint = f"a kernel in {language.title} is for {places}" if places else "leave `language` out"
    yield Found("TG393", message, row.kernel_span, "here", hint)


def _asks_for_no_alignment(node: Expression) -> bool:
    """Whether it is `is_aligned` of anything but a positive number that is written out."""
    match node:
        case nodes.Call(nodes.Member(_, "is_aligned"), (nodes.Literal(text),)):
            return not (text.isdigit() and int(text) > 0)
        case nodes.Call(nodes.Member(_, "is_aligned")):
            return True
    return False
