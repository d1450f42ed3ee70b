"""`register_schema.cpp`, and `register_<key>.cpp` for each dispatch key in use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torchgen_lite.analysis.namespaces import TORCH_NAMESPACES
from torchgen_lite.dialects import cpp_text
from torchgen_lite.dialects.cpp.stable import FIRST_RELEASE, Release
from torchgen_lite.targets.cpp.model import Operator
from torchgen_lite.targets.cpp.options import ModuleOptions
from torchgen_lite.targets.cpp.required import Kernel, shared_names
from torchgen_lite.targets.cpp_stable.kernels import address
from torchgen_lite.targets.cpp_stable.model import needed_release
from torchgen_lite.targets.cpp_stable.unsupported import SUPPORTED_TAGS, release_text
from torchgen_lite.targets.output import OutputFile


@dataclass(frozen=True, slots=True)
class GateView:
    """The release that types under a condition need, as a macro, and what to say without it."""

    guard: str
    needed: str
    error: str


@dataclass(frozen=True, slots=True)
class DefinitionView:
    """One operator: its schema, and the tags that are given where libtorch takes them."""

    guard: str
    schema: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ImplementationView:
    """One kernel of one operator."""

    guard: str
    name: str
    address: str


def build_schema(
    operators: Sequence[Operator], root: str, folder: str, options: ModuleOptions
) -> Iterator[OutputFile]:
    """The definitions of the operators, without those that PyTorch defines."""
    own = [o for o in operators if o.function.namespace not in TORCH_NAMESPACES]
    if not own:
        return
    libraries: dict[str, list[DefinitionView]] = {}
    for operator in own:
        libraries.setdefault(operator.function.namespace, []).append(_definition(operator))
    module = cpp_text.quote(options.python_module)
    context = {
        "macro": "STABLE_TORCH_LIBRARY" + ("_FRAGMENT" if options.library == "fragment" else ""),
        "python_module": module if options.python_module else None,
        "gates": list(_gates(own)),
        "version_header": f"{folder}/version.h" if any(o.guard for o in own) else None,
        "libraries": libraries,
    }
    yield OutputFile(
        f"{root}/src/register_schema.cpp", "cpp_stable/register_schema.cpp.j2", context
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
        yield GateView(guard, f"TORCH_VERSION_{release[0]}_{release[1]}_0", error)


def _definition(operator: Operator) -> DefinitionView:
    tags = [tag for tag in operator.function.tags if tag in SUPPORTED_TAGS]
    return DefinitionView(
        operator.guard,
        cpp_text.quote(operator.schema_text),
        tuple(f"torch::headeronly::Tag::{tag}" for tag in tags),
    )


def build_keys(
    kernels: Sequence[Kernel], root: str, namespace: str, includes: Sequence[str]
) -> Iterator[OutputFile]:
    """One file for each key."""
    shared = shared_names(kernels, namespace)
    for key in dict.fromkeys(kernel.key for kernel in kernels):
        libraries: dict[str, list[ImplementationView]] = {}
        for kernel in kernels:
            if kernel.key == key:
                name = cpp_text.quote(kernel.operator.schema.local_name)
                found = address(kernel, namespace, shared)
                view = ImplementationView(kernel.operator.guard, name, found)
                libraries.setdefault(kernel.operator.function.namespace, []).append(view)
        context = {"includes": list(includes), "key": key, "libraries": libraries}
        path = f"{root}/src/register_{key.lower()}.cpp"
        yield OutputFile(path, "cpp_stable/register_key.cpp.j2", context)
