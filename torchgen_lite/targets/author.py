"""The Python functions that an author writes: found in modules, checked against the schema, shown by signature."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from torchgen_lite.analysis.differentiability.vocabulary import CPP_CONSTANTS
from torchgen_lite.analysis.finding import Found, finding
from torchgen_lite.analysis.program import Program
from torchgen_lite.analysis.python_calls import Passed, disagreement, misplaced
from torchgen_lite.diagnostics import Help, Span, Suggestion, misspelled
from torchgen_lite.formulas import model as nodes
from torchgen_lite.languages.python.formula import is_of_cpp
from torchgen_lite.languages.python.names import identifier, identifiers, is_reserved
from torchgen_lite.languages.python.signature import (
    Annotation,
    Parameter,
    imported_names,
    imports,
    names_in,
)
from torchgen_lite.languages.python.torch_ops import default_text, return_type
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.loader.python.annotations import KNOWN, parts_of, takes, words_of
from torchgen_lite.loader.python.kernel_modules import NO_FUNCTIONS, KernelIndex, PythonSignature
from torchgen_lite.schema import Argument
from torchgen_lite.schema.defaults import as_received
from torchgen_lite.schema.grouped import by_name, grouped, names_of
from torchgen_lite.targets.output import AuthorFunction, Findings, wrong_option


class Wanted(NamedTuple):
    """A Python function that an entry names, and how it is called.

    `use` is what it is for (`CPU`, `fake`), `span` where it is named, `option` the option that
    lists its modules. `parameters` and `returns` make its signature, which is rarely needed.
    """

    function: NativeFunction
    name: str
    use: str
    span: Span | None
    passed: Sequence[Passed]
    parameters: Callable[[], Sequence[Parameter]]
    returns: Annotation
    option: str = "kernels"
    code: str = "TG302"

    @property
    def base(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def reserved(self) -> str:
        """The reserved word of Python in the name, with which no function can be defined; empty if there is none."""
        return next(filter(is_reserved, self.name.split(".")), "")

    @property
    def declaration(self) -> str:
        """`def scale_cpu(self: Tensor, factor: Number) -> Tensor`."""
        return f"def {self.base}({', '.join(map(str, self.parameters()))}) -> {self.returns}"

    @property
    def expected(self) -> str:
        return f"expected: `{self.declaration}`"


def passed(arguments: Iterable[Argument], *, has_defaults: bool = False) -> list[Passed]:
    """How the arguments of a schema are passed: all, or without those that equal their default (`has_defaults`)."""
    given = []
    for argument in arguments:
        is_left_out = has_defaults and argument.default is not None
        given.append(Passed(identifier(argument.name), argument.kwarg_only, is_left_out))
    return given


def check_modules(program: Program, target: str, package: str) -> Findings:
    """TG510: a module of the author's with the name of the generated package, which would look for kernels in itself."""
    for option, index in program.modules.get(target, {}).items():
        if package in names_of(index.modules):
            message = f"`{package}` is a module of `{option}`, and the generated package, too"
            hint = f'give the package another name: `package = "{package}_ops"`'
            yield wrong_option(program.config, target, option, message, hint)


def check_author(wanted: Iterable[Wanted], modules: Mapping[str, KernelIndex]) -> Findings:
    """Functions that no module defines, that several define, or that can't be called as they are.

    A problem that concerns several keys of an entry is reported once.
    """
    seen: set[tuple[str, str, str]] = set()
    for called in wanted:
        key = (called.function.name, called.name, called.option)
        if key not in seen:
            seen.add(key)
            yield from _check(called, modules.get(called.option, NO_FUNCTIONS))


