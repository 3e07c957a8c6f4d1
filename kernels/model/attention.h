// SPDX-License-Identifier: Apache-2.0
// What is computed: the attention problem and the tile shape, in the field's own names.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/mask.h"
#include "kernels/model/result.h"

namespace attnscope {

/// fp8: Q, K and V (decoding: K and V) are e4m3 with scales beside them; they are given, and O comes out, as bf16.
enum class DType { fp16, bf16, fp8 };

/// What is measured. `bwd` runs the forward pass first, unmeasured, for the O and LSE (or P) that it starts from.
enum class Pass { fwd, bwd, fwd_bwd };

/// Which tokens a GPU holds of a sequence that several share, P of them: GPU g has the g-th P-th; of 2 P pieces the
/// g-th and the g-th last (Z. Zhu, ring-flash-attention); or tokens g, g + P, g + 2 P, ... (W. Brandon et al., Striped
/// Attention, arXiv 2311.09431).
enum class GpuOrder { contiguous, zigzag, striped };
inline constexpr std::array gpu_orders{GpuOrder::contiguous, GpuOrder::zigzag, GpuOrder::striped};
/// GPUs of one machine.
inline constexpr int most_gpus = 64;

/// How the numbers of a dtype are kept and computed with.
struct DTypeTrait {
  DType dtype;
  std::string_view word;
  DType held;            ///< 16-bit type of inputs before they are quantised, and of outputs
  int storage_bits;      ///< of an element of Q, K, V and dO, and of S and P where they are stored
  int output_bits;       ///< of an element of O, dQ, dK and dV
  int accumulator_bits;  ///< of a sum
  int fraction_bits;     ///< after the leading one
  int least_exponent;    ///< of a normal number
};
inline constexpr std::array dtype_traits{DTypeTrait{.dtype = DType::fp16,
                                                    .word = "fp16",
                                                    .held = DType::fp16,
                                                    .storage_bits = 16,
                                                    .output_bits = 16,
                                                    .accumulator_bits = 32,
                                                    .fraction_bits = 10,
                                                    .least_exponent = -14},
                                         DTypeTrait{.dtype = DType::bf16,
                                                    .word = "bf16",
                                                    .held = DType::bf16,
                                                    .storage_bits = 16,
                                                    .output_bits = 16,
                                                    .accumulator_bits = 32,
                                                    .fraction_bits = 7,
                                                    .least_exponent = -126},
                                         DTypeTrait{.dtype = DType::fp8,
                                                    .word = "fp8",
                                                    .held = DType::bf16,
                                                    .storage_bits = 8,
                                                    .output_bits = 16,
                                                    .accumulator_bits = 32,
                                                    .fraction_bits = 3,
                                                    .least_exponent = -6}};
[[nodiscard]] constexpr const DTypeTrait& trait_of(DType dtype) {
  for (const DTypeTrait& trait : dtype_traits) {
    if (trait.dtype == dtype) return trait;
  }
  return dtype_traits.front();
}

[[nodiscard]] constexpr DType held_as(DType dtype) {
  return trait_of(dtype).held;
}
/// Of an input; of an output; of an accumulator.
[[nodiscard]] constexpr int bytes_per_element(DType dtype) {
  return trait_of(dtype).storage_bits / 8;
}
[[nodiscard]] constexpr int output_bytes(DType dtype) {
  return trait_of(dtype).output_bits / 8;
}
[[nodiscard]] constexpr int accumulator_bytes(DType dtype) {
  return trait_of(dtype).accumulator_bits / 8;
}
/// Products that tensor cores do in the time of one of 16-bit operands.
[[nodiscard]] constexpr int products_at_once(DType dtype) {
  return 16 / trait_of(dtype).storage_bits;
}

[[nodiscard]] std::string_view to_string(DType);
[[nodiscard]] std::string_view to_string(Pass);
[[nodiscard]] std::string_view to_string(GpuOrder);
/// The inverse of to_string; the error is a full sentence that names the accepted words.
[[nodiscard]] Result<DType, Message> parse_dtype(std::string_view);
[[nodiscard]] Result<Pass, Message> parse_pass(std::string_view);
[[nodiscard]] Result<GpuOrder, Message> parse_gpu_order(std::string_view);

/// O = Z(softmax(mask(Q K^T / sqrt(d)))) V, per batch and head, Z being dropout.
/// Q, O: [batch, heads_q, n_q, d]; K, V: [batch, heads_kv, n_k, d]; all row-major and contiguous, `dtype` elements
/// (outputs: what those are held as);
/// LSE: [batch, heads_q, n_q] fp32, natural logarithm, before dropout. A row that sees no key has O = 0, LSE = -inf and
/// no gradient. The backward pass takes dO (like O) and gives dQ (like Q), dK and dV (like K, summed over the query
/// heads that share a K/V head), all `dtype`.
struct AttentionProblem {
  DType dtype = DType::fp16;
  Pass pass = Pass::fwd;
  Mask mask = Mask::none;
  std::int64_t batch = 1;
  std::int64_t heads_q = 1;
  std::int64_t heads_kv = 1;
  std::int64_t n_q = 1;
  std::int64_t n_k = 1;
  std::int64_t d = 64;
  /// Probability with which an entry of P is dropped, in [0, 1); the kernels round it to 1/256 (dropout_keep()), and
  /// what would round to none or all of the entries is invalid.
  double dropout = 0;
  /// Keys of a page of a paged K/V cache; 0: K and V are contiguous. K, V: [batch ceil(n_k / page) pages, heads_kv,
  /// page, d]; a block table [batch, ceil(n_k / page)] of int32 says which page holds which keys.
  std::int64_t page = 0;
  /// Gradients repeat bitwise: additions from several blocks come in a fixed order.
  bool deterministic = false;
  /// That share the sequence, and which tokens each has.
  int gpus = 1;
  GpuOrder gpu_order = GpuOrder::contiguous;

