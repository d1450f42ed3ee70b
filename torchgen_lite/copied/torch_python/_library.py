"""Registers the operators of a package: all or none, and once per process."""

from __future__ import annotations

import hashlib
import importlib
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, cast

import torch
from torch._functorch import config
from torch._library import triton
from torch._subclasses import FakeTensor
from torch._subclasses.functional_tensor import FunctionalTensor, FunctionalTensorMode
from torch.utils import _pytree as pytree

from . import _autocast, _autograd, _compiled, _forward, _writes
from ._autocast import Casts as Casts
from ._autocast import autocasts as autocasts
from ._autocast import float32 as float32
from ._autocast import lower_precision as lower_precision
from ._autocast import under as under
from ._autograd import gradients as gradients
from ._compiled import apart as apart
from ._forward import Table
from ._forward import refused as refused
from ._writes import Function
from ._writes import values_at as values_at
from ._writes import written_arguments as written_arguments

# Parts of torch have no annotations.
_C: Any = torch._C
check: Callable[[Any, Callable[[], str]], None] = torch._check
_HERE = str(sys.modules[__name__].__file__)


class RegistrationError(ImportError):
    """No operator was registered; the message begins with a place in the YAML."""


class Operator(NamedTuple):
    """An operator, and what is registered for it.

    `place` is where it is declared, `torch` the versions that it is for, and the keys of
    `rules` are dispatch keys, `fake`, `backward` and so on.
    """

    place: str
    name: str
    schema: str
    rules: Mapping[str, Any]
    tags: tuple[str, ...] = ()
    torch: tuple[tuple[str, tuple[int, ...]], ...] = ()
    is_torchs: bool = False

    @property
    def namespace(self) -> str:
        return self.name.partition("::")[0]

    @property
    def local_name(self) -> str:
        return self.name.partition("::")[2]


# Functions of the YAML.


@cache
def resolve(place: str, module: str, name: str) -> Function:
    """The function of that name; its module is imported now."""
    try:
        found = getattr(importlib.import_module(module), name, None)
    except Exception as error:
        message = f"{place}: module `{module}` can't be imported: {error}"
        raise RegistrationError(message) from error
    if not callable(found):
        raise RegistrationError(f"{place}: module `{module}` has no function `{name}`")
    return cast("Function", found)


# The modules that rules and formulas name.
_named: set[str] = set()


def _plainly(function: Function, /, *args: Any, **kwargs: Any) -> Any:
    return function(*args, **kwargs)


def named(place: str, module: str, name: str, calling: Function = _plainly) -> Function:
    """The same, imported at its first call. `calling` gives it the arguments that PyTorch leaves out."""
    _named.add(module)

    def call(*args: Any, **kwargs: Any) -> Any:
        return calling(resolve(place, module, name), *args, **kwargs)

    return call


def launching(place: str, module: str, name: str, kernel: Function) -> Function:
    """A kernel that launches Triton kernels in that function; compilers trace `__wrapped__`, which is slow to run."""
    _named.add(module)
    call: Any = triton.set_wrap_triton_enabled(False)(kernel)
    call.launched = lambda: triton.get_inner_triton_kernels(resolve(place, module, name))
    return cast("Function", call)


# The transaction.


def register(
    package: str,
    operators: Sequence[Operator],
    *,
    kind: str,
    defines: bool,
    load: str = "",
    final: bool = False,
    calls: Sequence[tuple[str, str]] = (),
) -> None:
    """Define the operators and register their rules, or raise RegistrationError."""
    table = {(o.name, what): f for o in operators for what, f in o.rules.items()}
    _tag(package)
    shape = ([(o.name, o.schema, o.tags) for o in operators], set(table))
    before = _packages().get(package)
    if before is not None:
        if before["shape"] != shape:
            raise RegistrationError(f"the operators of `{package}` have changed: restart Python")
        # Registrations look up their functions there, so that a reload takes effect.
        before["table"].update(table)
        return
    check_versions(operators)
    check_calls(calls)
    if load and not all(map(_is_defined, operators)):
        with _place(operators[0].place if operators else package, f"`{load}`"):
            importlib.import_module(load)
    libraries: dict[str, Any] = {}
    try:
        for operator in operators:
            _begin(libraries, operator, kind, defines)
        for operator in operators:
            with _place(operator.place, f"`{operator.name}`"):
                _finish(libraries, operator, table, table if final else {}, load)
    except BaseException:
        for library in reversed(libraries.values()):
            library._destroy()
        raise
    _packages()[package] = {"shape": shape, "table": table, "libraries": libraries}
    for name, what in table:
        if what in _compiled.LATER:
            fake = _current(table, (name, "fake")) if (name, "fake") in table else None
            given = _handle(name), _current(table, (name, what)), fake
            _compiled.when_imported(*_compiled.LATER[what], [given])


