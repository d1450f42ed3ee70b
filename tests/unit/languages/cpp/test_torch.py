"""The public C++ API, the dispatcher, and kernels."""

from __future__ import annotations

import pytest

from tests.unit.languages_torch import OPTIONS, entry
from torchgen_lite.languages.cpp import native, public
from torchgen_lite.languages.cpp.defaults import as_written
from torchgen_lite.languages.cpp.public import Style
from torchgen_lite.loader.entry.entry import DispatchEntry
from torchgen_lite.schema import FunctionSchema

ADD_OUT = "add.out(Tensor self, Scalar alpha=1, *, Tensor(a!) out) -> Tensor(a!)"


def argument_types(schema: str, symint: bool = False) -> list[str]:
    return [str(p.type) for p in public.arguments(entry(schema), Style(symint=symint))]


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        ("Tensor", "const at::Tensor&"),
        ("Tensor(a!)", "at::Tensor&"),
        ("Tensor?", "const ::std::optional<at::Tensor>&"),
        ("Tensor(a!)?", "at::Tensor&"),
        ("Tensor[]", "at::TensorList"),
        ("Tensor?[]", "const c10::List<::std::optional<at::Tensor>>&"),
        ("Tensor[]?", "::std::optional<at::TensorList>"),
        ("Scalar", "const at::Scalar&"),
        ("Scalar?", "const ::std::optional<at::Scalar>&"),
        ("Scalar[]", "at::ArrayRef<at::Scalar>"),
        ("int", "int64_t"),
        ("int?", "::std::optional<int64_t>"),
        ("int[2]", "at::IntArrayRef"),
        ("int[1]?", "at::OptionalIntArrayRef"),
        ("SymInt", "int64_t"),
        ("SymInt[]", "at::IntArrayRef"),
        ("SymInt[]?", "at::OptionalIntArrayRef"),
        ("float", "double"),
        ("float[]", "at::ArrayRef<double>"),
        ("float[]?", "::std::optional<at::ArrayRef<double>>"),
        ("bool[3]", "::std::array<bool, 3>"),
        ("str", "c10::string_view"),
        ("str?", "::std::optional<c10::string_view>"),
        ("ScalarType?", "::std::optional<at::ScalarType>"),
        ("Generator?", "::std::optional<at::Generator>"),
        ("Dimname[]", "at::ArrayRef<at::Dimname>"),
        ("Dict(str, Tensor)", "c10::Dict<c10::string_view, at::Tensor>"),
        ("(int, Tensor)", "::std::tuple<int64_t, at::Tensor>"),
        ("__torch__.torch.classes.c10d.Work", "c10::intrusive_ptr<c10d::Work>"),
        ("Any", "c10::IValue"),
    ],
)
def test_argument_types(type_: str, expected: str) -> None:
    assert argument_types(f"f({type_} x) -> ()") == [expected]


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        ("SymInt", "c10::SymInt"),
        ("SymInt?", "::std::optional<c10::SymInt>"),
        ("SymInt[2]", "c10::SymIntArrayRef"),
        ("SymInt[]?", "at::OptionalSymIntArrayRef"),
    ],
)
def test_symint(type_: str, expected: str) -> None:
    assert argument_types(f"f({type_} x) -> ()", symint=True) == [expected]


@pytest.mark.parametrize(
    ("returns", "expected"),
    [
        ("()", "void"),
        ("Tensor", "at::Tensor"),
        ("Tensor(a!)", "at::Tensor&"),
        ("Tensor?", "::std::optional<at::Tensor>"),
        ("Tensor[]", "::std::vector<at::Tensor>"),
        ("Scalar", "at::Scalar"),
        ("SymInt", "c10::SymInt"),
        ("int[]", "::std::vector<int64_t>"),
        ("(Tensor, int)", "::std::tuple<at::Tensor, int64_t>"),
    ],
)
def test_return_types(returns: str, expected: str) -> None:
    assert str(public.returns_type(entry(f"f(Tensor self) -> {returns}"))) == expected


def test_out_comes_first_unless_faithful() -> None:
    assert [str(s) for s in public.signatures(entry(ADD_OUT))] == [
        "at::Tensor& add_out(at::Tensor& out, const at::Tensor& self, const at::Scalar& alpha = 1)",
        "at::Tensor& add_outf(const at::Tensor& self, const at::Scalar& alpha, at::Tensor& out)",
    ]


