// SPDX-License-Identifier: Apache-2.0
// An attention kernel, for memory, is a program of tile accesses. Each algorithm states it once; the closed form is
// proved against it, the simulator plays it, and the lesson steps through it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace attnscope {

/// A matrix in global memory, as the papers name it. `o_acc` is FA1's fp32 output accumulator, `m` and `l` its running
/// row maximum and row sum; `delta` is D = rowsum(dO o O), `dq_acc` the fp32 accumulator of dQ; `o_part` and `lse_part`
/// are the partial results of split-KV, `block_table` the pages of a paged cache.
enum class Tensor : std::uint8_t {
  q,
  k,
  v,
  o,
  s,
  p,
  o_acc,
  l,
  m,
  lse,
  dout,
  dq,
  dk,
  dv,
  delta,
  dp,
  ds,
  dq_acc,
  o_part,
  lse_part,
  block_table
};
inline constexpr std::size_t tensor_count = static_cast<std::size_t>(Tensor::block_table) + 1;
[[nodiscard]] std::string_view to_string(Tensor);

/// `reduce` adds to what is there, in L2 (red.global.add): for the SM it is a store. Measured on an H200, sm_to_l2
/// counts its bytes like a store's, and l2_to_sm none.
enum class Access : std::uint8_t { load, store, reduce };

/// One rectangular access of one thread block to one matrix: rows [row, row+rows) x columns [col, col+cols) of matrix
/// `instance` of `tensor`. Rows beyond the matrix's edge are never in it: the kernels zero-fill them on chip.
struct TileAccess {
  Tensor tensor = Tensor::q;
  Access access = Access::load;
  std::int64_t instance = 0;  ///< which (batch, head) matrix: query head for q, o, s, p, ...; K/V head for k and v
  std::int64_t row = 0;
  std::int64_t rows = 0;
  std::int64_t col = 0;
  std::int64_t cols = 0;
  int element_bytes = 2;

  [[nodiscard]] std::int64_t bytes() const { return rows * cols * element_bytes; }
};

/// Bytes that the SMs exchange with L2 (the counters l1tex__m_xbar2l1tex_read_bytes and
/// l1tex__m_l1tex2xbar_write_bytes).
struct Traffic {
  std::int64_t l2_to_sm_bytes = 0;
  std::int64_t sm_to_l2_bytes = 0;

  [[nodiscard]] std::int64_t total() const { return l2_to_sm_bytes + sm_to_l2_bytes; }
  Traffic& operator+=(const Traffic& other) {
    l2_to_sm_bytes += other.l2_to_sm_bytes;
    sm_to_l2_bytes += other.sm_to_l2_bytes;
    return *this;
  }
  bool operator==(const Traffic&) const = default;
};

/// The accesses of every thread block of one kernel launch, in launch order. Random access by (block, step), so that a
/// reader can interleave blocks or stop in the middle; no state, safe to share between threads.
class TileProgram {
 public:
  virtual ~TileProgram() = default;

  /// Thread blocks of the launch; block b is blockIdx.x == b.
  [[nodiscard]] virtual std::int64_t blocks() const = 0;
  /// Steps of one block; a step is what the block does between two waits for memory.
  [[nodiscard]] virtual std::int64_t steps(std::int64_t block) const = 0;
  /// Appends the accesses of one step to `out`, in program order.
  virtual void visit(std::int64_t block, std::int64_t step, std::vector<TileAccess>& out) const = 0;
};

/// Sums a program's accesses by walking all of it. Exact, and slow for large N: the closed form is for that.
[[nodiscard]] Traffic walk(const TileProgram&);

}  // namespace attnscope