def _check(wanted: Wanted, index: KernelIndex) -> Findings:
    function = wanted.function
    name = wanted.name
    place = wanted.span
    if index.find(name) is None:
        message = f"no module of `{wanted.option}` defines `{name}`"
        hint, notes = _instead(wanted, index)
        diagnostic = finding(function, wanted.code, message, place, "not found", hint)
        yield replace(diagnostic, notes=notes)
        return
    places = index.find_all(name)
    if len(places) > 1:
        listed = " and ".join(f"`{module}` (line {line})" for module, line in places)
        hint = f"write `{places[0][0]}.{name}`, or rename one of them"
        message = f"`{name}` is defined in {listed}"
        yield finding(function, "TG303", message, place, "ambiguous", hint)
        return
    other = index.other(name)
    if other:
        defined = (index.place(name), "defined here")
        message = f"`{name}` is {other}, and no function that returns a result"
        yield finding(function, "TG334", message, place, "named here", None, defined)
        return
    signature = index.signature(name)
    if signature is None:
        return
    for mistake in _misunderstood(wanted, signature):
        defined = (index.place(name), "defined here")
        placed = mistake._replace(span=mistake.span or place, other=defined)
        yield replace(finding(function, *placed), notes=(wanted.expected,))


def _instead(wanted: Wanted, index: KernelIndex) -> tuple[Help, tuple[str, ...]]:
    """What to do about a function that no module defines; the notes show it if it is to be written."""
    if "::" in wanted.name:
        return "that is a name of C++: name a function of Python, or `skip` this", ()
    rule = _as_a_rule(wanted)
    if rule is not None:
        return rule, ()
    importer = index.importer(wanted.name)
    if importer is not None:
        other = f"name the module that defines it in `{wanted.option}`"
        return f"`{importer.name}` imports it: {other}", ()
    if wanted.reserved:
        word = f"`{wanted.reserved}` is a reserved word in Python"
        return f"{word}: name another function, as in `{wanted.use}: {wanted.base}_`", ()
    hint = misspelled(wanted.base, index.names())
    note = f"{wanted.expected}; `torchgen-lite kernels --missing` writes a stub"
    return hint or f"define it in a module of `{wanted.option}`", (note,)


def _as_a_rule(wanted: Wanted) -> Help | None:
    """The help for `fake: x.shape` and `fake: x`, which mean a rule about an argument, and name no function."""
    argument, _, attribute = wanted.name.partition(".")
    arguments = set(names_of(wanted.function.func.arguments))
    if wanted.option != "fakes" or argument not in arguments:
        return None
    rule = f"{{shape: {wanted.name}}}" if attribute == "shape" else f"{{like: {argument}}}"
    return Suggestion(f"write a rule: `fake: {rule}`", wanted.name, rule, is_safe=False)


def _misunderstood(wanted: Wanted, signature: PythonSignature) -> Iterator[Found]:
    """How a function can't be called, or what it takes for something else than it is given, and what else it returns."""
    problem = disagreement(signature, wanted.passed)
    if problem:
        yield Found("TG334", problem, None, "named here")
        return
    schema = wanted.function.func
    arguments = dict(zip(identifiers(schema.arguments), schema.arguments))
    changed = misplaced(signature, wanted.passed)
    if changed is not None:
        parameter, name = changed
        message = f"`{signature.name}` takes `{parameter}` where `{name}` is passed"
        place = arguments[name].name_span if name in arguments else None
        yield Found("TG425", message, place, f"goes to `{parameter}`")
        return
    yield from _mistyped(signature, [(given, arguments.get(given.name)) for given in wanted.passed])
    if not any(result.is_write for result in schema.returns):
        yield from _other_results(signature, str(wanted.returns))


def _mistyped(
    signature: PythonSignature, given: Sequence[tuple[Passed, Argument | None]]
) -> Iterator[Found]:
    """TG426 and TG427: annotations and defaults that are not those of the arguments that the parameters get."""
    names = iter(signature.positional)
    for passed, argument in given:
        parameter = passed.name if passed.by_keyword else next(names, "")
        if argument is None:
            continue
        annotation = signature.annotations.get(parameter)
        preset = signature.values.get(parameter)
        shown = f"of `{signature.name}` is not"
        is_implicit = preset == "None"  # As type checkers did before PEP 484 was changed.
        words = words_of(f"{annotation}|None" if is_implicit else str(annotation))
        demanded = words_of(str(return_type(argument.type)).replace("Number", "float"))
        # `Scalar` is annotated as a float or a complex number. Few kernels are for the latter.
        is_taken = all(takes(words, word) for word in {*demanded} - {"complex"})
        if annotation and words | demanded <= KNOWN and not is_taken:
            message = f"`{parameter}: {annotation}` {shown} for every `{argument.type}`"
            yield Found("TG426", message, argument.name_span, f"is `{argument.type}`")
        if passed.is_left_out and preset and _differs(preset, argument):
            message = f"`{parameter}={preset}` {shown} the default of the schema"
            yield Found("TG427", message, argument.name_span, f"is {argument.default} by default")