def _register_class(name: str, kind: str) -> None:
    """Let schemas name a class of Python, unless PyTorch or another package did."""
    if find_spec("torch._library.opaque_object") is None:
        raise TypeError(f"`{name}`: torch {torch.__version__} takes no objects of Python")
    module, _, attribute = name.rpartition(".")
    # The module may register it, too.
    found = getattr(importlib.import_module(module), attribute)
    if not _C._is_opaque_type_registered(name):
        opaque: Any = importlib.import_module("torch._library.opaque_object")
        if hasattr(opaque, "register_custom_class"):
            kind = {"reference": "symbolic", "value": "constant"}[kind]
            opaque.register_custom_class(found, typ=kind)
        else:
            opaque.register_opaque_type(found, typ=kind)


def _tag(package: str) -> None:
    """Let caches of compiled programs, on disk too, forget those that were traced with other rules and formulas."""
    digest = hashlib.sha256(Path(_HERE).with_name("_operators.py").read_bytes())
    for module in sorted(_named):
        parts, found, folders = module.split("."), None, cast("Any", None)
        # Found where imports look, and not imported.
        for i in range(len(parts)):
            found = PathFinder.find_spec(".".join(parts[: i + 1]), folders)
            folders = found.submodule_search_locations if found is not None else None
        if found is not None and found.origin is not None and found.origin.endswith(".py"):
            digest.update(Path(found.origin).read_bytes())
    config: Any = getattr(torch.compiler, "config", None)
    if hasattr(config, "cache_key_tag"):
        others = [w for w in config.cache_key_tag.split() if not w.startswith(f"{package}=")]
        config.cache_key_tag = " ".join([*others, f"{package}={digest.hexdigest()}"])


def _home() -> dict[str, Any]:
    """What packages know of each other in this process; it outlives a reload."""
    name = "_torchgen_lite_registrations"
    return sys.modules.setdefault(name, ModuleType(name)).__dict__


def _packages() -> dict[str, Any]:
    """What is registered."""
    return cast("dict[str, Any]", _home().setdefault("packages", {}))


def _refusing() -> set[str]:
    """The operators whose kernel for Autograd only refuses gradients."""
    return cast("set[str]", _home().setdefault("refusing", set()))


