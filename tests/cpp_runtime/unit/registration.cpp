// Kernels of every form, signatures, libraries and their errors, listeners.
#include "unit.h"

namespace {

struct Functor {
  std::int64_t base;
  std::int64_t operator()(const Matrix&) {
    return ++base;
  }
};

} // namespace

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
  EXPECT_ERROR(
      library.impl("f g", one),
      "\"t::f g\" is not the name of an operator");
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
  EXPECT_ERROR(
      again.def("g() -> ()"),
      "this library for namespace t is closed");
}

// An operator may come back with another signature while handles of the old one
// live.
void testAnotherSignature() {
  Dispatcher dispatcher;
  auto library =
      std::make_unique<Library>(Library::DEF, "t", std::nullopt, dispatcher);
  library->def("f(T self) -> int").impl("f", DispatchKey::CPU, one);
  const OperatorHandle op = dispatcher.findSchemaOrThrow("t::f");
  const auto old = op.typed<std::int64_t(const Matrix&)>();
  EXPECT_EQ(old.call(Matrix(cpu, 0)), 1);
  library.reset();
  Library again(Library::DEF, "t", std::nullopt, dispatcher);
  again.def("f(T self, float s) -> float");
  EXPECT_ERROR(old.call(Matrix(cpu, 0)), "'t::f' has no kernels at all");
  again.impl("f", DispatchKey::CPU, [](const Matrix&, double s) {
    return 2 * s;
  });
  for (int round = 0; round < 2; ++round) {
    EXPECT_ERROR(old.call(Matrix(cpu, 0)), "f(T self, float s) -> float");
    EXPECT_ERROR(
        old.redispatch(cpu, Matrix(cpu, 0)),
        "correct signature:  double");
    EXPECT_ERROR(old.call(Matrix(cpu, 0)), "accessed/called as: long");
    EXPECT_ERROR(
        old.call(Matrix(cpu, 0)),
        "it was undone, and defined anew with another signature");
    const auto typed = op.typed<double(const Matrix&, double)>();
    EXPECT_EQ(typed.call(Matrix(cpu, 0), 1.5), 3.0);
    EXPECT_EQ(typed.redispatch(cpu, Matrix(cpu, 0), 1.5), 3.0);
    Stack stack = {Value::object(Matrix(cpu, 0)), 2.5};
    op.callBoxed(stack);
    EXPECT_EQ(stack.back().toDouble(), 5.0);
  }
  EXPECT_ERROR(again.impl("f", one), "Mismatch in kernel C++ signatures");
  EXPECT_ERROR(
      op.typed<std::int64_t(const Matrix&)>(),
      "Tried to access or call an operator with a wrong signature.");
  // With the first signature the first handle works again.
  again.close();
  Library last(Library::DEF, "t", std::nullopt, dispatcher);
  last.def("f(T self) -> int").impl("f", DispatchKey::CPU, one);
  EXPECT_EQ(old.call(Matrix(cpu, 0)), 1);
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
  // A backend of its own may replace its autograd key's.
  keyless.fallback(DispatchKey::AutogradPrivateUse1, fallthrough());
  keyless.fallback(DispatchKey::AutogradPrivateUse1, fallthrough());
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

// As in runtime/: the newest registration that is left runs, even where two of
// them have the same function, key, file and line.
void testTwiceFromOnePlace() {
  Dispatcher dispatcher;
  Library library(Library::DEF, "t", std::nullopt, dispatcher);
  library.def("f(T self) -> int");
  const auto call = [&] {
    const OperatorHandle op = dispatcher.findSchemaOrThrow("t::f");
    return op.typed<std::int64_t(const Matrix&)>().call(Matrix(cpu, 0));
  };
  const auto add = [&] {
    const KernelFunction first = TORCHGEN_LITE_FN(&one);
    return dispatcher.registerImpl(
        "t::f",
        DispatchKey::CPU,
        first,
        Site{"f.cpp", 1});
  };
  setWarningHandler(nullptr);
  RegistrationHandle oldest = add();
  library.impl("f", DispatchKey::CPU, [](const Matrix&) {
    return std::int64_t{2};
  });
  EXPECT_EQ(call(), 2);
  RegistrationHandle newest = add();
  EXPECT_EQ(call(), 1);
  oldest.undo();
  EXPECT_EQ(call(), 1);
  newest.undo();
  EXPECT_EQ(call(), 2);
}

namespace {

std::string warning;

} // namespace

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

namespace {

struct Listener final : RegistrationListener {
  void onOperatorRegistered(const OperatorHandle& op) override {
    log += "+" + op.fullName();
  }
  void onOperatorDeregistered(const OperatorHandle& op) override {
    log += "-" + op.schema();
  }
  std::string log;
};

} // namespace

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
