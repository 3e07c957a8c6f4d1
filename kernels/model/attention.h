// SPDX-License-Identifier: Apache-2.0
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

/// fp8: Q, K and V (decoding: K and V) are e4m3 with separate scales. Inputs are given, and O is written, as bf16.
/// fp32: for user-defined kernels.
enum class DType { fp16, bf16, fp8, fp32 };

/// Measured pass. `bwd` first runs the forward pass, unmeasured, for the O and LSE (or P) that it needs.
enum class Pass { fwd, bwd, fwd_bwd };

/// Distribution of a sequence's tokens over P GPUs. contiguous: GPU g has the g-th of P parts. zigzag: the g-th and the
/// g-th last of 2 P parts (Z. Zhu, ring-flash-attention). striped: tokens g, g + P, g + 2 P, ... (W. Brandon et al.,
/// Striped Attention, arXiv 2311.09431).
enum class GpuOrder { contiguous, zigzag, striped };
inline constexpr std::array gpu_orders{GpuOrder::contiguous, GpuOrder::zigzag, GpuOrder::striped};
inline constexpr int max_gpus = 64;

/// Storage and arithmetic formats of a dtype.
struct DTypeTrait {
  DType dtype;
  std::string_view word;
  DType held;        ///< type of outputs, and of inputs before quantization
  int storage_bits;  ///< per element of Q, K, V and dO, and of S and P if stored
  int output_bits;   ///< per element of O, dQ, dK and dV
  int accumulator_bits;
  int fraction_bits;  ///< explicit mantissa bits
  int min_exponent;   ///< exponent of the smallest normal number
};
inline constexpr std::array dtype_traits{DTypeTrait{.dtype = DType::fp16,
                                                    .word = "fp16",
                                                    .held = DType::fp16,
                                                    .storage_bits = 16,
                                                    .output_bits = 16,
                                                    .accumulator_bits = 32,
                                                    .fraction_bits = 10,
                                                    .min_exponent = -14},
                                         DTypeTrait{.dtype = DType::bf16,
                                                    .word = "bf16",
                                                    .held = DType::bf16,
                                                    .storage_bits = 16,
                                                    .output_bits = 16,
                                                    .accumulator_bits = 32,
                                                    .fraction_bits = 7,
                                                    .min_exponent = -126},
                                         DTypeTrait{.dtype = DType::fp8,
                                                    .word = "fp8",
                                                    .held = DType::bf16,
                                                    .storage_bits = 8,
                                                    .output_bits = 16,
                                                    .accumulator_bits = 32,
                                                    .fraction_bits = 3,
                                                    .min_exponent = -6},
                                         DTypeTrait{.dtype = DType::fp32,
                                                    .word = "fp32",
                                                    .held = DType::fp32,
                                                    .storage_bits = 32,
                                                    .output_bits = 32,
                                                    .accumulator_bits = 32,
                                                    .fraction_bits = 23,
                                                    .min_exponent = -126}};
[[nodiscard]] constexpr const DTypeTrait& dtype_trait(DType dtype) {
  for (const DTypeTrait& trait : dtype_traits) {
    if (trait.dtype == dtype) return trait;
  }
  return dtype_traits.front();
}

[[nodiscard]] constexpr DType output_dtype(DType dtype) {
  return dtype_trait(dtype).held;
}
[[nodiscard]] constexpr int bytes_per_element(DType dtype) {
  return dtype_trait(dtype).storage_bits / 8;
}
[[nodiscard]] constexpr int output_bytes(DType dtype) {
  return dtype_trait(dtype).output_bits / 8;
}
[[nodiscard]] constexpr int accumulator_bytes(DType dtype) {
  return dtype_trait(dtype).accumulator_bits / 8;
}
/// Tensor core throughput relative to 16-bit operands; fp32: of TF32 operands, an upper bound.
[[nodiscard]] constexpr double relative_throughput(DType dtype) {
  return 16.0 / dtype_trait(dtype).storage_bits;
}

[[nodiscard]] std::string_view to_string(DType);
[[nodiscard]] std::string_view to_string(Pass);
[[nodiscard]] std::string_view to_string(GpuOrder);
/// Inverse of to_string(); the error lists the accepted values.
[[nodiscard]] Result<DType, Message> parse_dtype(std::string_view);
[[nodiscard]] Result<Pass, Message> parse_pass(std::string_view);
[[nodiscard]] Result<GpuOrder, Message> parse_gpu_order(std::string_view);

