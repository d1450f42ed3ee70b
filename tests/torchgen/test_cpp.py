"""C++ signatures, equal except for spacing: public API, redispatch, dispatcher, kernels, structured kernels."""

from __future__ import annotations

import re

import pytest

from tests.installed import todays_torchgen
from tests.torchgen.conftest import Theirs, full_name, spelled
from torchgen_lite.analysis.resolve import Resolved
from torchgen_lite.languages.cpp import native, public, structured

pytestmark = [pytest.mark.torch, todays_torchgen]


@pytest.mark.parametrize("method", [False, True], ids=["function", "method"])
def test_public_api(ours: Resolved, theirs: Theirs, method: bool) -> None:
    from torchgen.api.types import CppSignatureGroup
    from torchgen.context import native_function_manager

    count = 0
    for name, function in theirs.functions.items():
        if method and function.func.arguments.self_arg is None:
            continue
        mine = ours.by_name[name].function
        with native_function_manager(function):
            group = CppSignatureGroup.from_native_function(
                function, method=method, fallback_binding=function.manual_cpp_binding
            )
            signatures = list(group.signatures())
            assert {(s.faithful, s.symint, method) for s in signatures} == set(
                public.styles(mine, "method" if method else "function")
            )
            for theirs_ in signatures:
                ours_ = public.signature(
                    mine, public.Style(theirs_.faithful, theirs_.symint, method)
                )
                assert str(ours_) == spelled(theirs_.decl())
                assert ours_.type == spelled(theirs_.type())
                count += 1
    assert count > 3000


@pytest.mark.parametrize("symint", [False, True], ids=["int", "symint"])
def test_dispatcher_and_kernels(ours: Resolved, theirs: Theirs, symint: bool) -> None:
    from torchgen.api.types import DispatcherSignature, NativeSignature
    from torchgen.context import native_function_manager

    for name, function in theirs.functions.items():
        mine = ours.by_name[name].function
        with native_function_manager(function):
            expected = DispatcherSignature.from_schema(function.func, symint=symint)
            found = public.dispatched(mine, "SymInt" if symint else "int")
            assert found.type == spelled(expected.type())
            assert str(found) == spelled(expected.decl())
            kernel = NativeSignature(function.func, symint=symint)
            found = native.signature(mine, "SymInt" if symint else "int")
            assert str(found) == spelled(kernel.decl())


# The macro of the library that exports a kernel, which differs between releases.
_EXPORTED = re.compile(r"\bTORCH_(?:\w+_)?API\b")


def test_declarations_of_kernels(ours: Resolved, theirs: Theirs) -> None:
    """The declarations in NativeFunctions.h: each kernel of each key."""
    from torchgen.dest import compute_native_function_declaration
    from torchgen.model import NativeFunction

    count = 0
    for key, index in theirs.indices.items():
        for group in theirs.grouped:
            functions = [group] if isinstance(group, NativeFunction) else list(group.functions())
            mine = [_declaration(ours, str(key), full_name(f)) for f in functions]
            declared = compute_native_function_declaration(group, index)
            texts = [_EXPORTED.sub("TORCH_API", spelled(text)) for text in declared]
            assert sorted(texts) == sorted(text for text in mine if text)
            count += len(declared)
    assert count > 5000


def _declaration(ours: Resolved, key: str, name: str) -> str:
    operator = ours.by_name[name]
    kernel = next((k for k in operator.kernels if k.key == key), None)
    if kernel is None:
        return ""
    if not kernel.is_structured:
        found = native.signature(operator.function, native.sizes_of(kernel))
        return f"TORCH_API {found._replace(name=native.kernel(operator, kernel)[1])};"
    group = operator.group
    base = f"at::meta::structured_{structured.name(group)}"
    impl = ", ".join(p._replace(default=None).declaration for p in structured.impl_arguments(group))
    return (
        f"struct TORCH_API structured_{kernel.kernel} : public {base} {{\nvoid impl({impl});\n}};\n"
    )


def test_structured(ours: Resolved, theirs: Theirs) -> None:
    from torchgen.api import structured as expected
    from torchgen.context import native_function_manager
    from torchgen.gen import compute_meta_function_declaration

    for group in theirs.groups:
        if not group.structured:
            continue
        mine = ours.by_name[full_name(group.out)].group
        with native_function_manager(group.out):
            for verb in ("meta_arguments", "impl_arguments"):
                theirs_ = [spelled(a.decl()) for a in getattr(expected, verb)(group)]
                assert [p.declaration for p in getattr(structured, verb)(mine)] == theirs_
        declaration = spelled(compute_meta_function_declaration(group))
        name, base = structured.name(mine), structured.base_class(mine)
        assert declaration.startswith(f"struct TORCH_API structured_{name} : public {base} {{\n")
        meta = ", ".join(p.declaration for p in structured.meta_arguments(mine))
        assert f" meta({meta});\n" in declaration
        members = [f"{m.type} {m.name};\n" for m in structured.precomputed_members(mine)]
        assert all(member in declaration for member in members)


def test_precomputed(ours: Resolved, theirs: Theirs) -> None:
    found = 0
    for name, function in theirs.functions.items():
        mine = structured.precomputed(ours.by_name[name].function)
        expected = function.precomputed
        if expected is None:
            assert mine == structured.Precomputed()
            continue
        replace = [(k, list(map(str, v))) for k, v in expected.replace.items()]
        assert [(k, list(map(str, v))) for k, v in mine.replace] == replace
        assert list(map(str, mine.add)) == list(map(str, expected.add))
        found += 1
    assert found
