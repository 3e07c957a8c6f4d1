// SPDX-License-Identifier: Apache-2.0
#include "kernels/linattn/linattn_programs.h"

#include <algorithm>

#include "kernels/algorithm_parts.h"

namespace attnscope::linattn {
namespace {

/// Block (K/V head): each step loads keys of a chunk; the last step of a chunk stores the state of all keys so far.
class StatesProgram final : public TileProgram {
 public:
  explicit StatesProgram(const ChunkGrid& grid) : grid_(grid) {}

  [[nodiscard]] std::int64_t blocks() const override { return grid_.problem().kv_instances(); }
  [[nodiscard]] std::int64_t steps(std::int64_t /*block*/) const override {
    return grid_.states() * grid_.chunk_steps();
  }

  void visit(std::int64_t block, std::int64_t step, std::vector<TileAccess>& out) const override {
    const AttentionProblem& p = grid_.problem();
    const int element = bytes_per_element(p.dtype);
    const std::int64_t chunk = step / grid_.chunk_steps();
    const std::int64_t in_chunk = step % grid_.chunk_steps() * grid_.step();
    const std::int64_t key = chunk * grid_.chunk() + in_chunk;
    const std::int64_t keys = std::min(grid_.step(), grid_.chunk() - in_chunk);
    out.push_back({Tensor::k, Access::load, block, key, keys, 0, p.d, element});
    out.push_back({Tensor::v, Access::load, block, key, keys, 0, p.d, element});
    if (in_chunk + keys < grid_.chunk()) return;
    out.push_back({kv_state, Access::store, block * grid_.states() + chunk, 0, p.d + 1, 0, p.d, element});
  }

 private:
  ChunkGrid grid_;
};

/// Block (i, head): step 0 loads Q_i and the state, if any; the next steps load the other keys that rows of the tile
/// see; the last step stores O_i. A tile whose rows see no key loads nothing.
class OutputsProgram final : public TileProgram {
 public:
  explicit OutputsProgram(const ChunkGrid& grid) : grid_(grid), states_(grid.states()) {}

  [[nodiscard]] std::int64_t blocks() const override { return grid_.row_tiles() * grid_.problem().instances(); }
  [[nodiscard]] std::int64_t steps(std::int64_t block) const override {
    const std::int64_t tile = block % grid_.row_tiles();
    return grid_.end(tile) == 0 ? 1 : 2 + grid_.key_steps(tile);
  }

  void visit(std::int64_t block, std::int64_t step, std::vector<TileAccess>& out) const override {
    const AttentionProblem& p = grid_.problem();
    const int element = bytes_per_element(p.dtype);
    const std::int64_t tile = block % grid_.row_tiles();
    const std::int64_t instance = block / grid_.row_tiles();
    const std::int64_t head = instance / group_size(p);
    const std::int64_t row = tile * grid_.tile().br;
    if (step == steps(block) - 1) {
      out.push_back({Tensor::o, Access::store, instance, row, grid_.rows(tile), 0, p.d, output_bytes(p.dtype)});
    } else if (step == 0) {
      out.push_back({Tensor::q, Access::load, instance, row, grid_.rows(tile), 0, p.d, element});
      if (grid_.keys_in_state(tile) == 0) return;
      const std::int64_t state = head * states_ + grid_.keys_in_state(tile) / grid_.chunk() - 1;
      out.push_back({kv_state, Access::load, state, 0, p.d + 1, 0, p.d, element});
    } else {
      const std::int64_t key = grid_.keys_in_state(tile) + (step - 1) * grid_.step();
      const std::int64_t keys = keys_of(tile, step);
      out.push_back({Tensor::k, Access::load, head, key, keys, 0, p.d, element});
      out.push_back({Tensor::v, Access::load, head, key, keys, 0, p.d, element});
    }
  }

 private:
  [[nodiscard]] std::int64_t keys_of(std::int64_t tile, std::int64_t step) const {
    return std::min(grid_.step(), grid_.end(tile) - grid_.keys_in_state(tile) - (step - 1) * grid_.step());
  }

