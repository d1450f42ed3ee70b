"""`register_schema.cpp`, and `register_<key>.cpp` for each dispatch key in use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from torchgen_lite.analysis.checks.releases import release_text
from torchgen_lite.analysis.namespaces import TORCH_NAMESPACES
from torchgen_lite.dialects import cpp_text
from torchgen_lite.dialects.cpp.stable import FIRST_RELEASE, Release
from torchgen_lite.targets.cpp.conditions import version_number
from torchgen_lite.targets.cpp.layout import Layout
from torchgen_lite.targets.cpp.model import Operator
from torchgen_lite.targets.cpp.options import ModuleOptions
from torchgen_lite.targets.cpp.registrations import schema_file
from torchgen_lite.targets.cpp.required import Kernel, kernel_includes, kernel_key_files
from torchgen_lite.targets.cpp_stable.model import needed_release
from torchgen_lite.targets.cpp_stable.unsupported import SUPPORTED_TAGS
from torchgen_lite.targets.output import Header, OutputFile

STABLE_LIBRARY = Header("torch/csrc/stable/library.h")


class GateView(NamedTuple):
    """The release that types under a condition need, as the number of the version macro, and what to say without it."""

    guard: str
    needed: int
    error: str


def build_schema(
    operators: Sequence[Operator], layout: Layout, options: ModuleOptions
) -> Iterator[OutputFile]:
    """The definitions of the operators, without those that PyTorch defines."""
    own = [o for o in operators if o.function.namespace not in TORCH_NAMESPACES]
    context = {
        "macro": "STABLE_TORCH_LIBRARY" + ("_FRAGMENT" if options.library == "fragment" else ""),
        "python_module": options.python_module and cpp_text.quote(options.python_module),
        "gates": list(_gates(own)),
        "folder": layout.folder,
    }
    yield from schema_file(
        own,
        layout,
        "torch::headeronly::Tag::{}".format,
        context,
        "cpp_stable/register_schema.cpp.j2",
        known_tags=SUPPORTED_TAGS,
    )


def _gates(operators: Sequence[Operator]) -> Iterator[GateView]:
    """The release that is needed everywhere, and where a condition stands, what is needed under it."""
    releases: dict[str, Release] = {}
    for operator in operators:
        release = needed_release(operator)
        if release > releases.get(operator.guard, FIRST_RELEASE):
            releases[operator.guard] = release
    for guard, release in releases.items():
        because = next(o for o in operators if o.guard == guard and needed_release(o) == release)
        name = because.function.name
        error = cpp_text.quote(f"{name} needs libtorch {release_text(release)}")
        yield GateView(guard, version_number(release), error)


def build_keys(
    kernels: Sequence[Kernel], layout: Layout, headers: Sequence[str]
) -> Iterator[OutputFile]:
    """One file for each key, or one for each shard of it; `headers` of the author's may declare the kernels."""
    includes = [[STABLE_LIBRARY], *kernel_includes(layout, headers)]

    def type_of(kernel: Kernel) -> str:
        return f"{layout.namespace}::ops::{kernel.operator.flat}::schema*"

    macro = "STABLE_TORCH_LIBRARY_IMPL"
    yield from kernel_key_files(layout, kernels, includes, macro, "TORCH_BOX", type_of)
