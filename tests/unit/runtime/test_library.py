"""The rules of registration, with their messages."""

from __future__ import annotations

import copy
import gc
import pickle
import re
import subprocess
import sys
import warnings
from typing import Any

import pytest

from tests.unit.runtime.helpers import T, keyset, says
from torchgen_lite.runtime import (
    BoxedKernel,
    Dispatcher,
    DispatcherError,
    DispatchKey,
    Library,
    OperatorHandle,
    Signature,
    fallthrough_kernel,
)
from torchgen_lite.runtime import library as library_module
from torchgen_lite.runtime.entry import OperatorEntry
from torchgen_lite.schema import SchemaError

SCHEMA = "op(Tensor x) -> Tensor"


@pytest.fixture
def dispatcher() -> Dispatcher:
    return Dispatcher()


def refuses(message: str) -> Any:
    return pytest.raises(DispatcherError, match=message)


def test_a_namespace_has_one_def(dispatcher: Dispatcher) -> None:
    first = Library("ns", "DEF", dispatcher=dispatcher, debug="here")
    with refuses(
        "^Only a single library of kind DEF can register the namespace ns; .* was here; latest"
    ):
        Library("ns", "DEF", dispatcher=dispatcher)
    first.close()
    Library("ns", "DEF", dispatcher=dispatcher).close()


def test_a_fragment_adds_to_a_namespace(dispatcher: Dispatcher) -> None:
    with (
        Library("ns", "DEF", dispatcher=dispatcher),
        Library("ns", "FRAGMENT", dispatcher=dispatcher) as more,
    ):
        assert more.define(SCHEMA).full_name == "ns::op"


@pytest.mark.parametrize("kind", ["DEF", "FRAGMENT"])
def test_definitions_have_no_wildcard_and_no_key(dispatcher: Dispatcher, kind: str) -> None:
    with refuses(f"^{kind}: cannot define operators in the wildcard namespace _; registered at "):
        Library("_", kind, dispatcher=dispatcher)
    with refuses(
        f"^a library of kind {kind} defines operators and has no dispatch key, but CPU was given"
    ):
        Library("ns", kind, "CPU", dispatcher=dispatcher)
    assert dispatcher.libraries == {}


def test_other_refusals_of_a_library(dispatcher: Dispatcher) -> None:
    with refuses(
        "^prim is a reserved namespace. Please try creating a library with another name.$"
    ):
        Library("prim", "DEF", dispatcher=dispatcher)
    with pytest.raises(
        ValueError,
        match="^unsupported kind of library: 'DEFS'; expected one of DEF, FRAGMENT, IMPL$",
    ):
        Library("ns", "DEFS", dispatcher=dispatcher)
    with pytest.raises(ValueError, match="^could not parse dispatch key: CPUU$"):
        Library("ns", "IMPL", "CPUU", dispatcher=dispatcher)
    with pytest.raises(ValueError, match="^Dense is neither a runtime key nor an alias key"):
        Library("ns", "IMPL", "Dense", dispatcher=dispatcher)


def test_define_in_impl(dispatcher: Dispatcher) -> None:
    with refuses(r'^define\("op.*"\): Cannot define an operator inside of a library of kind IMPL'):
        Library("ns", "IMPL", dispatcher=dispatcher).define(SCHEMA)


def test_the_namespace_of_a_schema(dispatcher: Dispatcher) -> None:
    library = Library("ns", "DEF", dispatcher=dispatcher)
    assert library.define("ns::op(Tensor x) -> Tensor").full_name == "ns::op"
    with refuses(
        r"Explicitly provided namespace \(other\) .* enclosing DEF library \(ns\)\.  Move this"
    ):
        library.define("other::op(Tensor x) -> Tensor")


def test_duplicate_definition(dispatcher: Dispatcher) -> None:
    library = Library("ns", "DEF", dispatcher=dispatcher)
    library.define(SCHEMA, debug="first")
    with refuses(
        r"^Tried to register an operator \(ns::op\(Tensor x\) -> Tensor\) with the same name and overload "
        r"name multiple times.* Duplicate registration: second. Original registration: first$"
    ):
        library.define(SCHEMA, debug="second")
    library.define("op.other(Tensor x) -> Tensor")


