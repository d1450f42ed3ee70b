"""`register.cpp`, and `register_<device>.cpp`: definitions and kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchgen_lite.analysis.checks.releases import release_text
from torchgen_lite.analysis.namespaces import TORCH_NAMESPACES
from torchgen_lite.languages.cpp import text as cpp_text
from torchgen_lite.languages.cpp.stable import FIRST_RELEASE, Release
from torchgen_lite.targets.cpp.conditions import version_number
from torchgen_lite.targets.cpp.layout import Blocks, Layout, with_last
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp.registrations import (
    ImplCall,
    Libraries,
    definitions,
    registration_files,
)
from torchgen_lite.targets.cpp.required import (
    Kernel,
    kernel_includes,
    kernel_registrations,
    shared_names,
)
from torchgen_lite.targets.cpp_stable.model import needed_release
from torchgen_lite.targets.cpp_stable.options import StableOptions
from torchgen_lite.targets.cpp_stable.unsupported import SUPPORTED_TAGS
from torchgen_lite.targets.output import Header, OutputFile

STABLE_LIBRARY = Header("torch/csrc/stable/library.h")


def build_registrations(
    operators: Sequence[CppOperator],
    kernels: Sequence[Kernel],
    layout: Layout,
    options: StableOptions,
) -> Iterator[OutputFile]:
    """The definitions of the operators, without those that PyTorch defines, and the kernels.

    The author's headers may declare these.
    """
    own = [o for o in operators if o.function.namespace not in TORCH_NAMESPACES]
    libraries = definitions(own, "torch::headeronly::Tag::{}".format, known_tags=SUPPORTED_TAGS)
    declared: Blocks = kernel_includes(layout, options.kernel_headers)
    if shared_names(kernels, layout.namespace):
        declared = with_last(declared, layout.own("operators.h"))
    macro = "STABLE_TORCH_LIBRARY"
    opening = f"{macro}_FRAGMENT" if options.library == "fragment" else macro

    def context(defined: Libraries, own: Sequence[ImplCall]) -> dict[str, object]:
        needed = [layout.own("version.h")] if defined else []
        return {
            "includes": [*filter(None, [needed]), [STABLE_LIBRARY], *(declared if own else [])],
            "macros": (opening, f"{macro}_IMPL"),
            "python_module": options.python_module and cpp_text.quote(options.python_module),
            "gates": gates if defined else [],
        }

    def type_of(kernel: Kernel) -> str:
        return f"{layout.namespace}::ops::{kernel.operator.flat}::schema*"

    gates = list(_gates(own))
    registered = kernel_registrations(kernels, layout.namespace, "TORCH_BOX", type_of)
    template = "cpp_stable/register.cpp.j2"
    yield from registration_files(libraries, registered, layout, template, context)


def _gates(operators: Sequence[CppOperator]) -> Iterator[tuple[str, int, str]]:
    """The release that is needed everywhere (no condition) and under each condition, as the number of the version
    macro, and what to say without it."""
    releases: dict[str, Release] = {}
    for operator in operators:
        release = needed_release(operator)
        if release > releases.get(operator.guard, FIRST_RELEASE):
            releases[operator.guard] = release
    for guard, release in releases.items():
        because = next(o for o in operators if o.guard == guard and needed_release(o) == release)
        name = because.function.name
        error = cpp_text.quote(f"{name} needs libtorch {release_text(release)}")
        yield guard, version_number(release), error
