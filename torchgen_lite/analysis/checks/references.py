"""What the expression of a `reference:` gives, and what in it cannot be right in any language.

    reference: x.dim() + 1          for a Tensor: it gives an integer
    reference: (x, x, x)            for two results
    reference: torch.sigmoidd(x)    PyTorch has no such function

Note [What is certain of a reference]
A reference runs in Python, where a value may be of any kind. So nothing is assumed: a kind is known where the schema,
a literal, or all of PyTorch's overloads that may be meant agree on it. What is not known is not reported. Targets add
what their language cannot say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from torchgen_lite.analysis.differentiability.info import kind_of_value
from torchgen_lite.analysis.differentiability.kinds import branches, check_writes
from torchgen_lite.analysis.differentiability.vocabulary import (
    lacks_tensor,
    not_a_method,
    spread_list,
    spreads,
    torch_operators,
    untaken,
    wrong_count,
)
from torchgen_lite.analysis.finding import Findings, Found
from torchgen_lite.analysis.kernels import REFERENCE
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.diagnostics import Help, Span, Suggestion, did_you_mean, write_instead
from torchgen_lite.formulas import model as nodes
from torchgen_lite.formulas.callees import Callee, Operators, no_operators, takes
from torchgen_lite.formulas.kinds import (
    FLOAT,
    NUMBER_SORTS,
    SCALAR,
    TENSOR,
    TENSORS,
    UNKNOWN,
    Kind,
    Sort,
    kind_of_type,
)
from torchgen_lite.formulas.language import GRADIENTS, REFERENCES, Language
from torchgen_lite.formulas.model import Expression
from torchgen_lite.formulas.python import KINDS, NUMBER_FUNCTIONS, in_formulas
from torchgen_lite.formulas.tree import Scope, Typed, Undeclared, every_part, nothing_known
from torchgen_lite.formulas.typed import type_formula
from torchgen_lite.loader.entry.reader import python_names
from torchgen_lite.loader.entry.samples import Reference
from torchgen_lite.loader.torch.functions import functions_of_torch
from torchgen_lite.schema import Return

Values = dict[str, Typed]
"""The values under `let`, by name, each after those that it uses."""


def check_reference(operator: Operator, reference: Reference) -> Findings:
    """Every mistake in the expression of a reference; nothing where it is the name of a function."""
    function = operator.function
    if not reference.text or function.reference_function:
        return
    values, results = reference_trees(operator, REFERENCES, undeclared=_kind_in_torch)
    is_computed = function.is_auto or function.has_kernel(REFERENCE)
    is_functional = not function.func.written
    for tree in (*values.values(), *results):
        for part in every_part(tree):
            yield from _check_part(part)
            if is_computed and is_functional:
                yield from check_writes(part)
    span = reference.places.get(reference.tree, reference.span)
    yield from _check_results(results, function.func.returns, span)


def reference_trees(
    operator: Operator,
    language: Language = GRADIENTS,
    operators: Operators = no_operators,
    undeclared: Undeclared = nothing_known,
    more: Iterable[tuple[str, Expression]] = (),
) -> tuple[Values, list[Typed]]:
    """The values of `let` and the results of a reference, as formulas; `more` says what names stand for.

    A tuple or a list is as many results, if the operator has several.
    """
    function = operator.function
    schema = operator.schema
    assert function.samples is not None and function.samples.reference is not None
    reference = function.samples.reference
    place = reference.places.get
    given: dict[str, Expression] = {
        python: nodes.Name(name) for python, name in python_names(schema).items()
    }
    given |= dict(more)
    kinds = dict(KINDS)
    for argument in schema.arguments:
        kinds[argument.name] = kind_of_value(argument.type)
    scope = Scope(kinds, operators=operators, language=language, undeclared=undeclared)
    values = {}
    for bound, part, _ in reference.let:
        values[bound] = type_formula(in_formulas(part, given, place), scope)
        kinds[bound] = values[bound].kind
        given[bound] = nodes.Name(bound)
    whole = in_formulas(reference.tree, given, place)
    is_several = isinstance(whole, nodes.ListDisplay) and len(schema.returns) > 1
    results = nodes.children(whole) if is_several else (whole,)
    return values, [type_formula(result, scope) for result in results]


# What a call gives


def _kind_in_torch(node: nodes.Call, parts: Sequence[Kind]) -> Kind:
    """The kind of what a function or method of PyTorch gives, if that is certain."""
    kinds = results_in_torch(node, parts)
    if len(kinds) == 1:
        return kinds[0]
    if kinds and set(kinds) == {TENSOR}:
        return TENSORS
    if kinds:
        return Kind(Sort.unknown, is_list=True)
    return UNKNOWN


def results_in_torch(node: nodes.Call, parts: Sequence[Kind]) -> tuple[Kind, ...]:
    """The kinds of the results on which PyTorch's overloads agree that may be meant; none if they do not."""
    name = nodes.name_called(node)
    if name in NUMBER_FUNCTIONS and all(kind.is_number for kind in parts):
        return (SCALAR,)
    overloads: Sequence[Callee] = torch_operators(name)
    is_own = name in functions_of_torch().own
    if not is_own:
        count = len(parts) - len(node.keywords)
        keywords = node.keyword_names
        binding = [overload for overload in overloads if _binds(overload, parts[:count], keywords)]
        if not binding and keywords:
            return ()
        overloads = binding or overloads
    given = set()
    for overload in overloads:
        given.add(tuple([kind_of_type(value.type) for value in overload.func.returns]))
    kinds = given.pop() if len(given) == 1 else ()
    # Of several, Python may give those alone that are asked for, as `torch.unique_consecutive` does.
    return () if is_own and len(kinds) > 1 else kinds


