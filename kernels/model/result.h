// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <utility>
#include <variant>

namespace attnscope {

/// Error of a Result: `return Failure{error};`.
template <class E>
struct Failure {
  E error;
};
template <class E>
Failure(E) -> Failure<E>;

/// A value or an error, for calls that commonly fail (infeasible tile, missing driver). Replaces std::expected, which
/// C++20 lacks.
template <class T, class E>
class [[nodiscard]] Result {
 public:
  // Implicit on purpose: `return value;` and `return Failure{error};`.
  // NOLINTBEGIN(google-explicit-constructor)
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Failure<E> failure) : state_(std::in_place_index<1>, std::move(failure.error)) {}
  // NOLINTEND(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  /// Throws std::bad_variant_access if this holds an error; check ok() first.
  [[nodiscard]] const T& value() const& { return std::get<0>(state_); }
  [[nodiscard]] T& value() & { return std::get<0>(state_); }
  [[nodiscard]] T&& value() && { return std::get<0>(std::move(state_)); }
  [[nodiscard]] const E& error() const { return std::get<1>(state_); }

  const T& operator*() const { return value(); }
  T& operator*() { return value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

 private:
  std::variant<T, E> state_;
};

}  // namespace attnscope
