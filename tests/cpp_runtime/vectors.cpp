// Does what the lines of write_vectors.py say with the C++ runtime, and
// compares. Prints how many comparisons each kind of line took.
#include <torchgen_lite/runtime.h>

#include <deque>
#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>

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

int line_number = 0;
int failures = 0;
std::map<std::string, int> counts;

void expect(
    const std::string& what,
    const std::string& found,
    const std::string& wanted) {
  ++counts[what];
  if (found != wanted && ++failures <= 20) {
    std::cout << "line " << line_number << ": " << what << ": found '" << found
              << "', the Python runtime says '" << wanted << "'\n";
  }
}

std::string hexa(DispatchKeySet keys) {
  std::ostringstream text;
  text << std::hex << keys.raw_repr();
  return text.str();
}

DispatchKeySet keysOf(const std::string& text) {
  return DispatchKeySet::from_raw_repr(std::stoull(text, nullptr, 16));
}

DispatchKey keyOf(const std::string& name) {
  DispatchKey key = DispatchKey::Undefined;
  if (!parseDispatchKey(name, key)) {
    throw std::runtime_error("no key " + name);
  }
  return key;
}

BackendComponent backendOf(const std::string& name) {
  for (int value = 0; value <= num_backends; ++value) {
    if (toString(static_cast<BackendComponent>(value)) == name) {
      return static_cast<BackendComponent>(value);
    }
  }
  throw std::runtime_error("no backend " + name);
}

std::string number(std::size_t value) {
  return std::to_string(value);
}

using Words = std::istringstream;

std::string next(Words& words) {
  std::string word;
  words >> word;
  return word;
}

std::string rest(Words& words) {
  std::string text;
  std::getline(words >> std::ws, text);
  return text;
}

void checkKey(Words& words) {
  const std::string name = next(words);
  const DispatchKey key = static_cast<DispatchKey>(std::stoi(next(words)));
  std::string aliases;
  for (const DispatchKey alias :
       {DispatchKey::Autograd,
        DispatchKey::CompositeImplicitAutograd,
        DispatchKey::FuncTorchBatchedDecomposition,
        DispatchKey::CompositeImplicitAutogradNestedTensor,
        DispatchKey::CompositeExplicitAutograd,
        DispatchKey::CompositeExplicitAutogradNonFunctional}) {
    aliases += isIncludedInAlias(key, alias) ? '1' : '0';
  }
  std::ostringstream found;
  found << toString(toFunctionalityKey(key)) << ' '
        << toString(toBackendComponent(key)) << ' '
        << isPerBackendFunctionalityKey(key) << ' ' << isAliasDispatchKey(key)
        << ' ' << slotOf(key) << ' ' << hexa(DispatchKeySet(key)) << ' '
        << hexa(DispatchKeySet::full_after(key)) << ' '
        << hexa(getRuntimeDispatchKeySet(key)) << ' '
        << (slotOf(key) < 0 ? "-" : hexa(getBackendKeySetFromAutograd(key)))
        << ' ' << aliases;
  expect("key", found.str(), rest(words));
  expect("name of a key", std::string(toString(key)), name);
  expect(
      "key of a name",
      number(static_cast<std::size_t>(keyOf(name))),
      number(static_cast<std::size_t>(key)));
}

void checkNamed(Words& words) {
  const std::map<std::string, DispatchKeySet> named = {
      {"autograd_dispatch_keyset", autograd_dispatch_keyset},
      {"autograd_dispatch_keyset_with_ADInplaceOrView",
       autograd_dispatch_keyset_with_ADInplaceOrView},
      {"autocast_dispatch_keyset", autocast_dispatch_keyset},
      {"default_included_set", default_included_set},
      {"default_excluded_set", default_excluded_set},
      {"autogradother_backends", autogradother_backends},
      {"after_autograd_keyset", after_autograd_keyset},
      {"after_ADInplaceOrView_keyset", after_ADInplaceOrView_keyset},
      {"after_func_keyset", after_func_keyset},
      {"full", DispatchKeySet::full()}};
  const DispatchKeySet found = named.at(next(words));
  expect("named", hexa(found), next(words));
}

