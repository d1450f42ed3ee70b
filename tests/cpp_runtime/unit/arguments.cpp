// Arguments, schemas, boxed values, and the way between typed and boxed calls.
#include "unit.h"

#include <set>

#if __cplusplus >= 202002L
#include <span>
#endif

namespace {

enum class Dtype : std::uint8_t { f32 = 7, f64 = 8 };

// A view of the user's own.
template <class T>
struct View {
  View(const T* data, std::size_t size) : data_(data), size_(size) {}
  const T* data() const {
    return data_;
  }
  std::size_t size() const {
    return size_;
  }
  const T* begin() const {
    return data_;
  }
  const T* end() const {
    return data_ + size_;
  }
  const T* data_;
  std::size_t size_;
};

} // namespace

namespace {

// Made when the program is compiled.
static_assert(cpu_autograd.has(DispatchKey::AutogradCPU));
static_assert((cpu_autograd - cpu).has(DispatchKey::AutogradCPU));
static_assert((DispatchKeySet(DispatchKey::CPU) |
               DispatchKeySet(DispatchKey::AutogradCUDA))
                  .has(DispatchKey::AutogradCPU));
static_assert(cpu_autograd.highestPriorityTypeId() == DispatchKey::AutogradCPU);
static_assert(num_runtime_entries == 137);
static_assert(
    (cpu_autograd & after_autograd_keyset)
        .getDispatchTableIndexForDispatchKeySet() ==
    static_cast<std::size_t>(slotOf(DispatchKey::CPU)));
static_assert(detail::dispatches<std::optional<std::vector<Matrix>>>());
static_assert(detail::dispatches<std::set<Matrix>>());
static_assert(!detail::dispatches<std::vector<double>>());
static_assert(!detail::dispatches<std::string>());

std::uint64_t bitsOf(DispatchKeySet keys) {
  return keys.raw_repr();
}

} // namespace

void testArguments() {
  const Matrix a(cpu, 1), b(cuda, 2);
  using detail::bitsOfArguments;
  EXPECT_EQ(bitsOfArguments(a, 1, 2.0, std::string("x")), bitsOf(cpu));
  EXPECT_EQ(bitsOfArguments(a, std::optional<Matrix>(b)), bitsOf(cpu | cuda));
  EXPECT_EQ(bitsOfArguments(std::optional<Matrix>()), 0U);
  EXPECT_EQ(bitsOfArguments(std::vector<Matrix>{a, b}), bitsOf(cpu | cuda));
  EXPECT_EQ(bitsOfArguments(std::array<Matrix, 1>{b}), bitsOf(cuda));
  EXPECT_EQ(bitsOfArguments(Span<Matrix>(&b, 1)), bitsOf(cuda));
#if __cplusplus >= 202002L
  EXPECT_EQ(bitsOfArguments(std::span<const Matrix>(&b, 1)), bitsOf(cuda));
#endif
  EXPECT_EQ(
      bitsOfArguments(std::vector<std::optional<Matrix>>{std::nullopt, b}),
      bitsOf(cuda));
  EXPECT_EQ(
      bitsOfArguments(std::optional<std::vector<Matrix>>({a})),
      bitsOf(cpu));
  EXPECT_EQ(bitsOfArguments(Generator{cuda}), bitsOf(cuda));
  EXPECT_EQ(bitsOfArguments(Owner(1)), bitsOf(cpu));
}

