"""The axes of an operator: what the line of `axes:` says with its schema, and whether they agree.

Note [What an axis must be]
A call can be cut along an axis without `!`: each piece gives its part of every result that has the axis, and a term of
every other one. So an axis without a mark is in every result, and one with `+` is missing in some. What is written is
a result, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, repeat

from torchgen_lite.analysis.derive.layout import is_tensor_like, tensors_in
from torchgen_lite.analysis.fakes.results import results_of
from torchgen_lite.analysis.finding import Findings, Found
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.diagnostics import did_you_mean
from torchgen_lite.diagnostics.text import counted
from torchgen_lite.formulas.kinds import TENSORS
from torchgen_lite.formulas.language import value_kind
from torchgen_lite.loader.entry.axes import Axed, Axes, Axis
from torchgen_lite.schema import FunctionSchema
from torchgen_lite.schema.dispatch_kind import dispatch_kind
from torchgen_lite.schema.grouped import by_name, names_of


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
    tensors = names_of(tensors_in(schema.arguments))
    results = _result_names(schema)
    if not tensors or _takes_list(schema):
        return None
    alike = dict.fromkeys([*tensors, *results], Axed("", (Axis("*b"),)))
    return Axes(_ordered(tensors, alike), _ordered(results, alike))


def is_pointwise(operator: Operator, line: Axes) -> bool:
    """Whether an operator is computed element by element: it says so, or one `*` is all that its line has.

    A result that lacks an axis of a tensor is computed from several elements; in a list each may have a layout of its own.
    """
    values = (*line.tensors, *line.results)
    axes = set(_axes_in(*values))
    if any(axis.mark for axis in axes):
        return False
    if not all(axes.issubset(result.axes) for result in line.results):
        return False
    if _returns_list(operator.schema):
        return False
    if "pointwise" in operator.function.tags:
        return True
    has_star = all(len(value.axes) == 1 and value.axes[0].is_star for value in values)
    return has_star and len(axes) == 1


def _completed(schema: FunctionSchema, line: Axes) -> Axes:
    """The line with all names, in the order of the schema."""
    names = _result_names(schema)
    tensors = by_name(line.tensors)
    results = dict(_named(names, line.results))
    for argument in schema.written:
        # What is written is given and returned: the line says it once.
        axed = tensors.get(argument.name, results.get(argument.name))
        if axed is not None:
            tensors.setdefault(argument.name, axed)
            results.setdefault(argument.name, axed)
    arguments = names_of(schema.arguments)
    return Axes(_ordered(arguments, tensors), _ordered(names, results), line.span)


def _ordered(names: Iterable[str], axed: Mapping[str, Axed]) -> tuple[Axed, ...]:
    """What is said of these, each with its name."""
    return tuple(
        [Axed(name, axed[name].axes, axed[name].is_added) for name in names if name in axed]
    )


def _result_names(schema: FunctionSchema) -> list[str]:
    """The results in order, and what else is written; each that is an argument has its name."""
    names = [r.argument.name if r.argument else r.name for r in results_of(schema)]
    return [*names, *(a.name for a in schema.written if a.name not in names)]


def _named(names: list[str], results: Iterable[Axed]) -> Iterator[tuple[str, Axed]]:
    """Each result with its name, or the one at its place; empty for one more than there are."""
    for result, name in zip(results, chain(names, repeat(""))):
        yield result.name or name, result


def _takes_list(schema: FunctionSchema) -> bool:
    return any(dispatch_kind(argument.type).is_list for argument in schema.arguments)


def _returns_list(schema: FunctionSchema) -> bool:
    return any(value_kind(result.type) == TENSORS for result in schema.returns)


def _unsuited(operator: Operator) -> str:
    """Why an operator can't have axes; empty if it can."""
    schema = operator.schema
    name = operator.schema.full_name
    if operator.function.is_pytorchs:
        return f"PyTorch has rules of its own for `{name}`"
    if operator.is_only_composed:
        return f"`{name}` is composed of operators, which have their own axes"
    if "nondeterministic_seeded" in operator.tags:
        return f"`{name}` draws random numbers, and pieces of a call draw others than the whole"
    if schema.is_aliasing:
        return f"`{name}` shares memory with an argument"
    if _returns_list(schema) and not _takes_list(schema):
        return f"nothing says how many tensors `{name}` returns"
    for result in results_of(schema):
        type_ = result.value.type
        if not is_tensor_like(type_):
            return f"result `{result.name}` of `{name}` is `{type_}`, which has no axes"
    if _result_names(schema):
        return ""
    return f"`{name}` returns and writes no tensor"


def check_axes(operator: Operator, line: Axes) -> Findings:
    """Every mistake in a line of `axes:`."""
    schema = operator.schema
    reason = _unsuited(operator)
    if reason:
        yield Found("TG349", reason, line.span, "no axes here", "leave it out")
        return
    tensors = names_of(tensors_in(schema.arguments))
    results = _result_names(schema)
    wrong = [
        *_check_names(schema, "tensor", tensors, _named([], line.tensors)),
        *_check_names(schema, "result", results, _named(results, line.results)),
    ]
    given = set(names_of(_completed(schema, line).results))
    for name in results:
        if name not in given:
            wrong.append(
                Found(
                    "TG349",
                    f"no axes for result `{name}` of `{schema.full_name}`",
                    line.results[-1].span,
                    "missing beside this",
                )
            )
    yield from wrong or _check_agreement(schema, line)


