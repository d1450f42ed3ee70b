// How an operator's table is made, and how it is shown.
#pragma once

#include <algorithm>

#include <torchgen_lite/operator_entry.h>

namespace torchgen_lite {

inline const detail::Kernel* OperatorEntry::kernelOf(
    int slot,
    const detail::Choice& choice) {
  switch (choice.origin) {
    case Origin::Missing:
      return &missing_;
    case Origin::AmbiguousAutogradOther:
      return &ambiguous_;
    case Origin::BackendFallback: {
      detail::Kernel kernel = *registry_.fallbackOf(slot);
      kernel.op = this;
      return keep(kernel);
    }
    default:
      return kernels_.at(choice.source).back();
  }
}

inline detail::AnyFunction OperatorEntry::functionOf(
    const detail::Kernel& kernel) const {
  if (kernel.kind == detail::KernelKind::Normal && kernel.unboxed != nullptr) {
    return kernel.unboxed;
  }
  return signature_ == nullptr ? nullptr : signature_->box;
}

// Note [Keys that every call includes]
// BackendSelect and ADInplaceOrView are in the local state from the start. ATen
// gives both a fallback that falls through; here, so that a new dispatcher is
// ready for use, a call skips them where they have neither a kernel nor a
// fallback. Their slots stay empty.
inline const detail::DispatchTable* OperatorEntry::makeTable() {
  auto table = std::make_unique<detail::DispatchTable>();
  table->masks.fill(detail::full_mask);
  table->signature = signature_;
  const detail::RegisteredKeys keys = registered();
  for (int slot = 0; slot < num_runtime_entries; ++slot) {
    const DispatchKey key =
        key_tables::runtime_keys[static_cast<std::size_t>(slot)];
    const detail::Choice choice = choiceOf(slot, keys);
    const detail::Kernel* kernel =
        definition_.has_value() ? kernelOf(slot, choice) : &undefined_;
    table->kernels[static_cast<std::size_t>(slot)] = kernel;
    table->functions[static_cast<std::size_t>(slot)] = functionOf(*kernel);
    const bool falls_through =
        kernel->kind == detail::KernelKind::Fallthrough ||
        (choice.origin == Origin::Missing && default_included_set.has(key) &&
         key != DispatchKey::Undefined);
    if (!falls_through) {
      continue;
    }
    const std::uint64_t functionality =
        detail::functionalityBit(toFunctionalityKey(key));
    const int backend = static_cast<int>(toBackendComponent(key));
    for (int i = 0; i < num_backends; ++i) {
      if (backend == 0 || backend == i + 1) {
        table->masks[static_cast<std::size_t>(i)] &= ~functionality;
      }
    }
  }
  // Only the newest are compared: registering and undoing returns to them.
  const std::size_t oldest = tables_.size() > 64 ? tables_.size() - 64 : 0;
  for (std::size_t i = tables_.size(); i-- > oldest;) {
    if (*tables_[i] == *table) {
      return tables_[i].get();
    }
  }
  tables_.push_back(std::move(table));
  return tables_.back().get();
}

inline void OperatorEntry::reclaim() {
  invalidate();
  tables_.clear();
  std::vector<const detail::Kernel*> used;
  for (const auto& [key, kernels] : kernels_) {
    used.insert(used.end(), kernels.begin(), kernels.end());
  }
  kept_.erase(
      std::remove_if(
          kept_.begin(),
          kept_.end(),
          [&used](const std::unique_ptr<detail::Kernel>& kept) {
            return std::find(used.begin(), used.end(), kept.get()) ==
                used.end();
          }),
      kept_.end());
}

inline std::string OperatorEntry::dumpState() const {
  const detail::Lock lock(registry_.mutex);
  std::string text = "name: " + full_name_ + "\n";
  if (definition_.has_value()) {
    text += "schema: " + definition_->schema +
        "\ndebug: " + definition_->site.debug() +
        "\nalias analysis kind: FROM_SCHEMA\n";
  } else {
    text += "schema: (none)\n";
  }
  for (const auto& [key, kernels] : kernels_) {
    for (std::size_t i = kernels.size(); i-- > 0;) {
      const detail::Kernel& kernel = *kernels[i];
      text += toString(key);
      text += isAliasDispatchKey(key) ? "[alias]" : "";
      text += i + 1 == kernels.size() ? "" : " (inactive)";
      text += ": " + kernel.site.debug() + " :: ";
      text +=
          kernel.signature == nullptr ? "(none)" : kernel.signature->id.text();
      text += kernel.kind == detail::KernelKind::Fallthrough
          ? " [ fallthrough boxed ]\n"
          : kernel.unboxed == nullptr ? " [ boxed ]\n"
                                      : " [ boxed unboxed ]\n";
    }
  }
  return text;
}

inline std::string OperatorEntry::dumpComputedTable() const {
  const detail::Lock lock(registry_.mutex);
  const detail::RegisteredKeys keys = registered();
  std::string text;
  for (int slot = 0; slot < num_runtime_entries; ++slot) {
    const detail::Choice choice = choiceOf(slot, keys);
    if (choice.origin == Origin::Missing) {
      continue;
    }
    text += toString(key_tables::runtime_keys[static_cast<std::size_t>(slot)]);
    text += ": ";
    if (choice.origin == Origin::AmbiguousAutogradOther) {
      text += "ambiguous_autogradother";
    } else {
      const detail::Kernel& kernel = choice.origin == Origin::BackendFallback
          ? *registry_.fallbackOf(slot)
          : *kernels_.at(choice.source).back();
      if (kernel.kind == detail::KernelKind::Fallthrough) {
        text += "fallthrough ";
      }
      text += kernel.site.debug();
    }
    text += " [" + std::string(toString(choice.origin)) + "]\n";
  }
  return text;
}

inline void OperatorEntry::checkInvariants() {
  const detail::Lock lock(registry_.mutex);
  const detail::DispatchTable* current =
      current_.load(std::memory_order_acquire);
  if (current != nullptr && makeTable() != current) {
    throw Error(
        "the table of " + full_name_ + " is not what its registrations give");
  }
  if (kernels_.count(DispatchKey::Undefined) != 0) {
    throw Error(full_name_ + " has a kernel at Undefined");
  }
}

inline void OperatorEntry::throwWrongSignature(
    const detail::SignatureInfo& wanted) const {
  const detail::Lock lock(registry_.mutex);
  throw Error(
      "Tried to access or call an operator with a wrong signature.\n"
      "  operator: " +
      describe() + "\n  correct signature:  " + signature_->id.text() +
      "\n    " + signature_debug_ +
      "\n  accessed/called as: " + wanted.id.text() +
      (is_replaced_
           ? "\n  it was undone, and defined anew with another signature"
           : ""));
}

inline void OperatorEntry::checkCounts(
    const detail::SchemaFacts& facts,
    const std::string& schema,
    const detail::SignatureInfo& info) const {
  if ((facts.arguments >= 0 && facts.arguments != info.arguments) ||
      (facts.returns >= 0 && facts.returns != info.returns)) {
    throw Error(
        "The C++ signature of a kernel or handle doesn't match the schema.\n"
        "  operator: " +
        schema + "\n  signature: " + info.id.text() + "\n  the schema has " +
        std::to_string(facts.arguments) + " arguments and " +
        std::to_string(facts.returns) + " returns, the signature " +
        std::to_string(info.arguments) + " and " +
        std::to_string(info.returns));
  }
}

inline void OperatorEntry::report(
    const detail::Kernel& kernel,
    DispatchKeySet keys) const {
  const detail::Lock lock(registry_.mutex);
  if (kernel.kind == detail::KernelKind::Undefined) {
    throw Error(undefinedText());
  }
  if (kernel.kind == detail::KernelKind::Fallthrough) {
    throw Error(
        "a fallthrough kernel was executed: no other key was left, or a "
        "redispatch named its key; mask the keyset with the keys below the "
        "kernel that redispatches");
  }
  std::string sites = kernels_.empty()
      ? "\n'" + full_name_ + "' has no kernels at all; it is " +
          (definition_.has_value() ? definition_->site.debug() : "undefined") +
          "."
      : "\n'" + full_name_ + "' has kernels for:";
  for (const auto& [key, kernels] : kernels_) {
    sites += "\n  " + std::string(toString(key)) + ": " +
        kernels.back()->site.debug();
  }
  if (kernel.kind == detail::KernelKind::Ambiguous) {
    throw AmbiguousKernelError(
        full_name_ +
        " has kernels for CompositeImplicitAutograd and for a backend whose "
        "autograd is AutogradOther, so it is ambiguous which of them autograd "
        "should use. Register a kernel for AutogradOther, or "
        "CompositeExplicitAutograd instead of CompositeImplicitAutograd." +
        sites);
  }
  const DispatchKey key = keys.highestPriorityTypeId();
  if (key == DispatchKey::Undefined) {
    throw MissingKernelError(
        "There were no tensor arguments to this function (e.g., you passed an "
        "empty list of Tensors), but no fallback function is registered for "
        "schema " +
        full_name_ +
        ". An operator that can be called without tensors needs a "
        "CompositeExplicitAutograd, CompositeImplicitAutograd or BackendSelect "
        "kernel." +
        sites);
  }
  if (key == DispatchKey::Meta) {
    throw MissingKernelError(
        full_name_ +
        ": attempted to run this operator with Meta tensors, but there was no "
        "fake impl or Meta kernel registered for it." +
        sites);
  }
  const std::string name(toString(key));
  const std::string hint = name.rfind("Autograd", 0) != 0
      ? ""
      : "If autograd has nothing to do here, register a fallback: "
        "TORCHGEN_LITE_LIBRARY_IMPL(_, " +
          name + ", m) { m.fallback(torchgen_lite::fallthrough()); } ";
  throw MissingKernelError(
      "Could not run '" + full_name_ + "' with arguments from the '" + name +
      "' backend: it has no kernel for this key, and no fallback serves it. " +
      hint + "The call's keys are " + toString(keys) + "." + sites);
}

} // namespace torchgen_lite