void testSchemaText() {
  const auto facts = [](const char* text) {
    const detail::SchemaFacts read = detail::readSchema(text);
    return read.name + "|" + read.overload_name + "|" +
        std::to_string(read.arguments) + "|" + std::to_string(read.returns);
  };
  EXPECT_EQ(facts("a::b() -> ()"), "a::b||0|0");
  EXPECT_EQ(
      facts("a::b.c(Tensor(a!) self, *, int[2] x=[1, 2]) -> Tensor(a!)"),
      "a::b|c|2|1");
  EXPECT_EQ(
      facts("b(str s=\"a, (b\", *, str t=',') -> (Tensor, Tensor[])"),
      "b||2|2");
  EXPECT_EQ(facts("b((int, int) x, Dict(str, int) y) -> Tensor[]"), "b||2|1");
  EXPECT_EQ(facts("b(...) -> (...)"), "b||-1|-1");
  EXPECT_ERROR(detail::readSchema("b(int x"), "not a schema");
  EXPECT_ERROR(detail::readSchema("b(int x) Tensor"), "not a schema");
  EXPECT_ERROR(detail::readSchema("b(int x) -> (int"), "not a schema");
  EXPECT_ERROR(detail::readSchema("b(int x) ->"), "not a schema");
  for (const char* name :
       {"",
        "1x",
        "b c",
        "b.",
        "b.c.d",
        "b..c",
        "b.default",
        "b.__c",
        "a::",
        "::b"}) {
    EXPECT_ERROR(
        detail::readSchema(std::string(name) + "(int x) -> Tensor"),
        "is not the name of an operator");
  }
  EXPECT_ERROR(
      detail::readSchema("b(int x, Tensor x) -> ()"),
      "two arguments are called x");
  EXPECT_ERROR(
      detail::readSchema("b(int[] x=[1, 2], Tensor y) -> ()"),
      "y has no default and follows one that has");
  EXPECT_EQ(facts("b(*, *, int x) -> ()"), "b||1|0");
  EXPECT_EQ(facts("b(int x=1, *, Tensor(a!) out) -> ()"), "b||2|0");
}

void testValues() {
  EXPECT(
      Value().isNone() && Value(true).isBool() &&
      Value(std::int64_t{3}).isInt());
  EXPECT_EQ(Value(2.5).toDouble(), 2.5);
  EXPECT_EQ(Value(std::string("x")).toStringRef(), "x");
  // A literal is a string, and every number has one type.
  EXPECT_EQ(Value("x").toStringRef(), "x");
  EXPECT_EQ(Value(std::string_view("xy", 1)).toStringRef(), "x");
  EXPECT_EQ(Value(3).toInt(), 3);
  EXPECT_EQ(Value(3U).toInt(), 3);
  EXPECT_EQ(Value(0.5F).toDouble(), 0.5);
  EXPECT_ERROR(Value(2.5).toInt(), "expected an int, not float");
  EXPECT_ERROR(Value(std::int64_t{1}).toObject<Matrix>(), "Matrix, not int");
  const Matrix fixed(cpu, 1);
  const Value borrowed = Value::borrow(fixed);
  EXPECT(borrowed.isBorrowed() && borrowed.is<Matrix>());
  EXPECT_EQ(&borrowed.toObject<const Matrix>(), &fixed);
  EXPECT_ERROR(
      borrowed.toObject<Matrix>(),
      "passed as const cannot be changed");
  EXPECT(!borrowed.owned().isBorrowed());
  EXPECT(&borrowed.owned().toObject<Matrix>() != &fixed);
  const Owner owner(1);
  EXPECT_ERROR(Value::borrow(owner).owned(), "cannot be copied");
  EXPECT_EQ(Value::object(Generator{cuda}).keyset(), DispatchKeySet());
  EXPECT_EQ(Value(std::vector<Value>{borrowed, Value()}).keyset(), cpu);
}

namespace {

// Every kind of argument through a boxed fallback and back.
using Everything = std::tuple<std::string, double>(
    const Matrix&,
    Matrix,
    bool,
    std::int64_t,
    int,
    double,
    float,
    const std::string&,
    std::string_view,
    const char*,
    Dtype,
    const std::optional<Matrix>&,
    std::optional<Span<std::int64_t>>,
    Span<bool>,
    Span<Matrix>,
    const std::vector<std::string>&,
    std::vector<bool>,
    std::array<int, 2>,
    View<double>,
    const Generator&);

std::tuple<std::string, double> everything(
    const Matrix& a,
    Matrix b,
    bool c,
    std::int64_t d,
    int e,
    double f,
    float g,
    const std::string& h,
    std::string_view i,
    const char* j,
    Dtype k,
    const std::optional<Matrix>& l,
    std::optional<Span<std::int64_t>> m,
    Span<bool> n,
    Span<Matrix> o,
    const std::vector<std::string>& p,
    std::vector<bool> q,
    std::array<int, 2> r,
    View<double> s,
    const Generator& t) {
  std::ostringstream text;
  text << a.value << b.value << c << d << e << f << g << h << i << j
       << static_cast<int>(k) << (l.has_value() ? l->value : -1.0);
  text << '|';
  for (const std::int64_t each : m.value_or(Span<std::int64_t>())) {
    text << each;
  }
  for (const bool each : n) {
    text << each;
  }
  text << '|';
  for (const Matrix& each : o) {
    text << each.value;
  }
  for (const std::string& each : p) {
    text << each;
  }
  text << q[0] << q[1] << r[0] << r[1] << s.data()[1] << toString(t.keys);
  return {text.str(), 0.5};
}

} // namespace

