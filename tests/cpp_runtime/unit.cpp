// What the vectors do not say: arguments, boxing, signatures, libraries and
// their errors, listeners, observers. Each check prints what it found.
#include <torchgen_lite/runtime.h>

#include <functional>
#include <iostream>
#include <set>
#include <sstream>

using namespace torchgen_lite;

namespace {

int checks = 0;
int failures = 0;

void expectAt(int line, bool holds, const std::string& text) {
  ++checks;
  if (!holds) {
    ++failures;
    std::cout << "unit.cpp:" << line << ": " << text << "\n";
  }
}

#define EXPECT(condition) expectAt(__LINE__, (condition), #condition)
#define EXPECT_EQ(found, wanted) expectEqualAt(__LINE__, (found), (wanted))
#define EXPECT_ERROR(expression, text) \
  expectErrorAt(__LINE__, [&] { (void)(expression); }, text)

std::ostream& operator<<(std::ostream& out, DispatchKeySet keys) {
  return out << toString(keys);
}

template <class A, class B>
void expectEqualAt(int line, const A& found, const B& wanted) {
  std::ostringstream text;
  text << "found '" << found << "', not '" << wanted << "'";
  expectAt(line, found == wanted, text.str());
}

void expectErrorAt(
    int line,
    const std::function<void()>& run,
    const std::string& text) {
  try {
    run();
  } catch (const std::exception& error) {
    const std::string found = error.what();
    expectAt(
        line,
        found.find(text) != std::string::npos,
        "found '" + found + "'");
    return;
  }
  expectAt(line, false, "nothing was thrown, not '" + text + "'");
}

// A tensor that counts its copies, as one of Eigen or xtensor would cost.
struct Matrix {
  Matrix(DispatchKeySet keys, double value) : keys(keys), value(value) {}
  Matrix(const Matrix& other) : keys(other.keys), value(other.value) {
    ++copies;
  }
  Matrix(Matrix&& other) = default;
  Matrix& operator=(const Matrix&) = default;

  DispatchKeySet keys;
  double value;
  static int copies;
};
int Matrix::copies = 0;

struct Generator {
  DispatchKeySet keys;
};

// A tensor that is a range of its elements, and cannot be copied.
struct Owner {
  explicit Owner(double value) : data{value} {}
  Owner(Owner&&) = default;
  std::vector<double> data;
  auto begin() const {
    return data.begin();
  }
  auto end() const {
    return data.end();
  }
};

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

constexpr DispatchKeySet cpu{DispatchKey::CPU};
constexpr DispatchKeySet cuda{DispatchKey::CUDA};
constexpr DispatchKeySet cpu_autograd{
    DispatchKey::CPU,
    DispatchKey::AutogradCPU};

} // namespace

template <>
struct torchgen_lite::KeysetOf<Matrix> {
  static DispatchKeySet get(const Matrix& matrix) {
    return matrix.keys;
  }
};
template <>
struct torchgen_lite::KeysetOf<Generator> {
  static constexpr bool boxed = false;
  static DispatchKeySet get(const Generator& generator) {
    return generator.keys;
  }
};
template <>
struct torchgen_lite::KeysetOf<Owner> {
  static DispatchKeySet get(const Owner&) {
    return cpu;
  }
};

