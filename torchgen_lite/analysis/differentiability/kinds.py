"""Kinds in formulas: gradients must fit their arguments, and operands the operator's schema.

Finds at declaration what would otherwise fail in backward or when the C++ is compiled.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from torchgen_lite.analysis.differentiability.info import formula_scope
from torchgen_lite.analysis.differentiability.linear import nonlinear
from torchgen_lite.analysis.differentiability.model import Derivative
from torchgen_lite.analysis.differentiability.vocabulary import callable_operators, is_other
from torchgen_lite.analysis.finding import Findings, Found, Reported, findings
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.diagnostics import did_you_mean
from torchgen_lite.diagnostics.text import quoted
from torchgen_lite.formulas import kinds
from torchgen_lite.formulas import model as nodes
from torchgen_lite.formulas.callees import Callee, takes
from torchgen_lite.formulas.language import CERTAIN
from torchgen_lite.formulas.operands import misfits
from torchgen_lite.formulas.tree import Scope, Typed, every_part
from torchgen_lite.formulas.typed import type_formula
from torchgen_lite.loader.torch.functions import in_at
from torchgen_lite.schema import Argument, FunctionSchema
from torchgen_lite.schema.dispatch_kind import DispatchKind, dispatch_kind
from torchgen_lite.schema.grouped import by_name, names_of

# Functions whose result shares no memory with what they are given.
_MAKING = frozenset("empty_like full_like ones_like rand_like randn_like where zeros_like".split())
# The names of PyTorch's functions and methods that write to an argument.
_WRITING = re.compile(
    r".*(?:_outf?|(?<!_)_)|__i(?:add|and|floordiv|lshift|mod|mul|or|pow|rshift|sub|truediv|xor)__"
)


def check_kinds(resolved: Resolved) -> Reported:
    """Every gradient and argument of the wrong kind, in formulas that are otherwise correct."""
    operators = callable_operators(resolved.functions)
    for operator, info in resolved.formulas:
        scope = formula_scope(operator.schema, operators)
        for derivative in info.derivatives:
            mistakes = _check(operator.schema, derivative, scope, info.gradients)
            yield from findings(operator.function, mistakes)


def _check(
    schema: FunctionSchema, derivative: Derivative, scope: Scope, gradients: Collection[str]
) -> Findings:
    for part in every_part(derivative.tree):
        yield from _check_call(part)
        yield from check_writes(part)
    # A kind that is certain is the one that was assumed, so a formula that is right needs no second look.
    if any(_check_certain(schema, derivative, derivative.tree, scope)):
        certain = type_formula(derivative.tree.node, replace(scope, language=CERTAIN))
        yield from _check_certain(schema, derivative, certain, scope)
    curved = nonlinear(derivative.tree, gradients)
    if curved is not None:
        names = quoted(derivative.names)
        yield Found(
            "TG347",
            f"the formula of {names} is not linear in the gradient",
            curved.node.span or derivative.formula.span,
            "not linear",
        )


def _check_certain(
    schema: FunctionSchema, derivative: Derivative, tree: Typed, scope: Scope
) -> Findings:
    mistakes = list(_check_gradient(schema, derivative, tree, scope))
    yield from mistakes
    for part in every_part(tree):
        yield from _check_reasons(part)
        if mistakes:
            yield from _check_member(part)
        else:
            yield from check_operands(part)


def check_operands(part: Typed) -> Findings:
    """TG344 and TG322: what a node is of, and does not take."""
    yield from _check_member(part)
    for operand, wanted in misfits(part):
        given = "None" if operand.is_none else operand.kind.words
        yield Found(
            "TG344",
            f"`{operand.node}` is {given}: {wanted}",
            operand.node.span,
            "not taken here",
        )


def _check_gradient(
    schema: FunctionSchema, derivative: Derivative, tree: Typed, scope: Scope
) -> Findings:
    """A list of tensors needs a list of gradients, one tensor a single one, if kinds are known."""
    inputs = [a for a in schema.inputs if a.name in derivative.names]
    # Formulas of PyTorch's `_foreach_` operators describe one tensor of each list, at index `i`.
    is_of_one = "i" not in scope.kinds and "i" in derivative.mentioned
    if len(inputs) < len(derivative.names) or is_of_one:
        return
    for value in branches(tree):
        gives = _gives(value)
        if len(inputs) > 1:
            # Python can unpack a list too.
            if gives not in ("", _LIST, f"{len(inputs)} results"):
                listed = quoted(names_of(inputs))
                hint = "write a formula for each"
                yield Found(
                    "TG342",
                    f"the formula of {listed} gives {gives}",
                    value.node.span,
                    "not a gradient for each",
                    hint,
                )
            continue
        (argument,) = inputs
        # In formulas `grad` may mean a gradient, and not the argument of this name.
        # What is in a list may be None, and what a formula gives for it is no list of that kind.
        has_gaps = dispatch_kind(argument.type) is DispatchKind.optional_tensor_list
        is_list = has_gaps or kinds.kind_of_type(argument.type).is_list
        if gives and gives != (_LIST if is_list else kinds.TENSOR.words):
            hint = f"a list has a gradient for each tensor of `{argument.name}`"
            yield Found(
                "TG342",
                f"the formula of `{argument.name}`, which is `{argument.type}`, gives {gives}",
                value.node.span,
                "not a list" if is_list else "not a tensor",
                hint if is_list else None,
            )


_NOT_IMPLEMENTED = nodes.Name("not_implemented")
_LIST = "a list of tensors"


def _gives(value: Typed) -> str:
    """What a formula returns, in words; empty if that is unknown or nothing."""
    if value.operator is not None:
        count = len(value.operator.func.returns)
        if count != 1:
            return f"{count} results"
    kind = value.kind.present
    if kind.is_list:
        if kind.sort in (kinds.Sort.tensor, kinds.Sort.unknown):
            return _LIST
        return "a list"
    return kind.words if kind.is_known else ""


def branches(tree: Typed) -> Iterator[Typed]:
    """The values a formula may have: both branches of a condition."""
    if isinstance(tree.node, nodes.Conditional):
        for side in tree.parts[1:]:
            yield from branches(side)
    else:
        yield tree


def _check_reasons(part: Typed) -> Findings:
    if isinstance(part.node, nodes.Call) and part.node.function == _NOT_IMPLEMENTED:
        given = {*part.kinds}
        if not 0 < len(part.parts) < 3 or not given <= {kinds.STRING, kinds.UNKNOWN}:
            yield Found(
                "TG323",
                "`not_implemented` takes one or two strings: what has no gradient, and why",
                part.node.span,
                "in this call",
                'write it as in `not_implemented("fold: weight", "it is an index")`',
            )


def _check_call(part: Typed) -> Findings:
    """Arguments of the wrong kind; what a function gives that isn't declared counts as a tensor."""
    node = part.node
    operator = part.operator
    if is_other(part):
        yield Found(
            "TG344",
            f"what `{nodes.name_called(node)}` is given is another argument in Python",
            node.span,
            "not taken here",
        )
    if not isinstance(node, nodes.Call) or operator is None or not operator.is_own:
        return
    for value, argument in _bound(node, part.parts, operator):
        if not _fits(value, argument):
            if value.is_none:
                given = "None"
            elif value.kind.is_list:
                given = "a list"
            else:
                given = value.kind.present.words
            called = f"argument `{argument.name}` of `{operator.func.full_name}`"
            yield Found(
                "TG323",
                f"{called} is `{argument.type}`, and {given} is given",
                value.node.span,
                "in this call",
                f"it is declared as `{operator.func}`",
            )


