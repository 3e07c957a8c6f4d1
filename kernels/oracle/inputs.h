// SPDX-License-Identifier: Apache-2.0
// Generated kernel inputs: bitwise equal for equal arguments on any machine and with any number of threads.
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
  normal,             ///< N(0, 1) + N(0, 100) * Bernoulli(0.001): used by measurements
  all_equal,          ///< Q and K constant: all weights are equal, O is the mean of the visible V
  dominant_last_key,  ///< the last key dominates: the last tile rescales all earlier ones
  ascending,          ///< scores increase along the keys: each tile raises the running maximum
  descending,         ///< scores decrease along the keys: the first tile has the maximum
  large,              ///< entries of +-8: scores of several hundred, of both signs
  one_hot_v,          ///< V[j] is the unit vector j mod d: O contains sums of softmax weights
};
[[nodiscard]] std::span<const InputKind> input_kinds();
[[nodiscard]] std::string_view to_string(InputKind);
/// The error lists the accepted names.
[[nodiscard]] Result<InputKind, Message> parse_input_kind(std::string_view);

/// Physical page of each logical page, [batch, ceil(n_k / page)], in a fixed random order. Pre: page > 0.
[[nodiscard]] std::vector<std::int32_t> block_table(const AttentionProblem&);

/// Generates one matrix at a time, for inputs that exceed host memory. Random entries come from one pool of `pool_size`
/// values per tensor: entry e of instance i is pool[(shift(i) + e) mod pool_size], where e is the row-major index
/// within the instance. Filling is therefore a copy, and a device with the pool can reproduce every bit. `pool_size` is
/// prime, so that fewer than pool_size rows never start at the same value.
class InputGenerator {
 public:
  static constexpr std::int64_t pool_size = 65'521;

  InputGenerator(const AttentionProblem&, InputKind, std::uint64_t seed);

  /// Writes matrix `instance` of `tensor` (q, k, v or dout) to `out`, values of output_dtype(dtype). Thread-safe. Pre:
  /// out has n_q * d (q, dout) or n_k * d (k, v) elements.
  void fill(Tensor tensor, std::int64_t instance, std::span<float> out) const;

  /// Pool of `tensor` and start of `instance` in it, for filling on a device if uses_pool(tensor).
  [[nodiscard]] bool uses_pool(Tensor tensor) const;
  [[nodiscard]] std::span<const float> pool(Tensor tensor) const;
  [[nodiscard]] std::int64_t pool_offset(Tensor tensor, std::int64_t instance) const;

 private:
  [[nodiscard]] float structured_value(Tensor tensor, std::int64_t row, std::int64_t col) const;

  AttentionProblem problem_;
  InputKind kind_;
  std::uint64_t seed_;
  std::vector<float> pools_[4];  ///< Q, K, V, dO; empty for structured inputs
};

/// Random byte of dropout, 0 to 255, for entry (row, key) of P of query head `instance`: Philox4x32-10 (Salmon et al.,
/// Parallel Random Numbers: As Easy as 1, 2, 3, SC11), implemented independently of the kernels. The entry is kept if
/// the byte is below dropout_keep_count().
[[nodiscard]] int dropout_draw(std::int64_t instance, std::int64_t row, std::int64_t key);

}  // namespace attnscope
