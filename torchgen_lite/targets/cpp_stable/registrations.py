"""`register.cpp`, and `register_<device>.cpp`: definitions and kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from torchgen_lite.languages.cpp import stable
from torchgen_lite.languages.cpp.condition import stable_library
from torchgen_lite.languages.cpp.stable import FIRST_RELEASE, Release
from torchgen_lite.loader.versions import version_text
from torchgen_lite.schema.grouped import by_name, grouped
from torchgen_lite.targets.cpp import registrations
from torchgen_lite.targets.cpp.choices import TENSORS, Libraries, kernel_registrations
from torchgen_lite.targets.cpp.conditions import version_number
from torchgen_lite.targets.cpp.layout import Layout
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp.registrations import ImplCall
from torchgen_lite.targets.cpp.required import Kernel
from torchgen_lite.targets.cpp_stable.options import StableOptions
from torchgen_lite.targets.cpp_stable.unsupported import SUPPORTED_TAGS
from torchgen_lite.targets.output import Context, Files, Header

STABLE_LIBRARY = Header("torch/csrc/stable/library.h")


def build_registrations(
    operators: Sequence[CppOperator],
    kernels: Sequence[Kernel],
    layout: Layout,
    options: StableOptions,
) -> Files:
    """The definitions of the operators, without those that PyTorch defines, and the kernels.

    The author's headers may declare these.
    """
    own_operators = [o for o in operators if not o.function.is_pytorchs]
    libraries = registrations.definitions(
        own_operators, "torch::headeronly::Tag::{}".format, known_tags=SUPPORTED_TAGS
    )

    def type_of(kernel: Kernel) -> str:
        return f"{layout.namespace}::ops::{kernel.operator.flat}::schema*"

    headers = options.kernel_headers
    registered, declared = kernel_registrations(
        kernels,
        layout,
        headers,
        "TORCH_BOX",
        type_of,
        asked(layout.namespace),
        TENSORS,
        lambda kernel: "",
    )
    if headers:
        registered = [_unpacked(call) for call in registered]

    gates = list(_gates(own_operators))

    def context(defined: object, of_file: Sequence[object]) -> Context:
        of_library = list(layout.given_namespace)
        if defined:
            of_library.append(layout.own("version.h"))
        includes: list[Sequence[Header]] = [[STABLE_LIBRARY]]
        if of_library:
            includes.insert(0, of_library)
        if of_file:
            includes += declared
        return {"includes": includes, "gates": gates, "python_module": options.python_module}

    macro = "STABLE_TORCH_LIBRARY"
    template = "cpp_stable/register.cpp.j2"
    yield from registrations.registration_files(
        libraries, registered, layout, options, macro, template, context
    )


def asked(namespace: str) -> Libraries:
    """How tensors are asked in conditions."""
    return partial(stable_library, namespace)


def _unpacked(registered: ImplCall) -> ImplCall:
    """Where the author's headers declare kernels, some may take a view of a list, and others a list."""
    choice = registered.choice
    if choice is None:
        return registered
    arguments = by_name(registered.operator.schema.arguments)
    parameters = [
        p._replace(type=stable.unpacked_type(arguments[p.name]))
        for p in choice.signature.parameters
    ]
    signature = choice.signature._replace(parameters=tuple(parameters))
    return replace(registered, choice=choice._replace(signature=signature))


def _gates(operators: Sequence[CppOperator]) -> Iterator[tuple[str, int, str]]:
    """The release that is needed everywhere (no condition) and under each condition, as the number of the version
    macro, and what to say without it."""
    late = [operator for operator in operators if _needed_release(operator) > FIRST_RELEASE]
    for guard, of_guard in grouped(late, lambda operator: operator.guard).items():
        because = max(of_guard, key=_needed_release)
        release = _needed_release(because)
        error = f"{because.function.name} needs libtorch {version_text(release)}"
        yield guard, version_number(release), error


def _needed_release(operator: CppOperator) -> Release:
    """The first release that carries every type of an operator."""
    return max(map(stable.since, operator.schema.types), default=FIRST_RELEASE)