def test_options_are_one_argument_unless_faithful() -> None:
    zeros = entry(f"zeros(SymInt[] size, *, {OPTIONS}) -> Tensor")
    faithful = (
        "::std::optional<at::ScalarType> dtype, ::std::optional<at::Layout> layout, "
        "::std::optional<at::Device> device, ::std::optional<bool> pin_memory"
    )
    assert [str(s) for s in public.signatures(zeros)] == [
        "at::Tensor zeros(at::IntArrayRef size, at::TensorOptions options = {})",
        f"at::Tensor zeros(at::IntArrayRef size, {faithful})",
        "at::Tensor zeros_symint(c10::SymIntArrayRef size, at::TensorOptions options = {})",
        f"at::Tensor zeros_symint(c10::SymIntArrayRef size, {faithful})",
    ]


def test_methods_leave_self_out() -> None:
    both = entry("add(Tensor self, int n) -> Tensor", variants="function, method")
    assert [str(s) for s in public.signatures(both)] == [
        "at::Tensor add(const at::Tensor& self, int64_t n)",
        "at::Tensor add(int64_t n)",
    ]


def test_texts_of_a_signature() -> None:
    signature = public.signature(entry("add(Tensor self, int n=1) -> Tensor"))
    assert str(signature) == "at::Tensor add(const at::Tensor& self, int64_t n = 1)"
    assert signature.type == "at::Tensor (const at::Tensor&, int64_t)"


def test_fields_that_change_a_signature() -> None:
    manual = entry("f(Tensor self) -> Tensor", manual_cpp_binding="True")
    assert public.signature(manual).name == "__dispatch_f"
    bare = entry("f(Tensor self, int n=1) -> Tensor", cpp_no_default_args="['n']")
    assert str(public.signature(bare)) == "at::Tensor f(const at::Tensor& self, int64_t n)"
    by_const = entry("f_(Tensor(a!) self) -> Tensor(a!)", use_const_ref_for_mutable_tensors=True)
    assert str(public.signature(by_const)) == "const at::Tensor& f_(const at::Tensor& self)"
    delegating = entry("cat(Tensor[] tensors) -> Tensor", structured_delegate="cat.out")
    assert str(public.signature(delegating)) == "at::Tensor cat(const at::ITensorListRef& tensors)"


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("Tensor? x=None", "{}"),
        ("int? x=None", "::std::nullopt"),
        ("bool x=True", "true"),
        ("int x=Mean", "at::Reduction::Mean"),
        ("int[2] x=[0, 1]", "{0, 1}"),
        ("int[2] x=1", "1"),
        ("SymInt[2] x=1", "1"),
        ("str x='mean'", '"mean"'),
        ("str? x='say \"hi\"'", '"say \\"hi\\""'),
        ("str x='it\\'s\\n'", '"it\'s\\012"'),
        ("MemoryFormat x=contiguous_format", "c10::MemoryFormat::Contiguous"),
        ("float x=1e-05", "1e-05"),
    ],
)
def test_defaults(argument: str, expected: str) -> None:
    (found,) = FunctionSchema.parse(f"f({argument}) -> ()").arguments
    assert found.default is not None
    assert as_written(found.default, found.type, "int").text == expected


def test_default_of_symbolic_sizes() -> None:
    (found,) = FunctionSchema.parse("f(SymInt[2] x=1) -> ()").arguments
    assert as_written("1", found.type, "SymInt").text == "c10::SymInt(1)"


def test_dispatcher() -> None:
    assert str(public.dispatched(entry(ADD_OUT))) == (
        "at::Tensor& add_out(const at::Tensor& self, const at::Scalar& alpha, at::Tensor& out)"
    )
    symint = entry("f(SymInt n=1) -> Tensor")
    assert public.dispatched(symint).type == "at::Tensor (c10::SymInt)"
    assert public.dispatched(symint, "int").type == "at::Tensor (int64_t)"


def test_kernels() -> None:
    assert str(native.signature(entry(ADD_OUT))) == (
        "at::Tensor& add_out_out(const at::Tensor& self, const at::Scalar& alpha, at::Tensor& out)"
    )
    zeros = native.signature(entry(f"zeros.x(int n=1, *, {OPTIONS}) -> Tensor"))
    assert str(zeros) == (
        "at::Tensor zeros_x(int64_t n = 1, ::std::optional<at::ScalarType> dtype = {}, "
        "::std::optional<at::Layout> layout = {}, ::std::optional<at::Device> device = {}, "
        "::std::optional<bool> pin_memory = {})"
    )
    optional = entry("f(Tensor self, Tensor(a!)? x) -> ()")
    assert str(native.arguments(optional)[1].type) == "::std::optional<at::Tensor>&"


def test_kernels_take_symint_by_name() -> None:
    function = entry("f(SymInt n) -> Tensor")
    for kernel, type_ in (("f_cpu", "int64_t"), ("f_cpu_symint", "c10::SymInt")):
        written = DispatchEntry("CPU", kernel)
        sizes = native.sizes_of(written)
        assert str(native.signature(function, sizes)) == f"at::Tensor f({type_} n)"