def test_impl_before_def(dispatcher: Dispatcher) -> None:
    kernels = Library("ns", "IMPL", "CPU", dispatcher=dispatcher)
    kernels.impl("op", says("cpu"))
    assert [op.full_name for op in dispatcher.find_dangling_impls()] == ["ns::op"]
    assert dispatcher.find_schema("ns::op") is None
    with refuses(
        "^Could not find schema for ns::op but we found an implementation; did you forget to def"
    ):
        dispatcher.find_schema_or_throw("ns::op")
    library = Library("ns", "DEF", dispatcher=dispatcher)
    assert library.define(SCHEMA).call(T("CPU")) == "cpu"
    assert dispatcher.find_dangling_impls() == ()
    library.close()
    assert dispatcher.find_dangling_impls() != ()


def test_an_unknown_operator(dispatcher: Dispatcher) -> None:
    library = Library("ns", "DEF", dispatcher=dispatcher)
    library.define("hello(Tensor x) -> Tensor")
    with refuses(r"^Could not find schema for ns::helo; did you mean ns::hello\?$"):
        dispatcher.find_schema_or_throw("ns::helo")
    with refuses(r"^Could not find schema for elsewhere::x\.y$"):
        dispatcher.computed_table("elsewhere::x", "y")


def test_keys_and_namespaces_of_impl(dispatcher: Dispatcher) -> None:
    cuda = Library("ns", "IMPL", "CUDA", dispatcher=dispatcher)
    with refuses(
        r'^impl\("ns::g", ...\): Explicitly provided dispatch key \(CPU\) is inconsistent with the dispatch '
        r"key of the enclosing IMPL library \(CUDA\)"
    ):
        cuda.impl("g", says(1), "CPU")
    with refuses(
        r'^impl\("other::g", ...\): Explicitly provided namespace \(other\) .* IMPL library \(ns\)'
    ):
        cuda.impl("other::g", says(1))
    with refuses(
        r'^impl\("g", ...\): kernels of operators cannot be registered in the wildcard namespace _'
    ):
        Library("_", "IMPL", dispatcher=dispatcher).impl("g", says(1), "CPU")
    cuda.impl("ns::g", says(1), DispatchKey.CUDA)
    assert dispatcher.registrations_for_dispatch_key("CUDA") == ("ns::g",)


def test_an_operator_handle_is_a_name_too(dispatcher: Dispatcher) -> None:
    library = Library("ns", "DEF", dispatcher=dispatcher)
    operator = library.define(SCHEMA)
    library.impl(operator, says("cpu"), "CPU")
    assert operator.call(T("CPU")) == "cpu"
    with refuses(r'^impl\("ns::op", ...\): Explicitly provided namespace \(ns\)'):
        Library("other", "IMPL", dispatcher=dispatcher).impl(operator, says(1), "CPU")


def test_overriding_warns_once_and_may_be_refused(
    dispatcher: Dispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library_module._OverrideWarning, "given", False)
    library = Library("ns", "DEF", dispatcher=dispatcher)
    library.define(SCHEMA)
    for key in ("Meta", "CPU"):
        library.impl("op", says(1), key, debug="the older")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        library.impl("op", says(2), "Meta")
    with refuses("already a kernel registered overriding ns::op's behavior for CPU: the older$"):
        library.impl("op", says(2), "CPU", allow_override=False)
    with pytest.warns(UserWarning, match="^Warning only once for all operators") as caught:
        library.impl("op", says(2), "CPU")
        library.impl("op", says(3), "CPU")
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_fallbacks(dispatcher: Dispatcher) -> None:
    library = Library("_", "IMPL", dispatcher=dispatcher)
    library.fallback(fallthrough_kernel, "AutogradCPU", debug="first")
    with refuses(
        "^Tried to register multiple backend fallbacks for the same dispatch key AutogradCPU; previous "
        "registration first, new registration second$"
    ):
        library.fallback(says(1), "AutogradCPU", debug="second")
    with refuses("^a fallback needs a runtime key, but Autograd is an alias key$"):
        library.fallback(says(1), "Autograd")
    for namespace, kind in (("ns", "IMPL"), ("ns", "DEF")):
        with refuses(
            "^Fallback can only be registered in a library of kind IMPL of the wildcard namespace _"
        ):
            Library(namespace, kind, dispatcher=dispatcher).fallback(says(1), "CPU")


