// Calls of every shape arrive at kernels as they were made, and come back.
#include <cmath>
#include <iostream>
#include <limits>

#include <shapes/functions.h>
#include <torchgen_lite/runtime.h>

using fw::Tensor;
using std::optional;
using std::string;
using std::vector;
using torchgen_lite::Dispatcher;
using torchgen_lite::DispatchKey;
using torchgen_lite::DispatchKeySet;
using torchgen_lite::Span;
using torchgen_lite::Stack;
using torchgen_lite::Value;

namespace {

int checked = 0;
int failed = 0;

void check(bool holds, int line) {
  ++checked;
  if (!holds) {
    ++failed;
    std::cout << "line " << line << "\n";
  }
}

#define CHECK(...) check((__VA_ARGS__), __LINE__)

} // namespace

namespace shapes {

std::tuple<
    vector<Tensor>,
    vector<int64_t>,
    string,
    bool,
    optional<Tensor>,
    optional<vector<double>>>
many(
    Span<Tensor> a,
    Span<optional<Tensor>> b,
    optional<Span<Tensor>> c,
    Span<vector<int64_t>> d,
    Span<bool> e,
    optional<Span<double>> f,
    Span<std::string_view> g,
    optional<std::string_view> h,
    optional<fw::Dtype> i,
    fw::Layout j,
    optional<fw::Device> k,
    const optional<fw::Generator>& l,
    const std::shared_ptr<fw::Storage>& m,
    fw::Stream* n,
    std::complex<double> o,
    double p,
    optional<double> q,
    Span<double> r,
    Span<int64_t> s,
    optional<int64_t> t) {
  CHECK(a.size() == 2 && a[1].value == 2);
  CHECK(b.size() == 2 && !b[0] && b[1]->value == 3);
  CHECK(c && c->size() == 1 && c->front().value == 4);
  CHECK(d.size() == 2 && d[1] == vector<int64_t>{6});
  CHECK(e.size() == 3 && e[2]);
  CHECK(f && f->size() == 1 && f->at(0) == 0.5);
  CHECK(g.size() == 2 && g[1] == "y");
  CHECK(h == "h" && i == fw::Dtype::Half && j == fw::Layout::Sparse);
  CHECK(k == fw::Device::CPU && l->seed == 8 && m->size == 9 && n->id == 10);
  CHECK(o == std::complex<double>(0, 2) && p == 0.25 && q == 1.5);
  CHECK(r.size() == 1 && s.size() == 1 && s[0] == 11 && t == 12);
  return {a.vec(), s.vec(), string(g[0]), e[0], b[1], vector<double>{p}};
}

string defaults(
    const Tensor& self,
    int64_t a,
    double b,
    double c,
    double d,
    bool e,
    std::string_view f,
    Span<int64_t> g,
    optional<Span<int64_t>> h,
    Span<bool> i,
    optional<std::string_view> j,
    int64_t k,
    double l,
    double m,
    double n,
    optional<Span<int64_t>> o,
    int64_t p,
    fw::Dtype q,
    fw::Layout r) {
  CHECK(self.value == 1 && a == std::numeric_limits<int64_t>::min());
  CHECK(std::isinf(b) && b < 0 && std::isnan(c) && d == 1e-05 && e);
  CHECK(f == "a\"b" && g.vec() == vector<int64_t>{1, 2});
  CHECK(h && h->vec() == vector<int64_t>{0, 0});
  CHECK(i.size() == 2 && i[0] && !i[1] && j == "x" && k == 1);
  CHECK(l == 1 && m == 2.5 && n == 1 && o && o->empty());
  CHECK(p == std::numeric_limits<int64_t>::max());
  CHECK(q == fw::Dtype::Half && r == fw::Layout::Strided);
  return string(f);
}

std::tuple<Tensor&, int64_t> two_out(
    const Tensor& self,
    int64_t n,
    Tensor& out,
    vector<Tensor>& others,
    optional<Tensor>& maybe) {
  out.value = self.value + n;
  others[0].value = 20;
  maybe = 21;
  return {out, n};
}

int nothings = 0;
void nothing() {
  ++nothings;
}

Tensor& fill_(Tensor& self, int64_t value) {
  self.value = value;
  return self;
}

void fill_all(vector<Tensor>& self, int64_t value) {
  for (Tensor& tensor : self) {
    tensor.value = value;
  }
}

int64_t shared(const Tensor&) {
  return 1;
}
int64_t shared(DispatchKeySet keys, const Tensor& self) {
  const DispatchKeySet below = keys & torchgen_lite::after_autograd_keyset;
  return 100 + ops::overloaded::redispatch(below, self);
}
int64_t shared(const Tensor&, int64_t n) {
  return n;
}
int64_t shared_symint(const Tensor&, int64_t n) {
  return 10 * n;
}

int64_t detail(const Tensor& self, int64_t) {
  return self.value;
}
int64_t std(const Tensor& self, ::std::optional<Span<int64_t>>) {
  return self.value;
}
int64_t torchgen_lite(const Tensor& self, Span<int64_t>) {
  return self.value;
}
int64_t shapes(const Tensor& self, ::std::optional<::std::string_view>) {
  return self.value;
}
int64_t fw(const Tensor& self, const ::std::optional<Tensor>&) {
  return self.value;
}
int64_t ops_kernel(const Tensor& self, int64_t) {
  return self.value;
}
int64_t call(const Tensor& self) {
  return self.value;
}
int64_t call_(Tensor& self) {
  return -self.value;
}
int64_t schema(const Tensor&, int64_t name, int64_t schema) {
  return name + schema;
}
int64_t int_(const Tensor&, int64_t, const Tensor& double_) {
  return double_.value;
}
int64_t self_(Tensor& self) {
  return self.value;
}
int64_t int64_kernel(const Tensor& self, int64_t x) {
  return self.value + x;
}
int64_t Self(const Tensor& self) {
  return self.value;
}
::std::int64_t Tensor(const ::fw::Tensor& self) {
  return self.value;
}

} // namespace shapes

