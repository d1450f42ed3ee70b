"""The kernels that are registered: the author's, or a function that chooses among several of one key.

at::Tensor choose_CPU_rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps) {
  if (x.sym_size(-1) <= 8192) {
    ::rows_of_choose_CPU_rms_norm[0].runs();
    return ::my::rms_norm_small(x, weight, eps);
  }
  ::rows_of_choose_CPU_rms_norm[1].runs();
  return ::my::rms_norm_any(x, weight, eps);
}

Note [Kernels that are chosen]
The function has the type of the kernels, and takes their place: whatever is registered for a kernel, or calls it (a
guard of the device, a variant that follows from it), is the same. So no other code knows of conditions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from torchgen_lite.analysis.checks.selections import typed_condition
from torchgen_lite.analysis.finding import finding
from torchgen_lite.formulas.model import Expression
from torchgen_lite.languages.cpp.condition import Library, refusal, unsayable, write
from torchgen_lite.languages.cpp.text import quote
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.schema import FunctionSchema
from torchgen_lite.schema.grouped import names_of
from torchgen_lite.targets.cpp.layout import Blocks, Layout, copied_files
from torchgen_lite.targets.cpp.proof import FUNCTIONS
from torchgen_lite.targets.cpp.registrations import Choice, ImplCall
from torchgen_lite.targets.cpp.required import (
    Kernel,
    declared,
    implemented,
    kernel_includes,
    shared_names,
)
from torchgen_lite.targets.output import Files, Findings

Libraries = Callable[[FunctionSchema], Library]
"""How tensors are asked in an operator's conditions."""
# What every library with conditions has: what counts, what calculates; and what one for PyTorch has.
COUNTS = "selection_counts.h"
NUMBERS = "selection_numbers.h"
TENSORS = "selection.h"


def choice(
    function: Kernel, kernels: Sequence[Kernel], library: Library, call: Callable[[Kernel], str]
) -> Choice:
    """The definition of the function; `call` is how a kernel is called."""
    operator = kernels[0].operator
    rows = []
    names = names_of(operator.schema.inputs)
    refused = refusal(f"{operator.function.name} {function.key}", names, library)
    for kernel in kernels:
        row = kernel.row
        assert row is not None, "one kernel alone is registered as it is"
        if row.when is None:
            rows.append(("", call(kernel), row.kernel))
            refused = ""
            break
        condition = write(typed_condition(row.when, operator.schema), library)
        rows.append((condition, call(kernel), row.kernel))
    signature = function.signature._replace(name=function.name)
    place = f"{operator.function.name} for {function.key}"
    return Choice(operator.guard, place, signature, tuple(rows), refused)


def kernel_registrations(
    kernels: Sequence[Kernel],
    layout: Layout,
    headers: Sequence[str],
    function: str,
    type_of: Callable[[Kernel], str],
    library: Libraries,
    header: str,
    more: Callable[[Kernel], str],
) -> tuple[list[ImplCall], Blocks]:
    """The registrations of the author's kernels, and what declares these.

    `function` is the macro around a kernel's address, and `type_of` names the type of a kernel with
    a shared name by its typed call: `ops::add_Tensor::schema*`. Conditions need the `header`. Kernels that the author's
    `headers` declare may have other numbers: what registers them is told `more`.
    """
    shared = shared_names(kernels)
    includes = kernel_includes(layout, headers)
    if shared:
        includes[-1].append(layout.own("operators.h"))
    if has_choices(kernels):
        includes[-1] += [layout.own(COUNTS), layout.own(header)]
    if headers:
        includes[-1].append(layout.own(FUNCTIONS))
    calls = []
    for kernel, alternatives in implemented(kernels):
        operator = kernel.operator
        address = f"&{kernel.qualified}"
        if kernel.qualified in shared:
            address = f"static_cast<{type_of(kernel)}>({address})"
        named = declared(alternatives or [kernel], shared, headers)
        made = None
        if alternatives:
            made = choice(kernel, alternatives, library(operator.schema), lambda k: k.qualified)
        registered = f"{function}({address})"
        if named and not alternatives:
            registered = _converted(kernel, layout, more(kernel))
        calls.append(ImplCall(operator, kernel.key, registered, operator.guard, None, named, made))
    return calls, includes


def _converted(kernel: Kernel, layout: Layout, more: str) -> str:
    """The registration of a kernel whose numbers may be converted: errors about them name the arguments."""
    names = names_of(kernel.operator.schema.arguments)
    if len(kernel.signature.types) > len(names):
        names = ["keys", *names]
    call = quote(f"{kernel.operator.function.name}({', '.join(names)})")
    return f"TORCHGEN_LITE_KERNEL({layout.namespace}, {call}, &{kernel.qualified}{more})"


def called_by_name(kernels: Sequence[Kernel]) -> frozenset[str]:
    """The kernels that generated code calls as C++ does, without conversions: those of several types under one name, and
    those of a key that has several."""
    chosen = [kernel.qualified for kernel in kernels if kernel.row is not None]
    return shared_names(kernels).union(chosen)


def has_choices(kernels: Iterable[Kernel]) -> bool:
    chosen = [kernel for kernel in kernels if kernel.row is not None]
    return bool(chosen)


def choice_headers(layout: Layout, kernels: Iterable[Kernel], folder: str = "") -> Files:
    """The headers that conditions need, of which the one for tensors is in the `folder` of copied files."""
    if has_choices(kernels):
        yield from copied_files(layout, "cpp", COUNTS, NUMBERS)
        if folder:
            yield from copied_files(layout, folder, TENSORS)


def check_conditions(functions: Iterable[NativeFunction], library: Libraries) -> Findings:
    """TG544: what conditions say, and the library has no C++ for."""
    for function in functions:
        for entry in function.dispatch:
            for row in entry.rows:
                if row.when is not None:
                    yield from _unsayable(function, row.when, library(function.func))


def _unsayable(function: NativeFunction, condition: Expression, library: Library) -> Findings:
    tree = typed_condition(condition, function.func)
    for node, problem, hint in unsayable(tree, library):
        yield finding(function, "TG544", problem, node.span, "here", hint)