@contextmanager
def _place(place: str, what: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise RegistrationError(f"{place}: {what}: {error}") from error


def _begin(libraries: dict[str, Any], operator: Operator, kind: str, defines: bool) -> None:
    """The operator itself: defined here, or already registered."""
    namespace = operator.namespace
    ours = defines and not operator.is_torchs
    if namespace not in libraries:
        with _place(operator.place, f"namespace `{namespace}`"):
            library: Any = torch.library.Library
            libraries[namespace] = library(namespace, kind if ours else "IMPL")
    with _place(operator.place, f"`{operator.name}`"):
        for name, kind in operator.rules.get("classes", {}).items():
            _register_class(name, kind)
        if ours:
            # Tags are hints: those that this torch does not know are left out.
            known = [getattr(torch.Tag, tag, None) for tag in operator.tags]
            tags = [tag for tag in known if tag is not None]
            libraries[namespace].define(operator.schema, tags=tags)
        else:
            _check_defined(operator)


def _finish(
    libraries: dict[str, Any], operator: Operator, table: Table, final: Table, load: str
) -> None:
    """Its kernels, and then what builds on them."""
    name, library = operator.name, libraries[operator.namespace]
    new: Function | None = None
    # A kernel for Functionalize that is not made here.
    is_functionalized = "Functionalize" in operator.rules or _has_kernel(name, "Functionalize")
    for what in operator.rules:
        function = _current(table, (name, what))
        if what == "fake":
            _feature("register_fake")(name, function, lib=library)
        elif what == "view":
            _register_view(library, name, function)
        elif what == "functionalize":
            _register_functionalize(library, name, new := function)
        elif what == "vmap":
            _feature("register_vmap")(name, function, lib=library)
        elif what == "effects":
            effects: Any = importlib.import_module("torch._higher_order_ops.effects")
            effects._register_effectful_op(_handle(name), effects._EffectType.ORDERED)
        elif what == "autocast":
            _register_autocast(library, name, lambda: table[name, "autocast"])
        elif what not in {*_autograd.RULES, *_compiled.LATER, "checkpoint", "classes"}:
            # Schemas of PyTorch's own operators do not say all: `_copy_from` returns what it writes.
            if not (final or operator.is_torchs):
                function = _writes.checked(_handle(name), operator.place, what, table)
            library.impl(operator.local_name, function, what)
    keys = [key for key in operator.rules if hasattr(table[name, key], "launched")]
    if keys:
        _register_triton(library, name, keys, table)
    if operator.is_torchs:
        return
    op, is_composed = _handle(name), _has_kernel(name, "CompositeImplicitAutograd")
    if _returns_what_it_writes(op) and not _is_traced(name):
        _register_functionalize(library, name, _define_copying(libraries, operator))
    is_view = is_composed and any(value.alias_info for value in op._schema.returns)
    is_traced_view = is_view and not _has_kernel(name, "Functionalize")
    if is_traced_view or (op._schema.is_mutable and not is_functionalized):
        _compiled.functionalize(library, op, written_arguments(op), is_composed, new)
    # What PyTorch's functions draw in a composed operator, they are asked for.
    is_asked = is_composed or _has_kernel(name, "FuncTorchVmapMode")
    if "nondeterministic_seeded" in operator.tags and not is_asked and (name, "vmap") not in table:
        library.impl(operator.local_name, _drawing(name), "FuncTorchVmapMode")
    _register_autograd(library, operator, table, final, load)


def _drawing(operator: str) -> Function:
    """What does under `torch.vmap` as its `randomness` says; PyTorch asks for it only at calls of its own operators."""
    op, here = _handle(operator), _C.DispatchKeySet(_C.DispatchKey.FuncTorchVmapMode)

    def kernel(*args: Any, **kwargs: Any) -> Any:
        from torch._functorch import pyfunctorch

        vmap: Any = pyfunctorch.retrieve_current_functorch_interpreter()
        leaves, shape = pytree.tree_flatten((args, kwargs))
        tensors = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        mapped = [i for i in tensors if _C._functorch.maybe_get_level(leaves[i]) == vmap.level()]
        how, is_each = vmap.randomness(), vmap.randomness() == "different" and not mapped
        cannot_expand = is_each and (not tensors or op._schema.is_mutable)
        if how == "error" or (how == "same" and mapped) or cannot_expand:
            raise RuntimeError(f"{operator} draws random numbers: not with randomness={how!r}")
        if is_each:
            one = leaves[tensors[0]]
            every = one.expand(vmap.batch_size(), *one.shape)
            leaves[tensors[0]] = _C._functorch._add_batch_dim(every, 0, vmap.level())
            args, kwargs = pytree.tree_unflatten(leaves, shape)
        with _C._ExcludeDispatchKeyGuard(here):
            return op(*args, **kwargs)

    return kernel


class _Launched(list[Any]):
    """Triton kernels, which caches of compiled programs ask for; functions are imported then."""

    def __iter__(self) -> Iterator[Any]:
        return (found for kernel in super().__iter__() for found in kernel.launched())


def _register_triton(library: Any, name: str, launching: Sequence[str], table: Any) -> None:
    """Let compilers trace the kernel that a call would run; as with `triton_op`, exported programs keep the call."""

    def rule(mode: Any, op: Any, types: Any, args: Any, kwargs: Any) -> Any:
        tensors = [v for v in pytree.tree_leaves((args, kwargs)) if isinstance(v, torch.Tensor)]
        found = {_C._dispatch_key_for_device(value.device.type) for value in tensors}
        # A tensor on the CPU, a number, may stand beside those of a device.
        [key, *others] = found - {"CPU"} or found or {"Undefined"}
        key = key if _has_kernel(name, key) else "CompositeExplicitAutograd"
        is_plain = {*types} <= {torch.Tensor, FakeTensor, FunctionalTensor} and not others
        is_plain = is_plain and all(value.layout is torch.strided for value in tensors)
        is_wanted = key in launching and getattr(config, "decompose_custom_triton_ops", True)
        if not (is_plain and is_wanted):
            return mode.__torch_dispatch__(op, types, args, kwargs)
        with mode:
            return table[name, key].__wrapped__(*args, **kwargs)

    known = getattr(triton, "triton_ops_to_kernels", {})
    known[name] = _Launched(table[name, key] for key in launching)
    _feature("register_torch_dispatch")(name, FunctionalTensorMode, rule, lib=library)


def _register_autograd(
    library: Any, operator: Operator, table: Table, final: Table, load: str
) -> None:
    """What tracks and differentiates a call. An operator whose derivatives are registered in C++ keeps those."""
    name, op = operator.name, _handle(operator.name)
    is_tracked, is_refusing = _is_tracked(name, op), (name, "underived") in table
    # ADInplaceOrView is there for calls that carry no key of autograd, too.
    key = "Autograd" if _writes.carries_keys(op) else "ADInplaceOrView"
    if is_tracked and not (is_refusing and key == "ADInplaceOrView"):
        kernel = _writes.raising_versions(op)
        library.impl(operator.local_name, kernel, "ADInplaceOrView", with_keyset=True)
    if is_tracked and key == "ADInplaceOrView":
        kernel = _writes.raising_in_inference(op)
        library.impl(operator.local_name, kernel, "BackendSelect", with_keyset=True)
    # The kernel of a backend beside one that is composed is refused all the same.
    if _has_kernel(name, "CompositeImplicitAutograd") and not is_refusing:
        return
    is_taken = _has_kernel(name, key)
    below = _autograd.calls_below(op, name, final, is_tracked or key == "ADInplaceOrView")
    if (name, "backward") in table:
        if is_taken and not _only_refuses(name):
            if not (load and _is_of_its_library(name)):
                message = "its formulas are not used: another library has a kernel for Autograd"
                warnings.warn(f"{operator.place}: `{name}`: {message}", stacklevel=2)
            return
        kernel = _autograd.recording(op, name, table, below)
        with warnings.catch_warnings():
            # PyTorch warns of the refusal that is replaced.
            warnings.filterwarnings("ignore", "(?s).*Overriding a previously registered kernel")
            library.impl(operator.local_name, kernel, "Autograd", with_keyset=True)
        _refusing().discard(name)
    elif is_refusing and not is_taken:
        # `Library.impl` would forbid to register derivatives by hand.
        kernel = _autograd.refusing(op, name, operator.place, below)
        library.m.impl(operator.local_name, key, kernel, True)
        _refusing().add(name)


def _is_tracked(operator: str, op: Any) -> bool:
    """Whether versions are moved here: not by another library, nor by the operators that a kernel is composed of."""
    if not op._schema.is_mutable or _has_kernel(operator, "ADInplaceOrView"):
        return False
    is_composed = _has_kernel(operator, "CompositeImplicitAutograd")
    keys = filter(_writes.is_backend, _C.DispatchKey.__members__)
    return not is_composed or any(_has_kernel(operator, key) for key in keys)


def _only_refuses(operator: str) -> bool:
    """Whether the kernel for Autograd only refuses gradients: that of a package, or of a library in C++, which says so."""
    return operator in _refusing() or "refuses derivatives" in _said_of(operator, "Autograd[alias]")


def _is_of_its_library(operator: str) -> bool:
    """Whether the sources in C++ that define an operator, which have its formulas, register its kernel for Autograd."""
    said = [_said_of(operator, what) for what in ("debug", "Autograd[alias]")]
    places = [re.search(r"registered at (.*?):\d", text) for text in said]
    folders = [Path(place[1]).parent for place in places if place and place[1][-3:] != ".py"]
    return len(folders) == 2 and folders[0] == folders[1]


def _said_of(operator: str, what: str) -> str:
    """What PyTorch says of an operator, or of its kernel for a key."""
    lines = _C._dispatch_dump(operator).splitlines()
    return "".join(line for line in lines if line.startswith(what))


def checkpoint_policy(context: Any, op: Any, *args: Any, **kwargs: Any) -> Any:
    """The policy of every package's `checkpoint:`, for `torch.utils.checkpoint.create_selective_checkpoint_contexts`.
    Results of operators whose entries say nothing, PyTorch's among them, are computed again.
    """
    from torch.utils.checkpoint import CheckpointPolicy

    for package in _packages().values():
        said = package["table"].get((op.name(), "checkpoint"))
        if said is not None:
            return CheckpointPolicy[f"MUST_{said.upper()}"]
    return CheckpointPolicy.PREFER_RECOMPUTE


def _current(table: Table, key: tuple[str, str]) -> Function:
    return lambda *args, **kwargs: table[key](*args, **kwargs)


# Checks before anything is registered.


def check_versions(operators: Sequence[Operator]) -> None:
    """Check that every operator is for this torch."""
    numbers = re.match(r"[0-9]+(\.[0-9]+)*", torch.__version__)
    version = tuple(map(int, numbers[0].split("."))) if numbers else ()
    for operator in operators:
        for sign, wanted in operator.torch:
            if not _holds(sign, version, wanted):
                text = f"{sign.rstrip('*')}{'.'.join(map(str, wanted))}"
                raise RegistrationError(
                    f"{operator.place}: `{operator.name}` is for torch {text}, but this is {torch.__version__}"
                )


def _holds(sign: str, version: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    if sign == "!=*":
        return version[: len(wanted)] != wanted
    length = max(len(version), len(wanted))
    left, right = (v + (0,) * (length - len(v)) for v in (version, wanted))
    return {
        ">=": left >= right,
        "<=": left <= right,
        ">": left > right,
        "<": left < right,
        "==": left == right,
        "!=": left != right,
    }[sign]


def check_calls(calls: Sequence[tuple[str, str]]) -> None:
    """Check that this torch has all functions that derivatives call, with places."""
    for place, name in calls:
        if not hasattr(torch, name):
            message = f"a formula calls `{name}`, which is not a function of torch"
            raise RegistrationError(f"{place}: {message} {torch.__version__}")


def _feature(name: str) -> Any:
    """A function of `torch.library`, which an older torch may not have."""
    found = getattr(torch.library, name, None)
    if found is None:
        raise RuntimeError(f"torch {torch.__version__} is too old: no `torch.library.{name}`")
    return found


def _is_defined(operator: Operator) -> bool:
    return bool(_C._dispatch_has_kernel(operator.name))


def _check_defined(operator: Operator) -> None:
    """Check that the operator exists, with the schema the package was made from."""
    if not _is_defined(operator):
        raise RuntimeError("no library that is loaded defines it")
    if operator.is_torchs:
        return
    name, _, overload = operator.local_name.partition(".")
    found = _C._get_schema(f"{operator.namespace}::{name}", overload)
    if found != _C.parse_schema(f"{operator.namespace}::{operator.schema}"):
        raise RuntimeError(f"the library that is loaded declares it as {found}")


def _handle(operator: str) -> Any:
    namespace, _, name = operator.partition("::")
    base, _, overload = name.partition(".")
    packet = getattr(getattr(torch.ops, namespace), base)
    return getattr(packet, overload or "default")


def _has_kernel(operator: str, key: str) -> bool:
    return bool(_C._dispatch_has_kernel_for_dispatch_key(operator, key))


# Tracing of views, and of operators that return what they write.


def _register_view(library: Any, operator: str, view: Function) -> None:
    """A view is traced and differentiated as the torch view that its rule names."""
    name, op = operator.partition("::")[2], _handle(operator)

    def autograd(keyset: Any, /, *args: Any, **kwargs: Any) -> Any:
        is_wanted = torch.is_grad_enabled() and _autograd.any_requires_grad(*args, kwargs)
        if is_wanted or _forward.may_have_tangents():
            return view(*args, **kwargs)
        with _C._AutoDispatchBelowAutograd():
            return op.redispatch(keyset & _C._after_autograd_keyset, *args, **kwargs)

    if not _has_kernel(operator, "Functionalize"):
        library.impl(name, view, "Functionalize")
    if not _has_kernel(operator, "Autograd"):
        library.impl(name, autograd, "Autograd", with_keyset=True)


def functional(operator: str) -> Function:
    """The operator that computes what another one writes. It takes no `out`."""

    def compute(*args: Any, **kwargs: Any) -> Any:
        op = _handle(operator)
        taken = {argument.name for argument in op._schema.arguments}
        return op(*args, **{n: v for n, v in kwargs.items() if n in taken})

    return compute


def _is_traced(operator: str) -> bool:
    """Whether tracing supports an operator that returns what it writes: from 2.13 on, with the tag `inplace` or `out`."""
    tags = [getattr(torch.Tag, tag, None) for tag in ("inplace", "out")]
    keys = ("Functionalize", "CompositeImplicitAutograd")
    known = any(tag in _handle(operator).tags for tag in tags)
    return known or any(_has_kernel(operator, key) for key in keys)


def _register_functionalize(library: Any, operator: str, compute: Function) -> None:
    """An operator that returns what it writes: traced as the functional one and a copy."""
    if _is_traced(operator):
        return
    places = written_arguments(_handle(operator))

    def kernel(*args: Any, **kwargs: Any) -> Any:
        written = values_at(places, args, kwargs)
        result = compute(*args, **kwargs)
        for target, value in zip(written, result if len(written) > 1 else [result]):
            target.copy_(value)
        return tuple(written) if len(written) > 1 else written[0]

    library.impl(operator.partition("::")[2], kernel, "Functionalize")


def _returns_what_it_writes(op: Any) -> bool:
    """Whether it writes to tensors, and returns those and nothing else."""
    written = [
        a for a in op._schema.arguments if a.alias_info is not None and a.alias_info.is_write
    ]
    is_plain = all(isinstance(a.type, _C.TensorType) for a in written)
    sets = [
        [v.alias_info and v.alias_info.before_set for v in vs]
        for vs in (written, op._schema.returns)
    ]
    return bool(written) and is_plain and sets[0] == sets[1]


def _define_copying(libraries: dict[str, Any], operator: Operator) -> Function:
    """`_copying_scale_(Tensor self) -> Tensor`, if there is no functional `scale`: it runs `scale_` on a copy."""
    namespace, local = operator.namespace, f"_copying_{operator.local_name}"
    op = _handle(operator.name)
    places = written_arguments(op)
    aliases = re.compile(r"(?<=Tensor)\([^()]*\)")

    def kernel(*args: Any, **kwargs: Any) -> Any:
        given: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        given.update({place: given[place].clone() for place in places})
        return op(*[given.pop(i) for i in range(len(args))], **given)

    def fake(*args: Any, **kwargs: Any) -> Any:
        results = [torch.empty_like(value) for value in values_at(places, args, kwargs)]
        return tuple(results) if len(results) > 1 else results[0]

    make: Any = torch.library.Library
    library = libraries[f"{namespace}::{local}"] = make(namespace, "FRAGMENT")
    schema = aliases.sub("", str(op._schema)).partition("(")
    library.define(local + "(" + schema[2])
    library.impl(local, kernel, "CompositeExplicitAutograd")
    _feature("register_fake")(f"{namespace}::{local}", fake, lib=library)
    return functional(f"{namespace}::{local}")


def _register_autocast(library: Any, operator: str, current: Callable[[], Function]) -> None:
    """A kernel for the autocast key of every device that has none yet."""
    own = {"PrivateUse1": _C._get_privateuse1_backend_name()}
    for backend, device in (_autocast.DEVICES | own).items():
        key = f"Autocast{backend}"
        if hasattr(_C.DispatchKey, key) and not _has_kernel(operator, key):
            kernel = _autocast.casting(_handle(operator), key, device, current)
            library.impl(operator.partition("::")[2], kernel, key)