def _binds(overload: Callee, given: Sequence[Kind], keywords: Sequence[str]) -> bool:
    """Whether an overload may take these values by position, and these keywords."""
    places = overload.by_position(len(given))
    if len(given) > len(places) and not spreads(overload.func):
        return False
    if overload.bound(len(given), keywords) is None:
        return False
    return all(takes(place, kind) for place, kind in zip(places, given))


# What cannot be right


def _check_part(part: Typed) -> Findings:
    node = part.node
    if isinstance(node, nodes.Call):
        yield from _check_call(part, node)
    elif isinstance(node, nodes.Member):
        yield from _check_attribute(part, node)
    elif isinstance(node, nodes.Lambda) and node.called:
        yield from _check_path(node)
        yield from _check_builtin(part, node)
    elif isinstance(node, nodes.Binary):
        yield from _check_operands(part, node)


def _check_call(part: Typed, node: nodes.Call) -> Findings:
    name = nodes.name_called(node)
    torch = functions_of_torch()
    is_method = isinstance(node.function, nodes.Member)
    if is_method:
        if name == "defined":  # That is how `is None` is said.
            return
        wrong = not_a_method(part, "Python", torch.python_methods)
        if wrong is not None:
            yield wrong
            return
        if part.parts[0].kind.present != TENSOR:
            yield from _check_of_others(part.parts[0], name, node)
            return
    elif name not in torch.torch | torch.classes and not name[:1].isupper():
        yield Found(
            "TG341",
            f"the reference calls `torch.{name}`, which PyTorch does not have",
            node.span,
            "no such function",
            _function_meant(name),
        )
        return
    yield from _check_arguments(part, node, name)


def _function_meant(name: str) -> Help | None:
    """The function with this name in a module of `torch`, or one with a similar name."""
    torch = functions_of_torch()
    for path in sorted(torch.of_modules):
        if path.rpartition(".")[2] == name:
            return write_instead(f"torch.{name}", f"torch.{path}")
    return did_you_mean(name, torch.torch)


def _check_path(node: nodes.Lambda) -> Findings:
    """A function of a module of PyTorch whose functions are known: `torch.nn.functional.silu`."""
    package, _, path = node.called.partition(".")
    known = functions_of_torch().of_modules
    module = path.rpartition(".")[0]
    is_in_known_module = any(function.rpartition(".")[0] == module for function in known)
    # One in capitals is a class.
    is_function = not path.rpartition(".")[2][:1].isupper()
    if package == "torch" and is_in_known_module and is_function and path not in known:
        yield Found(
            "TG341",
            f"the reference calls `{node.called}`, which PyTorch does not have",
            node.span,
            "no such function",
            did_you_mean(node.called, [f"torch.{function}" for function in known]),
        )