/// O = Z(softmax(mask(Q K^T / sqrt(d)))) V per batch entry and head; Z is dropout.
/// Q, O: [batch, heads_q, n_q, d]; K, V: [batch, heads_kv, n_k, d]; row-major and contiguous, of type `dtype` (outputs:
/// output_dtype(dtype)).
/// LSE: [batch, heads_q, n_q] fp32, natural logarithm, before dropout. A row that sees no key has O = 0, LSE = -inf and
/// no gradient.
/// The backward pass takes dO (like O) and computes dQ (like Q), dK and dV (like K, summed over the query heads that
/// share a K/V head), all `dtype`.
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
  /// Probability of dropping an entry of P, in [0, 1). Kernels round it to 1/256 (dropout_keep_count()); a value that
  /// rounds to dropping none or all entries is invalid.
  double dropout = 0;
  /// Keys per page of a paged K/V cache; 0: K and V are contiguous. K, V: [batch ceil(n_k / page) pages, heads_kv,
  /// page, d]; an int32 block table [batch, ceil(n_k / page)] maps keys to pages.
  std::int64_t page = 0;
  /// Bitwise reproducible gradients: blocks accumulate in a fixed order.
  bool deterministic = false;
  /// Number of GPUs that share the sequence, and distribution of its tokens.
  int gpus = 1;
  GpuOrder gpu_order = GpuOrder::contiguous;

  /// Query heads over the whole batch: the number of independent attention problems.
  [[nodiscard]] std::int64_t instances() const { return batch * heads_q; }
  /// K/V heads over the whole batch.
  [[nodiscard]] std::int64_t kv_instances() const { return batch * heads_kv; }

  bool operator==(const AttentionProblem&) const = default;
};

/// Keys of batch entry `entry` without padding.
[[nodiscard]] std::int64_t key_length(const AttentionProblem&, std::int64_t entry);

/// Number of batch entries per key length, by ascending length.
struct LengthCount {
  std::int64_t length = 0;
  std::int64_t entries = 0;
};
[[nodiscard]] std::vector<LengthCount> length_counts(const AttentionProblem&);

/// Keys [first, last) that query `row` of batch entry `entry` sees through window and lengths; first == last if none.
/// Ignores the block mask.
struct KeyRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
  bool operator==(const KeyRange&) const = default;
};
[[nodiscard]] KeyRange visible_keys(const AttentionProblem&, std::int64_t entry, std::int64_t row);
/// Same for an entry with `length` keys.
[[nodiscard]] KeyRange visible_keys_for_length(const AttentionProblem&, std::int64_t length, std::int64_t row);

/// Visible query-key pairs, summed over all instances.
[[nodiscard]] std::int64_t unmasked_pairs(const AttentionProblem&);

/// Entries of P that dropout keeps, out of 256: at least 1, 256 without dropout.
[[nodiscard]] int dropout_keep_count(const AttentionProblem&);

/// Seed of the Philox stream of dropout.
inline constexpr std::int32_t dropout_seed = 20220527;

/// The same problem on one GPU; its result is the same.
[[nodiscard]] inline AttentionProblem single_gpu_problem(AttentionProblem p) {
  p.gpus = 1;
  p.gpu_order = GpuOrder::contiguous;
  return p;
}

/// Query heads per K/V head (GQA group size).
[[nodiscard]] inline std::int64_t group_size(const AttentionProblem& p) {
  return p.heads_q / p.heads_kv;
}

/// FLOPs of the forward matrix products: 4 d per visible pair (2 for QK^T, 2 for PV), the usual basis of TFLOP/s.
[[nodiscard]] double forward_flops(const AttentionProblem&);
/// FLOPs of the backward matrix products: 10 d per visible pair (QK^T again, dO V^T, P^T dO, dS^T Q, dS K).
[[nodiscard]] double backward_flops(const AttentionProblem&);
/// Nominal FLOPs of the problem's pass or passes: by convention the same for all algorithms of softmax attention. An
/// algorithm that stores S or P executes fewer; see least_pass_flops().
[[nodiscard]] double pass_flops(const AttentionProblem&);
/// Fewest FLOPs that softmax attention executes: without recomputation, the backward pass takes 8 d per visible pair.
[[nodiscard]] double least_pass_flops(const AttentionProblem&);
/// FLOPs per exponential: 4 d in the forward pass, 10 d in the backward pass, which recomputes each exponential, 7 d in
/// both together.
[[nodiscard]] double softmax_flops_per_exponential(const AttentionProblem&);

/// "fp16 causal batch 1 heads 16 N 4096 d 128": without rarely used fields.
[[nodiscard]] std::string describe_shape(const AttentionProblem&);
/// One-line description including dropout, pages and determinism if set.
[[nodiscard]] std::string describe(const AttentionProblem&);

/// Returns the first error of the problem itself; empty if it is valid. Invalid are extents below 1, heads_q that is
/// not a multiple of heads_kv, window sides over 2^29 keys, key lengths that are not one value in 0 .. n_k per batch
/// entry, mask block sizes that are not a multiple of 16 up to 2^20, block masks of over 2^26 squares, dropout outside
/// [0, 1) or rounding to none or all of 256, page sizes that are not a power of two from 16 to 2^24, over 2^28 queries
/// plus keys, over 2^16 key lengths, and byte counts over 63 bits.
[[nodiscard]] Message invalid_reason(const AttentionProblem&);

/// Quantization with one scale per block of rows (kernels/device/quantize_shape.h). If rotated, the rows of Q and K are
/// first multiplied by an orthogonal matrix (random signs, then Hadamard), which spreads outliers over a row and
/// preserves Q K^T (FlashAttention-3, arXiv 2407.08608, section 3.3).
struct Quantization {
  std::int64_t query_rows = 0;  ///< rows per block of Q; 0: Q is not quantized
  std::int64_t keys = 0;        ///< rows per block of K and of V
  bool rotated = false;
  bool weights = true;  ///< P is quantized to 8 bits, too

  bool operator==(const Quantization&) const = default;
};

}  // namespace attnscope