void checkSet(Words& words) {
  const DispatchKeySet a = keysOf(next(words));
  const DispatchKeySet b = keysOf(next(words));
  const std::string wanted = rest(words);
  Words facts(wanted);
  std::string name;
  for (int i = 0; i < 13; ++i) {
    name = next(facts);
  }
  const DispatchKey key = keyOf(name);
  for (int i = 0; i < 4; ++i) {
    name = next(facts);
  }
  const BackendComponent backend = backendOf(name);
  std::string any;
  try {
    any = a.has_any(b) ? "1" : "0";
  } catch (const std::invalid_argument&) {
    any = "refused";
  }
  std::ostringstream found;
  found << hexa(a | b) << ' ' << hexa(a & b) << ' ' << hexa(a ^ b) << ' '
        << hexa(a - b) << ' ' << a.has_all(b) << ' ' << any << ' ' << a.empty()
        << ' ' << toString(a.highestFunctionalityKey()) << ' '
        << toString(a.highestBackendKey()) << ' '
        << toString(a.highestPriorityTypeId()) << ' '
        << a.getDispatchTableIndexForDispatchKeySet() << ' '
        << a.getBackendIndex() << ' ' << toString(key) << ' ' << a.has(key)
        << ' ' << hexa(a.add(key)) << ' ' << hexa(a.remove(key)) << ' '
        << toString(backend) << ' ' << a.has_backend(backend) << ' '
        << hexa(a.remove_backend(backend)) << ' ' << toString(a);
  expect("set", found.str(), wanted);
}

// Runs what follows under the guards that are named, the first outermost.
void under(
    const std::vector<std::string>& guards,
    std::size_t from,
    const std::function<void()>& run) {
  if (from == guards.size()) {
    run();
    return;
  }
  const std::string& word = guards[from];
  const auto inside = [&] { under(guards, from + 1, run); };
  if (word[0] == '+') {
    const IncludeDispatchKeyGuard guard(keyOf(word.substr(1)));
    inside();
  } else if (word[0] == '-') {
    const ExcludeDispatchKeyGuard guard(keyOf(word.substr(1)));
    inside();
  } else if (word[0] == '=') {
    const std::size_t slash = word.find('/');
    const ForceDispatchKeyGuard guard(
        keysOf(word.substr(1, slash - 1)),
        keysOf(word.substr(slash + 1)));
    inside();
  } else if (word == "below_autograd") {
    const AutoDispatchBelowAutograd guard;
    inside();
  } else if (word == "below_view") {
    const AutoDispatchBelowADInplaceOrView guard;
    inside();
  } else if (word == "skip_functionalize") {
    const AutoDispatchSkipFunctionalize guard;
    inside();
  } else if (word == "inference" || word == "no_inference") {
    const InferenceMode guard(word == "inference");
    inside();
  } else {
    throw std::runtime_error("no guard " + word);
  }
}

std::vector<std::string> wordsOf(Words& words) {
  std::vector<std::string> found(std::stoul(next(words)));
  for (std::string& word : found) {
    word = next(words);
  }
  return found;
}

void checkState(Words& words) {
  const std::vector<std::string> guards = wordsOf(words);
  under(guards, 0, [&] {
    const LocalDispatchKeySet state = tls_local_dispatch_key_set();
    expect(
        "state",
        hexa(state.included) + " " + hexa(state.excluded),
        rest(words));
  });
  const LocalDispatchKeySet state = tls_local_dispatch_key_set();
  expect(
      "state restored",
      hexa(state.included) + " " + hexa(state.excluded),
      hexa(default_included_set) + " " + hexa(default_excluded_set));
}

using Signature =
    void(const Tensor&, const std::optional<Tensor>&, Span<Tensor>);