def _check_names(
    schema: FunctionSchema, what: str, names: list[str], given: Iterable[tuple[str, Axed]]
) -> Findings:
    """Each is what the operator has, once, and has an axis once."""
    listed = f"its {what}s are {', '.join(names)}"
    seen = set()
    for name, value in given:
        if not name:
            yield Found(
                "TG349",
                f"`{schema.full_name}` has {counted(len(names), what)}",
                value.span,
                "one more",
                listed,
            )
        elif name not in names:
            yield Found(
                "TG349",
                f"`{schema.full_name}` has no {what} `{name}`",
                value.span,
                f"not a {what}",
                did_you_mean(name, names) or listed,
            )
        elif name in seen:
            yield Found("TG349", f"{what} `{name}` is named twice", value.span, "again")
        seen.add(name)
        yield from _check_repeated(value.axes)


def _check_repeated(axes: Iterable[Axis]) -> Findings:
    seen = set()
    for axis in axes:
        if axis.name in seen:
            yield Found(
                "TG349",
                f"a tensor has axis `{axis.name}` twice",
                axis.span,
                "again",
                "give it another name",
            )
        seen.add(axis.name)


def _check_agreement(schema: FunctionSchema, line: Axes) -> Findings:
    """See Note [What an axis must be]."""
    whole = _completed(schema, line)
    axes = _axes_in(*line.tensors, *line.results)
    first = by_name(reversed(axes))
    for axis in axes:
        if axis.mark != first[axis.name].mark:
            yield Found(
                "TG349",
                f"axis `{axis.name}` is `{first[axis.name]}` before, and `{axis}` here",
                axis.span,
                "another mark",
                "mark it alike everywhere",
            )
            return
    given = set(names_of(_axes_in(*whole.tensors)))
    for axis in first.values():
        lacking = [result.name for result in whole.results if axis not in result.axes]
        if axis.name not in given:
            yield Found(
                "TG349",
                f"no tensor has axis `{axis.name}`",
                axis.span,
                "only in a result",
                did_you_mean(axis.name, given) or "give the shape with `fake:`, without `axes`",
            )
        elif lacking and not axis.mark:
            yield Found(
                "TG349",
                f"result `{lacking[0]}` has no axis `{axis.name}`",
                axis.span,
                "not independent",
                f"write `{axis.name}+` if it is summed over, or `{axis.name}!` if it is needed whole",
            )
        elif axis.mark == "+" and not lacking:
            yield Found(
                "TG349",
                f"every result has axis `{axis.name}`",
                axis.span,
                "not summed over",
                f"write `{axis.name}`",
            )
    yield from _check_stars(line)
    yield from _check_added(schema, whole, line)
    results = by_name(whole.results)
    for tensor in line.tensors:
        if results.get(tensor.name, tensor).axes != tensor.axes:
            yield Found(
                "TG349",
                f"`{tensor.name}` is written, so its axes stay as they are",
                tensor.span,
                "other axes than the result",
            )


def _check_added(schema: FunctionSchema, whole: Axes, line: Axes) -> Findings:
    """What is added once is no result, and lacks an axis that is summed over, as every result does.

    A result that has the axis is cut along it, and would get its part of the sum in every piece.
    """
    summed = {axis for axis in _axes_in(*whole.tensors) if axis.mark == "+"}
    for tensor in line.tensors:
        lacked = sorted(names_of(summed.difference(tensor.axes)))
        if not tensor.is_added:
            continue
        problem = ""
        if tensor.name in set(names_of(schema.written)):
            problem = "it is written"
        elif not lacked:
            problem = "there is no axis summed over that it lacks"
        for result in whole.results:
            kept = [axis.name for axis in result.axes if axis.name in lacked]
            if kept:
                problem = (
                    f"result `{result.name}` has axis `{kept[0]}`, which is summed over elsewhere"
                )
        if problem:
            yield Found(
                "TG349",
                f"`{tensor.name}` is not added once: {problem}",
                tensor.span,
                "added",
                "leave the `+` in front out",
            )


def _axes_in(*values: Axed) -> list[Axis]:
    axes: list[Axis] = []
    for value in values:
        axes += value.axes
    return axes


def _check_stars(line: Axes) -> Findings:
    """Of several `*` in a tensor, all but one must be alone in another tensor, which tells how many dimensions they are."""
    stars = {}
    for tensor in line.tensors:
        stars[tensor.name] = [axis for axis in tensor.axes if axis.is_star]
    known = {axes[0].name for axes in stars.values() if len(axes) == 1}
    for name, axes in stars.items():
        unknown = [axis for axis in axes if axis.name not in known]
        if len(unknown) > 1:
            yield Found(
                "TG349",
                f"which dimensions of `{name}` are `{unknown[0]}`, and which `{unknown[1]}`?",
                unknown[1].span,
                "not told",
                "give another tensor one of them alone",
            )
