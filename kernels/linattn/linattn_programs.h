// SPDX-License-Identifier: Apache-2.0
// Tile programs and closed forms of the linear attention kernels.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/block_orders.h"
#include "kernels/linattn/linattn_shape.h"
#include "kernels/model/attention.h"
#include "kernels/model/integer.h"
#include "kernels/model/kernel_model.h"
#include "kernels/model/knobs.h"
#include "kernels/model/tile_program.h"

namespace attnscope::linattn {

/// State for the keys before a chunk: the sum of phi(K)^T V, with z (the sum of phi(K)) as its last row.
inline const Tensor kv_state = register_tensor("KV");

/// One head divided into row tiles and chunks of keys; shared by the programs and closed forms of both launches. All
/// heads are equal.
class ChunkGrid {
 public:
  ChunkGrid(const AttentionProblem& problem, const TileShape& tile) : p_(problem), tile_(tile) {}

  [[nodiscard]] const AttentionProblem& problem() const { return p_; }
  [[nodiscard]] const TileShape& tile() const { return tile_; }
  [[nodiscard]] bool causal() const { return p_.mask.right != Mask::unlimited; }

  [[nodiscard]] std::int64_t row_tiles() const { return ceil_div(p_.n_q, tile_.br); }
  [[nodiscard]] std::int64_t rows(std::int64_t tile) const {
    return std::min<std::int64_t>(tile_.br, p_.n_q - tile * tile_.br);
  }
  /// Keys covered by the state that the tile starts from; 0 for none.
  [[nodiscard]] std::int64_t keys_in_state(std::int64_t tile) const {
    return state_keys(visible_keys_of_row(tile * tile_.br), tile_.bc, causal());
  }
  /// End of the keys that rows of the tile see. The tile loads the keys between its state and this end.
  [[nodiscard]] std::int64_t end(std::int64_t tile) const {
    return visible_keys_of_row(tile * tile_.br + rows(tile) - 1);
  }
  /// Steps in which the tile loads its keys.
  [[nodiscard]] std::int64_t key_steps(std::int64_t tile) const {
    return ceil_div(end(tile) - keys_in_state(tile), step());
  }

  /// Keys per chunk.
  [[nodiscard]] std::int64_t chunk() const { return causal() ? tile_.bc : p_.n_k; }
  /// States per K/V head that some tile starts from.
  [[nodiscard]] std::int64_t states() const { return keys_in_state(row_tiles() - 1) / chunk(); }
  /// Keys on chip at a time.
  [[nodiscard]] std::int64_t step() const { return step_keys(tile_.bc); }
  [[nodiscard]] std::int64_t chunk_steps() const { return ceil_div(chunk(), step()); }

 private:
  [[nodiscard]] int visible_keys_of_row(std::int64_t row) const {
    return visible_key_count(static_cast<int>(row), static_cast<int>(p_.n_q), static_cast<int>(p_.n_k), causal());
  }

  AttentionProblem p_;
  TileShape tile_;
};

/// Sums over the row tiles of one head; computed in O(Tr).
struct HeadSums {
  std::int64_t tiles = 0;            ///< tiles that see a key
  std::int64_t rows = 0;             ///< rows of these tiles
  std::int64_t state_tiles = 0;      ///< tiles that start from a state
  std::int64_t state_rows = 0;       ///< rows of these tiles
  std::int64_t distinct_states = 0;  ///< states that some tile starts from
  std::int64_t keys = 0;             ///< keys that tiles load in addition to a state
  std::int64_t distinct_keys = 0;    ///< the same, each key counted once
  std::int64_t key_steps = 0;
  std::int64_t pairs = 0;        ///< visible row-key pairs computed on chip
  std::vector<BlockRun> blocks;  ///< runs of blocks of equal cost, in launch order
};
[[nodiscard]] HeadSums head_sums(const ChunkGrid&);

[[nodiscard]] std::shared_ptr<const TileProgram> states_program(const ChunkGrid&);
[[nodiscard]] std::vector<OperandTraffic> states_traffic(const ChunkGrid&);
[[nodiscard]] KernelWork states_work(const ChunkGrid&);

[[nodiscard]] std::shared_ptr<const TileProgram> outputs_program(const ChunkGrid&);
[[nodiscard]] std::vector<OperandTraffic> outputs_traffic(const ChunkGrid&, const HeadSums&);
[[nodiscard]] KernelWork outputs_work(const ChunkGrid&, const HeadSums&);

}  // namespace attnscope::linattn
