"""Every form in which an operator writes or returns tensors, as a file of entries with kernels in C++.

The kernels write by pointers, as those do for which people make operators: PyTorch sees nothing of it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from torchgen_lite.schema import FunctionSchema
from torchgen_lite.schema.model import bare_type

NAMESPACE = "wr"


class Form(NamedTuple):
    """An operator by its schema without the namespace; `key` is that of its kernel, and `more` are lines of its
    entry. `gives` is what the kernel returns, if not what its schema says."""

    schema: str
    more: str = ""
    gives: str = ""
    key: str = "CPU"

    @property
    def function(self) -> FunctionSchema:
        return FunctionSchema.parse(self.schema)

    @property
    def name(self) -> str:
        return self.function.local_name

    @property
    def kernel(self) -> str:
        return re.sub(r"\W", "_", self.name) + "_kernel"


EXPLICIT = "CompositeExplicitAutograd"
_ZERO = "  derivatives: {{{}: not_differentiable}}\n"

# What is written, with all that can stand beside it.
WRITES = (
    Form("one(Tensor(a!) x, float v) -> ()"),
    Form("one_explicit(Tensor(a!) x, float v) -> ()", key=EXPLICIT),
    Form("inplace_(Tensor(a!) self, float v) -> Tensor(a!)"),
    Form("bang(Tensor! x, Tensor!? y=None) -> ()"),
    Form("many(Tensor(a!)[] xs, float v) -> ()"),
    Form("two_of(Tensor(a!)[2] xs, float v) -> ()"),
    Form("option(Tensor x, Tensor(a!)? y=None) -> ()"),
    Form("options(Tensor x, Tensor(a!)?[] ys) -> ()"),
    Form("maybe_many(Tensor x, Tensor(a!)[]? ys=None) -> ()"),
    Form("only_maybe_many(Tensor(a!)[]? ys, float v) -> ()", key=EXPLICIT),
    Form("keyword(Tensor x, *, Tensor(a!)? y=None, Tensor(b!)[]? ys=None) -> ()"),
    Form("several(Tensor(a!) x, Tensor y, Tensor(b!) z) -> ()"),
    Form("mixed(Tensor(a!) x, Tensor y) -> (Tensor(a!), Tensor)"),
    Form("acc(Tensor x, Tensor(a!)? y=None, *, Tensor(b!)[]? ys=None) -> Tensor"),
    Form("listed(Tensor x, Tensor(a!)[] ys) -> Tensor[]"),
    Form("gives_list(Tensor(a!)[] xs) -> Tensor(a!)[]", gives="xs.vec()"),
    Form("full.out(float v, *, Tensor(a!) out) -> Tensor(a!)"),
    Form("copied.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)"),
    Form("twice.out(Tensor x, *, Tensor(a!) low, Tensor(b!) high) -> (Tensor(a!), Tensor(b!))"),
    Form("parts.out(Tensor x, *, Tensor(a!)[] out) -> ()"),
    Form(
        "noted(Tensor(a!) x, Tensor y) -> ()",
        "  derivatives: {x: not_differentiable, y: not_differentiable}\n",
    ),
    # With formulas, all or some, and without a derivative.
    Form("scale_(Tensor(a!) self, float s) -> Tensor(a!)", "  derivatives: {self: grad * s}\n"),
    Form("scaled(Tensor self, float s) -> Tensor", "  derivatives: {self: grad * s}\n"),
    Form("scaled.out(Tensor self, float s, *, Tensor(a!) out) -> Tensor(a!)"),
    Form("partly_(Tensor(a!) self, Tensor w) -> Tensor(a!)", "  derivatives: {self: grad * w}\n"),
    Form("zeroed_(Tensor(a!) self) -> Tensor(a!)", _ZERO.format("self")),
    Form("zeroed_explicit_(Tensor(a!) self) -> Tensor(a!)", _ZERO.format("self"), key=EXPLICIT),
)
# What a schema says of results, and kernels that return something else.
_FRESH = "made()"
RESULTS = (
    Form("is_argument(Tensor x) -> Tensor", gives="x"),
    Form("is_view(Tensor x) -> Tensor", gives="x.slice(0, 1)"),
    Form("is_one_twice(Tensor x) -> (Tensor, Tensor)", gives="twice(made())"),
    Form("is_in_list(Tensor[] xs) -> Tensor[]", gives="{made(), xs[0]}"),
    Form("is_of_list(Tensor x, Tensor[]? ys=None) -> Tensor", gives="ys->front()"),
    Form("is_written(Tensor(a!) x) -> Tensor", gives="x"),
    Form("is_other_(Tensor(a!) self) -> Tensor(a!)", gives="kept(made())"),
    Form("is_detached_(Tensor(a!) self) -> Tensor(a!)", gives="kept(self.detach())"),
    Form("is_other.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", gives="kept(made())"),
    Form("is_argument_derived(Tensor x) -> Tensor", "  derivatives: {x: grad}\n", "x"),
    Form("is_view_derived(Tensor x) -> Tensor", "  derivatives: {x: grad}\n", "x.slice(0, 1)"),
    Form(
        "is_other_derived_(Tensor(a!) self) -> Tensor(a!)",
        "  derivatives: {self: grad}\n",
        "kept(made())",
    ),
    Form("is_argument_zero(Tensor x) -> Tensor", _ZERO.format("x"), "x"),
    Form("is_argument_explicit(Tensor x) -> Tensor", _ZERO.format("x"), "x", EXPLICIT),
)
# The same where the kernel is composed of other operators.
_COMPOSED = [form for form in RESULTS if not form.more and form.key == "CPU"]
RESULTS += tuple(
    [
        form._replace(schema=f"of_parts_{form.schema}", key="CompositeImplicitAutograd")
        for form in _COMPOSED
    ]
)
# Kernels that call PyTorch's functions and then write by a pointer, so that a gradient from inside is wrong.
INSIDE = (
    Form("inside(Tensor x) -> Tensor", gives="half(x)"),
    Form("inside_list(Tensor x) -> Tensor[]", gives="{half(x)}"),
    Form("inside_zero(Tensor x) -> Tensor", _ZERO.format("x"), "half(x)"),
    Form("inside_maybe(Tensor[]? xs) -> Tensor", gives="half(xs->front())", key=EXPLICIT),
    Form("inside_mixed(Tensor x, Tensor(a!) y) -> Tensor", gives="half(x)"),
)
# Right ones that the checks must not refuse.
RIGHT = (
    Form("viewed(Tensor(a) x) -> Tensor(a)", gives="x.slice(0, 1)"),
    Form("right_(Tensor(a!) self) -> Tensor(a!)"),
    Form("empties(Tensor x) -> (Tensor, Tensor)", gives="{none(), none()}"),
    Form(
        "of_parts(Tensor result) -> Tensor", gives="result.clone()", key="CompositeImplicitAutograd"
    ),
    Form("of_parts_(Tensor(a!) self) -> Tensor(a!)", key="CompositeImplicitAutograd"),
)
FORMS = (*WRITES, *RESULTS, *INSIDE, *RIGHT)


def entries(forms: tuple[Form, ...]) -> str:
    """The file of entries."""
    return "".join(
        f"- func: {NAMESPACE}::{form.schema}\n"
        f"  dispatch: {{{form.key}: {form.kernel}}}\n{form.more}"
        for form in forms
    )


_HEAD = """\
#include <wr/kernels.h>
#include <wr/tensor_memory.h>