def _check_builtin(part: Typed, node: nodes.Lambda) -> Findings:
    """A builtin that takes a tensor apart, as no formula does: `sum(x)` adds rows, and `torch.sum(x)` everything."""
    if node.called in _OF_PARTS and part.parts and part.parts[0].kind.present == TENSOR:
        yield Found(
            "TG335",
            f"`{node.called}` is Python's, and takes a tensor apart",
            node.span,
            "of a tensor",
            Suggestion(
                f"write `torch.{node.called}(...)`",
                f"{node.called}(",
                f"torch.{node.called}(",
                is_safe=False,
            ),
        )


_OF_PARTS = ("max", "min", "round", "sum")


def _check_arguments(part: Typed, node: nodes.Call, name: str) -> Findings:
    """TG323: arguments that a function or method of PyTorch does not take."""
    is_operator = name in NUMBER_FUNCTIONS and all(operand.kind.is_number for operand in part.parts)
    # Python lets these be called in more ways than the schemas say.
    is_freer = name in functions_of_torch().own
    is_freer = is_freer or any(spreads(overload.func) for overload in torch_operators(name))
    if is_operator or is_freer:
        return
    problem = lacks_tensor(name, part) or wrong_count(node, name, "Python")
    if not problem and not node.keywords:
        likely = _with_numbers_free(part)
        problem = spread_list(likely, name) or untaken(likely, name, "Python")
    if problem:
        declared = [str(overload.func) for overload in torch_operators(name)[:1]]
        if declared:
            help_ = f"PyTorch has `{declared[0]}`"
        else:
            help_ = "see what PyTorch's documentation says"
        yield Found("TG323", problem, node.span, "in this call", help_)


def _with_numbers_free(part: Typed) -> Typed:
    """The call with numbers, strings and the like of any kind: Python converts them, and has signatures of its own for
    a few functions, such as `torch.add(x, 2, y)`."""
    operands = []
    for operand in part.parts:
        is_fixed = operand.kind.is_list or operand.kind.present == TENSOR
        operands.append(operand if is_fixed else operand._replace(kind=UNKNOWN))
    return part._replace(parts=tuple(operands))


# What has no methods of tensors.
_OF_NUMBERS = frozenset({*dir(int), *dir(float), *dir(complex)})
_OF_LISTS = frozenset({*dir(list), *dir(tuple)})


def _check_of_others(of: Typed, name: str, node: Expression) -> Findings:
    """TG322: a method or an attribute that numbers and lists of arguments do not have."""
    is_number = of.kind.present.is_number
    is_listed = of.kind.is_list and isinstance(of.node, nodes.Name)
    known = _OF_NUMBERS if is_number else _OF_LISTS
    if (is_number or is_listed) and name not in known:
        help_ = did_you_mean(name, [member for member in known if not member.startswith("_")])
        is_of_tensors = is_listed and of.kind.sort is Sort.tensor
        help_ = help_ or ("choose an item of it" if is_of_tensors else "write it of a tensor")
        yield Found(
            "TG322",
            f"`{of.node}` is {of.kind.present.words}, and has no `{name}`",
            node.span,
            "only tensors have it",
            help_,
        )


def _check_attribute(part: Typed, node: nodes.Member) -> Findings:
    """TG322: an attribute that tensors do not have in Python."""
    of = part.parts[0]
    torch = functions_of_torch()
    if of.kind.present != TENSOR:
        yield from _check_of_others(of, node.name, node)
        return
    # A method may be an argument: `torch.vmap(x.mul)`.
    if node.name not in torch.attributes | torch.python_methods:
        yield Found(
            "TG322",
            f"tensors have no attribute `{node.name}` in Python",
            node.span,
            "no such attribute",
            did_you_mean(node.name, torch.attributes),
        )


def _is_uncalled(part: Typed) -> bool:
    """Whether a value is a method of a tensor, and not what it gives."""
    if not isinstance(part.node, nodes.Member) or part.parts[0].kind.present != TENSOR:
        return False
    torch = functions_of_torch()
    return part.node.name in torch.python_methods - torch.attributes


def _uncalled(part: Typed) -> Found:
    return Found(
        "TG322",
        f"`{part.node}` is a method, and not what it gives",
        part.node.span,
        "not called",
        write_instead(str(part.node), f"{part.node}()"),
    )


