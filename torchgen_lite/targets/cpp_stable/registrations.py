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
    """The release that types under a condition need, as a macro, and the `#error` before it."""

    guard: str
    needed: str
    error: str


@dataclass(frozen=True, slots=True)
class DefinitionView:
    """One operator: `plain` defines it, `tagged` does so with its tags where libtorch takes them."""

    guard: str
    plain: str
    tagged: str | None


@dataclass(frozen=True, slots=True)
class LibraryView:
    """A block of registrations for one namespace."""

    opening: str
    definitions: tuple[DefinitionView, ...] = ()
    implementations: tuple[ImplementationView, ...] = ()


@dataclass(frozen=True, slots=True)
class ImplementationView:
    """One kernel of one operator."""

    guard: str
    line: str


def build_schema(
    operators: Sequence[Operator], root: str, folder: str, options: ModuleOptions
) -> Iterator[OutputFile]:
    """The definitions of the operators, without those that PyTorch defines."""
    own = [o for o in operators if o.function.namespace not in TORCH_NAMESPACES]
    if not own:
        return
    macro = "STABLE_TORCH_LIBRARY" + ("_FRAGMENT" if options.library == "fragment" else "")
    libraries = [
        LibraryView(
            cpp_text.call(f"{macro}(", [spelled, "m"], ") {"),
            tuple([_definition(o) for o in own if o.function.namespace == spelled]),
        )
        for spelled in dict.fromkeys(o.function.namespace for o in own)
    ]
    module = cpp_text.quote(options.python_module)
    context = {
        "python_module": f"m.set_python_module({module});" if options.python_module else None,
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
        error = f"#error {cpp_text.quote(f'{name} needs libtorch {release_text(release)}')}"
        if len(error) > cpp_text.LINE_LENGTH:
            error = error.replace(" ", " \\\n    ", 1)
        yield GateView(guard, f"TORCH_VERSION_{release[0]}_{release[1]}_0", error)


def _definition(operator: Operator) -> DefinitionView:
    schema = cpp_text.quote(operator.schema_text)
    tags = [
        f"torch::headeronly::Tag::{tag}" for tag in operator.function.tags if tag in SUPPORTED_TAGS
    ]
    tagged = None
    if tags:
        # Column 6 is where clang-format puts an argument that has a line of its own.
        tagged = cpp_text.call("m.def(", [schema, cpp_text.braced(tags, indent=6)], ");", indent=2)
    return DefinitionView(operator.guard, cpp_text.call("m.def(", [schema], ");", indent=2), tagged)


def build_keys(
    kernels: Sequence[Kernel], root: str, namespace: str, includes: Sequence[str]
) -> Iterator[OutputFile]:
    """One file for each key."""
    lines = list(_lines(kernels, namespace))
    for key in dict.fromkeys(kernel.key for kernel in kernels):
        found: dict[str, list[ImplementationView]] = {}
        for kernel, line in zip(kernels, lines):
            if kernel.key == key:
                view = ImplementationView(kernel.operator.guard, line)
                found.setdefault(kernel.operator.function.namespace, []).append(view)
        libraries = [
            LibraryView(
                cpp_text.call("STABLE_TORCH_LIBRARY_IMPL(", [spelled, key, "m"], ") {"),
                (),
                tuple(views),
            )
            for spelled, views in found.items()
        ]
        context = {"includes": list(includes), "libraries": libraries}
        path = f"{root}/src/register_{key.lower()}.cpp"
        yield OutputFile(path, "cpp_stable/register_key.cpp.j2", context)


def _lines(kernels: Sequence[Kernel], namespace: str) -> Iterator[str]:
    """`m.impl("muladd", TORCH_BOX(&::mylib::muladd_cpu));`."""
    shared = shared_names(kernels, namespace)
    for kernel in kernels:
        found = address(kernel, namespace, shared)
        # What follows an address that has lines of its own is `));`, three characters.
        if len("          ));") + len(found) > cpp_text.LINE_LENGTH:
            cast, _, pointer = found.rpartition("(")
            if cast:
                found = f"{cast}(\n              {pointer}"
        boxed = f"TORCH_BOX({found})"
        if "\n" in boxed or len(f"      {boxed});") > cpp_text.LINE_LENGTH:
            boxed = f"TORCH_BOX(\n          {found})"
        items = [cpp_text.quote(kernel.operator.schema.local_name), boxed]
        line = cpp_text.call("m.impl(", items, ");", indent=2)
        if max(map(len, line.splitlines())) > cpp_text.LINE_LENGTH:
            # clang-format would tear the name of the kernel apart.
            line = f"// clang-format off\n  {line}\n  // clang-format on"
        yield line
