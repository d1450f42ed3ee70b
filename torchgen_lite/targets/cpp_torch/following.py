"""Variants that follow from a kernel of another variant: of the out variant, or of a backend's functional one.

at::Tensor from_out_PrivateUse1_add_Tensor(const at::Tensor& self, ...) {
  const auto _meta = ::mylib::from_out::on_meta<::mylib::ops::add_Tensor>(self, other, alpha);
  const auto _device = ::mylib::from_out::device(c10::DeviceType::PrivateUse1, self, other);
  auto _out = ::mylib::from_out::make(_meta, _device);
  ::mylib::add_out_device(self, other, alpha, _out);
  return _out;
}

at::Tensor& copied_XLA_add__Tensor(at::Tensor& self, const at::Tensor& other, ...) {
  const auto _given = ::torch_xla::XLANativeFunctions::add(self, other, alpha);
  at::_copy_from(_given, self);
  return self;
}

See Note [What a backend leaves out] and Note [Variants that copy].
"""

from __future__ import annotations

from collections.abc import Iterator

from torchgen_lite.analysis.derive.copying import COPIES
from torchgen_lite.analysis.derive.layout import argument_layout
from torchgen_lite.analysis.policy import Origin
from torchgen_lite.languages.cpp.kernels import qualified
from torchgen_lite.languages.cpp.native import sizes_of
from torchgen_lite.languages.cpp.signature import CppParameter
from torchgen_lite.languages.cpp.text import forwarded, identifier
from torchgen_lite.languages.cpp.torch_types import INT_LIST, INT_LIST_OPTION
from torchgen_lite.loader.entry.entry import DispatchEntry
from torchgen_lite.schema import ListType
from torchgen_lite.schema.dispatch_kind import DispatchKind, dispatch_kind
from torchgen_lite.schema.grouped import names_of
from torchgen_lite.targets.cpp.conditions import condition
from torchgen_lite.targets.cpp.layout import stem
from torchgen_lite.targets.cpp.model import CppOperator
from torchgen_lite.targets.cpp.registrations import Choice
from torchgen_lite.targets.cpp.required import chooser, named_kernels
from torchgen_lite.targets.cpp_torch import types
from torchgen_lite.targets.cpp_torch.model import Library
from torchgen_lite.targets.cpp_torch.registrations import TorchImplCall, choice_of, wrapped
from torchgen_lite.targets.cpp_torch.wrappers import Copied, FromOut, Wrapper, devices


def following_registrations(library: Library) -> Iterator[TorchImplCall]:
    """The kernels derived from another variant's, and those that select a backend."""
    by_facts = library.by_facts
    for registration in library.registered:
        operator = by_facts[registration.operator]
        origin = registration.origin
        source = registration.source
        kernel = registration.kernel
        if origin is Origin.from_out and source is not None and kernel is not None:
            yield _from_out(by_facts[source], operator, kernel, library)
        elif origin is Origin.copied and source is not None and kernel is not None:
            yield _copied(by_facts[source], operator, kernel, library)
        elif origin is Origin.backend_select:
            yield wrapped(registration.key, _select(operator, library))


def _from_out(
    out: CppOperator, member: CppOperator, entry: DispatchEntry, library: Library
) -> TorchImplCall:
    """The kernel of one variant that follows from a kernel of the out variant, or from several."""
    layout = library.layout
    kernel, choice = _called(out, member, entry, library)
    signature = types.signature(member.function, sizes_of(entry.kernels[0]))
    count = len(out.schema.out)
    made = [f"_out{index}" for index in range(count)] if count > 1 else ["_out"]
    tensors = []
    for argument in member.schema.arguments:
        if dispatch_kind(argument.type) in (DispatchKind.tensor, DispatchKind.tensor_list):
            tensors.append(identifier(argument.name))
    headers = ("from_out.h", f"{stem('operators', member.shard)}.h")
    wrapper = Wrapper(
        member,
        f"from_out_{entry.key}_{member.flat}",
        condition(member.function, out.function),
        signature,
        devices(member.function, entry.key, entry.backend),
        names_of(map(layout.own, headers)),
        kernel,
        from_out=FromOut(
            entry.key,
            list(map(_symbolic, signature.parameters, member.signature.parameters)),
            tensors,
            ["self"] if member.is_inplace else made,
        ),
    )
    return wrapped(entry.key, wrapper, choice=choice)


def _called(
    out: CppOperator, member: CppOperator, entry: DispatchEntry, library: Library
) -> tuple[str, Choice | None]:
    """The kernel of the out variant by its full name, or the function that chooses it."""
    namespace = library.layout.namespace
    if not entry.rows:
        return qualified(entry.kernel, namespace), None
    signature = library.kernel_signature
    kernels = list(named_kernels(out, entry, signature, library.options, library.layout))
    function = chooser(kernels, member)
    return function.qualified, choice_of(function, kernels, (), library)


def _symbolic(given: CppParameter, wanted: CppParameter) -> str:
    """An argument of the typed call; of plain numbers symbolic ones are made, but not of lists of them."""
    name = identifier(given.name)
    if given.type == wanted.type or given.type not in (INT_LIST, INT_LIST_OPTION):
        return name
    if given.type == INT_LIST:
        return f"c10::fromIntArrayRefSlow({name})"
    some = f"std::make_optional(c10::fromIntArrayRefSlow(*{name}))"
    return f"{name}.has_value() ? {some} : std::nullopt"


def _copied(
    functional: CppOperator, member: CppOperator, entry: DispatchEntry, library: Library
) -> TorchImplCall:
    """The kernel of one variant that follows from a kernel of the functional one."""
    written = member.schema.written
    by_alias = {argument.annotation: identifier(argument.name) for argument in written}
    copy = COPIES[member.facts.kind]
    # A variant that PyTorch derives leaves device checks to the functional one, called here.
    guarded = member.function._replace(
        device_check=functional.function.device_check,
        device_guard=functional.function.device_guard,
    )
    wrapper = Wrapper(
        member,
        f"copied_{entry.key}_{member.flat}",
        condition(member.function, functional.function),
        types.signature(member.function, sizes_of(entry)),
        devices(guarded, entry.key, entry.backend),
        ("cstddef", f"ATen/ops/{copy}.h"),
        qualified(entry.kernel, library.layout.namespace),
        copied=Copied(
            _passed(functional, member, identifier(written[0].name)),
            copy,
            [(identifier(a.name), isinstance(a.type, ListType)) for a in written],
            [by_alias[value.annotation] for value in member.schema.returns],
        ),
    )
    return wrapped(entry.key, wrapper)


def _passed(functional: CppOperator, member: CppOperator, out: str) -> list[str]:
    """The arguments of the functional kernel; an out variant has no tensor options but those of its out argument."""
    options = argument_layout(functional.schema).options
    names = names_of(functional.schema.arguments)
    if options is None or options.dtype.name in names_of(member.schema.arguments):
        return forwarded(functional.schema.arguments)
    values = (f"{out}.scalar_type()", f"{out}.layout()", f"{out}.device()", "std::nullopt")
    of_out = dict(zip(names_of(options), values))
    return [of_out.get(name) or identifier(name) for name in names]


def _select(operator: CppOperator, library: Library) -> Wrapper:
    """The kernel for BackendSelect of an operator that makes tensors from nothing: the options choose the backend.

    PyTorch has these for its own operators; torchgen makes none for others.
    """
    headers = ("c10/core/TensorOptions.h", library.layout.own("operators.h").name)
    name = f"select_{operator.flat}"
    return Wrapper(operator, name, operator.guard, operator.signature, more_headers=headers)
