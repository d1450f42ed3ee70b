// Threads that register and undo while others call. Every call must come to a
// kernel that was registered at some moment: no torn table, no missing kernel.
#include <torchgen_lite/runtime.h>

#include <cstdlib>
#include <iostream>
#include <thread>

using namespace torchgen_lite;

namespace {

struct Tensor {
  DispatchKeySet keys;
};

} // namespace

template <>
struct torchgen_lite::KeysetOf<Tensor> {
  static DispatchKeySet get(const Tensor& tensor) {
    return tensor.keys;
  }
};

namespace {

using Signature = int(const Tensor&);

std::atomic<bool> running{true};
std::atomic<long> calls{0};
std::atomic<long> wrong{0};

StaticOperatorHandle<Signature> handle("stress::op");

int cpu(const Tensor&) {
  return 1;
}
int other(const Tensor&) {
  return 2;
}
int autograd(DispatchKeySet keys, const Tensor& tensor) {
  return 10 + handle.redispatch(keys & after_autograd_keyset, tensor);
}

TORCHGEN_LITE_LIBRARY(stress, m) {
  m.def("op(Tensor self) -> int");
  m.def("coming(Tensor self) -> int");
  m.impl("op", DispatchKey::CompositeExplicitAutograd, TORCHGEN_LITE_FN(cpu));
}

// The kernel comes and goes, with the same identity or a state of its own.
void registerKernels(int turn) {
  while (running) {
    Library library(Library::FRAGMENT, "stress");
    switch (turn++ % 4) {
      case 0:
        library.impl("op", DispatchKey::CPU, TORCHGEN_LITE_FN(other));
        break;
      case 1:
        library.impl(
            "op",
            DispatchKey::AutogradCPU,
            TORCHGEN_LITE_FN(autograd));
        break;
      case 2:
        // From a kernel to a fallthrough and back: mask and slot go together.
        library.impl("op", DispatchKey::AutogradCPU, fallthrough());
        break;
      default:
        library.impl("op", DispatchKey::CPU, [turn](const Tensor&) {
          return turn > 0 ? 2 : 0;
        });
    }
    std::this_thread::yield();
  }
}

void registerFallbacks() {
  while (running) {
    Library library(Library::IMPL, "_");
    library.fallback(DispatchKey::AutogradCPU, fallthrough());
    library.fallback(
        DispatchKey::Python,
        boxed([](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
          op.redispatchBoxed(keys.remove(DispatchKey::Python), stack);
        }));
    std::this_thread::yield();
  }
}

void registerOperators() {
  while (running) {
    Library library(Library::FRAGMENT, "stress");
    library.def("gone(Tensor self) -> int");
    library.impl("gone", DispatchKey::CPU, TORCHGEN_LITE_FN(cpu));
    library.impl("coming", DispatchKey::CPU, TORCHGEN_LITE_FN(cpu));
  }
}

struct Counter final : Observer {
  void enter(const CallRecord&) override {
    ++count;
  }
  std::atomic<long> count{0};
};

void observe() {
  while (running) {
    const RegistrationHandle watching =
        Dispatcher::singleton().addObserver(std::make_shared<Counter>());
    std::this_thread::yield();
  }
}

void call() {
  // AutogradCPU always has a kernel or a fallthrough here, or the key is left
  // out: the dispatcher has BackendSelect and ADInplaceOrView to pass by.
  const Tensor plain{DispatchKeySet(DispatchKey::CPU)};
  const Tensor tracked{
      DispatchKeySet{DispatchKey::CPU, DispatchKey::AutogradCPU}};
  const OperatorHandle op =
      Dispatcher::singleton().findSchemaOrThrow("stress::op");
  while (running) {
    const int first = handle.call(plain);
    int second = 0;
    Stack stack = {Value::borrow(plain)};
    op.callBoxed(stack);
    {
      const AutoDispatchBelowAutograd guard;
      second = handle.call(tracked);
    }
    // The same with a kernel at AutogradCPU, or a key that falls through.
    try {
      const int third = handle.call(tracked);
      wrong += third != 1 && third != 2 && third != 11 && third != 12;
    } catch (const MissingKernelError&) {
      // Between a kernel and the next fallback there is none.
    }
    try {
      Dispatcher::singleton().findSchemaOrThrow("stress::coming");
      handle.typed().handle().dumpComputedTable();
    } catch (const Error&) {
      ++wrong;
    }
    wrong += (first != 1 && first != 2) || (second != 1 && second != 2) ||
        (stack.size() != 1 || stack[0].toInt() < 1 || stack[0].toInt() > 2);
    ++calls;
  }
}

} // namespace

int main(int, char** arguments) {
  setWarningHandler(nullptr);
  std::vector<std::thread> threads;
  threads.emplace_back(registerKernels, 0);
  threads.emplace_back(registerKernels, 2);
  threads.emplace_back(registerFallbacks);
  threads.emplace_back(registerOperators);
  threads.emplace_back(observe);
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back(call);
  }
  const long wanted = std::atol(arguments[1]);
  while (calls < wanted) {
    std::this_thread::yield();
  }
  running = false;
  for (std::thread& thread : threads) {
    thread.join();
  }
  Dispatcher::singleton().checkInvariants();
  std::cout << calls << " calls, " << wrong << " wrong\n";
  return wrong == 0 ? 0 : 1;
}