// One dispatcher and one operator. Half of the kernels are boxed, and every
// call is made twice, the second time with a stack.
class Script {
 public:
  void def(Words& words) {
    const int id = std::stoi(next(words));
    handles_[id] = dispatcher_.registerDef(rest(words), {}, {"schema", -1});
  }

  void impl(Words& words) {
    const int id = std::stoi(next(words));
    const std::string key = next(words);
    const char* label = labelOf(key, id);
    handles_[id] = dispatcher_.registerImpl(
        "t::op",
        keyOf(key),
        kernel(label, next(words), id % 2 == 0),
        {label, -1});
  }

  void fallback(Words& words) {
    const int id = std::stoi(next(words));
    const std::string key = next(words);
    const char* label = labelOf(key, id);
    handles_[id] = dispatcher_.registerFallback(
        keyOf(key),
        kernel(label, next(words), true),
        {label, -1});
  }

  void undo(Words& words) {
    handles_.erase(std::stoi(next(words)));
  }

  void find(Words& words) {
    const std::optional<OperatorHandle> op = dispatcher_.findOp("t::op");
    std::ostringstream found;
    found << op.has_value() << ' ' << (op.has_value() && op->hasSchema()) << ' '
          << dispatcher_.findDanglingImpls().size();
    expect("operator", found.str(), rest(words));
    dispatcher_.checkInvariants();
  }

  void table(const std::string& wanted) {
    expect("table", dispatcher_.findOp("t::op")->dumpComputedTable(), wanted);
  }

  // The part of each line that does not depend on the language.
  void kernels(const std::string& wanted) {
    std::istringstream lines(dispatcher_.findOp("t::op")->dumpState());
    std::string found;
    for (std::string line; std::getline(lines, line);) {
      if (line.find('#') != std::string::npos) {
        found += line.substr(0, line.find(" :: ")) + "\n";
      }
    }
    expect("kernels", found, wanted);
  }

  void call(Words& words) {
    const std::vector<std::string> guards = wordsOf(words);
    const std::vector<std::string> sets = wordsOf(words);
    next(words);
    const std::string wanted = rest(words);
    const Tensor x{keysOf(sets[0])};
    std::optional<Tensor> y;
    if (sets[1] != "-") {
      y = Tensor{keysOf(sets[1])};
    }
    std::vector<Tensor> z;
    for (std::size_t i = 2; i < sets.size(); ++i) {
      z.push_back(Tensor{keysOf(sets[i])});
    }
    const OperatorHandle op = dispatcher_.findSchemaOrThrow("t::op");
    under(guards, 0, [&] {
      expect(
          "call",
          outcome([&] { op.typed<Signature>().call(x, y, z); }),
          wanted);
      expect(
          "callBoxed",
          outcome([&] {
            Stack stack = {Value("below"), Value::object(x)};
            stack.push_back(y.has_value() ? Value::object(*y) : Value());
            std::vector<Value> list;
            for (const Tensor& each : z) {
              list.push_back(Value::borrow(each));
            }
            stack.push_back(std::move(list));
            op.callBoxed(stack);
            if (stack.size() != 1) {
              log_ += "stack of " + number(stack.size());
            }
          }),
          wanted);
    });
  }

  void redispatch(Words& words) {
    const DispatchKeySet keys = keysOf(next(words));
    next(words);
    const std::string wanted = rest(words);
    const OperatorHandle op = dispatcher_.findSchemaOrThrow("t::op");
    expect(
        "redispatch",
        outcome([&] {
          op.typed<Signature>().redispatch(keys, Tensor{}, std::nullopt, {});
        }),
        wanted);
    expect(
        "redispatchBoxed",
        outcome([&] {
          Stack stack = {
              Value::object(Tensor{}),
              Value(),
              std::vector<Value>()};
          op.redispatchBoxed(keys, stack);
        }),
        wanted);
  }

 private:
  const char* labelOf(const std::string& key, int id) {
    labels_.push_back(key + "#" + std::to_string(id));
    return labels_.back().c_str();
  }