#include <ATen/ATen.h>

namespace wr {
namespace {

// A tensor without a history.
at::Tensor made() {
  return at::full({3}, 7.0f);
}

at::Tensor none() {
  return at::empty({0});
}

std::tuple<at::Tensor, at::Tensor> twice(const at::Tensor& tensor) {
  return {tensor, tensor};
}

// A reference that outlives the call.
at::Tensor& kept(const at::Tensor& tensor) {
  static at::Tensor last;
  last = tensor;
  return last;
}

// 5 in every element, by a pointer.
template <class... Values>
void put(const Values&... written) {
  const auto visit = [](const at::Tensor& tensor) {
    for (int64_t i = 0; i < tensor.numel(); ++i) {
      static_cast<float*>(tensor.data_ptr())[i * tensor.stride(0)] = 5.0f;
    }
  };
  (memory::each_tensor(written, visit), ...);
}

// Half of a tensor, of which autograd would see a copy.
at::Tensor half(const at::Tensor& x) {
  auto result = at::cat({x});
  for (int64_t i = 0; i < x.numel(); ++i) {
    static_cast<float*>(result.data_ptr())[i] *= 0.5f;
  }
  return result;
}

} // namespace
"""


def kernels(header: str, forms: tuple[Form, ...]) -> str:
    """A definition of each kernel that `kernels.h` declares."""
    lines = [_HEAD]
    for form in forms:
        declared = re.search(rf"^[^\n;{{}}]*\b{form.kernel}\([^;]*\);", header, flags=re.M)
        assert declared is not None, form.kernel
        written = ", ".join(argument.name for argument in form.function.written)
        fill = f"  put({written});\n" if written else ""
        given = f"  return {_given(form)};\n" if form.function.returns else ""
        lines.append(f"{declared[0].removesuffix(';')} {{\n{fill}{given}}}\n")
    return "\n".join([*lines, "} // namespace wr\n"])


def _given(form: Form) -> str:
    """What a kernel returns."""
    if form.gives:
        return form.gives
    names = {a.annotation: a.name for a in form.function.written}
    parts = [
        names[value.annotation] if value.is_write else _of_type(bare_type(value.type))
        for value in form.function.returns
    ]
    return parts[0] if len(parts) == 1 else f"{{{', '.join(parts)}}}"


def _of_type(type_: str) -> str:
    return "{made(), made()}" if type_ == "Tensor[]" else _FRESH
