"""`prove`: compares the registrations of a library as it is, without YAML and without generated code.

Note [Proven without a compiler]
The types of kernels are those that `import` reads, and are compared as libtorch compares them: by the schema that it
infers from them. A type that is not known here is not compared, and what is not compared is listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from torchgen_lite.analysis.checks.reachable import unreachable_kernels
from torchgen_lite.analysis.kernels import COMPOSITE_KEYS
from torchgen_lite.analysis.python_calls import Passed, disagreement
from torchgen_lite.cli.exit_codes import ATTENTION
from torchgen_lite.cli.session import Refused, Session, command
from torchgen_lite.diagnostics import Diagnostic, Label, Span, errors_among, sort_diagnostics
from torchgen_lite.diagnostics.text import counted
from torchgen_lite.languages.cpp.torch_types import Conventions, argument_type, returns_type
from torchgen_lite.languages.cpp.types import unrooted
from torchgen_lite.loader.entry.entry import TORCH_NAMESPACES, DispatchEntry, NativeFunction
from torchgen_lite.loader.python.kernel_modules import PythonSignature
from torchgen_lite.schema import FunctionSchema, parse_schema
from torchgen_lite.schema.model import Type, bare_type
from torchgen_lite_tools.importing.command import macro_option, parse_macros, read_files
from torchgen_lite_tools.importing.cpp_functions import (
    MAY_WRITE,
    Function,
    result_types,
    schema_type,
)
from torchgen_lite_tools.importing.library import Definition, Implementation, Library
from torchgen_lite_tools.importing.merge import built_with_cuda

# What libtorch takes for nothing, or refuses to compile.
_NEVER = re.compile(
    r"(?:(?:unsigned|short|int|char|float|size_t|u?int(?:16|32)_t|uint8_t|uint64_t)\b ?)+|.*\*"
)
# The index of a device, in which libtorch takes an integer, too.
_INDEX = re.compile(r"int8_t|(?:c10::|at::|torch::)?DeviceIndex")
# Keys whose kernels run on fake tensors, too.
_FAKED = COMPOSITE_KEYS - {"CompositeImplicitAutogradNestedTensor"} | {"Meta"}


@command("prove")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@macro_option
def prove_command(session: Session, paths: tuple[Path, ...], macros: tuple[str, ...]) -> int:
    """Compare what a library registers: kernels with their schemas, fakes with theirs, what no call reaches, and what
    has no fake. It reads C++ and Python (files and folders) as they are; nothing is generated, and no YAML is needed.

    What cannot be compared is listed, with exit code 1.

    \b
    torchgen-lite prove csrc
    torchgen-lite prove csrc --macro TORCH_EXTENSION_NAME=mylib
    """
    library = read_files(session, paths, parse_macros(macros))
    if stopped := [d for d in library.diagnostics if d.code in ("TG006", "TG110", "TG117")]:
        raise Refused(*stopped)
    proposed = {definition.name for definition in library.definitions if definition.binder}
    library = library.only(lambda name: name not in proposed)
    parsed = [
        (definition, parse_schema(definition.schema)[0]) for definition in library.definitions
    ]
    operators = {
        definition.name: (definition, schema) for definition, schema in parsed if schema is not None
    }
    diagnostics = sort_diagnostics([*_unread(library), *_prove(library, operators)])
    session.report(diagnostics, kind="prove")
    if not library.statements and not diagnostics:
        session.warn("no registrations in these files")
        return ATTENTION
    # An operator without a fake has kernels that agree.
    if {d.code for d in diagnostics} - {"TG611"}:
        proven = ""
    else:
        proven = "; all of them agree"
    kernels = counted(len(library.implementations), "kernel")
    session.talk(f"{counted(len(operators), 'operator')} and {kernels} read{proven}")
    return session.exit_code(diagnostics)


# An operator that the files define. A schema that cannot be read has been reported.
_Operator = tuple[Definition, FunctionSchema]


def _unread(library: Library) -> Iterator[Diagnostic]:
    """What `import` did not read, without what concerns YAML alone, and what is no operator."""
    for path, binder in library.binders.items():
        yield _not_compared(f"what `{path}` binds with {binder}, which is no operator", None)
    for diagnostic in library.diagnostics:
        if diagnostic.code in ("TG601", "TG604"):
            yield diagnostic
        elif (
            diagnostic.code == "TG614"
            and diagnostic.label
            and diagnostic.label.span.source.path in library.python
        ):
            yield _not_compared(diagnostic.message.removesuffix(" was not read"), diagnostic.label)
        elif diagnostic.code == "TG606" and diagnostic.message.endswith("is not taken over"):
            if "module of the fakes" not in str(diagnostic.label):
                yield _not_compared(
                    diagnostic.message.removesuffix(" is not taken over"), diagnostic.label
                )
        elif diagnostic.code == "TG602" and "a fallthrough" not in str(diagnostic.label):
            yield _not_compared(diagnostic.message.partition(" that YAML")[0], diagnostic.label)


def _not_compared(message: str, label: Label | None) -> Diagnostic:
    return Diagnostic("TG612", f"not compared: {message}", label)


def _prove(library: Library, operators: Mapping[str, _Operator]) -> Iterator[Diagnostic]:
    yield from _repeated(library)
    yield from built_with_cuda(library)
    of: dict[str, list[Implementation]] = {}
    strangers: list[tuple[str, Label | None]] = []
    for implementation in library.implementations:
        of.setdefault(implementation.name, []).append(implementation)
        label = implementation.span and Label(implementation.span, "this kernel")
        if implementation.name in operators and implementation.functions:
            yield from _check_kernel(operators[implementation.name][1], implementation)
        elif implementation.name in operators and implementation.signature:
            yield from _check_python(
                operators[implementation.name][1], implementation.signature, implementation.span
            )
        elif implementation.name in operators and not implementation.kernel:
            yield _not_compared(
                f"`{implementation.name}` has a kernel for {implementation.key} that has no name",
                label,
            )
        elif implementation.name in operators:
            yield _not_compared(
                f"`{implementation.kernel}` is declared in none of these files", label
            )
        else:
            strangers.append((implementation.name, label))
    for extra in library.extras:
        if extra.field != "fake":
            continue  # Rules for vmap take more.
        if extra.name in operators and extra.signature:
            yield from _check_python(operators[extra.name][1], extra.signature, extra.span)
        elif extra.name in operators:
            yield _not_compared(
                f"the fake of `{extra.name}` is in none of these files",
                extra.span and Label(extra.span, "this fake"),
            )
        else:
            strangers.append((extra.name, extra.span and Label(extra.span, "this fake")))
    of_torch = [
        stranger for stranger in strangers if stranger[0].partition("::")[0] in TORCH_NAMESPACES
    ]
    for name, label in [stranger for stranger in strangers if stranger not in of_torch]:
        yield _not_compared(f"`{name}` is defined in none of these files", label)
    if of_torch:
        kernels = counted(len(of_torch), "kernel")
        yield _not_compared(
            f"{kernels} of operators of PyTorch, such as `{of_torch[0][0]}`", of_torch[0][1]
        )
    faked = {extra.name for extra in library.extras if extra.field == "fake"}
    for name, (definition, schema) in operators.items():
        entries = [
            DispatchEntry.at(kernel.key, kernel.kernel, kernel.span) for kernel in of.get(name, [])
        ]
        namespace = name.rpartition("::")[0]
        yield from unreachable_kernels([NativeFunction(schema, namespace, tuple(entries))])
        if name not in faked:
            yield from _check_faked(definition, schema, of.get(name, []))


def _repeated(library: Library) -> Iterator[Diagnostic]:
    """TG603: what is registered twice under the same conditions, of which libtorch keeps the last, or none."""
    seen: dict[tuple[str, ...], Definition | Implementation] = {}
    every: list[Definition | Implementation] = [*library.definitions, *library.implementations]
    for registered in every:
        key = registered.key if isinstance(registered, Implementation) else ""
        first = seen.setdefault((registered.name, key, *registered.conditions), registered)
        if (
            first is not registered
            and first.span
            and registered.span
            and first.span != registered.span
        ):
            what = f"two kernels for {key}" if key else "two schemas"
            earlier = (Label(first.span, "the first one"),)
            yield Diagnostic(
                "TG603", f"`{registered.name}` has {what}", Label(registered.span, "again"), earlier
            )


def _check_python(
    schema: FunctionSchema, signature: PythonSignature, span: Span | None
) -> Iterator[Diagnostic]:
    """Whether a kernel or a fake takes the arguments, of which PyTorch leaves out those that equal their default."""
    passed = []
    for argument in schema.arguments:
        passed.append(Passed(argument.name, argument.kwarg_only, argument.default is not None))
    problem = disagreement(signature, passed)
    if problem:
        label = span and Label(span, "registered here")
        message = f"{schema.full_name}: {problem}"
        help_ = f"the schema is `{schema}`"
        yield Diagnostic("TG610", message, label, help=help_)


def _check_faked(
    definition: Definition, schema: FunctionSchema, kernels: Sequence[Implementation]
) -> Iterator[Diagnostic]:
    """TG611; PyTorch makes the fake of an operator that only writes."""
    keys = {kernel.key for kernel in kernels}
    only_writes = not schema.returns and any(argument.is_write for argument in schema.arguments)
    if keys and not keys & _FAKED and not only_writes:
        message = f"`{definition.name}` has no fake in these files"
        help_ = "`torch.library.register_fake`, or a kernel for Meta"
        label = definition.span and Label(definition.span, "this operator")
        yield Diagnostic("TG611", message, label, help=help_)


def _check_kernel(schema: FunctionSchema, implementation: Implementation) -> Iterator[Diagnostic]:
    """What keeps a kernel from being what its schema says; one of several overloads has to be."""
    word = implementation.kernel.rpartition("::")[2]
    head = f"{schema.full_name}: kernel '{word}' must"
    problems = [
        list(_problems(schema, head, implementation, function))
        for function in implementation.functions
    ]
    best = min(problems, key=_gravity)
    overloads = {(function.parameters, function.returns) for function in implementation.functions}
    is_wrong = any(problem.code == "TG609" for problem in best)
    if len(overloads) > 1 and is_wrong:
        label = Label(implementation.functions[0].spans[-1], "one of several")
        yield Diagnostic("TG609", f"{head} have the types of the schema", label)
    else:
        yield from best


def _gravity(problems: Sequence[Diagnostic]) -> tuple[int, int]:
    """How many are of a function that is not the kernel, and how many are errors: what is not compared is one, too."""
    wrong = sum(problem.code == "TG609" for problem in problems)
    return wrong, len(errors_among(problems))


def _problems(
    schema: FunctionSchema, head: str, implementation: Implementation, function: Function
) -> Iterator[Diagnostic]:
    """What is wrong with one of the declarations of a kernel."""
    taken = [text for text in function.parameters if text != "void"]
    keys = sum("DispatchKeySet" in text for text in taken[:1])
    registered = (Label(implementation.span, "registered here"),) if implementation.span else ()

    def wrong(what: str, at: int, given: str) -> Diagnostic:
        label = Label(function.spans[at], f"this {given}")
        return Diagnostic("TG609", f"{head} {what}", label, registered)

    if len(taken) - keys != len(schema.arguments):
        count = counted(len(schema.arguments) + keys, "argument")
        yield wrong(f"take {count}", -1, f"takes {len(taken)}")
        return
    for at, argument in enumerate(schema.arguments, keys):
        fits = _fits(taken[at], argument.type)
        if fits is None:
            label = Label(function.spans[at], "not known here")
            yield _not_compared(f"'{taken[at]}' is the type of `{argument.name}`", label)
        elif not fits:
            type_ = unrooted(argument_type(argument.type, argument.is_write, Conventions()))
            must = f"take '{type_}' for argument '{argument.name}' (schema: {argument.type})"
            yield wrong(must, at, f"is '{taken[at]}'")
        elif not argument.is_write and MAY_WRITE.match(function.spans[at].text):
            message = f"{schema.full_name}: kernel may write to '{argument.name}', which is `{argument.type}`"
            help_ = f"`Tensor(a!) {argument.name}` in the schema, or `const at::Tensor&` here"
            label = Label(function.spans[at], "not const")
            yield Diagnostic("TG613", message, label, registered, help_)
    results = result_types(function.returns)
    types = [str(r.type) for r in schema.returns]
    fitting = [_fits(text, returned.type) for text, returned in zip(results, schema.returns)]
    if len(results) == 1 and _kind(results[0]) is None:
        fitting = [None]  # Another name, of several results perhaps.
    elif len(results) != len(types):
        fitting = [False]
    if False in fitting:
        shown = types[0] if len(types) == 1 else f"({', '.join(types)})"
        returned = unrooted(returns_type(schema.returns, Conventions()))
        yield wrong(f"return '{returned}' (schema: {shown})", -1, f"is '{function.returns}'")
    elif None in fitting:
        message = f"'{function.returns}' is what `{schema.full_name}` returns"
        yield _not_compared(message, Label(function.spans[-1]))


def _kind(text: str) -> str | None:
    """The schema type that libtorch infers from a C++ type, "" if it takes that for nothing; None if this is not known
    here."""
    word = re.sub(r"\bconst\b|&", "", text).strip()
    if _INDEX.fullmatch(word):
        return "int"
    return "" if _NEVER.fullmatch(word) else schema_type(text)


def _fits(text: str, type_: Type) -> bool | None:
    """Whether a C++ type is one for a schema type; None if this is not known here."""
    demanded = re.sub(r"(?<=\[)\d+(?=\])", "", bare_type(type_))
    kind = _kind(text)
    # A generator is inferred from nothing.
    if kind is None or (kind and demanded == "Generator"):
        return None
    return kind in (demanded, demanded.replace("SymInt", "int"))
