"""The kernels in `_operators.py`: each imports the author's function at its first call.

def cpu_muladd(a: Tensor, b: Tensor, s: float) -> Any:
    _kernel = _library.resolve(_places.cpu_muladd, "my_kernels", "muladd_cpu")
    return _kernel(a, b, s)

Of several for a key, the first is called whose condition holds; see Note [Conditions in traced programs] in
`copied/torch_python/_rows.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from torchgen_lite.analysis.checks.compiled import looked_into
from torchgen_lite.analysis.checks.selections import typed_condition
from torchgen_lite.analysis.kernels import WORDS
from torchgen_lite.analysis.python_calls import Passed
from torchgen_lite.diagnostics import Span
from torchgen_lite.formulas import model as nodes
from torchgen_lite.formulas.model import Expression
from torchgen_lite.key_sets import key_sets
from torchgen_lite.languages.python import torch_ops
from torchgen_lite.languages.python.conditions import ConditionNames, condition
from torchgen_lite.languages.python.signature import ANY, STAR, Annotation, Parameter, tuple_of
from torchgen_lite.languages.text import literal, quote, tuple_display
from torchgen_lite.loader.entry.entry import DispatchEntry, KernelRow
from torchgen_lite.loader.entry.kernel_languages import KERNEL_LANGUAGES
from torchgen_lite.targets.author import Wanted, passed
from torchgen_lite.targets.torch_python.model import Package, PackagedOperator


class Row(NamedTuple):
    """A function of the author's, its place, as `_places.py` names it, its condition, and the options among which
    measuring chooses. It runs if the condition holds, and no row before it does; the rest has none.
    """

    module: str
    function: str
    place: str
    condition: str
    options: str


Written = tuple[str, str, str, str, str]
"""The place and the name of a function, what the language is called, the module that it imports, and its package."""


class Kernel(NamedTuple):
    """The kernel of an operator for a key: a function, or several of which one is chosen. `is_traced` says that compilers
    look into it, and `written` in which languages functions are that say so."""

    operator: PackagedOperator
    key: str
    rows: Sequence[Row]
    is_traced: bool
    written: Sequence[Written]

    @property
    def is_chosen(self) -> bool:
        return bool(self.rows[0].condition)

    @property
    def is_tuned(self) -> bool:
        return any(row.options for row in self.rows)

    @property
    def place(self) -> str:
        """Where it is, as `_places.py` names it."""
        return self.operator.named(self.key)


def kernels_of(package: Package, operator: PackagedOperator) -> Iterator[Kernel]:
    """The kernels of one operator that the modules of `kernels` have, all of those for a key."""
    for entry in operator.facts.own_kernels:
        is_opaque = entry.key in key_sets().backends and "Meta" not in entry.key
        is_traced = entry.key in looked_into(operator.facts) or not is_opaque
        rows = _rows(package, operator, entry, is_traced=is_traced)
        if rows:
            yield Kernel(operator, entry.key, rows, is_traced, [*_written(rows, entry)])


def _written(rows: Sequence[Row], entry: DispatchEntry) -> Iterator[Written]:
    for row, written in zip(rows, entry.rows):
        if written.language:
            title, module, package, _ = KERNEL_LANGUAGES[written.language]
            yield row.place, row.function, title, module, package


def places_of(kernel: Kernel) -> dict[str, Span | None]:
    """Where the kernel is named, by its place, or the kernels among which one is chosen."""
    [entry] = [entry for entry in kernel.operator.facts.own_kernels if entry.key == kernel.key]
    spans = {kernel.place: entry.kernel_span}
    for row, written in zip(kernel.rows, entry.rows):
        spans[row.place] = written.kernel_span
    return spans


def _rows(
    package: Package, operator: PackagedOperator, entry: DispatchEntry, *, is_traced: bool
) -> Sequence[Row]:
    """Those up to the first without a condition, behind which none is reached; none if a module lacks one of them."""
    if entry.kernel in WORDS:
        return ()
    written = _rows_of(entry)
    is_chosen = written[0].when is not None
    rows: list[Row] = []
    for number, row in enumerate(written, 1):
        function = package.module_of("kernels", row.kernel)
        if function is None:
            return ()
        place = operator.named(f"row{number}_{entry.key}" if is_chosen else entry.key)
        test = ""
        if row.when is not None:
            test = _condition(operator, row.when, is_traced=is_traced)
        rows.append(Row(*function, place, test, _options(row)))
        if not test:
            break
    return rows


def _rows_of(entry: DispatchEntry) -> tuple[KernelRow, ...]:
    """The rows of an entry, of which one without any has one."""
    return entry.rows or (KernelRow(entry.kernel, None, kernel_span=entry.kernel_span),)


def _options(row: KernelRow) -> str:
    """`({"block": 64}, {"block": 128})`; empty if nothing is tuned."""
    if not row.tune:
        return ""
    each = []
    for options in row.tune:
        items = [f"{quote(name)}: {literal(value)}" for name, value in options]
        each.append(f"{{{', '.join(items)}}}")
    return tuple_display(each)


def _condition(operator: PackagedOperator, when: Expression, *, is_traced: bool) -> str:
    def asked(name: str, value: Expression, given: Sequence[Expression]) -> Expression | None:
        if name != "is_aligned":
            return None
        if is_traced:
            return nodes.Call(nodes.Name("_rows.is_aligned"), (value, *given))
        address = nodes.Call(nodes.Member(value, "data_ptr"), ())
        rest = nodes.Binary("%", address, *given)
        return nodes.Binary("==", rest, nodes.Literal("0"))

    functions = {"capability": "_rows.capability"}
    names = ConditionNames(operator.names, "torch.{}".format, asked, "_rows.builtins", functions)
    return condition(typed_condition(when, operator.schema), names)


# What a rule for vmap gets before the arguments.
_DIMS = tuple_of(ANY)
_BEFORE = (Parameter("info", ANY), Parameter("in_dims", _DIMS))


def _author_kernels(package: Package, operator: PackagedOperator) -> Iterator[Wanted]:
    for entry in operator.facts.own_kernels:
        if entry.kernel not in WORDS and _is_in_python(package, entry):
            for row in _rows_of(entry):
                wanted = _wanted(operator, row.kernel, entry.key, row.kernel_span, "kernels")
                yield _with_options(wanted, row)


def author_functions(package: Package) -> Iterator[Wanted]:
    """The kernels, where modules have them, and the functions that `fake`, `vmap` and `reference` name.

    Where C++ defines the operators, kernels that no module has are its own.
    """
    if "kernels" in package.modules:
        for operator in package.operators:
            yield from _author_kernels(package, operator)
    for operator in package.own:
        samples = operator.function.samples
        for use, name in operator.functions.items():
            place = operator.function.place(use) or operator.function.place("func")
            if use == "reference" and samples is not None and samples.reference is not None:
                place = samples.reference.span
            yield _wanted(operator, name, use, place, "fakes")


def _with_options(wanted: Wanted, row: KernelRow) -> Wanted:
    """A kernel that gets options besides the arguments, by keyword."""
    if not row.tune:
        return wanted
    names = [name for name, _ in row.tune[0]]
    given = [*wanted.passed, *[Passed(name, by_keyword=True) for name in names]]
    taken = wanted.parameters()
    star = [] if STAR in taken else [STAR]
    parameters = [*taken, *star, *[Parameter(name, ANY) for name in names]]
    return wanted._replace(passed=given, parameters=lambda: parameters)


def _is_in_python(package: Package, entry: DispatchEntry) -> bool:
    """Whether the kernels for a key have to be functions of Python: one of them is, or there is nothing else."""
    modules = [package.module_of("kernels", kernel.kernel) for kernel in entry.kernels]
    return package.options.is_defining or any(modules)


def _wanted(
    operator: PackagedOperator, name: str, use: str, place: Span | None, option: str
) -> Wanted:
    is_kernel = option == "kernels"
    before = _BEFORE if use == "vmap" else ()

    def parameters() -> list[Parameter]:
        """A kernel gets every argument, so it needs no defaults."""
        taken = operator.inside
        if is_kernel:
            taken = [parameter._replace(default=None) for parameter in taken]
        return [*before, *taken]

    given = passed(operator.schema.arguments, has_defaults=not is_kernel)
    arguments = [*[Passed(parameter.name) for parameter in before], *given]
    returns = torch_ops.kernel_returns_type(operator.schema)
    if before:
        returns = Annotation("tuple", (ANY, ANY))
    code = "TG302" if is_kernel else "TG334"
    return Wanted(operator.function, name, use, place, arguments, parameters, returns, option, code)
