"""`register.cpp`, and `register_<device>.cpp`: definitions, kernels, and the functions that are registered for some."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from torchgen_lite.analysis.namespaces import TORCH_NAMESPACES
from torchgen_lite.languages.cpp.kernels import qualified
from torchgen_lite.targets.cpp.layout import Blocks, Layout
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp.options import ModuleOptions
from torchgen_lite.targets.cpp.registrations import (
    ImplCall,
    Libraries,
    definitions,
    registration_files,
)
from torchgen_lite.targets.cpp.required import Kernel, kernel_includes, shared_names
from torchgen_lite.targets.cpp_torch.wrappers import ANY_DEVICE, Wrapper, devices
from torchgen_lite.targets.output import Header, OutputFile


@dataclass(frozen=True, slots=True)
class TorchImplCall(ImplCall):
    """Registers a boxed kernel, the author's, or a function around that (`wrapper`), which the same file
    defines."""

    wrapper: Wrapper | None = None


def wrapped(key: str, wrapper: Wrapper) -> TorchImplCall:
    """The registration of a generated function."""
    function = f"TORCH_FN({wrapper.name})"
    return TorchImplCall(wrapper.operator, key, function, wrapper.guard, wrapper=wrapper)


def kernel_registrations(kernels: Sequence[Kernel], namespace: str) -> Iterator[TorchImplCall]:
    """The kernels of the author, directly or through a function that guards the device."""
    shared = shared_names(kernels, namespace)
    for operator, key, name, signature, backend, _ in kernels:
        kernel = qualified(name, namespace)
        device = devices(operator.function, key, backend)
        if kernel in shared or device != ANY_DEVICE:
            function = f"wrapper_{key}_{operator.flat}"
            guard = operator.guard
            yield wrapped(key, Wrapper(operator, function, guard, signature, device, kernel=kernel))
        else:
            yield TorchImplCall(operator, key, f"TORCH_FN({kernel})", operator.guard)


def build_registrations(
    operators: Sequence[CppOperator],
    registered: Iterable[TorchImplCall],
    layout: Layout,
    options: ModuleOptions,
    tags: Collection[str],
) -> Iterator[OutputFile]:
    """The definitions of the operators, without those that PyTorch defines, with those `tags` that they have;
    and what is registered."""
    defined = [o for o in operators if o.function.namespace not in TORCH_NAMESPACES]
    libraries = definitions(defined, "at::Tag::{}".format, known_tags=tags)
    guards = [o.guard for o in defined]

    def context(shown: Libraries, own: Sequence[TorchImplCall]) -> dict[str, object]:
        wrappers = [r.wrapper for r in own if r.wrapper is not None]
        conditions = [*[r.guard for r in own], *(guards if shown else [])]
        return {
            "namespace": layout.namespace,
            "includes": _includes(layout, own, conditions, options),
            "wrappers": wrappers,
            "python_module": options.python_module,
        }

    template = "cpp_torch/register.cpp.j2"
    yield from registration_files(
        libraries, registered, layout, options, "TORCH_LIBRARY", template, context
    )


def _includes(
    layout: Layout, own: Sequence[TorchImplCall], guards: Sequence[str], options: ModuleOptions
) -> Blocks:
    """PyTorch's headers, those of the library, and what declares the kernels."""
    wrappers = [r.wrapper for r in own if r.wrapper is not None]
    headers = {h for w in wrappers for h in w.headers}
    plain = [r for r in own if r.wrapper is None and r.header is None]
    calls_kernel = bool(plain) or any(w.kernel for w in wrappers)
    kernels = kernel_includes(layout, options.kernel_headers) if calls_kernel else []
    names = {h.name for h in (r.header for r in own) if h is not None}
    names |= {layout.own("version.h").name} if any(guards) else set()
    *others, last = kernels or [[]]
    mine = [*last, *map(Header, sorted(names - headers))]
    theirs = [*map(Header, ["torch/library.h", *sorted(headers)])]
    return [theirs, *others, *([mine] if mine else [])]