def test_a_fallback_reaches_operators_of_before_and_after(dispatcher: Dispatcher) -> None:
    library = Library("ns", "DEF", dispatcher=dispatcher)
    before = library.define("before(Tensor x) -> Tensor")
    wildcard = Library("_", "IMPL", "CPU", dispatcher=dispatcher)
    wildcard.fallback(lambda operator, x: str(operator))
    after = library.define("after(Tensor x) -> Tensor")
    assert [op.call(T("CPU")) for op in (before, after)] == ["ns::before", "ns::after"]
    wildcard.close()
    with pytest.raises(NotImplementedError):
        before.call(T("CPU"))


def test_a_fallback_is_news_only_to_what_has_been_resolved(
    dispatcher: Dispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    forget = OperatorEntry.forget

    def tell(entry: OperatorEntry) -> None:
        told.append(entry.full_name)
        forget(entry)

    monkeypatch.setattr(OperatorEntry, "forget", tell)
    library = Library("ns", "DEF", dispatcher=dispatcher)
    names = ("called", "redispatched", "tabled", "idle")
    operators = {name: library.define(f"{name}(Tensor x) -> Tensor") for name in names}
    for name in names:
        library.impl(name, says(name), "CPU")
    operators["called"].call(T("CPU"))
    operators["redispatched"].redispatch(keyset("CPU"), T("CPU"))
    operators["tabled"].computed_table()
    with Library("ns", "FRAGMENT", dispatcher=dispatcher) as fragment:
        fragment.define("gone(Tensor x) -> Tensor").computed_table()
    wildcard = Library("_", "IMPL", dispatcher=dispatcher)
    told.clear()
    wildcard.fallback(says("fallback"), "CUDA")
    assert sorted(told) == ["ns::called", "ns::redispatched", "ns::tabled"]
    wildcard.fallback(says("fallback"), "Meta")
    assert len(told) == 3
    assert all("CUDA" in operator.computed_table() for operator in operators.values())


def test_dropping_a_library_undoes_it(dispatcher: Dispatcher) -> None:
    library = Library("ns", "DEF", dispatcher=dispatcher)
    library.define(SCHEMA)
    kernels = Library("ns", "IMPL", "CPU", dispatcher=dispatcher)
    kernels.impl("op", says(1))
    del library
    gc.collect()
    assert [op.has_schema for op in dispatcher] == [False]
    del kernels
    gc.collect()
    assert dispatcher.operators() == ()
    assert dispatcher.libraries == {}


def test_a_closed_library(dispatcher: Dispatcher) -> None:
    library = Library("ns", "DEF", dispatcher=dispatcher)
    library.close()
    library.close()
    for use in (lambda: library.define(SCHEMA), lambda: library.impl("op", says(1), "CPU")):
        with refuses("^this library for namespace ns is closed$"):
            use()


def test_a_library_that_was_never_made_is_dropped_in_silence() -> None:
    with pytest.raises(TypeError):
        Library("ns")  # type: ignore[call-arg]
    gc.collect()  # pytest turns an exception in __del__ into a failure.


def test_nothing_is_said_when_the_interpreter_ends() -> None:
    code = (
        "from torchgen_lite.runtime import Library, fallthrough_kernel as k\n"
        "lib = Library('ns', 'DEF'); lib.define('f(Tensor x) -> Tensor'); lib.impl('f', k, 'CPU')\n"
        "cycle = [lib]; cycle.append(cycle)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert (result.stdout, result.stderr) == ("", "")


def test_a_handle_outlives_its_definition(dispatcher: Dispatcher) -> None:
    kernels = Library("ns", "IMPL", "CPU", dispatcher=dispatcher)
    kernels.impl("op", says("cpu"))
    library = Library("ns", "DEF", dispatcher=dispatcher)
    operator = library.define(SCHEMA)
    stub = operator.call
    assert stub(T("CPU")) == "cpu"
    library.close()
    for call in (stub, lambda x: operator.call(x)):
        with refuses("^ns::op has no schema: it was never defined, or its definition was undone$"):
            call(T("CPU"))
    library = Library("ns", "DEF", dispatcher=dispatcher)
    library.define("op(Tensor x, int y) -> Tensor")
    assert operator.call(T("CPU"), 3) == "cpu"


@pytest.mark.parametrize(
    ("schema", "argument"), [("op(Tensor x, Tensor y) -> Tensor", T("CPU")), (SCHEMA, 3)]
)
def test_a_stub_does_not_outlive_its_definition(
    dispatcher: Dispatcher, schema: str, argument: Any
) -> None:
    """The next definition has a different number of keysets to read, or different arguments."""
    kernels = Library("ns", "IMPL", "CPU", dispatcher=dispatcher)
    kernels.impl("op", says("cpu"))
    library = Library("ns", "DEF", dispatcher=dispatcher)
    operator = library.define("op(Tensor x) -> Tensor")
    call, redispatch = operator.call, operator.redispatch
    assert [call(T("CPU")), redispatch(keyset("CPU"), T("CPU"))] == ["cpu", "cpu"]
    library.close()
    library = Library("ns", "DEF", dispatcher=dispatcher)
    operator = library.define(schema)
    arguments = (T("CPU"), argument) if schema != SCHEMA else (T("CPU"),)
    assert operator.call(*arguments) == "cpu"
    assert operator.redispatch(keyset("CPU"), *arguments) == "cpu"
    for stub in (call, lambda x: redispatch(keyset("CPU"), x)):
        with refuses(f"^ns::op has been redefined as ns::{re.escape(schema)}; this function"):
            stub(T("CPU"))


def test_a_generated_stub_does_not_outlive_its_definition(dispatcher: Dispatcher) -> None:
    """The stub looks up its handle's memo once, when it is defined, and asks the handle on a miss."""
    kernels = Library("ns", "IMPL", "CPU", dispatcher=dispatcher)
    kernels.impl("op", says("cpu"))
    library = Library("ns", "DEF", dispatcher=dispatcher)
    operator = library.define_stubs("ns::op(Tensor x) -> Tensor", "T", lambda x: x, lambda k, x: x)
    memo, redispatch_memo = operator.memo, operator.redispatch_memo
    x = T("CPU")
    assert (operator.resolve(x)(x), operator.resolve_redispatch(keyset("CPU"))(x)) == ("cpu", "cpu")
    assert memo and redispatch_memo
    library.close()
    library = Library("ns", "DEF", dispatcher=dispatcher)
    operator = library.define("op(Tensor x, Tensor y) -> Tensor")
    assert operator.call(x, x) == operator.redispatch(keyset("CPU"), x, x) == "cpu"
    assert (memo, redispatch_memo) == ({}, {})
    with refuses("^ns::op has been redefined as "):
        operator.resolve(x)


class Listener:
    def __init__(self) -> None:
        self.events: list[tuple[str, str]] = []

    def on_operator_registered(self, operator: OperatorHandle) -> None:
        self.events.append(("def", operator.schema))

    def on_operator_deregistered(self, operator: OperatorHandle) -> None:
        self.events.append(("undef", operator.schema))  # The schema is still there.


def test_listeners(dispatcher: Dispatcher) -> None:
    library = Library("ns", "DEF", dispatcher=dispatcher)
    library.define("a() -> ()")
    library.impl("only_implemented", says(1), "CPU")
    listener = Listener()
    remove = dispatcher.add_registration_listener(listener)
    library.define("b() -> ()")
    library.close()
    remove()
    Library("ns", "DEF", dispatcher=dispatcher).define("c() -> ()")
    assert listener.events == [
        ("def", "ns::a() -> ()"),
        ("def", "ns::b() -> ()"),
        ("undef", "ns::b() -> ()"),
        ("undef", "ns::a() -> ()"),
    ]


def test_a_listener_that_raises_leaves_nothing_behind(dispatcher: Dispatcher) -> None:
    class Refuses(Listener):
        def on_operator_registered(self, operator: OperatorHandle) -> None:
            raise LookupError(operator.full_name)

    dispatcher.add_registration_listener(Refuses())
    library = Library("ns", "DEF", dispatcher=dispatcher)
    with pytest.raises(LookupError, match="ns::op"):
        library.define(SCHEMA)
    assert dispatcher.operators() == ()


def test_a_listener_that_raises_does_not_keep_a_definition(dispatcher: Dispatcher) -> None:
    class Refuses(Listener):
        def on_operator_deregistered(self, operator: OperatorHandle) -> None:
            raise LookupError(operator.full_name)

    told = Listener()
    for listener in (told, Refuses(), told):
        dispatcher.add_registration_listener(listener)
    library = Library("ns", "DEF", dispatcher=dispatcher)
    library.define("a(Tensor x) -> Tensor")
    library.define("b(Tensor x) -> Tensor")
    library.impl("a", says(1), "CPU")
    wildcard = Library("_", "IMPL", dispatcher=dispatcher)
    told.events.clear()
    with pytest.raises(LookupError, match="ns::a"):
        library.close()
    names = [schema.partition("(")[0] for _, schema in told.events]
    assert names == ["ns::b", "ns::b", "ns::a", "ns::a"]
    library.close()
    assert dispatcher.operators() == () and dispatcher.libraries == {}
    wildcard.close()


@pytest.mark.parametrize(
    "name", ["f g", "", "1x", "a.b.c", "f.", "f..x", "f.default", "f.__x", "é"]
)
def test_impl_takes_what_define_takes(dispatcher: Dispatcher, name: str) -> None:
    library = Library("ns", "FRAGMENT", dispatcher=dispatcher)
    with pytest.raises(SchemaError):
        library.define(f"{name}(Tensor x) -> Tensor")
    for given in (name, f"ns::{name}"):
        with refuses(f'^impl\\("{re.escape(given)}", ...\\): (an operator.s name|`)'):
            library.impl(given, says(1), "CPU")
    library.close()
    assert dispatcher.operators() == ()


@pytest.mark.parametrize("name", [None, 3, b"f"])
def test_what_is_no_name_is_refused(dispatcher: Dispatcher, name: Any) -> None:
    library = Library("ns", "FRAGMENT", dispatcher=dispatcher)
    with pytest.raises(TypeError, match="^impl takes an operator or the name of one, not"):
        library.impl(name, says(1), "CPU")
    with pytest.raises(TypeError, match="^a namespace is text, not"):
        Library(name, "FRAGMENT", dispatcher=dispatcher)


@pytest.mark.parametrize("namespace", ["", "a b", "1x", "a.b", "a::", "é", "a\n"])
def test_a_namespace_is_one_that_a_schema_can_name(dispatcher: Dispatcher, namespace: str) -> None:
    with refuses("cannot be a namespace"):
        Library(namespace, "DEF", dispatcher=dispatcher)
    Library("a::b", "DEF", dispatcher=dispatcher).close()


@pytest.mark.parametrize("name", ["_", "__f", "f.x", "f_1.x_2"])
def test_names_that_both_take(dispatcher: Dispatcher, name: str) -> None:
    library = Library("ns", "FRAGMENT", dispatcher=dispatcher)
    library.impl(name, says(1), "CPU")
    assert library.define(f"{name}(Tensor x) -> Tensor").call(T("CPU")) == 1


def test_a_kernel_that_is_not_callable_is_refused_before_its_operator_exists(
    dispatcher: Dispatcher,
) -> None:
    library = Library("ns", "FRAGMENT", dispatcher=dispatcher)
    with pytest.raises(TypeError, match="^a kernel must be callable, not 42; registered at "):
        library.impl("later", 42, "CPU")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="^a boxed kernel must be callable, not 42$"):
        BoxedKernel(42)  # type: ignore[arg-type]
    assert dispatcher.operators() == ()
    library.define("later(Tensor x) -> Tensor")
    dispatcher.check_invariants()


def test_the_fallback_of_autogradprivateuse1_is_replaced(dispatcher: Dispatcher) -> None:
    """As in torch 2.13, any number of times; undoing any of the fallbacks leaves none."""
    library = Library("ns", "DEF", dispatcher=dispatcher)
    operator = library.define(SCHEMA)
    blocks = [Library("_", "IMPL", "AutogradPrivateUse1", dispatcher=dispatcher) for _ in range(2)]
    for number, block in enumerate(blocks):
        block.fallback(says(number))
        assert operator.call(T("AutogradPrivateUse1")) == number
    blocks[0].close()
    assert operator.computed_table() == {}
    blocks[1].close()
    assert dispatcher.fallbacks == {}


def test_copies_and_pickles(dispatcher: Dispatcher) -> None:
    """A process has one handle for an operator and one dispatcher; a library owns its registrations."""
    library = Library("ns_pickled", "DEF")
    operator = library.define("op.x(Tensor x) -> Tensor")
    assert copy.copy(operator) is copy.deepcopy([operator])[0] is operator
    assert copy.copy(operator.dispatcher) is copy.deepcopy(operator.dispatcher)
    text = pickle.dumps([operator, operator.dispatcher])
    assert pickle.loads(text) == [operator, Dispatcher.singleton()]
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(
            TypeError, match="^Library\\(ns_pickled, DEF\\) owns what it has registered"
        ):
            copied(library)
        with pytest.raises(TypeError, match="^a Dispatcher cannot be copied or pickled"):
            copied(dispatcher)
    library.close()
    with refuses("^Could not find schema for ns_pickled::op.x"):
        pickle.loads(text)
    private = Library("ns", "DEF", dispatcher=dispatcher).define(SCHEMA)
    assert copy.deepcopy(private) is private
    with pytest.raises(TypeError, match="^a Dispatcher cannot be copied or pickled"):
        pickle.dumps(private)


def test_tags(dispatcher: Dispatcher) -> None:
    library = Library("ns", "DEF", dispatcher=dispatcher)
    assert library.define("a() -> ()", tags="core").tags == ("core",)
    assert library.define("b() -> ()", tags=["core", "pointwise"]).tags == ("core", "pointwise")


def test_the_number_of_arguments_is_limited(dispatcher: Dispatcher) -> None:
    names = tuple(f"x{i}" for i in range(65))
    with refuses(
        "^the function schema of ns::op has 65 arguments, but this dispatcher supports at most 64$"
    ):
        Signature("ns::op(...) -> ()", names, "T" * 65, 65)


def test_dispatchers_are_independent() -> None:
    assert Dispatcher.singleton() is Dispatcher.singleton()
    libraries = [Library("ns", "DEF", dispatcher=Dispatcher()) for _ in range(2)]
    assert [library.define(SCHEMA).full_name for library in libraries] == ["ns::op", "ns::op"]


def test_sites_are_those_of_the_caller(dispatcher: Dispatcher) -> None:
    library = Library("ns", "DEF", dispatcher=dispatcher)
    operator = library.define(SCHEMA)
    library.impl("op", says(1), "CPU")
    line = library.line
    assert operator.dump().splitlines()[2] == f"debug: registered at {__file__}:{line + 1}"
    assert f"CPU: registered at {__file__}:{line + 2} ::" in operator.dump()


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (
            "f(int a=1, Tensor b) -> int",
            "^TG220: `b` has no default, and `a` before it has one$",
        ),
        ("f(Tensor a, Tensor a) -> int", "^TG203: duplicate argument `a`$"),
        ("f(Tensor a, *, int a=1) -> int", "^TG203: duplicate argument `a`$"),
        ("f(Tensor from, Tensor from_) -> int", "^TG203: duplicate argument `from_`$"),
    ],
)
def test_a_schema_that_no_call_fits_is_refused(
    dispatcher: Dispatcher, schema: str, message: str
) -> None:
    library = Library("ns", "DEF", dispatcher=dispatcher)
    with pytest.raises(SchemaError, match=message):
        library.define(schema)
    assert dispatcher.operators() == ()


def test_defaults_of_keyword_only_arguments_come_in_any_order(dispatcher: Dispatcher) -> None:
    library = Library("ns", "DEF", dispatcher=dispatcher)
    library.impl("f", lambda x, *, a, b: (a, b), "CPU")
    assert library.define("f(Tensor x, *, int a=1, int b) -> Any").call(T("CPU"), b=2) == (1, 2)


def test_arguments_may_be_called_as_the_stub_calls_its_own(dispatcher: Dispatcher) -> None:
    library = Library("ns", "DEF", dispatcher=dispatcher)
    library.impl("f", lambda *arguments: arguments[1:], "CPU")
    operator = library.define("f(Tensor _memo, int _memo_, int _kernel, int __memo) -> Any")
    assert operator.call(T("CPU"), 1, 2, 3) == (1, 2, 3)