namespace {

// Made when the program is compiled.
static_assert(cpu_autograd.has(DispatchKey::AutogradCPU));
static_assert((cpu_autograd - cpu).has(DispatchKey::AutogradCPU));
static_assert((DispatchKeySet(DispatchKey::CPU) |
               DispatchKeySet(DispatchKey::AutogradCUDA))
                  .has(DispatchKey::AutogradCPU));
static_assert(cpu_autograd.highestPriorityTypeId() == DispatchKey::AutogradCPU);
static_assert(num_runtime_entries == 137);
static_assert(detail::dispatches<std::optional<std::vector<Matrix>>>());
static_assert(detail::dispatches<std::set<Matrix>>());
static_assert(!detail::dispatches<std::vector<double>>());
static_assert(!detail::dispatches<std::string>());

std::uint64_t bitsOf(DispatchKeySet keys) {
  return keys.raw_repr();
}

void testArguments() {
  const Matrix a(cpu, 1), b(cuda, 2);
  using detail::bitsOfArguments;
  EXPECT_EQ(bitsOfArguments(a, 1, 2.0, std::string("x")), bitsOf(cpu));
  EXPECT_EQ(bitsOfArguments(a, std::optional<Matrix>(b)), bitsOf(cpu | cuda));
  EXPECT_EQ(bitsOfArguments(std::optional<Matrix>()), 0U);
  EXPECT_EQ(bitsOfArguments(std::vector<Matrix>{a, b}), bitsOf(cpu | cuda));
  EXPECT_EQ(bitsOfArguments(std::array<Matrix, 1>{b}), bitsOf(cuda));
  EXPECT_EQ(bitsOfArguments(Span<Matrix>(&b, 1)), bitsOf(cuda));
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
  EXPECT_ERROR(detail::readSchema("(int x) -> Tensor"), "not a schema");
}

void testValues() {
  EXPECT(
      Value().isNone() && Value(true).isBool() &&
      Value(std::int64_t{3}).isInt());
  EXPECT_EQ(Value(2.5).toDouble(), 2.5);
  EXPECT_EQ(Value(std::string("x")).toStringRef(), "x");
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

void fallbackOf(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  op.redispatchBoxed(keys & after_autograd_keyset, stack);
}

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

Matrix& addTo(Matrix& self, const Matrix& other) {
  self.value += other.value;
  return self;
}

std::tuple<Matrix&, Matrix&> swapBoth(Matrix& a, Matrix& b) {
  std::swap(a.value, b.value);
  return {a, b};
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
      "t::add_ takes 2 arguments, the stack has 1");
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

// Kernels of every form.
std::int64_t one(const Matrix&) noexcept {
  return 1;
}
std::int64_t keyed(DispatchKeySet keys, const Matrix&) {
  return static_cast<std::int64_t>(keys.raw_repr());
}
struct Functor {
  std::int64_t base;
  std::int64_t operator()(const Matrix&) {
    return ++base;
  }
};

void testKernels() {
  Dispatcher dispatcher;
  Library library(Library::DEF, "t", std::nullopt, dispatcher);
  library.def("f(T self) -> int");
  const OperatorHandle op = dispatcher.findSchemaOrThrow("t::f");
  const auto call = [&] {
    return op.typed<std::int64_t(const Matrix&)>().call(Matrix(cpu, 0));
  };
  EXPECT_ERROR(call(), "'t::f' has no kernels at all; it is registered at ");
  setWarningHandler(nullptr);
  library.impl("f", DispatchKey::CPU, one);
  EXPECT_EQ(call(), 1);
  library.impl("f", DispatchKey::CPU, &keyed);
  EXPECT_EQ(call(), static_cast<std::int64_t>(cpu.raw_repr()));
  library.impl("f", DispatchKey::CPU, TORCHGEN_LITE_FN(keyed));
  EXPECT_EQ(call(), static_cast<std::int64_t>(cpu.raw_repr()));
  library.impl("f", DispatchKey::CPU, TORCHGEN_LITE_FN(&one));
  EXPECT_EQ(call(), 1);
  library.impl("f", DispatchKey::CPU, Functor{41});
  EXPECT_EQ(call() + call(), 42 + 43);
  std::int64_t seen = 0;
  library.impl("f", DispatchKey::CPU, [&seen](DispatchKeySet, const Matrix&) {
    return ++seen;
  });
  EXPECT_EQ(call(), 1);
  library.impl(
      "f",
      DispatchKey::CPU,
      std::function<std::int64_t(const Matrix&)>(one));
  EXPECT_EQ(call(), 1);
  library.impl(
      "f",
      DispatchKey::CPU,
      boxed([](const OperatorHandle& self, DispatchKeySet, Stack& stack) {
        stack.pop_back();
        stack.push_back(static_cast<std::int64_t>(self.fullName().size()));
      }));
  EXPECT_EQ(call(), 4);
  dispatcher.reclaim();
  EXPECT_EQ(call(), 4);
}

void testSignatures() {
  Dispatcher dispatcher;
  Library library(Library::DEF, "t", std::nullopt, dispatcher);
  library.def("f(T self) -> int");
  library.impl("f", DispatchKey::CPU, one);
  const OperatorHandle op = dispatcher.findSchemaOrThrow("t::f");
  EXPECT_ERROR(
      op.typed<std::int64_t(Matrix)>(),
      "Tried to access or call an operator with a wrong signature.");
  EXPECT_ERROR(
      library.impl("f", DispatchKey::CUDA, [](const Matrix&) { return 1; }),
      "Mismatch in kernel C++ signatures");
  EXPECT(!op.hasKernelForDispatchKey(DispatchKey::CUDA));
  EXPECT_ERROR(
      library.def("f(T self) -> int"),
      "with the same name and overload name multiple times");
  library.def("g(T self, T other) -> int");
  EXPECT_ERROR(
      library.impl("g", one),
      "the schema has 2 arguments and 1 returns, the signature 1 and 1");
  const OperatorHandle g = dispatcher.findSchemaOrThrow("t::g");
  EXPECT_ERROR(g.typed<void()>(), "the signature 0 and 0");
  // A kernel first, the schema later.
  library.impl("h", one);
  EXPECT_ERROR(
      library.def("h(T self) -> ()"),
      "the schema has 1 arguments and 0 returns");
  library.def("h(T self) -> int");
  // A handle fixes the signature, so that it can always be called.
  library.def("k(T self) -> int");
  (void)dispatcher.findSchemaOrThrow("t::k").typed<std::int64_t(Matrix)>();
  EXPECT_ERROR(library.impl("k", one), "a typed handle");
}

void testLifetimes() {
  Dispatcher dispatcher;
  auto library =
      std::make_unique<Library>(Library::DEF, "t", std::nullopt, dispatcher);
  library->def("f(T self) -> int", {"pointwise", "core"});
  library->impl("f", DispatchKey::CPU, one);
  const OperatorHandle op = dispatcher.findSchemaOrThrow("t::f");
  EXPECT(op.hasTag("core") && !op.hasTag("cor"));
  const auto typed = op.typed<std::int64_t(const Matrix&)>();
  EXPECT_EQ(typed.call(Matrix(cpu, 0)), 1);
  library.reset();
  EXPECT(
      !dispatcher.findOp("t::f").has_value() && dispatcher.operators().empty());
  EXPECT_ERROR(
      typed.call(Matrix(cpu, 0)),
      "t::f has no schema: it was never defined, or its definition was undone");
  EXPECT_ERROR(typed.redispatch(cpu, Matrix(cpu, 0)), "t::f has no schema");
  Stack stack = {Value::object(Matrix(cpu, 0))};
  EXPECT_ERROR(op.callBoxed(stack), "t::f has no schema");
  // The namespace can be defined again, and the old handle works again.
  Library again(Library::DEF, "t", std::nullopt, dispatcher);
  again.def("f(T self) -> int").impl("f", DispatchKey::CPU, one);
  EXPECT_EQ(typed.call(Matrix(cpu, 0)), 1);
  EXPECT_ERROR(
      again.impl("f", [](Matrix) { return std::int64_t{1}; }),
      "Mismatch in kernel C++ signatures");
  again.close();
  EXPECT_ERROR(again.def("g() -> ()"), "this library of namespace t is closed");
}

void testLibraries() {
  Dispatcher dispatcher;
  const auto make = [&](Library::Kind kind,
                        const char* ns,
                        std::optional<DispatchKey> key = std::nullopt) {
    return Library(kind, ns, key, dispatcher);
  };
  Library def = make(Library::DEF, "nsA");
  EXPECT_ERROR(
      make(Library::DEF, "nsA"),
      "Only a single TORCHGEN_LITE_LIBRARY can be used to register the namespace nsA; please put all of "
      "your definitions in a single TORCHGEN_LITE_LIBRARY block.");
  EXPECT_ERROR(
      make(Library::FRAGMENT, "_"),
      "cannot define TORCHGEN_LITE_LIBRARY_FRAGMENT with the wildcard namespace _");
  EXPECT_ERROR(make(Library::DEF, "_"), "with the wildcard namespace _");
  EXPECT_ERROR(
      make(Library::DEF, "prim"),
      "prim is a reserved namespace. Please try creating a library with another name.");
  EXPECT_ERROR(
      make(Library::DEF, "nsB", DispatchKey::CPU),
      "has no dispatch key, but CPU was given");
  Library impl = make(Library::IMPL, "nsA", DispatchKey::CUDA);
  EXPECT_ERROR(
      impl.def("bar() -> ()"),
      "def(\"bar() -> ()\"): Cannot define an operator inside of a TORCHGEN_LITE_LIBRARY_IMPL block.");
  EXPECT_ERROR(
      def.def("other::bar() -> ()"),
      "Explicitly provided namespace (other) in schema string does not match namespace of enclosing "
      "TORCHGEN_LITE_LIBRARY block (nsA).  Move this definition");
  EXPECT_ERROR(
      impl.impl("g", DispatchKey::CPU, one),
      "impl(\"g\", ...): Explicitly provided dispatch key (CPU) is inconsistent with the dispatch key of "
      "the enclosing TORCHGEN_LITE_LIBRARY_IMPL block (CUDA).");
  EXPECT_ERROR(
      impl.impl("fr::g", one),
      "TORCHGEN_LITE_LIBRARY_IMPL block (nsA).  Move this definition");
  Library wildcard = make(Library::IMPL, "_", DispatchKey::AutogradCPU);
  EXPECT_ERROR(wildcard.impl("nsA::g", one), "wildcard namespace _");
  EXPECT_ERROR(
      impl.fallback(fallthrough()),
      "on the global namespace \"_\" but it is TORCHGEN_LITE_LIBRARY_IMPL on \"nsA\"");
  wildcard.fallback(fallthrough());
  EXPECT_ERROR(
      wildcard.fallback(fallthrough()),
      "Tried to register multiple backend fallbacks for the same dispatch key AutogradCPU; previous registration");
  Library keyless = make(Library::IMPL, "_");
  EXPECT_ERROR(
      keyless.fallback(fallthrough()),
      "a fallback needs a dispatch key");
  EXPECT_ERROR(
      keyless.fallback(DispatchKey::Autograd, fallthrough()),
      "Autograd is an alias key");
  EXPECT_ERROR(
      keyless.fallback(DispatchKey::CPU, one),
      "boxed(f) or fallthrough()");
  EXPECT_ERROR(
      def.impl("f", DispatchKey::Dense, one),
      "neither a runtime key nor an alias key");
  // Implemented before it is defined.
  impl.impl("later", one);
  EXPECT_EQ(dispatcher.findDanglingImpls().size(), 1U);
  EXPECT_ERROR(
      dispatcher.findSchemaOrThrow("nsA::later"),
      "but we found an implementation; did you forget to def() the operator?");
  EXPECT_ERROR(
      dispatcher.findSchemaOrThrow("nsA::nothing"),
      "Could not find schema for nsA::nothing");
  def.def("nsA::later(T self) -> int");
  EXPECT(dispatcher.findDanglingImpls().empty());
  EXPECT_EQ(
      dispatcher.getRegistrationsForDispatchKey(DispatchKey::CUDA).size(),
      1U);
  EXPECT_EQ(
      dispatcher.getRegistrationsForDispatchKey(DispatchKey::CPU).size(),
      0U);
}

std::string warning;

void testOverrideWarning() {
  setWarningHandler([](const std::string& text) { warning += text; });
  detail::warned_of_override = false;
  Dispatcher dispatcher;
  Library library(Library::DEF, "t", std::nullopt, dispatcher);
  library.def("f(T self) -> int");
  library.impl("f", DispatchKey::Meta, one).impl("f", DispatchKey::Meta, one);
  EXPECT_EQ(warning, "");
  library.impl("f", DispatchKey::CPU, one).impl("f", DispatchKey::CPU, one);
  EXPECT_EQ(
      warning.substr(0, 80),
      "Warning only once for all operators,  other operators may also be overridden.\n  ");
  const std::size_t size = warning.size();
  library.impl("f", DispatchKey::CPU, one);
  EXPECT_EQ(warning.size(), size);
  setWarningHandler(nullptr);
}

struct Listener final : RegistrationListener {
  void onOperatorRegistered(const OperatorHandle& op) override {
    log += "+" + op.fullName();
  }
  void onOperatorDeregistered(const OperatorHandle& op) override {
    log += "-" + op.schema();
  }
  std::string log;
};

void testListeners() {
  Dispatcher dispatcher;
  Library library(Library::DEF, "t", std::nullopt, dispatcher);
  library.def("f() -> ()");
  Listener listener;
  RegistrationHandle handle = dispatcher.addRegistrationListener(listener);
  library.def("g.h() -> ()");
  EXPECT_EQ(listener.log, "+t::f+t::g.h");
  library.close();
  EXPECT_EQ(listener.log, "+t::f+t::g.h-t::g.h() -> ()-t::f() -> ()");
  handle.undo();
  Library(Library::DEF, "t", std::nullopt, dispatcher).def("f() -> ()");
  EXPECT_EQ(listener.log, "+t::f+t::g.h-t::g.h() -> ()-t::f() -> ()");
}

struct Log final : Observer {
  void enter(const CallRecord& record) override {
    text += "<" + std::string(record.how) + " " + record.name + " " +
        std::string(toString(record.key)) + (record.is_fallback ? "!" : "");
  }
  void leave(const CallRecord&) override {
    text += ">";
  }
  std::string text;
};

void testObservers() {
  Dispatcher dispatcher;
  Library library(Library::DEF, "t", std::nullopt, dispatcher);
  library.def("f(T self) -> int");
  library.impl("f", DispatchKey::CPU, one);
  Library wildcard(Library::IMPL, "_", DispatchKey::AutogradCPU, dispatcher);
  wildcard.fallback(boxed(fallbackOf));
  const OperatorHandle op = dispatcher.findSchemaOrThrow("t::f");
  const auto f = op.typed<std::int64_t(const Matrix&)>();
  const auto log = std::make_shared<Log>();
  {
    const RegistrationHandle first = dispatcher.addObserver(log);
    f.call(Matrix(cpu_autograd, 0));
    EXPECT_EQ(log->text, "<call t::f AutogradCPU!<redispatchBoxed t::f CPU>>");
    log->text.clear();
    EXPECT_ERROR(
        f.redispatch(cuda, Matrix(cpu, 0)),
        "Could not run 't::f' with arguments from the 'CUDA' backend");
    EXPECT_EQ(log->text, "<redispatch t::f CUDA>");
    log->text.clear();
    const RegistrationHandle second = dispatcher.addObserver(log);
    f.call(Matrix(cpu, 0));
    EXPECT_EQ(log->text, "<call t::f CPU<call t::f CPU>>");
    log->text.clear();
  }
  f.call(Matrix(cpu, 0));
  EXPECT_EQ(log->text, "");
  EXPECT(op.entry().fast.load() != nullptr);
}

void testTrace() {
  std::FILE* file = std::tmpfile();
  Dispatcher dispatcher;
  Library library(Library::DEF, "t", std::nullopt, dispatcher);
  library.def("f(T self) -> int").impl("f", DispatchKey::CPU, one);
  Library wildcard(Library::IMPL, "_", DispatchKey::AutogradCPU, dispatcher);
  wildcard.fallback(boxed(fallbackOf));
  {
    const RegistrationHandle trace =
        dispatcher.addObserver(std::make_shared<TraceObserver>(file));
    dispatcher.findSchemaOrThrow("t::f")
        .typed<std::int64_t(const Matrix&)>()
        .call(Matrix(cpu_autograd, 0));
  }
  std::rewind(file);
  char text[200] = {};
  const std::size_t size = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  EXPECT_EQ(
      std::string(text, size),
      "[call] op=[t::f], key=[AutogradCPU], fallback\n [redispatchBoxed] op=[t::f], key=[CPU]\n");
}

// Registering and undoing the same thing needs no more memory each time.
void testChurn() {
  Dispatcher dispatcher;
  Library library(Library::DEF, "t", std::nullopt, dispatcher);
  library.def("f(T self) -> int")
      .impl("f", DispatchKey::CompositeExplicitAutograd, one);
  const OperatorHandle op = dispatcher.findSchemaOrThrow("t::f");
  const auto f = op.typed<std::int64_t(const Matrix&)>();
  std::set<const detail::DispatchTable*> tables;
  for (int i = 0; i < 100; ++i) {
    Library more(Library::FRAGMENT, "t", std::nullopt, dispatcher);
    more.impl("f", DispatchKey::CPU, [](const Matrix&) {
      return std::int64_t{2};
    });
    EXPECT_EQ(f.call(Matrix(cpu, 0)), 2);
    tables.insert(&op.entry().table());
    more.close();
    EXPECT_EQ(f.call(Matrix(cpu, 0)), 1);
    tables.insert(&op.entry().table());
  }
  EXPECT_EQ(tables.size(), 2U);
}

TORCHGEN_LITE_LIBRARY(macros, m) {
  m.def("f(T self) -> int");
}
TORCHGEN_LITE_LIBRARY_FRAGMENT(macros, m) {
  m.def("g(T self) -> int");
}
constexpr int here = __LINE__;
TORCHGEN_LITE_LIBRARY_IMPL(macros, CPU, m) {
  m.impl("f", TORCHGEN_LITE_FN(one));
}
TORCHGEN_LITE_LIBRARY_IMPL(macros, CUDA, m) {
  m.impl("macros::f", keyed);
}

StaticOperatorHandle<std::int64_t(const Matrix&)> f_handle("macros::f");
StaticOperatorHandle<std::int64_t(const Matrix&)> absent("macros::absent");

void testMacros() {
  EXPECT_EQ(f_handle.call(Matrix(cpu, 0)), 1);
  EXPECT_EQ(
      f_handle.redispatch(cuda, Matrix(cpu, 0)),
      static_cast<std::int64_t>(cuda.raw_repr()));
  EXPECT_ERROR(
      absent.call(Matrix(cpu, 0)),
      "Could not find schema for macros::absent");
  const std::string dump =
      Dispatcher::singleton().findSchemaOrThrow("macros::f").dumpState();
  const std::string place = std::string("CPU: registered at ") + __FILE__ +
      ":" + std::to_string(here + 2);
  EXPECT(dump.find(place) != std::string::npos);
  const auto log = std::make_shared<Log>();
  const RegistrationHandle watching = Dispatcher::singleton().addObserver(log);
  f_handle.call(Matrix(cpu, 0));
  EXPECT_EQ(log->text, "<call macros::f CPU>");
}

} // namespace

int main() {
  testArguments();
  testSchemaText();
  testValues();
  testBoxing();
  testReferences();
  testMoveOnly();
  testKernels();
  testSignatures();
  testLifetimes();
  testLibraries();
  testOverrideWarning();
  testListeners();
  testObservers();
  testTrace();
  testChurn();
  testMacros();
  std::cout << checks << " checks\n";
  return failures == 0 ? 0 : 1;
}
