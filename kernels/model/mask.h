// SPDX-License-Identifier: Apache-2.0
// Attention masks and their text form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"

namespace attnscope {

/// Visible query-key pairs: the intersection of three rules.
///
/// Window, bottom-right aligned: with `length` keys of n_k, query i sees the keys j of
///   i + length - n_q - left <= j <= i + length - n_q + right.
/// right = 0 with an unlimited left side is the causal mask.
///
/// Lengths (key padding): batch entry b has key_length() of the n_k keys; the others are padding.
///
/// Blocks: the score matrix is divided into squares of block_size, each entirely visible or masked (block-sparse
/// FlashAttention, arXiv 2205.14135v2, Section 3.3); one pattern for all heads.
///
/// Text form, joined by '+': "full", "causal", "window:LEFT:RIGHT" (keys, or inf), "lengths:ramp", "lengths:300/512/7"
/// (one per batch entry), "blocks:SIZE:butterfly", "blocks:SIZE:stride4", "blocks:SIZE:random25" (percent).
struct Mask {
  static constexpr std::int64_t unlimited = -1;
  enum class Lengths : std::uint8_t {
    full,
    ramp,  ///< n_k (b + 1) / batch, rounded up: a batch of mixed lengths
    list
  };
  enum class Blocks : std::uint8_t {
    none,
    butterfly,  ///< squares whose distance to the diagonal is 0 or a power of two
    stride,     ///< the diagonal, its left neighbor and every k-th column of squares
    random      ///< the diagonal and a percentage of the other squares, by a fixed hash
  };

  std::int64_t left = unlimited;
  std::int64_t right = unlimited;
  Lengths lengths = Lengths::full;
  std::vector<std::int64_t> length_list;  ///< for Lengths::list
  Blocks blocks = Blocks::none;
  std::int64_t block_size = 0;
  std::int64_t block_parameter = 0;  ///< k of stride, percent of random

  static const Mask none;
  static const Mask causal;

  [[nodiscard]] bool has_window() const { return left != unlimited || right != unlimited; }
  [[nodiscard]] bool padded() const { return lengths != Lengths::full; }
  [[nodiscard]] bool has_block_mask() const { return blocks != Blocks::none; }
  /// Returns true if the square in row `i` and column `j` of squares is visible.
  [[nodiscard]] bool block_counts(std::int64_t i, std::int64_t j) const;

  bool operator==(const Mask&) const = default;
  /// Arbitrary total order, for use as a key.
  bool operator<(const Mask& other) const;
};

inline const Mask Mask::none{};
inline const Mask Mask::causal{.left = unlimited,
                               .right = 0,
                               .lengths = Lengths::full,
                               .length_list = {},
                               .blocks = Blocks::none,
                               .block_size = 0,
                               .block_parameter = 0};

/// Canonical form: parse_mask(to_string(m)) == m.
[[nodiscard]] std::string to_string(const Mask&);
/// The error states the accepted form.
[[nodiscard]] Result<Mask, Message> parse_mask(std::string_view);

}  // namespace attnscope