  void ran(const char* label, DispatchKeySet keys) {
    log_ += (log_.empty() ? "" : " ") + std::string(label) + "@" + hexa(keys);
  }

  static DispatchKeySet below(DispatchKeySet keys) {
    return keys.remove(keys.highestFunctionalityKey());
  }

  KernelFunction kernel(
      const char* label,
      const std::string& how,
      bool is_boxed) {
    if (how == "fallthrough") {
      return fallthrough();
    }
    const bool on = how == "below";
    if (is_boxed) {
      return boxed(
          [this,
           label,
           on](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
            ran(label, keys);
            if (on && below(keys) != keys) {
              op.redispatchBoxed(below(keys), stack);
            } else {
              stack.resize(stack.size() - 3);
            }
          });
    }
    return [this, label, on](
               DispatchKeySet keys,
               const Tensor& x,
               const std::optional<Tensor>& y,
               Span<Tensor> z) {
      ran(label, keys);
      if (on && below(keys) != keys) {
        dispatcher_.findSchemaOrThrow("t::op").typed<Signature>().redispatch(
            below(keys),
            x,
            y,
            z);
      }
    };
  }

  std::string outcome(const std::function<void()>& run) {
    log_.clear();
    const char* end = nullptr;
    try {
      run();
    } catch (const AmbiguousKernelError&) {
      end = "ambiguous";
    } catch (const MissingKernelError&) {
      end = "missing";
    } catch (const Error&) {
      end = "error";
    }
    if (end != nullptr) {
      log_ += (log_.empty() ? "" : " ") + std::string(end);
    }
    return log_;
  }

  std::deque<std::string> labels_;
  std::string log_;
  Dispatcher dispatcher_;
  std::map<int, RegistrationHandle> handles_;
};

} // namespace

int main(int, char** arguments) {
  setWarningHandler(nullptr);
  std::ifstream file(arguments[1]);
  std::unique_ptr<Script> script;
  const auto block = [&](Words& words) {
    std::string text;
    for (int i = std::stoi(next(words)); i > 0; --i) {
      std::string line;
      std::getline(file, line);
      ++line_number;
      text += line + "\n";
    }
    return text;
  };
  for (std::string line; std::getline(file, line);) {
    ++line_number;
    Words words(line);
    const std::string what = next(words);
    if (what == "counts") {
      expect(
          "counts",
          number(num_backends) + " " + number(num_functionality_keys) + " " +
              number(num_runtime_entries),
          rest(words));
    } else if (what == "backend") {
      const BackendComponent backend = backendOf(next(words));
      expect(
          "backend",
          number(static_cast<std::size_t>(backend)) + " " +
              hexa(DispatchKeySet(backend)),
          rest(words));
    } else if (what == "former") {
      const DispatchKey key = keyOf(next(words));
      expect("former", number(static_cast<std::size_t>(key)), rest(words));
    } else if (what == "key") {
      checkKey(words);
    } else if (what == "named") {
      checkNamed(words);
    } else if (what == "set") {
      checkSet(words);
    } else if (what == "state") {
      checkState(words);
    } else if (what == "new") {
      script = std::make_unique<Script>();
    } else if (what == "def") {
      script->def(words);
    } else if (what == "impl") {
      script->impl(words);
    } else if (what == "fallback") {
      script->fallback(words);
    } else if (what == "undo") {
      script->undo(words);
    } else if (what == "operator") {
      script->find(words);
    } else if (what == "table") {
      script->table(block(words));
    } else if (what == "kernels") {
      script->kernels(block(words));
    } else if (what == "call") {
      script->call(words);
    } else if (what == "redispatch") {
      script->redispatch(words);
    } else {
      std::cout << "line " << line_number << ": what is '" << what << "'?\n";
      return 2;
    }
  }
  for (const auto& [what, count] : counts) {
    std::cout << what << ": " << count << "\n";
  }
  return failures == 0 ? 0 : 1;
}