namespace else_::where {
int64_t add(const Tensor& self, const Tensor& other) {
  return self.value + other.value;
}
} // namespace else_::where

#include <shapes/verify_kernels.h>

namespace f = shapes::functions;
namespace ops = shapes::ops;

static void shapes_of_arguments() {
  fw::Stream stream{10};
  const Tensor four(4);
  const auto result = f::many(
      {1, 2},
      {std::nullopt, Tensor(3)},
      Span<Tensor>(&four, 1),
      {{5}, {6}},
      {true, false, true},
      Span<double>({0.5}),
      {"x", "y"},
      "h",
      fw::Dtype::Half,
      fw::Layout::Sparse,
      fw::Device::CPU,
      fw::Generator{8},
      std::make_shared<fw::Storage>(fw::Storage{9}),
      &stream,
      {0, 2},
      0.25,
      1.5,
      {3.5},
      {11},
      12);
  CHECK(std::get<0>(result).size() == 2 && std::get<1>(result)[0] == 11);
  CHECK(std::get<2>(result) == "x" && std::get<3>(result));
  CHECK(std::get<4>(result)->value == 3 && std::get<5>(result)->at(0) == 0.25);
}

static void written_arguments() {
  Tensor out(0);
  vector<Tensor> others{1};
  optional<Tensor> maybe;
  const auto result = f::two_outf(Tensor(5), 3, out, others, maybe);
  CHECK(&std::get<0>(result) == &out && std::get<1>(result) == 3);
  CHECK(out.value == 8 && others[0].value == 20 && maybe->value == 21);
  f::two_out(out, others, maybe, Tensor(5));
  CHECK(out.value == 6);
  CHECK(&out.fill_() == &out && out.value == 7);
  CHECK(&f::fill_(out, 4) == &out && out.value == 4);
  f::fill_all(others, 2);
  CHECK(others[0].value == 2);
}

static void overloads() {
  Tensor x(1);
  CHECK(x.overloaded() == 1 && x.overloaded(3) == 3);
  CHECK(ops::overloaded_sym::call(x, 3) == 30);
  x.keys = x.keys.add(DispatchKey::AutogradCPU);
  CHECK(f::overloaded(x) == 101);
  x.keys = DispatchKeySet(DispatchKey::Meta);
  CHECK(x.overloaded() == 1);
  CHECK(ops::elsewhere__add::call(Tensor(1), Tensor(2)) == 3);
  auto add = Dispatcher::singleton().findSchemaOrThrow("elsewhere::add", "");
  CHECK(add.hasTag("core") && add.hasTag("pointwise"));
  Stack stack{Value::object(Tensor(3)), Value::object(Tensor(4))};
  add.callBoxed(stack);
  CHECK(stack.size() == 1 && stack[0].toInt() == 7);
}

static void names() {
  Tensor x(6);
  CHECK(f::detail(x, 1) == 6 && x.detail(1) == 6 && f::std(x) == 6);
  CHECK(x.std() == 6 && f::torchgen_lite(x, {1}) == 6);
  CHECK(x.torchgen_lite({1}) == 6 && f::shapes(x) == 6 && x.shapes("a") == 6);
  CHECK(f::fw(x, x) == 6 && x.fw(x) == 6 && f::ops(x, 1) == 6);
  CHECK(x.ops(1) == 6 && f::call(x) == 6 && x.call() == 6);
  CHECK(x.call_() == -6 && f::schema(x, 2, 3) == 5 && x.schema(2, 3) == 5);
  CHECK(f::int_(x, 1, Tensor(2)) == 2 && x.int_(1, Tensor(2)) == 2);
  CHECK(f::self__(x) == 6 && x.self__() == 6 && x.int64_t_(1) == 7);
  CHECK(f::int64_t_(x, 1) == 7 && x.Self_() == 6 && f::Tensor(x) == 6);
  CHECK(std::string(ops::call__::name) == "shapes::call");
  CHECK(ops::call__::call(x) == 6 && ops::call_::call(x) == -6);
}

int main() {
  shapes_of_arguments();
  CHECK(f::defaults(1) == "a\"b" && Tensor(1).defaults() == "a\"b");
  f::nothing();
  CHECK(shapes::nothings == 1);
  written_arguments();
  overloads();
  names();
  std::cout << checked << " checked, " << failed << " failed\n";
  return failed == 0 ? 0 : 1;
}