def _differs(preset: str, argument: Argument) -> bool:
    """Whether two defaults are literals, and are not alike."""
    values = [_literal(preset), _literal(default_text(argument))]
    if ... in values:
        return False
    given, expected = [as_received(argument.type, value) for value in values]
    return given != expected


def _literal(text: str) -> object:
    try:
        value: object = ast.literal_eval(text)
        if isinstance(value, tuple):
            return [*value]
        return value
    except (ValueError, SyntaxError):
        return ...


def _other_results(signature: PythonSignature, expected: str) -> Iterator[Found]:
    """TG426: results that are annotated as what these cannot be. PyTorch converts one number into another."""
    annotation = signature.annotations.get("return", "Any")
    words = words_of(annotation)
    demanded = words_of(expected)
    count = parts_of(expected)
    parts = parts_of(annotation)
    if not words | demanded <= KNOWN:
        return
    fits = [_is_one_of(word, demanded) for word in words]
    is_right = any(fits)
    if count is not None:
        is_right = all(fits) and parts in (None, count)
    if not is_right:
        message = f"`{signature.name}` returns `{annotation}`, not `{expected}`"
        yield Found("TG426", message, None, "named here")


def _is_one_of(word: str, demanded: Collection[str]) -> bool:
    """Whether one of two words takes what the other stands for."""
    return any(takes({word}, other) or takes({other}, word) for other in demanded)


def formula_nodes(function: NativeFunction) -> Iterator[nodes.Expression]:
    """Every node of an entry's formulas."""
    if function.derivatives is None:
        return
    for _, formulas in function.derivatives.variants:
        for formula in formulas:
            if formula.expression is not None:
                yield from nodes.walk(formula.expression)


def check_formulas(functions: Sequence[NativeFunction]) -> Findings:
    """TG540: C++ in formulas that has no equivalent in Python."""
    names = _Names(
        {function.func.base_name for function in functions},
        # In a file of PyTorch's operators these are what `at::` names.
        {f.func.base_name for f in functions if not f.is_pytorchs},
        {f"{function.namespace}::{function.func.base_name}" for function in functions},
    )
    for function in functions:
        for node in formula_nodes(function):
            message = _not_in_python(node, names)
            if message:
                help_ = "write it without, or call a function of yours"
                yield finding(function, "TG540", message, node.span, "not in Python", help_)


class _Names(NamedTuple):
    """The names of operators: of all, of those that are not PyTorch's, and with their namespaces."""

    operators: Collection[str]
    own: Collection[str]
    full: Collection[str]


def _not_in_python(node: nodes.Expression, names: _Names) -> str:
    """What in a node is C++ alone; empty if nothing is."""
    is_called = isinstance(node, nodes.Call)
    called = node
    if isinstance(node, nodes.Call):
        called = node.function
    if isinstance(node, nodes.Lambda):
        return "Python cannot run a lambda of C++"
    if isinstance(node, nodes.Unary) and node.operator == "*":
        return "Python has no `*` before a value"
    if isinstance(called, nodes.Member):
        if called.arrow:
            return "Python has no `->`"
        return _reserved(called.name)
    if not isinstance(called, nodes.Name) or called.text.removeprefix("::") in names.full:
        return ""
    if not is_called and called.text in CPP_CONSTANTS:
        return f"`{called.text}` is a constant of C++"
    if is_of_cpp(called.text, is_called=is_called):
        return f"`{called.text}` is a name of C++"
    name = nodes.called_name(node) or ""
    if "::" in called.text and name in names.own:
        return f"`{called.text}` is PyTorch's in C++, and `{name}` an operator here"
    if name in names.operators:
        return ""
    return _reserved(name)


