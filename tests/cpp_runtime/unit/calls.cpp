// Handles, threads, observers, and registrations of the macros.
#include "unit.h"

#include <set>
#include <thread>

// Kernels tell the signature first, and boxed calls make a table; the way to
// boxed kernels comes with the first typed handle.
void testLateSignature() {
  Dispatcher dispatcher;
  Library library(Library::DEF, "t", std::nullopt, dispatcher);
  library.def("f(T self) -> int");
  library.impl("f", DispatchKey::CPU, TORCHGEN_LITE_FN(one));
  library.impl(
      "f",
      DispatchKey::CUDA,
      boxed([](const OperatorHandle&, DispatchKeySet, Stack& stack) {
        stack.back() = 7;
      }));
  const OperatorHandle op = dispatcher.findSchemaOrThrow("t::f");
  for (const DispatchKeySet keys : {cpu, cuda}) {
    Stack stack = {Value::object(Matrix(keys, 0))};
    op.callBoxed(stack);
    EXPECT_EQ(stack.at(0).toInt(), keys == cpu ? 1 : 7);
  }
  const auto f = op.typed<std::int64_t(const Matrix&)>();
  EXPECT_EQ(f.call(Matrix(cpu, 0)), 1);
  EXPECT_EQ(f.call(Matrix(cuda, 0)), 7);
  EXPECT_ERROR(
      f.call(Matrix(DispatchKeySet(DispatchKey::HIP), 0)),
      "Could not run 't::f' with arguments from the 'HIP' backend");
  const DispatchKeySet recorded = cpu.add(DispatchKey::AutogradCPU);
  EXPECT_ERROR(
      f.call(Matrix(recorded, 0)),
      "register a fallback: TORCHGEN_LITE_LIBRARY_IMPL(_, AutogradCPU, "
      "m) { m.fallback(torchgen_lite::fallthrough()); }");
  Library wildcard(Library::IMPL, "_", DispatchKey::AutogradCPU, dispatcher);
  wildcard.fallback(fallthrough());
  EXPECT_EQ(f.call(Matrix(recorded, 0)), 1);
}

void testHandles() {
  Dispatcher dispatcher;
  Library library(Library::DEF, "t", std::nullopt, dispatcher);
  library.def("f(T self) -> int");
  const auto f =
      dispatcher.findSchemaOrThrow("t::f").typed<std::int64_t(const Matrix&)>();
  RegistrationHandle older = dispatcher.registerImpl(
      "t::f",
      DispatchKey::CPU,
      TORCHGEN_LITE_FN(one),
      Site::here());
  RegistrationHandle newer = dispatcher.registerImpl(
      "t::f",
      DispatchKey::CPU,
      [](const Matrix&) { return std::int64_t{2}; },
      Site::here());
  EXPECT_EQ(f.call(Matrix(cpu, 0)), 2);
  // Moving keeps it, assigning undoes what was there.
  RegistrationHandle moved(std::move(newer));
  EXPECT_EQ(f.call(Matrix(cpu, 0)), 2);
  newer.undo();
  EXPECT_EQ(f.call(Matrix(cpu, 0)), 2);
  moved = RegistrationHandle();
  EXPECT_EQ(f.call(Matrix(cpu, 0)), 1);
  older.undo();
  older.undo();
  EXPECT_ERROR(f.call(Matrix(cpu, 0)), "'t::f' has no kernels at all");
  dispatcher.checkInvariants();
}

// A thread starts with the default state; another's is handed over as a value.
void testThreads() {
  const ExcludeDispatchKeyGuard outer(DispatchKey::AutogradCPU);
  const LocalDispatchKeySet here_now = tls_local_dispatch_key_set();
  LocalDispatchKeySet at_start, handed_over;
  std::thread([&] {
    at_start = tls_local_dispatch_key_set();
    const ForceDispatchKeyGuard guard(here_now.included, here_now.excluded);
    handed_over = tls_local_dispatch_key_set();
  }).join();
  EXPECT_EQ(at_start.included, default_included_set);
  EXPECT_EQ(at_start.excluded, default_excluded_set);
  EXPECT_EQ(handed_over.excluded, here_now.excluded);
  tls_set_dispatch_key_included(DispatchKey::Python, true);
  EXPECT(tls_is_dispatch_key_included(DispatchKey::Python));
  tls_set_dispatch_key_included(DispatchKey::Python, false);
  EXPECT_EQ(tls_local_dispatch_key_set().included, here_now.included);
  EXPECT(!InferenceMode::is_enabled());
}

namespace {

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

struct Refuses final : Observer {
  void enter(const CallRecord&) override {
    throw std::runtime_error("not now");
  }
};

} // namespace

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

// Whoever was told of the beginning is told of the end.
void testThrowing() {
  Dispatcher dispatcher;
  Library library(Library::DEF, "t", std::nullopt, dispatcher);
  library.def("f(T self) -> int");
  library.impl("f", DispatchKey::CPU, [](const Matrix&) -> std::int64_t {
    throw std::runtime_error("the kernel");
  });
  const auto f =
      dispatcher.findSchemaOrThrow("t::f").typed<std::int64_t(const Matrix&)>();
  const auto log = std::make_shared<Log>();
  const RegistrationHandle first = dispatcher.addObserver(log);
  EXPECT_ERROR(f.call(Matrix(cpu, 0)), "the kernel");
  EXPECT_EQ(log->text, "<call t::f CPU>");
  const RegistrationHandle second =
      dispatcher.addObserver(std::make_shared<Refuses>());
  log->text.clear();
  EXPECT_ERROR(f.call(Matrix(cpu, 0)), "not now");
  EXPECT_EQ(log->text, "<call t::f CPU>");
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

namespace {

// Registering and undoing the same thing needs no more memory each time.

} // namespace

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

namespace {

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

} // namespace

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
