#pragma once

#include "autograd.h"

#include <ATen/ops/zeros_like.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#define TORCHGEN_LITE_NAMESPACE mylib

namespace TORCHGEN_LITE_NAMESPACE::fallback {

using Tensors = std::vector<at::Tensor>;

// While a reference is computed. `x.conj()` only notes that a tensor is conjugated,
// and PyTorch computes that at keys that it leaves out in kernels which a
// TorchDispatchMode or a subclass of tensors has called: there, `x * x.conj()`
// would be `x * x`.
class Noted {
 public:
  Noted() : guard_(with_keys(c10::impl::tls_local_dispatch_key_set())) {}

 private:
  static c10::impl::LocalDispatchKeySet with_keys(
      c10::impl::LocalDispatchKeySet here) {
    here.excluded_ = here.excluded_.remove(c10::DispatchKey::Conjugate)
                         .remove(c10::DispatchKey::Negative);
    return here;
  }

  const c10::impl::ForceDispatchKeyGuard guard_;
};

// Tensors whose memory no result may have.
template <class Argument>
void know(Tensors& known, const Argument& argument) {
  using Optional = std::optional<at::Tensor>;
  if constexpr (std::is_convertible_v<const Argument&, Optional>) {
    known.push_back(Optional(argument).value_or(at::Tensor()));
  } else if constexpr (
      std::is_same_v<Argument, at::TensorList> ||
      std::is_same_v<Argument, c10::List<Optional>>) {
    for (const Optional one : argument) {
      know(known, one);
    }
  }
}

inline void part(Tensors& known, at::Tensor& result) {
  const auto shares = [&](const at::Tensor& one) {
    const bool has_both = result.has_storage() && one.has_storage();
    return result.is_same(one) || (has_both && result.is_alias_of(one));
  };
  if (result.defined() && std::any_of(known.begin(), known.end(), shares)) {
    result = result.clone();
  }
  known.push_back(result);
}

template <class Other>
void part(Tensors&, Other&) {}

inline void part(Tensors& known, Tensors& results) {
  for (auto& result : results) {
    part(known, result);
  }
}

template <class... Results>
void part(Tensors& known, std::tuple<Results...>& results) {
  const auto each = [&](auto&... all) { (part(known, all), ...); };
  std::apply(each, results);
}

// What a reference gives, without memory that arguments or other results have:
// the results of an operator share none.
template <class Result, class... Arguments>
Result apart(Result result, const Arguments&... arguments) {
  Tensors known;
  (know(known, arguments), ...);
  part(known, result);
  return result;
}

} // namespace TORCHGEN_LITE_NAMESPACE::fallback

#undef TORCHGEN_LITE_NAMESPACE