def _reserved(name: str) -> str:
    if keyword.iskeyword(name):
        return f"`{name}` is a reserved word in Python"
    return ""


def check_helpers(
    functions: Sequence[NativeFunction], modules: Mapping[str, KernelIndex]
) -> Findings:
    """Calls in formulas that do not fit the parameters of a helper function, or that may mean one and mean an operator."""
    helpers = modules.get("formulas")
    if helpers is None:
        return
    operators = grouped(functions, lambda function: function.func.base_name)
    for function in functions:
        for node in formula_nodes(function):
            name = nodes.called_name(node)
            if not isinstance(node, nodes.Call) or name is None:
                continue
            other = (helpers.place(name), "defined here")
            if name not in operators:
                mistakes = list(_in_call(function, node, name, helpers))
            elif helpers.defines(name) and not _is_kernel(name, operators[name], modules):
                message = f"`{name}` is an operator, and a function in a module of `formulas`"
                mistakes = [Found("TG421", message, node.span, "calls the operator")]
            else:
                continue
            for mistake in mistakes:
                yield finding(function, *mistake._replace(other=other))


def _in_call(
    function: NativeFunction,
    node: nodes.Call,
    name: str,
    helpers: KernelIndex,
) -> Iterator[Found]:
    """TG540 and TG334, TG426, TG427: what a call of no operator means, if not a helper, or passes to one."""
    called = node.function
    is_torchs = isinstance(called, nodes.Name) and called.is_torchs
    if helpers.defines(name) and (is_torchs or "::" in str(called)):
        whose = f"`torch.{name}` is PyTorch's" if is_torchs else f"`{called}` is PyTorch's in C++"
        message = f"{whose}, and `{name}` a function of yours"
        hint = f"rename yours, or write `{name}` if you mean it"
        yield Found("TG540", message, node.span, "not in Python", hint)
        return
    signature = helpers.signature(name)
    if signature is None:
        return
    given = [Passed(str(value)) for value in node.arguments]
    given += [Passed(keyword, True) for keyword in node.keyword_names]
    problem = disagreement(signature, given)
    known = by_name(function.func.arguments)
    typed = [(passed, known.get(str(value))) for passed, value in zip(given, node.operands)]
    mistakes = [Found("TG334", problem, None)] if problem else _mistyped(signature, typed)
    for mistake in mistakes:
        yield Found(mistake.code, mistake.message, node.span, "in this call")


def _is_kernel(
    name: str, overloads: Sequence[NativeFunction], modules: Mapping[str, KernelIndex]
) -> bool:
    """Whether a function in a module of `formulas` is a kernel of the operator of that name."""
    if "kernels" not in modules or modules["kernels"].find(name) != modules["formulas"].find(name):
        return False
    for function in overloads:
        for entry in function.dispatch:
            for kernel in entry.kernels:
                if kernel.kernel.rpartition(".")[2] == name:
                    return True
    return False


def begun(
    wanted: Iterable[Wanted],
    modules: Mapping[str, KernelIndex],
    types: Mapping[str, str],
) -> Iterator[AuthorFunction]:
    """Each in the form common to all languages; `types` are the modules of what annotations name.

    What no function of Python can be called has no declaration, and neither has what a module imports.
    """
    for asked in wanted:
        uses = (f"{asked.use} of {asked.function.func.full_name}",)
        index = modules.get(asked.option, NO_FUNCTIONS)
        if "::" in asked.name or asked.reserved or index.importer(asked.name) is not None:
            yield AuthorFunction(asked.name, uses, "")
            continue
        place = index.place(asked.name)
        annotations = [asked.returns, *[p.annotation for p in asked.parameters()]]
        imported = []
        for module, names in imports(imported_names(names_in(annotations)), types):
            imported += [(module, str(name)) for name in names]
        yield AuthorFunction(
            asked.base,
            uses,
            asked.declaration,
            imports=imported,
            place=f"{place.source.path}:{place.line}" if place is not None else "",
            files=tuple([module.source.path for module in index.modules]),
        )
