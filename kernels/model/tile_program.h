// SPDX-License-Identifier: Apache-2.0
// An attention kernel, for memory, is a program of tile accesses. Each algorithm states it once; the closed form is
// proved against it, the simulator plays it, and the lesson steps through it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace attnscope {

/// A matrix in global memory, as the papers name it. `o_acc` is FA1's fp32 output accumulator, `m` and `l` its running
/// row maximum and row sum; `delta` is D = rowsum(dO o O), `dq_acc` the fp32 accumulator of dQ; `o_part` and `lse_part`
/// are the partial results of split-KV, `block_table` the pages of a paged cache, `key_lengths` those of a mask,
/// `taken` the counter from which blocks take row tiles. A matrix that one algorithm alone has is an own_tensor().
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
  block_table,
  key_lengths,
  taken,
  q16,  ///< what Q, K and V of 8 bits are made of
  k16,
  v16,
  q_scales,
  k_scales,
  v_scales
};
/// The enumerators and the matrices of own_tensor() are below it.
inline constexpr std::size_t most_tensors = 48;
[[nodiscard]] std::size_t tensor_count();
/// Another matrix, for a constant of the algorithm's folder: `name` outlives it.
[[nodiscard]] Tensor own_tensor(std::string_view name);
[[nodiscard]] std::string_view to_string(Tensor);

/// `reduce` adds to what is there, in L2 (red.global.add): for the SM it is a store. Measured on an H200, sm_to_l2
/// counts its bytes like a store's, and l2_to_sm none.
enum class Access : std::uint8_t { load, store, reduce };

/// What passes between SM and L2 is whole sectors.
inline constexpr std::int64_t sector_bytes = 32;

/// One rectangular access of one thread block to one matrix: rows [row, row+rows) x columns [col, col+cols) of matrix
/// `instance` of `tensor`. Rows beyond the matrix's edge are never in it: they are zero on chip.
struct TileAccess {
  Tensor tensor = Tensor::q;
  Access access = Access::load;
  std::int64_t instance = 0;  ///< which (batch, head) matrix: query head for q, o, s, p, ...; K/V head for k and v
  std::int64_t row = 0;
  std::int64_t rows = 0;
  std::int64_t col = 0;
  std::int64_t cols = 0;
  int element_bytes = 2;
  // Where rows are less than a sector (RowNumbers::access()) or come in boxes (in_boxes()); else 0, and rows are whole
  // sectors.
  std::uint8_t request_rows = 0;  ///< of one request of a warp, which moves each sector that it touches
  std::int8_t place = 0;  ///< of the first row in its sector; negative: left of a sector that a request has moved

  /// The same loaded in boxes of `box_rows` rows (a multiple of 16, up to 256), of which each crosses whole, also what
  /// of it lies outside the matrix.
  [[nodiscard]] TileAccess in_boxes(int box_rows) const;
  [[nodiscard]] int box_rows() const;  ///< 0: of none

  [[nodiscard]] std::int64_t bytes() const { return rows * cols * element_bytes; }
  /// That pass between SM and L2 for them.
  [[nodiscard]] std::int64_t moved_bytes() const;
};
static_assert(sizeof(TileAccess) == 56, "the simulator copies millions of them");

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
  friend Traffic operator*(std::int64_t times, const Traffic& one) {
    return {.l2_to_sm_bytes = times * one.l2_to_sm_bytes, .sm_to_l2_bytes = times * one.sm_to_l2_bytes};
  }
  bool operator==(const Traffic&) const = default;
};

/// What of it one matrix accounts for.
struct OperandTraffic {
  Tensor tensor = Tensor::q;
  Traffic traffic;

  bool operator==(const OperandTraffic&) const = default;
};
[[nodiscard]] Traffic sum_of(std::span<const OperandTraffic>);

/// The accesses of every thread block of one kernel launch, in launch order. Random access by (block, step), so that a
/// reader can interleave blocks or stop in the middle; no state, safe to share between threads. A step is loads, then
/// stores; on a device the loads run ahead of that.
class TileProgram {
 public:
  virtual ~TileProgram() = default;

  /// Thread blocks of the grid: block b is blockIdx.x == b, or the b-th that a persistent launch takes.
  [[nodiscard]] virtual std::int64_t blocks() const = 0;
  /// Steps of one block; a step is what the block does between two waits for memory.
  [[nodiscard]] virtual std::int64_t steps(std::int64_t block) const = 0;
  /// Appends the accesses of one step to `out`, in program order: loads before stores.
  virtual void visit(std::int64_t block, std::int64_t step, std::vector<TileAccess>& out) const = 0;
};

/// Finds the steps that work on queries and keys together, by the loads of a block's steps in order: of the two
/// operands the one that is loaded first stays, while tiles of the other one pass by.
class PairFinder {
 public:
  /// Takes the loads of the next step. Returns true if the block then has queries and keys.
  bool step(bool queries, bool keys);

 private:
  int step_ = 0;
  int queries_ = -1;  ///< step of the latest load; -1: none
  int keys_ = -1;
};

/// Sums a program's accesses by walking all of it. Exact, and slow for large N: the closed form is for that.
[[nodiscard]] Traffic walk(const TileProgram&);

}  // namespace attnscope