void testBoxing() {
  Dispatcher dispatcher;
  Library library(Library::DEF, "t", std::nullopt, dispatcher);
  library.def(
      "everything(T a, T b, bool c, int d, int e, float f, float g, str h, "
      "str i, str j, ScalarType k, T? l, int[]? m, bool[] n, T[] o, str[] p, "
      "bool[] q, int[2] r, float[] s, Generator t) -> (str, float)");
  library.impl("everything", DispatchKey::CPU, everything);
  Library wildcard(Library::IMPL, "_", DispatchKey::AutogradCPU, dispatcher);
  wildcard.fallback(boxed(fallbackOf));
  const auto call =
      dispatcher.findSchemaOrThrow("t::everything").typed<Everything>();
  const Matrix a(cpu_autograd, 1);
  const std::vector<std::int64_t> m{7, 8};
  const bool n[] = {true, false};
  const std::vector<Matrix> o{a, Matrix(cpu, 3)};
  const double s[] = {0, 9};
  for (const DispatchKeySet keys : {cpu, cpu_autograd}) {
    const Matrix first(keys, 1);
    const auto [text, number] = call.call(
        first,
        Matrix(cpu, 2),
        true,
        3,
        4,
        5.5,
        6.5F,
        "h",
        "i",
        "j",
        Dtype::f64,
        std::nullopt,
        Span<std::int64_t>(m),
        n,
        o,
        {"p", "q"},
        {true, false},
        {4, 2},
        View<double>(s, 2),
        Generator{cpu});
    EXPECT_EQ(text, "121345.56.5hij8-1|7810|13pq10429DispatchKeySet(CPU)");
    EXPECT_EQ(number, 0.5);
  }
}

namespace {

Matrix& addTo(Matrix& self, const Matrix& other) {
  self.value += other.value;
  return self;
}

std::tuple<Matrix&, Matrix&> swapBoth(Matrix& a, Matrix& b) {
  std::swap(a.value, b.value);
  return {a, b};
}

enum class Level : std::uint8_t { low, high = 255 };

std::int64_t narrow(const Matrix&, std::int8_t a, std::uint64_t b, Level c) {
  return a + static_cast<std::int64_t>(b % 1000) + static_cast<int>(c);
}

} // namespace

// A kernel may have a narrower integer than a value; the bits that do not fit
// were cut off.
void testNarrowIntegers() {
  Dispatcher dispatcher;
  Library library(Library::DEF, "t", std::nullopt, dispatcher);
  library.def("narrow(T x, int a, int b, int c) -> int");
  library.impl("narrow", DispatchKey::CPU, TORCHGEN_LITE_FN(narrow));
  const OperatorHandle op = dispatcher.findSchemaOrThrow("t::narrow");
  const auto called = [&](std::int64_t a, std::int64_t b, std::int64_t c) {
    Stack stack = {Value::object(Matrix(cpu, 1)), Value(a), Value(b), Value(c)};
    op.callBoxed(stack);
    return stack.at(0).toInt();
  };
  EXPECT_EQ(called(-128, 0, 255), 127);
  // As many bits as a value has: the number comes back.
  EXPECT_EQ(called(127, -1, 0), 127 + 615);
  EXPECT_ERROR(called(128, 0, 0), "128 is not in the range of signed char");
  EXPECT_ERROR(called(-129, 0, 0), "-129 is not in the range of signed char");
  EXPECT_ERROR(called(0, 0, 256), "256 is not in the range of");
  EXPECT_ERROR(called(0, 0, -1), "-1 is not in the range of");
}

