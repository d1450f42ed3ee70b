"""`register_schema.cpp`, and `register_<key>.cpp` with the functions that it registers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from torchgen_lite.analysis.namespaces import TORCH_NAMESPACES
from torchgen_lite.dialects import cpp_text
from torchgen_lite.targets.cpp import registrations
from torchgen_lite.targets.cpp.kernels import qualified
from torchgen_lite.targets.cpp.layout import Blocks, Layout, with_last
from torchgen_lite.targets.cpp.model import Operator
from torchgen_lite.targets.cpp.options import ModuleOptions
from torchgen_lite.targets.cpp.registrations import key_files, schema_file
from torchgen_lite.targets.cpp.required import Kernel, kernel_includes, shared_names
from torchgen_lite.targets.cpp_torch.wrappers import ANY_DEVICE, Wrapper, device_view
from torchgen_lite.targets.output import Header, OutputFile


@dataclass(frozen=True, slots=True)
class Registration(registrations.Registration):
    """A kernel of the author's, or a function around it (`wrapper`) that the same file defines."""

    wrapper: Wrapper | None = None


def wrapped(operator: Operator, key: str, wrapper: Wrapper) -> Registration:
    """The registration of a generated function."""
    return Registration(operator, key, f"TORCH_FN({wrapper.name})", wrapper.guard, wrapper)


def build_schema(
    operators: Sequence[Operator],
    layout: Layout,
    options: ModuleOptions,
    tags: Collection[str],
) -> Iterator[OutputFile]:
    """The definitions of the operators, without those that PyTorch defines, with those `tags` that they have."""
    own = [o for o in operators if o.function.namespace not in TORCH_NAMESPACES]
    context = {
        "includes": _includes(layout, [o.guard for o in own]),
        "macro": "TORCH_LIBRARY_FRAGMENT" if options.library == "fragment" else "TORCH_LIBRARY",
        "python_module": options.python_module and cpp_text.quote(options.python_module),
    }
    yield from schema_file(own, layout, "at::Tag::{}".format, context, known_tags=tags)


def kernel_registrations(kernels: Sequence[Kernel], namespace: str) -> Iterator[Registration]:
    """The kernels of the author, directly or through a function that guards the device."""
    shared = shared_names(kernels, namespace)
    for operator, key, name, signature, backend in kernels:
        kernel = qualified(name, namespace)
        device = device_view(operator.function, key, backend)
        if kernel in shared or device != ANY_DEVICE:
            wrapper = Wrapper(
                f"wrapper_{key}_{operator.flat}",
                operator.guard,
                signature,
                operator.flat,
                device,
                kernel=kernel,
            )
            yield wrapped(operator, key, wrapper)
        else:
            yield Registration(operator, key, f"TORCH_FN({kernel})", operator.guard)


def build_keys(
    registered: Iterable[Registration],
    layout: Layout,
    options: ModuleOptions,
    beside: Collection[str],
) -> Iterator[OutputFile]:
    """One file for each key, or one for each shard of it.

    It has another name for the keys that have a file of generated kernels `beside` it.
    """

    def context(own: Sequence[Registration]) -> dict[str, object]:
        wrappers = [r.wrapper for r in own if r.wrapper is not None]
        calls_kernel = len(wrappers) < len(own) or any(w.calls_kernel for w in wrappers)
        kernels = kernel_includes(layout, options.kernel_headers) if calls_kernel else []
        includes = _includes(layout, [r.guard for r in own], kernels, wrappers)
        return {"namespace": layout.namespace, "includes": includes, "wrappers": wrappers}

    template = "cpp_torch/register_key.cpp.j2"
    yield from key_files(registered, layout, "TORCH_LIBRARY_IMPL", context, template, beside=beside)


def _includes(
    layout: Layout,
    guards: Sequence[str],
    kernels: Blocks = (),
    wrappers: Sequence[Wrapper] = (),
) -> Blocks:
    if any(guards):
        kernels = with_last(kernels, layout.own("version.h"))
    theirs = ["torch/library.h", *sorted({h for w in wrappers for h in w.headers})]
    return [[*map(Header, theirs)], *kernels]
