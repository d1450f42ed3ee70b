"""The axes of an operator: what the line of `axes:` says with its schema, and whether they agree.

Note [What an axis must be]
A call can be cut along an axis without `!`: each piece gives its part of every result that has the axis, and a term of
every other one. So an axis without a mark is in every result, and one with `+` is missing in some. What is written is
a result, too.
"""

from __future__ import annotations

from collections.abc import Iterator

from torchgen_lite.analysis.derive.layout import is_tensor_like
from torchgen_lite.analysis.fakes.results import results_of
from torchgen_lite.analysis.finding import Found
from torchgen_lite.analysis.namespaces import TORCH_NAMESPACES
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.diagnostics import did_you_mean
from torchgen_lite.diagnostics.text import counted
from torchgen_lite.formulas.kinds import TENSORS
from torchgen_lite.formulas.language import value_kind
from torchgen_lite.loader.axes import Axed, Axes, Axis
from torchgen_lite.schema import FunctionSchema
from torchgen_lite.schema.dispatch_kind import dispatch_kind


def axes_of(operator: Operator) -> Axes | None:
    """The line with a name for each result, and with what is written among the tensors and the results.

    The tag `pointwise` implies a line if there is none.
    """
    schema = operator.schema
    line = operator.function.axes
    is_said = line is not None or "pointwise" in operator.function.tags
    if not is_said or _unsuited(operator):
        return None
    if line is not None:
        return _completed(schema, line)
    tensors = [a for a in schema.arguments if is_tensor_like(a.type)]
    if not tensors or any(dispatch_kind(a.type).is_list for a in tensors):
        return None
    star = (Axis("*b"),)
    results = tuple(Axed(name, star) for name in _result_names(schema))
    return Axes(tuple(Axed(a.name, star) for a in tensors), results)


def is_pointwise(operator: Operator, line: Axes) -> bool:
    """Whether an operator is computed element by element: it says so, or one `*` is all that its line has.

    A result that lacks an axis of a tensor is computed from several elements; in a list each may have a layout of its own.
    """
    every = [one.axes for one in (*line.tensors, *line.results)]
    axes = {axis for own in every for axis in own}
    is_said = "pointwise" in operator.function.tags
    is_plain = len(axes) == 1 and all(len(own) == 1 and own[0].is_star for own in every)
    has_all = all(axes.issubset(one.axes) for one in line.results)
    has_list = any(value_kind(r.type) == TENSORS for r in operator.schema.returns)
    is_clean = has_all and not has_list and not any(axis.mark for axis in axes)
    return is_clean and (is_said or is_plain)


def _completed(schema: FunctionSchema, line: Axes) -> Axes:
    """The line with all names, in the order of the schema."""
    names = _result_names(schema)
    own = {one.name: one.axes for one in line.tensors}
    results = {_name(names, i, one): one.axes for i, one in enumerate(line.results)}
    for name in [a.name for a in schema.written if a.name in own or a.name in results]:
        results.setdefault(name, own.setdefault(name, results.get(name, ())))
    tensors = tuple(Axed(a.name, own[a.name]) for a in schema.arguments if a.name in own)
    return Axes(tensors, tuple(Axed(n, results[n]) for n in names if n in results), line.span)


def _result_names(schema: FunctionSchema) -> list[str]:
    """The results in order, and what else is written; each that is an argument has its name."""
    names = [r.argument.name if r.argument else r.name for r in results_of(schema)]
    return [*names, *(a.name for a in schema.written if a.name not in names)]


def _name(names: list[str], index: int, result: Axed) -> str:
    """The name of a result, or the one at its place."""
    return result.name or "".join(names[index : index + 1])


def _unsuited(operator: Operator) -> str:
    """Why an operator can't have axes; empty if it can."""
    schema = operator.schema
    name = operator.schema.full_name
    if operator.function.namespace in TORCH_NAMESPACES:
        return f"PyTorch has rules of its own for `{name}`"
    if operator.is_only_composed:
        return f"`{name}` is composed of operators, which have their own axes"
    if "nondeterministic_seeded" in operator.tags:
        return f"`{name}` draws random numbers, and pieces of a call draw others than the whole"
    if schema.is_aliasing:
        return f"`{name}` shares memory with an argument"
    has_list = any(value_kind(a.type) == TENSORS for a in schema.arguments)
    if not has_list and any(value_kind(r.type) == TENSORS for r in schema.returns):
        return f"nothing says how many tensors `{name}` returns"
    wrong = [r for r in results_of(schema) if not is_tensor_like(r.value.type)]
    if wrong:
        return f"result `{wrong[0].name}` of `{name}` is `{wrong[0].value.type}`, which has no axes"
    if _result_names(schema):
        return ""
    return f"`{name}` returns and writes no tensor"


