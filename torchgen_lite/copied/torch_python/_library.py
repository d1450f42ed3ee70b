"""Registers the operators of a package: all or none, and once per process.

Note [The way of a call]
A traceback from a call of an operator to its kernel has these frames, and C++ of PyTorch between them:

    functions.py      the function with types, which calls `torch.ops`
    torch/_ops.py     PyTorch's object for the operator, which enters the dispatcher
    _autograd.py      the kernel for Autograd: `kernel`, and `forward` of the node if the call is recorded
    _results.py       `checked` compares the results of the kernel with the schema
    _operators.py     gives the kernel every argument, defaults, too
    your module       the kernel
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from types import ModuleType
from typing import Any, NamedTuple, cast

import torch
from torch.utils import _pytree as pytree

Function = Callable[..., Any]
# Functions by the operator, and what they are for it: a dispatch key, `fake`, `backward` and so on.
Table = dict[tuple[str, str], Function]
# What else to say of some functions whose module can't be imported.
hints: Table = {}
Feature = Callable[["Registering"], None]
Checked = Callable[[Any, str, str, Table], Function]

# Parts of torch have no annotations.
_C: Any = torch._C
check: Callable[[Any, Callable[[], str]], None] = torch._check


class RegistrationError(ImportError):
    """No operator was registered; the message begins with a place in the YAML."""


class Operator(NamedTuple):
    """An operator, and what is registered for it. `place` is where it is declared, `torch` the versions that it is for, and
    the keys of `rules` are dispatch keys, `fake`, `backward` and so on.
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


@dataclass(frozen=True)
class Registering:
    """An operator that is defined and has its kernels, for what registers more of it.

    `tracked` are the operators of the package whose writes it counts itself; `libraries` live as long as the package.
    """

    operator: Operator
    table: Table
    below: Callable[[Registering, Any], Function]
    libraries: dict[str, Any]
    tracked: set[str]

    @property
    def name(self) -> str:
        return self.operator.name

    @property
    def op(self) -> Any:
        return handle(self.name)

    @property
    def library(self) -> Any:
        return self.libraries[self.operator.namespace]

    def has(self, rule: str) -> bool:
        return (self.name, rule) in self.table

    def has_kernel(self, key: str) -> bool:
        return bool(_C._dispatch_has_kernel_for_dispatch_key(self.name, key))

    def impl(self, key: str, kernel: Function, with_keyset: bool = False) -> None:
        self.library.impl(self.operator.local_name, kernel, key, with_keyset=with_keyset)


@cache
def resolve(place: str, module: str, name: str) -> Function:
    """The function of that name; its module, whose name may be relative to the package, is imported now."""
    try:
        function = getattr(importlib.import_module(module, __package__), name, None)
    except Exception as error:
        problem = f"module `{module}` can't be imported: {hints.get((place, name), str)(error)}"
        raise RegistrationError(f"{place}: {problem}") from error
    if not callable(function):
        raise RegistrationError(f"{place}: module `{module}` has no function `{name}`")
    return cast("Function", function)


# `x.conj()` of a complex tensor only notes that it is conjugated, and so does what negates an imaginary part. PyTorch
# computes that at keys which it leaves out in kernels that a TorchDispatchMode or a subclass of tensors has called:
# there, `x * x.conj()` would be `x * x`.
_RESOLVING = _C.DispatchKeySet(_C.DispatchKey.Conjugate) | _C.DispatchKeySet(
    _C.DispatchKey.Negative
)
only_notes = partial(_C._dispatch_tls_is_dispatch_key_excluded, _C.DispatchKey.Conjugate)


def resolving(function: Function, args: Any, kwargs: Any) -> Any:
    """A call in which PyTorch computes what tensors only note."""
    others = _C._dispatch_tls_local_exclude_set() - _RESOLVING
    with _C._ForceDispatchKeyGuard(_C._dispatch_tls_local_include_set(), others):
        return function(*args, **kwargs)


def current(table: Table, operator: str, rule: str) -> Function:
    """What calls the function that the table has when it is called, so that a reload takes effect."""
    which = operator, rule

    def call(*args: Any, **kwargs: Any) -> Any:
        if only_notes():
            return resolving(table[which], args, kwargs)
        return table[which](*args, **kwargs)

    return call


def through_the_dispatcher(registering: Registering, keyset: Any) -> Function:
    """What goes on with a call, to the kernel that is there then; from 2.14 on, one of Python gets arguments as they are."""
    op = registering.op
    redispatch = op._handle.redispatch_boxed
    new_ways = getattr(_C, "_dispatch_make_pyobj_dispatch_fns", None)
    if new_ways is not None and op._can_enable_pyobj_dispatch():
        _, redispatch = new_ways(op._handle, op._cpp_dispatch_handle, redispatch)
    return partial(redispatch, keyset)


