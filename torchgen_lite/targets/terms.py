"""The terms on which the targets of a program offer its operators: see `analysis.comparison.terms`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from torchgen_lite.analysis.comparison.terms import FIELDS, Term, Terms, Use
from torchgen_lite.analysis.kernels import REFERENCE
from torchgen_lite.analysis.operators import Operator
from torchgen_lite.analysis.program import Program
from torchgen_lite.diagnostics import Span
from torchgen_lite.formulas.model import called_name
from torchgen_lite.key_tables import RELEASES
from torchgen_lite.languages.cpp import stable
from torchgen_lite.loader.config.project import Config, locate_option
from torchgen_lite.loader.entry.entry import NativeFunction
from torchgen_lite.loader.python.function_code import code_of
from torchgen_lite.loader.python.kernel_modules import NO_FUNCTIONS, KernelIndex
from torchgen_lite.loader.torch.functions import functions_of_torch
from torchgen_lite.loader.versions import version_text
from torchgen_lite.schema.grouped import names_of, without_none
from torchgen_lite.targets.author import formula_nodes
from torchgen_lite.targets.generation import Generation
from torchgen_lite.targets.output import Target

_DEVICE = "PrivateUse1"


class _Taker(NamedTuple):
    """A target with its options, and the names of the operators that it takes. `in_cpp` have kernels that a target in C++
    registers, and `known` are names that formulas call without a function of the author's.
    """

    target: Target
    options: Any
    names: frozenset[str]
    in_cpp: Collection[str]
    known: Collection[str]

    @property
    def name(self) -> str:
        return self.target.name


def terms_of(program: Program, generation: Generation) -> Terms:
    takers = _all_takers(program, generation)
    defining = _defining(takers, generation)
    loading = next((taker.name for taker in takers if taker.target.loads_library), "")

    def offers(operator: Operator) -> Iterator[Term]:
        yield from _offered_by_project(program.config, operator)
        yield from _offered_by_fields(operator, takers)
        for taker in takers:
            if operator.name in taker.names:
                for offer in _OFFERS:
                    yield from offer(taker, operator)
        if operator.name in defining and loading:
            lost = "nothing defines it any more"
            yield Term(loading, "defines", "definition", "TG375", lost)

    def uses(operator: Operator) -> Mapping[tuple[str, str], Use]:
        used = {}
        for taker in takers:
            functions = program.modules.get(taker.name, {})
            if operator.name in taker.names and functions:
                for use in _uses(operator.function, functions):
                    used[taker.name, f"{use.field} {use.name}"] = use
        return used

    def takes(table: str, operator: Operator) -> bool:
        taking = [taker.name for taker in takers if operator.name in taker.names]
        return table in ("", FIELDS, *taking)

    return Terms(offers, uses, takes, partial(_place, program.config))


def _place(config: Config, table: str, setting: str) -> Span | None:
    """Where an option of a target, or of the configuration itself, is written; None if it is not."""
    if not table:
        attribute = setting.replace("-", "_")
        is_written = getattr(config, attribute, "") != ""
    else:
        is_written = setting in config.target_options.get(table, {})
    label = locate_option(config, f"target.{table}" if table else "", setting)
    if label is not None and is_written:
        return label.span
    return None


def _all_takers(program: Program, generation: Generation) -> list[_Taker]:
    """The targets that register something, if their options have no mistakes."""
    known = functions_of_torch().at | functions_of_torch().torch
    known |= {function.func.base_name for function in program.functions}
    in_cpp = set[str]()
    takers = []
    for target in generation.registering:
        options, wrong = target.read_options(program.config)
        if not wrong:
            names = frozenset(names_of(generation.select(target.name).operators))
            takers.append(_Taker(target, options, names, in_cpp, known))
            if target in generation.libraries:
                in_cpp |= names
    return takers


def _defining(takers: Sequence[_Taker], generation: Generation) -> set[str]:
    """The operators that a target defines for PyTorch, or that an extension defines which Python loads."""
    names = set[str]()
    for taker in takers:
        options = taker.options
        is_here = taker.target.loads_library and (options.is_defining or options.load)
        if is_here or taker.target in generation.libraries:
            names |= taker.names
    return names


def _offered_by_project(config: Config, operator: Operator) -> Iterator[Term]:
    """`privateuse1`: the name of a device is that of its keys."""
    if any(key.endswith(_DEVICE) for key in operator.function.keys):
        device = config.privateuse1 or _DEVICE
        lost = f"its device is no longer called `{device}`"
        yield Term("", "privateuse1", device, "TG388", lost)


def _offered_by_fields(operator: Operator, takers: Sequence[_Taker]) -> Iterator[Term]:
    """What wrappers in C++ do before a kernel of a device runs."""
    function = operator.function
    has_wrappers = any(
        taker.name == "cpp-torch" and operator.name in taker.names for taker in takers
    )
    if takers and not has_wrappers:
        return
    if function.device_guard:
        lost = "a kernel may run while another device than that of its tensors is current"
        yield Term(FIELDS, "device_guard", "guard", "TG382", lost)
    if function.device_check == "NoCheck":
        lost = "tensors on several devices are refused"
        yield Term(FIELDS, "device_check", "devices", "TG388", lost)
    if not takers and function.python_module:
        lost = f"PyTorch no longer binds it in `{function.python_module}`"
        yield Term(FIELDS, "python_module", function.python_module, "TG381", lost)


def _offer_kernels(taker: _Taker, operator: Operator) -> Iterator[Term]:
    """`kernels`: without any, no kernel is registered, unless C++ has them."""
    kernels = getattr(taker.options, "kernels", None)
    if kernels is None or not operator.author_kernels:
        return
    if kernels or operator.name in taker.in_cpp:
        lost = f"target `{taker.name}` registers no kernel any more: `kernels` names no module"
        yield Term(taker.name, "kernels", "kernels", "TG364", lost)


# Options that offer something while they have one value: the attribute, the value, what it offers, the code, and what is
# lost. A namespace has one definition, beside which there may be fragments.
_BY_VALUE = (
    (
        "calls_only",
        False,
        "registrations",
        "TG364",
        "target `{}` registers nothing any more: `calls-only` is true",
    ),
    (
        "final",
        False,
        "replacement",
        "TG388",
        "kernels that other libraries register are passed by: `final` is true",
    ),
    (
        "torchscript",
        True,
        "torchscript",
        "TG388",
        "`torch.jit.script` compiles its function no longer: `torchscript` is false",
    ),
    (
        "library",
        "fragment",
        "fragment",
        "TG388",
        "its namespace is defined here, so that no other library can define it",
    ),
)


def _offer_by_value(taker: _Taker, operator: Operator) -> Iterator[Term]:
    """What options offer by their values alone."""
    for attribute, value, offered, code, lost in _BY_VALUE:
        if getattr(taker.options, attribute, None) == value:
            setting = attribute.replace("_", "-")
            yield Term(taker.name, setting, offered, code, lost.format(taker.name))


def _offer_dispatcher(taker: _Taker, operator: Operator) -> Iterator[Term]:
    """`dispatcher`: kernels are registered with one of several."""
    dispatcher = getattr(taker.options, "dispatcher", "")
    if dispatcher:
        lost = f"it is no longer registered with the dispatcher `{dispatcher}`, which others register with"
        yield Term(taker.name, "dispatcher", dispatcher, "TG388", lost)


def _offer_classes(taker: _Taker, operator: Operator) -> Iterator[Term]:
    """`opaque`: a value is compared and may be a constant of compiled code, a reference is neither."""
    declared = getattr(taker.options, "opaque", {})
    for name in operator.schema.opaque_types:
        kind = declared.get(name)
        if kind is not None:
            lost = f"`{name}` is no longer a {kind} to compilers"
            yield Term(taker.name, "opaque", f"{name} {kind}", "TG388", lost)


def _offer_releases(taker: _Taker, operator: Operator) -> Iterator[Term]:
    """`target-version`: the releases of libtorch that load the library."""
    types = operator.schema.types
    if not hasattr(taker.options, "target_version") or any(map(stable.unsupported, types)):
        return
    given = taker.options.target_version or stable.FIRST_HEADERS
    first = max([given, *map(stable.since, types)])
    for release in RELEASES:
        if release >= first:
            text = version_text(release)
            lost = f"libtorch {text} no longer runs it"
            yield Term(taker.name, "target-version", text, "TG377", lost)


def _offer_helpers(taker: _Taker, operator: Operator) -> Iterator[Term]:
    """`formula-headers`: C++ is not read, so only the names of headers are known."""
    headers = getattr(taker.options, "formula_headers", ())
    if not headers:
        return
    for name in _helpers(operator.function):
        if name not in taker.known:
            lost = f"`{name}`, which a formula calls, may be in another header"
            yield Term(taker.name, "formula-headers", " ".join(headers), "TG382", lost)


_OFFERS: Sequence[Callable[[_Taker, Operator], Iterator[Term]]] = (
    _offer_kernels,
    _offer_by_value,
    _offer_dispatcher,
    _offer_classes,
    _offer_releases,
    _offer_helpers,
)


def _uses(function: NativeFunction, modules: Mapping[str, KernelIndex]) -> Iterator[Use]:
    """The functions of Python that an entry names, where a module has them."""
    for option, field, name in _named(function):
        index = modules.get(option, NO_FUNCTIONS)
        module = index.module_of(name)
        if module is None:
            continue
        code = code_of(module, name.rpartition(".")[2])
        place = index.place(name)
        yield Use(option, field, name, module.source.path, code, place, option == "kernels")


def _named(function: NativeFunction) -> Iterator[tuple[str, str, str]]:
    """The option whose modules have it, the field that names it, and its name."""
    for entry in function.dispatch:
        for kernel in entry.kernels:
            yield "kernels", "dispatch", kernel.kernel
    if function.fake is not None and function.fake.function:
        yield "fakes", "fake", function.fake.function
    if function.vmap_function:
        yield "fakes", "vmap", function.vmap_function
    is_kernel = REFERENCE in [entry.kernel for entry in function.dispatch]
    is_needed = function.decompose or function.is_auto or is_kernel
    if function.reference_function and is_needed:
        yield "fakes", "samples", function.reference_function
    for name in _helpers(function):
        yield "formulas", "derivatives", name


def _helpers(function: NativeFunction) -> list[str]:
    """The names of what formulas call."""
    called = map(called_name, formula_nodes(function))
    return list(dict.fromkeys(without_none(called)))