def check_axes(operator: Operator, line: Axes) -> Iterator[Found]:
    """Every mistake in a line of `axes:`."""
    schema = operator.schema
    reason = _unsuited(operator)
    if reason:
        yield Found("TG349", reason, line.span, "no axes here", "leave it out")
        return
    tensors = [a.name for a in schema.arguments if is_tensor_like(a.type)]
    results = _result_names(schema)
    named = [(_name(results, i, one), one) for i, one in enumerate(line.results)]
    wrong = [
        *_check_names(schema, "tensor", tensors, [(one.name, one) for one in line.tensors]),
        *_check_names(schema, "result", results, named),
    ]
    given = {one.name for one in _completed(schema, line).results}
    for name in results:
        if name not in given:
            message = f"no axes for result `{name}` of `{schema.full_name}`"
            wrong.append(Found("TG349", message, line.results[-1].span, "missing beside this"))
    yield from wrong or _check_agreement(schema, line)


def _check_names(
    schema: FunctionSchema, what: str, names: list[str], given: list[tuple[str, Axed]]
) -> Iterator[Found]:
    """Each is what the operator has, once, and has an axis once."""
    for index, (name, one) in enumerate(given):
        if name not in names:
            message = f"`{schema.full_name}` has no {what} `{name}`"
            if not name:
                message = f"`{schema.full_name}` has {counted(len(names), what)}"
            hint = did_you_mean(name, names) or f"its {what}s are {', '.join(names)}"
            yield Found("TG349", message, one.span, f"not a {what}" if name else "one more", hint)
        elif name in [before for before, _ in given[:index]]:
            yield Found("TG349", f"{what} `{name}` is named twice", one.span, "again")
        for place, axis in enumerate(one.axes):
            if axis.name in [before.name for before in one.axes[:place]]:
                message = f"a tensor has axis `{axis.name}` twice"
                yield Found("TG349", message, axis.span, "again", "give it another name")


def _check_agreement(schema: FunctionSchema, line: Axes) -> Iterator[Found]:
    """See Note [What an axis must be]."""
    whole = _completed(schema, line)
    every = [axis for one in (*line.tensors, *line.results) for axis in one.axes]
    first = {axis.name: axis for axis in reversed(every)}
    for axis in every:
        if axis.mark != first[axis.name].mark:
            message = f"axis `{axis.name}` is `{first[axis.name]}` before, and `{axis}` here"
            yield Found("TG349", message, axis.span, "another mark", "mark it alike everywhere")
            return
    given = {axis.name for one in whole.tensors for axis in one.axes}
    for axis in first.values():
        lacking = [one.name for one in whole.results if axis not in one.axes]
        if axis.name not in given:
            message = f"no tensor has axis `{axis.name}`"
            hint = did_you_mean(axis.name, given) or "give the shape with `fake:`, without `axes`"
            yield Found("TG349", message, axis.span, "only in a result", hint)
        elif lacking and not axis.mark:
            message = f"result `{lacking[0]}` has no axis `{axis.name}`"
            hint = f"write `{axis.name}+` if it is summed over, or `{axis.name}!` if it is needed whole"
            yield Found("TG349", message, axis.span, "not independent", hint)
        elif axis.mark == "+" and not lacking:
            message = f"every result has axis `{axis.name}`"
            yield Found("TG349", message, axis.span, "not summed over", f"write `{axis.name}`")
    results = {one.name: one.axes for one in whole.results}
    stars = {one.name: [a for a in one.axes if a.is_star] for one in line.tensors}
    known = {own[0].name for own in stars.values() if len(own) == 1}
    for one in line.tensors:
        open_ = [axis for axis in stars[one.name] if axis.name not in known]
        if len(open_) > 1 and len(stars[one.name]) > 1:
            message = f"which dimensions of `{one.name}` are `{open_[0]}`, and which `{open_[1]}`?"
            hint = "give another tensor one of them alone"
            yield Found("TG349", message, open_[1].span, "not told", hint)
        if results.get(one.name, one.axes) != one.axes:
            message = f"`{one.name}` is written, so its axes stay as they are"
            yield Found("TG349", message, one.span, "other axes than the result")