  ChunkGrid grid_;
  std::int64_t states_;
};

std::int64_t state_elements(const AttentionProblem& p) {
  return (p.d + 1) * p.d;
}

}  // namespace

HeadSums head_sums(const ChunkGrid& grid) {
  HeadSums sums;
  std::int64_t loaded = 0;  // keys before this one have been loaded by a tile
  std::int64_t before = 0;  // keys covered by the previous tile's state
  for (std::int64_t tile = 0; tile < grid.row_tiles(); ++tile) {
    const std::int64_t kept = grid.keys_in_state(tile);
    const std::int64_t end = grid.end(tile);
    const std::int64_t rows = grid.rows(tile);
    const std::int64_t key_steps = grid.key_steps(tile);
    append(sums.blocks, {.blocks = 1,
                         .steps = static_cast<double>(end == 0 ? 1 : 2 + key_steps),
                         .rounds = static_cast<double>((kept > 0 ? 1 : 0) + key_steps)});
    if (end == 0) continue;
    ++sums.tiles;
    sums.rows += rows;
    sums.state_tiles += kept > 0 ? 1 : 0;
    sums.state_rows += kept > 0 ? rows : 0;
    sums.distinct_states += kept > before ? 1 : 0;
    before = kept;
    sums.keys += end - kept;
    sums.distinct_keys += std::max<std::int64_t>(0, end - std::max(kept, loaded));
    sums.key_steps += key_steps;
    // Row r of the tile sees `end` keys minus the rows after it: at least `kept`, or none.
    const std::int64_t seeing = grid.causal() ? std::min(rows, end) : 0;
    sums.pairs += seeing * (end - kept) - seeing * (seeing - 1) / 2;
    loaded = std::max(loaded, end);
  }
  return sums;
}

std::shared_ptr<const TileProgram> states_program(const ChunkGrid& grid) {
  return std::make_shared<const StatesProgram>(grid);
}

std::shared_ptr<const TileProgram> outputs_program(const ChunkGrid& grid) {
  return std::make_shared<const OutputsProgram>(grid);
}

/// K and V once up to the last state; each state once.
std::vector<OperandTraffic> states_traffic(const ChunkGrid& grid) {
  const AttentionProblem& p = grid.problem();
  const std::int64_t element = bytes_per_element(p.dtype);
  const std::int64_t states = p.kv_instances() * grid.states();
  const Traffic keys{.l2_to_sm_bytes = states * grid.chunk() * p.d * element};
  return {{Tensor::k, keys}, {Tensor::v, keys}, {kv_state, {.sm_to_l2_bytes = states * state_elements(p) * element}}};
}

/// Q once if its tile sees a key; a state per tile that starts from one; the tile's other keys; O once.
std::vector<OperandTraffic> outputs_traffic(const ChunkGrid& grid, const HeadSums& sums) {
  const AttentionProblem& p = grid.problem();
  const std::int64_t element = bytes_per_element(p.dtype);
  const std::int64_t row = p.instances() * p.d * element;
  const Traffic keys{.l2_to_sm_bytes = sums.keys * row};
  return {{Tensor::q, {.l2_to_sm_bytes = sums.rows * row}},
          {Tensor::k, keys},
          {Tensor::v, keys},
          {kv_state, {.l2_to_sm_bytes = p.instances() * sums.state_tiles * state_elements(p) * element}},
          {Tensor::o, {.sm_to_l2_bytes = p.instances() * p.n_q * p.d * output_bytes(p.dtype)}}};
}

KernelWork states_work(const ChunkGrid& grid) {
  const AttentionProblem& p = grid.problem();
  const auto d = static_cast<double>(p.d);
  const double states = static_cast<double>(p.kv_instances()) * static_cast<double>(grid.states());
  const double steps = states * static_cast<double>(grid.chunk_steps());
  const double keys = steps * static_cast<double>(grid.step());  // rounded up to whole steps
  const double tile_bytes = keys * d * bytes_per_element(p.dtype);
  return {.steps = steps,
          .rounds = steps,
          .tensor_flops = 2 * keys * d * (d + 8),  // z takes a product of eight columns
          .exponentials = keys * d,
          .fp32_values = keys * d + states * static_cast<double>(state_elements(p)),
          .shared_bytes = tile_bytes * (d / 16 + 1),  // each warp reads its columns of K and all of V
          .distinct_bytes = static_cast<double>(sum_of(states_traffic(grid)).total())};
}

KernelWork outputs_work(const ChunkGrid& grid, const HeadSums& sums) {
  const AttentionProblem& p = grid.problem();
  const auto d = static_cast<double>(p.d);
  const auto element = static_cast<double>(bytes_per_element(p.dtype));
  const auto heads = static_cast<double>(p.instances());
  const auto br = static_cast<double>(grid.tile().br);
  const double rows = static_cast<double>(sums.tiles) * br;  // rounded up to whole tiles
  const double from_states = static_cast<double>(sums.state_tiles) * br;
  // rounded up to whole steps
  const double keys = static_cast<double>(sums.key_steps) * static_cast<double>(grid.step());
  const double cells = keys * br;
  const double warps = br / 16;
  double steps = 0;
  double rounds = 0;
  for (const BlockRun& run : sums.blocks) {
    steps += static_cast<double>(run.blocks) * run.steps;
    rounds += static_cast<double>(run.blocks) * run.rounds;
  }
  const double operand_bytes = static_cast<double>(sums.state_tiles) * d * (warps * d + br) +
                               static_cast<double>(sums.key_steps) * d * br + keys * d * 2 * warps;
  const double states = static_cast<double>(p.kv_instances()) * static_cast<double>(sums.distinct_states);
  const double read_once = heads * static_cast<double>(sums.rows) * d +
                           states * static_cast<double>(state_elements(p)) +
                           static_cast<double>(p.kv_instances()) * static_cast<double>(sums.distinct_keys) * 2 * d;
  return {.steps = heads * steps,
          .order = make_block_order({.heads = p.instances(), .tiles = {sums.blocks}}),
          .rounds = heads * rounds,
          .tensor_flops = heads * (2 * from_states * d * d + 4 * cells * d),
          .exponentials = heads * (rows + keys) * d,
          .fp32_values = heads * ((2 * rows + keys) * d + cells),
          .shared_bytes = heads * operand_bytes * element,
          .distinct_bytes = read_once * element + heads * static_cast<double>(p.n_q) * d * output_bytes(p.dtype)};
}

}  // namespace attnscope::linattn