  /// Query heads over the whole batch: the number of independent attention problems.
  [[nodiscard]] std::int64_t instances() const { return batch * heads_q; }
  /// K/V heads over the whole batch.
  [[nodiscard]] std::int64_t kv_instances() const { return batch * heads_kv; }

  bool operator==(const AttentionProblem&) const = default;
};

/// Keys of batch entry `entry` that are no padding: n_k, or what the mask's lengths say.
[[nodiscard]] std::int64_t key_length(const AttentionProblem&, std::int64_t entry);

/// The lengths that batch entries have, and how many have each: at most n_k of them, ascending.
struct LengthCount {
  std::int64_t length = 0;
  std::int64_t entries = 0;
};
[[nodiscard]] std::vector<LengthCount> length_counts(const AttentionProblem&);

/// Keys [first, last) that the window lets query `row` of batch entry `entry` see; first == last for none. The block
/// mask is not in it.
struct KeyRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
  bool operator==(const KeyRange&) const = default;
};
[[nodiscard]] KeyRange visible_keys(const AttentionProblem&, std::int64_t entry, std::int64_t row);
/// The same of an entry that has `length` keys.
[[nodiscard]] KeyRange visible_keys_of_length(const AttentionProblem&, std::int64_t length, std::int64_t row);

/// Query-key pairs that the mask leaves, summed over all instances.
[[nodiscard]] std::int64_t unmasked_pairs(const AttentionProblem&);

/// Of 256 entries of P, how many dropout keeps: 256 without dropout, at least 1.
[[nodiscard]] int dropout_keep(const AttentionProblem&);

/// The seed of dropout's Philox stream.
inline constexpr std::int32_t dropout_seed = 20220527;

/// The same problem, computed by one GPU: its result is the same.
[[nodiscard]] inline AttentionProblem on_one_gpu(AttentionProblem p) {
  p.gpus = 1;
  p.gpu_order = GpuOrder::contiguous;
  return p;
}

/// Query heads that share one K/V head.
[[nodiscard]] inline std::int64_t group_size(const AttentionProblem& p) {
  return p.heads_q / p.heads_kv;
}

/// Matrix-product operations of the forward pass, 4 d a pair (2 for QK^T, 2 for PV), masked pairs left out: the count
/// by which the field reports TFLOP/s.
[[nodiscard]] double forward_flops(const AttentionProblem&);
/// The same of the backward pass: 10 d a pair (QK^T again, dO V^T, P^T dO, dS^T Q, dS K).
[[nodiscard]] double backward_flops(const AttentionProblem&);
/// Of the passes that the problem has.
[[nodiscard]] double pass_flops(const AttentionProblem&);
/// Of these, those for each exponential that a pass takes: 4 d of the forward pass, 10 d of the backward pass, which
/// takes each once more, 7 d of both.
[[nodiscard]] double softmax_flops_per_exponential(const AttentionProblem&);

/// "fp16 causal batch 1 heads 16 N 4096 d 128": without what is rarely set.
[[nodiscard]] std::string describe_shape(const AttentionProblem&);
/// With dropout, pages and determinism where they are set: one line for messages that have no point.
[[nodiscard]] std::string describe(const AttentionProblem&);

/// The first thing wrong with the problem itself, as one sentence; empty when it could be posed at all. Refused are
/// extents below 1, heads_q no multiple of heads_kv, window sides over 2^29 keys, key lengths that are not one in
/// 0 .. n_k for each batch entry, block sizes that are no multiple of 16 up to 2^20, block masks of over 2^26 squares,
/// dropout outside [0, 1) or that rounds to none or all of 256, pages that are no power of two from 16 to 2^24, more
/// than 2^28 queries and keys together, or 2^16 key lengths, and sizes whose byte counts overflow 63 bits.
[[nodiscard]] Message invalid_reason(const AttentionProblem&);

/// Blocks of rows have a scale each (kernels/device/quantise_shape.h says which). Rotated, the rows of Q and K are
/// first multiplied by one orthogonal matrix, a Hadamard matrix behind random signs, which spreads outliers over a row
/// and leaves Q K^T as it is (FlashAttention-3, arXiv 2407.08608, section 3.3).
struct Quantisation {
  std::int64_t query_rows = 0;  ///< of a block of Q; 0: Q stays as it is given
  std::int64_t keys = 0;        ///< of a block of K, and of V
  bool rotated = false;
  bool weights = true;  ///< P has 8 bits, too

  bool operator==(const Quantisation&) const = default;
};

}  // namespace attnscope
