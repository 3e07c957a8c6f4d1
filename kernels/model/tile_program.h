// SPDX-License-Identifier: Apache-2.0
// Tile program: the sequence of tile accesses of an attention kernel. Each algorithm defines it once; tests check the
// closed form against it, and the simulator replays it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace attnscope {

/// Matrices in global memory, named as in the papers. `o_acc`: fp32 output accumulator of FA1; `m`, `l`: its running
/// row maximum and sum; `delta`: D = rowsum(dO o O); `dq_acc`: fp32 accumulator of dQ; `o_part`, `lse_part`: partial
/// results of split-KV; `block_table`: pages of a paged cache; `key_lengths`: lengths of a mask; `taken`: counter from
/// which blocks take row tiles. Matrices of a single algorithm use register_tensor().
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
  q16,  ///< 16-bit source of Q, K and V of 8 bits
  k16,
  v16,
  q_scales,
  k_scales,
  v_scales
};
/// Maximum number of tensors, including those of register_tensor().
inline constexpr std::size_t max_tensors = 48;
[[nodiscard]] std::size_t tensor_count();
/// Registers a matrix of a single algorithm, for a constant in its folder. `name` must outlive it.
[[nodiscard]] Tensor register_tensor(std::string_view name);
[[nodiscard]] std::string_view to_string(Tensor);

/// `reduce` adds in L2 (red.global.add); for the SM it is a store. On an H200, sm_to_l2 counts its bytes as for a
/// store, l2_to_sm counts none.
enum class Access : std::uint8_t { load, store, reduce };

/// SM and L2 exchange whole sectors.
inline constexpr std::int64_t sector_bytes = 32;

/// A rectangular access of one thread block: rows [row, row+rows) x columns [col, col+cols) of matrix `instance` of
/// `tensor`. Rows beyond the matrix's edge are excluded; they are zero on chip.
struct TileAccess {
  Tensor tensor = Tensor::q;
  Access access = Access::load;
  std::int64_t instance = 0;  ///< (batch, head) matrix: query head for q, o, s, p, ...; K/V head for k and v
  std::int64_t row = 0;
  std::int64_t rows = 0;
  std::int64_t col = 0;
  std::int64_t cols = 0;
  int element_bytes = 2;
  // Nonzero if a row is less than a sector (RowValues::access()) or rows come in boxes (with_tma_boxes()). 0: rows are
  // whole sectors.
  std::uint8_t request_rows = 0;  ///< rows per warp request, which moves each sector that it touches
  std::int8_t place = 0;  ///< index of the first row in its sector; negative: in a sector that an earlier request moved

  /// Same access in TMA boxes of `box_rows` rows (a multiple of 16, up to 256). Boxes move whole, including rows
  /// outside the matrix.
  [[nodiscard]] TileAccess with_tma_boxes(int box_rows) const;
  [[nodiscard]] int box_rows() const;  ///< 0: not in boxes

  [[nodiscard]] std::int64_t bytes() const { return rows * cols * element_bytes; }
  /// Bytes that move between SM and L2.
  [[nodiscard]] std::int64_t moved_bytes() const;
};
static_assert(sizeof(TileAccess) == 56, "the simulator copies millions of them");

/// Bytes between SMs and L2 (counters l1tex__m_xbar2l1tex_read_bytes and l1tex__m_l1tex2xbar_write_bytes).
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

struct OperandTraffic {
  Tensor tensor = Tensor::q;
  Traffic traffic;

  bool operator==(const OperandTraffic&) const = default;
};
[[nodiscard]] Traffic sum_of(std::span<const OperandTraffic>);

/// Accesses of every thread block of one launch, in launch order. Random access by (block, step), so that callers can
/// interleave blocks or stop early. Stateless and thread-safe. A step is loads, then stores; on a device, loads run
/// ahead of this order.
class TileProgram {
 public:
  virtual ~TileProgram() = default;

  /// Thread blocks of the grid: block b is blockIdx.x == b, or the b-th taken by a persistent launch.
  [[nodiscard]] virtual std::int64_t blocks() const = 0;
  /// Steps of one block; a step is the work between two waits for memory.
  [[nodiscard]] virtual std::int64_t steps(std::int64_t block) const = 0;
  /// Appends the accesses of one step to `out`: loads before stores.
  virtual void visit(std::int64_t block, std::int64_t step, std::vector<TileAccess>& out) const = 0;
};

/// Finds the steps that combine queries and keys, from the loads of a block's steps in order: the operand loaded first
/// stays on chip while tiles of the other are streamed.
class PairFinder {
 public:
  /// Processes the loads of the next step. Returns true if the block then has queries and keys.
  bool step(bool queries, bool keys);

 private:
  int step_ = 0;
  int queries_ = -1;  ///< step of the latest load; -1: none
  int keys_ = -1;
};

/// Sums all accesses of a program. Exact but slow for large N; use the closed form there.
[[nodiscard]] Traffic walk(const TileProgram&);

}  // namespace attnscope