def register(
    package: str,
    operators: Sequence[Operator],
    *,
    kind: str,
    defines: bool,
    sources: Iterable[bytes] = (),
    checked: Checked | None = None,
    below: Callable[[Registering, Any], Function] = through_the_dispatcher,
    features: Sequence[Feature] = (),
    held: str = "torchgen_lite.copied.torch_python._held",
) -> None:
    """Define the operators and register their rules, or raise RegistrationError.

    `sources` are texts of modules that rules name. `checked` makes the kernel of an operator for a key from the
    table, and `below` what autograd calls for keys. Of `features`, each registers what some operators have beside kernels
    and fakes, in this order; the module `held` holds calls against their entries if the environment asks for it.
    """
    table = {(o.name, rule): function for o in operators for rule, function in o.rules.items()}
    _tag(package, sources)
    shape = ([(o.name, o.schema, o.tags) for o in operators], set(table))
    packages = known("packages", {})
    before = packages.get(package)
    if before is not None:
        if before["shape"] != shape:
            raise RegistrationError(f"the operators of `{package}` have changed: restart Python")
        before["table"].update(table)
        return
    libraries: dict[str, Any] = {}
    tracked: set[str] = set()
    if os.environ.get("TORCHGEN_LITE_CHECK") in ("1", "2"):
        with at("TORCHGEN_LITE_CHECK", "install torchgen_lite, or generate with `checks = true`"):
            below, features = importlib.import_module(held).holding(features)
    try:
        for operator in operators:
            _define(libraries, operator, kind, defines)
        for operator in operators:
            registering = Registering(operator, table, below, libraries, tracked)
            with at(operator.place, f"`{operator.name}`"):
                _register_kernels(registering, checked)
                for feature in features:
                    feature(registering)
    except BaseException:
        for library in reversed(libraries.values()):
            library._destroy()
        raise
    packages[package] = {"shape": shape, "table": table, "libraries": libraries}


def _define(libraries: dict[str, Any], operator: Operator, kind: str, defines: bool) -> None:
    """The operator itself, unless another library defines it."""
    namespace = operator.namespace
    is_ours = defines and not operator.is_torchs
    if namespace not in libraries:
        with at(operator.place, f"namespace `{namespace}`"):
            library: Any = torch.library.Library
            libraries[namespace] = library(namespace, kind if is_ours else "IMPL")
    if not is_ours:
        return
    with at(operator.place, f"`{operator.name}`"):
        # Tags are hints: those that this torch does not know are left out.
        tags = [getattr(torch.Tag, tag) for tag in operator.tags if hasattr(torch.Tag, tag)]
        libraries[namespace].define(operator.schema, tags=tags)


def _register_kernels(registering: Registering, checked: Checked | None) -> None:
    """The kernels, whose keys begin with a capital, the fake, and the rule for `torch.vmap`."""
    operator, table = registering.operator, registering.table
    for rule in operator.rules:
        function = current(table, operator.name, rule)
        if rule in ("fake", "vmap"):
            register_rule: Any = getattr(torch.library, f"register_{rule}")
            register_rule(operator.name, function, lib=registering.library)
        elif rule[0].isupper():
            # Schemas of PyTorch's own operators do not say all: `_copy_from` returns what it writes.
            if checked is not None and not operator.is_torchs:
                function = checked(registering.op, operator.place, rule, table)
            registering.impl(rule, function)


def _tag(package: str, sources: Iterable[bytes]) -> None:
    """Let caches of compiled programs, on disk too, forget those that were traced with other rules and formulas."""
    config: Any = getattr(torch.compiler, "config", None)
    if not hasattr(config, "cache_key_tag"):
        return
    digest = hashlib.sha256(text_of(sys.modules[f"{__package__}._operators"].__spec__))
    for source in sources:
        digest.update(source)
    others = [tag for tag in config.cache_key_tag.split() if not tag.startswith(f"{package}=")]
    config.cache_key_tag = " ".join([*others, f"{package}={digest.hexdigest()}"])


def text_of(spec: Any) -> bytes:
    """The text of a module, or its byte code, in an archive too; another for each process where none can be read."""
    try:
        return bytes(spec.loader.get_data(spec.origin))
    except (AttributeError, OSError):
        return os.urandom(16)


# What is known of operators.


def known(what: str, new: Any) -> Any:
    """What packages know of each other in this process, even after a reload: `packages`, and operators whose kernels for
    Autograd are only `refusing` gradients."""
    name = "_torchgen_lite_registrations"
    return sys.modules.setdefault(name, ModuleType(name)).__dict__.setdefault(what, new)


@contextmanager
def at(place: str, what: str) -> Iterator[None]:
    """Errors name this place."""
    try:
        yield
    except Exception as error:
        raise RegistrationError(f"{place}: {what}: {error}") from error


def handle(operator: str) -> Any:
    """PyTorch's object for an operator: `torch.ops.mylib.scale.default`."""
    namespace, _, name = operator.partition("::")
    base, _, overload = name.partition(".")
    packet = getattr(getattr(torch.ops, namespace), base)
    return getattr(packet, overload or "default")


def is_backend(key: str) -> bool:
    """Whether kernels for a key compute, and do not only pass calls on."""
    is_explicit = key.startswith("CompositeExplicit")
    return is_explicit or _C._dispatch_is_included_in_alias(key, "CompositeExplicitAutograd")


def named(schema: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call by their names."""
    names = [argument.name for argument in schema.arguments]
    return {**dict(zip(names, args)), **kwargs}


def tensors_of(values: Any) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(values) if isinstance(leaf, torch.Tensor)]
