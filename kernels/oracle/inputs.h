// SPDX-License-Identifier: Apache-2.0
// Inputs for the kernels: the same bits for the same arguments, on any machine and with any number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/attention.h"
#include "kernels/model/result.h"
#include "kernels/model/tile_program.h"

namespace attnscope {

enum class InputKind {
  normal,             ///< N(0, 1) + N(0, 100) * Bernoulli(0.001): what measurements run on
  all_equal,          ///< Q and K one constant: every weight is the same, O = mean of the visible V
  dominant_last_key,  ///< the last key outweighs all others: the last tile rescales everything before it
  ascending,          ///< scores grow along the keys: every tile raises the running maximum
  descending,         ///< scores fall along the keys: the first tile holds the maximum
  large,              ///< entries of +-8: scores of some hundreds of both signs
  one_hot_v,          ///< V[j] is the unit vector j mod d: O holds sums of softmax weights themselves
};
/// Every kind, in the order above.
[[nodiscard]] std::span<const InputKind> input_kinds();
[[nodiscard]] std::string_view to_string(InputKind);
/// The error names the accepted words.
[[nodiscard]] Result<InputKind, Message> parse_input_kind(std::string_view);

/// Physical page of each logical page, [batch, ceil(n_k / page)]: all pages of the cache in a fixed random order. Pre:
/// page > 0.
[[nodiscard]] std::vector<std::int32_t> block_table(const AttentionProblem&);

/// Generates matrices one at a time, for inputs too large to hold on the host. Random entries come from one pool of
/// `pool_size` values for each tensor: entry e of instance i is pool[(shift(i) + e) mod pool_size], e the row-major
/// index within the instance. So filling is copying, and a device that holds the pool can reproduce every bit. The size
/// is prime: no two rows of a matrix start at the same place before pool_size of them.
class InputGenerator {
 public:
  static constexpr std::int64_t pool_size = 65'521;

  InputGenerator(const AttentionProblem&, InputKind, std::uint64_t seed);

  /// Writes matrix `instance` of `tensor` (q, k, v or dout) to `out`. Pre: out holds n_q * d (q, dout) or n_k * d (k,
  /// v) elements.
  /// Safe to call from several threads.
  void fill(Tensor tensor, std::int64_t instance, std::span<std::uint16_t> out) const;

  /// The pool of `tensor`, and where `instance` starts in it: what a device needs when uses_pool(tensor).
  [[nodiscard]] bool uses_pool(Tensor tensor) const;
  [[nodiscard]] std::span<const std::uint16_t> pool(Tensor tensor) const;
  [[nodiscard]] std::int64_t shift(Tensor tensor, std::int64_t instance) const;

 private:
  [[nodiscard]] float structured(Tensor tensor, std::int64_t row, std::int64_t col) const;

  AttentionProblem problem_;
  InputKind kind_;
  std::uint64_t seed_;
  std::vector<std::uint16_t> pools_[4];  ///< Q, K, V, dO; empty where the kind has a formula instead
};

/// Dropout's random bytes as the judge draws them, Philox4x32-10 (Salmon et al., Parallel Random Numbers: As Easy as 1,
/// 2, 3, SC11), written apart from the kernels': of entry (row, key) of P of query head `instance`, 0 to 255. It is
/// kept where that is below dropout_keep().
[[nodiscard]] int dropout_draw(std::int64_t instance, std::int64_t row, std::int64_t key);

}  // namespace attnscope