void testReferences() {
  Dispatcher dispatcher;
  Library library(Library::DEF, "t", std::nullopt, dispatcher);
  library.def("add_(T(a!) self, T other) -> T(a!)");
  library.def("swap(T(a!) a, T(b!) b) -> (T(a!), T(b!))");
  library.impl("add_", DispatchKey::CPU, TORCHGEN_LITE_FN(addTo));
  library.impl("swap", DispatchKey::CPU, TORCHGEN_LITE_FN(swapBoth));
  Library wildcard(Library::IMPL, "_", DispatchKey::AutogradCPU, dispatcher);
  wildcard.fallback(boxed(fallbackOf));
  const OperatorHandle op = dispatcher.findSchemaOrThrow("t::add_");
  const auto add = op.typed<Matrix&(Matrix&, const Matrix&)>();
  Matrix a(cpu_autograd, 1), b(cpu_autograd, 2);
  Matrix::copies = 0;
  // Through the boxed fallback, the result is still the argument.
  EXPECT_EQ(&add.call(a, b), &a);
  EXPECT_EQ(a.value, 3.0);
  const auto [first, second] =
      dispatcher.findSchemaOrThrow("t::swap")
          .typed<std::tuple<Matrix&, Matrix&>(Matrix&, Matrix&)>()
          .call(a, b);
  EXPECT(&first == &a && &second == &b && a.value == 2.0);
  EXPECT_EQ(Matrix::copies, 0);
  // A boxed call keeps alive what its result refers to.
  Stack stack = {
      Value("below"),
      Value::object(Matrix(cpu, 5)),
      Value::object(Matrix(cpu, 6))};
  op.callBoxed(stack);
  EXPECT_EQ(stack.size(), 2U);
  EXPECT_EQ(stack[1].toObject<Matrix>().value, 11.0);
  EXPECT(!stack[1].isBorrowed());
  Stack short_stack = {Value::object(Matrix(cpu, 5))};
  EXPECT_ERROR(
      op.callBoxed(short_stack),
      "t::add_ takes 2 arguments, but the stack has 1");
  Stack wrong = {Value(1.5), Value::object(Matrix(cpu, 6))};
  EXPECT_ERROR(op.callBoxed(wrong), "Matrix, not float");
  EXPECT_EQ(wrong.size(), 2U);
  // A boxed kernel that does not give the argument back.
  library.impl(
      "add_",
      DispatchKey::CUDA,
      boxed([](const OperatorHandle&, DispatchKeySet, Stack& values) {
        values.resize(values.size() - 2);
        values.push_back(Value::object(Matrix(cuda, 0)));
      }));
  Matrix on_cuda(cuda, 1);
  EXPECT_ERROR(add.call(on_cuda, on_cuda), "gave a value of its own");
  library.impl(
      "add_",
      DispatchKey::HIP,
      boxed([](const OperatorHandle&, DispatchKeySet, Stack&) {}));
  Matrix on_hip(DispatchKeySet(DispatchKey::HIP), 1);
  EXPECT_ERROR(
      add.call(on_hip, on_hip),
      "a boxed kernel of t::add_ left 2 values on the stack, not 1");
}

void testMoveOnly() {
  Dispatcher dispatcher;
  Library library(Library::DEF, "t", std::nullopt, dispatcher);
  library.def("take(T self) -> T");
  library.impl("take", DispatchKey::CPU, [](Owner self) {
    self.data[0] += 1;
    return self;
  });
  const auto take =
      dispatcher.findSchemaOrThrow("t::take").typed<Owner(Owner)>();
  EXPECT_EQ(take.call(Owner(1)).data[0], 2.0);
  library.impl("take", DispatchKey::AutogradCPU, boxed(fallbackOf));
  EXPECT_EQ(take.redispatch(cpu_autograd, Owner(5)).data[0], 6.0);
}
