// SPDX-License-Identifier: Apache-2.0
// A column of values that repeat: each of them is kept once, and a row has its code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <type_traits>
#include <vector>

namespace attnscope::analysis {

/// A place in columns of points.
using Row = std::uint32_t;

/// `key_of` gives what orders values and tells them apart. Codes are in the order in which values came.
template <class T, auto key_of>
class Coded {
 public:
  void push(const T& value) {
    // Neighbours mostly agree.
    const bool again = !codes_.empty() && values_[codes_.back()] == value;
    codes_.push_back(again ? codes_.back() : code_of(value));
  }
  void append(const Coded& from, std::span<const Row> rows) {
    std::vector<std::uint32_t> code_here(from.values_.size(), unknown);
    codes_.reserve(codes_.size() + rows.size());
    for (const Row row : rows) {
      std::uint32_t& code = code_here[from.codes_[row]];
      if (code == unknown) code = code_of(from[row]);
      codes_.push_back(code);
    }
  }
  void shrink() { codes_.shrink_to_fit(); }

  [[nodiscard]] std::size_t size() const { return codes_.size(); }
  /// Stays where it is while the column grows.
  [[nodiscard]] const T& operator[](std::size_t row) const { return values_[codes_[row]]; }
  [[nodiscard]] std::uint32_t code(std::size_t row) const { return codes_[row]; }
  /// By code.
  [[nodiscard]] const std::deque<T>& values() const { return values_; }

 private:
  using Key = std::decay_t<std::invoke_result_t<decltype(key_of), const T&>>;
  static constexpr std::uint32_t unknown = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t code_of(const T& value) {
    const auto [place, fresh] = known_.try_emplace(key_of(value), static_cast<std::uint32_t>(values_.size()));
    if (fresh) values_.push_back(value);
    return place->second;
  }

  std::vector<std::uint32_t> codes_;
  std::deque<T> values_;
  std::map<Key, std::uint32_t> known_;
};

}  // namespace attnscope::analysis
