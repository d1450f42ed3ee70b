// Runs the comparisons that torch_calls.py writes, and prints what it found.
#include "record.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/library.h>

#include <cstdio>

// One for each file of comparisons.
void checkOperators();
void checkFunctions();
void checkRedispatch();
void checkMethods();

namespace record {
namespace {

struct Reached {};
struct Arrival {
  std::string name;
  std::vector<c10::IValue> arguments;
  std::string error;
};
Arrival arrival;

struct Counts {
  int compared = 0, arrived = 0, ambiguous = 0;
  long arguments = 0;
};
Counts counts;
int failures = 0;

void arrive(
    const c10::OperatorHandle& op,
    c10::DispatchKeySet,
    torch::jit::Stack* stack) {
  arrival = {toString(op.operator_name()), *stack, ""};
  throw Reached();
}

TORCH_LIBRARY_IMPL(_, TESTING_ONLY_GenericMode, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&arrive>());
}

Arrival follow(const Call& call) {
  arrival = {"", {}, "returned"};
  const c10::impl::IncludeDispatchKeyGuard caught(KEY);
  try {
    call();
  } catch (const Reached&) {
  } catch (const c10::Error& error) {
    arrival = {"", {}, error.what_without_backtrace()};
  } catch (const std::exception& error) {
    arrival = {"", {}, error.what()};
  }
  return std::move(arrival);
}

bool same(const c10::IValue& a, const c10::IValue& b) {
  if (a.tagKind() != b.tagKind()) {
    return false;
  }
  if (a.isString()) {
    return a.toStringRef() == b.toStringRef();
  }
  if (a.isStream()) {
    return a.toStream() == b.toStream();
  }
  if (!a.isList()) {
    return a.is(b);
  }
  const auto x = a.toListRef(), y = b.toListRef();
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), &same);
}

bool same(const Arrival& a, const Arrival& b) {
  return a.name == b.name && a.error == b.error &&
      std::equal(
             a.arguments.begin(),
             a.arguments.end(),
             b.arguments.begin(),
             b.arguments.end(),
             [](const auto& x, const auto& y) { return same(x, y); });
}

void report(const char* what, void (*comparisons)()) {
  counts = {};
  comparisons();
  std::printf(
      "%s: %d calls compared, %d arrived, with %ld arguments; %d ambiguous\n",
      what,
      counts.compared,
      counts.arrived,
      counts.arguments,
      counts.ambiguous);
}

} // namespace

at::Tensor& tensor(int i) {
  static std::vector<at::Tensor> tensors = [] {
    std::vector<at::Tensor> made;
    for (int n = 0; n < 1000; ++n) {
      made.push_back(at::zeros({1}));
    }
    return made;
  }();
  return tensors.at(i);
}

at::Generator Value<at::Generator>::tensorless(int i) {
  return at::detail::createCPUGenerator(i);
}

void compare(const char* name, const Call& ours, const Call& theirs) {
  for (const Given way : WAYS) {
    given = way;
    const Arrival our = follow(ours), their = follow(theirs);
    ++counts.compared;
    counts.arrived += !our.name.empty();
    counts.arguments += static_cast<long>(our.arguments.size());
    if (!same(our, their)) {
      ++failures;
      std::printf(
          "%s, way %d: %s%s and %s%s\n",
          name,
          static_cast<int>(way),
          our.name.c_str(),
          our.error.c_str(),
          their.name.c_str(),
          their.error.c_str());
    } else if (our.name.empty()) {
      std::printf("%s does not arrive: %s\n", name, our.error.c_str());
    }
  }
}

void ambiguous() {
  ++counts.ambiguous;
}

void compareFunctions(
    const char* name,
    void (*invoke)(Function),
    Function ours,
    Function theirs) {
  compare(name, [=] { invoke(ours); }, [=] { invoke(theirs); });
}

// Differences that have to be found: another operator, other tensors, another
// number, another text.
bool findsDifferences() {
  const at::Tensor &x = tensor(0), &y = tensor(1);
  const auto add = [&] { at::add(x, y); };
  const auto div = [&] { at::div(x, y, "floor"); };
  const std::array<std::pair<Call, Call>, 5> pairs{{
      {add, [&] { at::sub(x, y); }},
      {add, [&] { at::add(y, x); }},
      {add, [&] { at::add(x, y, 2); }},
      {div, [&] { at::div(x, y, "trunc"); }},
      {div, [&] { at::div(x, y); }},
  }};
  bool found = same(follow(add), follow(add)) && same(follow(div), follow(div));
  for (const auto& [one, other] : pairs) {
    found = found && !same(follow(one), follow(other));
  }
  return found;
}

} // namespace record

int main() {
  if (!record::findsDifferences()) {
    std::printf("differences are not found\n");
    return 1;
  }
  record::report("at::_ops", &checkOperators);
  record::report("at::", &checkFunctions);
  record::report("at::redispatch", &checkRedispatch);
  record::report("at::Tensor", &checkMethods);
  std::printf("%d differences\n", record::failures);
  return record::failures != 0;
}