_ARITHMETIC = frozenset("+ - * / % & | ^".split())


def _check_operands(part: Typed, node: nodes.Binary) -> Findings:
    """TG344: a tensor beside what is neither a tensor nor a number; TG322: a method that is not called."""
    for operand in part.parts:
        if _is_uncalled(operand):
            yield _uncalled(operand)
    kinds = [operand.kind.present for operand in part.parts]
    if node.operator not in _ARITHMETIC or TENSOR not in kinds:
        return
    for operand in part.parts:
        kind = operand.kind
        is_value = kind.sort in NUMBER_SORTS | {Sort.tensor} and not kind.is_list
        if operand.is_none or (kind.is_known and not is_value):
            given = "None" if operand.is_none else kind.words
            message = f"`{operand.node}` is {given}: `{node.operator}` takes tensors and numbers"
            if kind.is_list:
                help_ = "choose an item of it"
            else:
                help_ = "leave it out, or give a value for it"
            yield Found("TG344", message, operand.node.span, "not taken here", help_)


def _check_results(
    results: Sequence[Typed], returns: Sequence[Return], span: Span | None
) -> Findings:
    """TG335: more or fewer results than the operator has, or one of another kind."""
    if not returns:
        return
    if len(results) == len(returns):
        for tree, result in zip(results, returns):
            yield from _check_result(tree, result)
        return
    if len(results) != 1:
        yield _wrong_number(f"{len(results)} results", len(returns), span)
        return
    # One value that may be unpacked, as that of `torch.max(x, 0)`.
    for value in branches(results[0]):
        kinds: tuple[Kind, ...] = ()
        if isinstance(value.node, nodes.Call):
            kinds = results_in_torch(value.node, value.kinds)
        if len(kinds) > 1 and len(kinds) != len(returns):
            yield _wrong_number(f"{len(kinds)} results", len(returns), value.node.span)
        elif len(kinds) > 1:
            for kind, result in zip(kinds, returns):
                yield from _check_result(value._replace(kind=kind), result)
        elif value.is_none or (value.kind.is_known and not value.kind.is_list):
            given = "None" if value.is_none else value.kind.present.words
            yield _wrong_number(given, len(returns), value.node.span)


def _wrong_number(given: str, count: int, span: Span | None) -> Found:
    return Found(
        "TG335",
        f"the reference gives {given}, and the operator has {count} results",
        span,
        "another number of results",
        "write one expression for each result",
    )


def _check_result(tree: Typed, result: Return) -> Findings:
    """A result of another kind than the schema has, where both are known."""
    wanted = kind_of_value(result.type)
    for value in branches(tree):
        if _is_uncalled(value):
            yield _uncalled(value)
        elif not _may_be(value, wanted):
            yield Found(
                "TG335",
                f"the reference gives {value.kind.present.words}, and not `{result.type}`",
                value.node.span,
                f"not `{result.type}`",
                _converted(value.kind.present, wanted.present),
            )


def _converted(given: Kind, wanted: Kind) -> Help | None:
    """How Python makes what is wanted of what is given."""
    if given.is_number and wanted == TENSOR:
        return "`torch.tensor(...)` makes a tensor of a number"
    if given == TENSOR and wanted == TENSORS:
        return "a list of one tensor is written `[...]`"
    if given == TENSOR and wanted.is_number:
        return "`.item()` makes a number of a tensor"
    return "write an expression that gives what the schema says"


def _may_be(tree: Typed, wanted: Kind) -> bool:
    """Whether a value may be a result of this kind, as far as is known. PyTorch converts numbers, and cuts none off."""
    kind = tree.kind.present
    if not wanted.is_known:
        return True
    if kind.is_list != wanted.is_list:
        return not kind.is_list and not kind.is_known
    if not kind.is_known or kind.sort is wanted.sort:
        return True
    if kind == FLOAT and wanted.present.sort in (Sort.int, Sort.symint):
        # What is computed of a `Scalar` counts as a float, and may be an integer.
        return any(part.kind.sort is Sort.scalar for part in every_part(tree))
    are_numbers = kind.sort in NUMBER_SORTS and wanted.sort in NUMBER_SORTS
    is_named_device = kind.sort is Sort.string and wanted.sort is Sort.device
    return are_numbers or is_named_device