def _check_member(part: Typed) -> Findings:
    """Numbers have no methods or attributes, since C++ uses built-in types for them."""
    node = part.node.function if isinstance(part.node, nodes.Call) else part.node
    if not isinstance(node, nodes.Member):
        return
    kind = part.parts[0].kind
    if not kind.is_known:
        return
    is_test = node.name == "defined" and not kind.is_optional and kind != kinds.TENSOR
    is_number = kind.is_number and kind != kinds.SCALAR
    if is_test or (is_number and node.name != "conj"):
        yield Found(
            "TG322",
            f"`{node.value}` is {kind.words}, and has no `{node.name}`",
            part.node.span,
            "only tensors have it",
            f"leave `.{node.name}` out",
        )


def check_writes(part: Typed) -> Findings:
    """What a formula is given belongs to others: the caller's gradient, what forward has kept."""
    node = part.node
    operator = part.operator
    if not isinstance(node, nodes.Call):
        return
    name = nodes.name_called(node)
    is_method = isinstance(node.function, nodes.Member)
    is_named = _WRITING.fullmatch(name) is not None
    is_torchs = is_method or (name != "" and in_at(name))
    if operator is not None:
        pairs = _bound(node, part.parts, operator)
        written = [value.node for value, argument in pairs if argument.is_write]
    else:
        written = list(nodes.children(node)[:1]) if is_named and is_torchs else []
    if not all(map(_is_new, written)) or "out" in dict(node.keywords):
        other = name.replace("__i", "__") if name.endswith("__") else name.rstrip("_")
        yield Found(
            "TG345",
            f"`{name}` writes to what it is called with",
            node.span,
            "in a formula",
            did_you_mean(name, [other]) if is_named else None,
        )


def _is_new(node: nodes.Expression) -> bool:
    """Whether what is written is a value that nothing else refers to: the sum of two, or that written again."""
    if isinstance(node, nodes.Binary):
        return True
    if isinstance(node, nodes.Unary):
        return node.operator != "*"
    if isinstance(node, nodes.Call) and isinstance(node.function, nodes.Member):
        return node.function.name.endswith("_") and _is_new(node.function.value)
    return nodes.called_name(node) in _MAKING


def _bound(
    node: nodes.Call, parts: Sequence[Typed], operator: Callee
) -> Iterator[tuple[Typed, Argument]]:
    """Pair values with the arguments they are passed for."""
    count = len(parts) - len(node.keywords)
    for value, argument in zip(parts[:count], operator.by_position(count)):
        if argument is not None:
            yield value, argument
    arguments = by_name(operator.func.arguments)
    for (name, _), value in zip(node.keywords, parts[count:]):
        if name in arguments:
            yield value, arguments[name]


def _fits(value: Typed, argument: Argument) -> bool:
    """Whether an argument may accept a value, as far as known; one value may stand for a list."""
    if value.is_none:
        wanted = kinds.kind_of_type(argument.type)
        return not wanted.is_known or wanted.is_optional
    return takes(argument, value.kind)
