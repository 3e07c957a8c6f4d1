// SPDX-License-Identifier: Apache-2.0
#include "kernels/fa1/fa1_backward.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "kernels/block_orders.h"
#include "kernels/device/gradient_shape.h"
#include "kernels/model/integer.h"
#include "kernels/model/tile_grid.h"

namespace attnscope::fa1_backward {
namespace {

// Timing constants, fitted on an NVIDIA H200 by tests/gpu/fit_times.py to half of the recorded launches.

/// mma.sync; K and V stay on chip, the dQ accumulator is read and written in every step.
constexpr KernelTiming backward_timing{
    .block_latency = 1510,
    .step_latency = 340,
    .round_latency = 578,
    .mask_read_latency = 263,
    .alone = {.tensor = 0.331, .exponential = 0.526, .fp32 = 0.5, .shared = 0.524, .l2 = 0.507},
    .busy = {.tensor = 1.25, .exponential = 0.523, .fp32 = 0.501, .shared = 0.913, .l2 = 0.975},
    .skew = 0.103,
    .overlap = 1,
    .launch_ns = 5280,
    .use = {.exponentials = 1.04, .wavefronts = {.exponential = 6.14, .shared = 0.902}},
};

constexpr int operands = 3;  // Q, O, dO
constexpr Features features{.backward = true, .window = true, .lengths = true, .blocks = true, .dropout = true};

KernelResources needs(const AttentionProblem& p, const TileShape& tile) {
  const int d = static_cast<int>(p.d);
  return {.kernel = "fa1 bwd",
          .threads = gradient::threads(tile.br, tile.bc, d),
          .registers = gradient::register_estimate(tile.br, tile.bc, d),
          .shared_bytes = gradient::shared_bytes(tile.br, tile.bc, d, bytes_per_element(p.dtype), operands)};
}

/// l and m; a warp loads one row per thread.
RowValues numbers_of(const AttentionProblem& p, const TileShape& tile) {
  return {.head_rows = p.n_q, .tile_rows = tile.br, .request_rows = 32};
}

/// One block per K/V head. Step 0 clears dq_acc of the group's query heads (and writes the 16-bit dQ of Q tiles that
/// see no key). Each K/V tile then has a step that loads it, one step per Q tile of each query head that sees keys of
/// it, and one that stores dK and dV; only the last if no Q tile sees it. The last pass over a Q tile stores the 16-bit
/// dQ instead of the fp32 accumulator.
class Fa1BackwardProgram final : public TileProgram {
 public:
  Fa1BackwardProgram(const AttentionProblem& p, const TileShape& tile) : p_(p), tile_(tile), grids_(p, tile) {
    for (std::int64_t entry = 0; entry < (p_.mask.padded() ? p_.batch : 1); ++entry) {
      walks_.push_back(make_walk(grids_.kv_grid(entry * p_.heads_kv)));
    }
  }

  [[nodiscard]] std::int64_t blocks() const override { return p_.kv_instances(); }
  [[nodiscard]] std::int64_t steps(std::int64_t kv) const override { return walk(kv).steps; }

  void visit(std::int64_t kv, std::int64_t step, std::vector<TileAccess>& out) const override {
    const TileGrid& grid = grids_.kv_grid(kv);
    const Walk& walk = this->walk(kv);
    const int element = bytes_per_element(p_.dtype);
    const std::int64_t group = group_size(p_);
    if (step == 0) {
      for (std::int64_t instance = kv * group; instance < (kv + 1) * group; ++instance) {
        out.push_back({Tensor::dq_acc, Access::store, instance, 0, p_.n_q, 0, p_.d, fp32_bytes});
        for (const std::int64_t i : walk.empty_q_tiles) {
          out.push_back(
              {Tensor::dq, Access::store, instance, i * tile_.br, grid.q_rows(i), 0, p_.d, output_bytes(p_.dtype)});
        }
      }
      return;
    }
    const At at = this->at(walk, grid, step);
    const std::int64_t key = at.k_tile * tile_.bc;
    if (at.inner == unit_steps(at.seen) - 1) {
      const std::int64_t keys = std::min<std::int64_t>(tile_.bc, p_.n_k - key);
      const int bytes = output_bytes(p_.dtype);
      out.push_back({Tensor::dk, Access::store, kv, key, keys, 0, p_.d, bytes});
      out.push_back({Tensor::dv, Access::store, kv, key, keys, 0, p_.d, bytes});
      return;
    }
    if (at.inner == 0) {
      const std::int64_t keys = grid.k_rows(at.k_tile);
      out.push_back({Tensor::k, Access::load, kv, key, keys, 0, p_.d, element});
      out.push_back({Tensor::v, Access::load, kv, key, keys, 0, p_.d, element});
      return;
    }
    const std::int64_t instance = kv * group + (at.inner - 1) / at.seen;
    const std::int64_t i = q_tile(grid, at);
    const std::int64_t row = i * tile_.br;
    const std::int64_t rows = grid.q_rows(i);
    const auto load = [&](Tensor tensor, std::int64_t columns, int bytes) {
      out.push_back({tensor, Access::load, instance, row, rows, 0, columns, bytes});
    };
    load(Tensor::q, p_.d, element);
    load(Tensor::dout, p_.d, element);
    load(Tensor::o, p_.d, output_bytes(p_.dtype));
    for (const Tensor tensor : {Tensor::l, Tensor::m}) {
      out.push_back(numbers_of(p_, tile_).access(tensor, Access::load, instance, row, rows));
    }
    load(Tensor::dq_acc, p_.d, fp32_bytes);
    const bool finished = at.k_tile == walk.last_k_tile[static_cast<std::size_t>(i)];
    out.push_back({finished ? Tensor::dq : Tensor::dq_acc, Access::store, instance, row, rows, 0, p_.d,
                   finished ? output_bytes(p_.dtype) : fp32_bytes});
  }

 private:
  struct Walk {
    std::vector<std::int64_t> first_step;   ///< per K/V tile
    std::vector<std::int64_t> last_k_tile;  ///< per Q tile; -1 if it visits none
    std::vector<std::int64_t> empty_q_tiles;
    std::int64_t steps = 1;
  };

  struct At {
    std::int64_t k_tile;
    std::int64_t inner;  ///< index among the K/V tile's steps
    std::int64_t seen;   ///< Q tiles that see keys of the tile
  };
  static At at(const Walk& walk, const TileGrid& grid, std::int64_t step) {
    const std::int64_t j = std::ranges::upper_bound(walk.first_step, step) - walk.first_step.begin() - 1;
    return {.k_tile = j, .inner = step - walk.first_step[static_cast<std::size_t>(j)], .seen = grid.visible_q_tiles(j)};
  }
  [[nodiscard]] std::int64_t q_tile(const TileGrid& grid, const At& at) const {
    const std::int64_t nth = (at.inner - 1) % at.seen;
    return grid.nth_q_tile(at.k_tile, nth);
  }

  [[nodiscard]] std::int64_t unit_steps(std::int64_t seen) const { return seen == 0 ? 1 : 2 + seen * group_size(p_); }

  [[nodiscard]] Walk make_walk(const TileGrid& grid) const {
    Walk walk;
    for (std::int64_t j = 0; j < grid.k_tiles(); ++j) {
      walk.first_step.push_back(walk.steps);
      walk.steps += unit_steps(grid.visible_q_tiles(j));
    }
    for (std::int64_t i = 0; i < grid.q_tiles(); ++i) {
      const std::int64_t seen = grid.visible_k_tiles(i);
      walk.last_k_tile.push_back(seen > 0 ? grid.nth_k_tile(i, seen - 1) : -1);
      if (seen == 0) walk.empty_q_tiles.push_back(i);
    }
    return walk;
  }

  [[nodiscard]] const Walk& walk(std::int64_t kv) const {
    return walks_.size() == 1 ? walks_.front() : walks_.at(static_cast<std::size_t>(kv / p_.heads_kv));
  }

  AttentionProblem p_;
  TileShape tile_;
  BatchGrid grids_;
  std::vector<Walk> walks_;
};

/// K and V once if any query sees them; Q, O, dO, their statistics and the dQ accumulator once per tile of the grid;
/// the accumulator's stores once per tile and once more to clear it; dQ once, in place of the accumulator's last store;
/// dK and dV once.
std::vector<OperandTraffic> backward_traffic(const AttentionProblem& p, const TileShape& tile, const BatchRuns& runs,
                                             const TileCounts& counts, const ColumnCounts& columns) {
  const std::int64_t row = p.d * bytes_per_element(p.dtype);
  const std::int64_t output = p.d * output_bytes(p.dtype);
  const std::int64_t accumulator = p.d * fp32_bytes;
  const std::int64_t rows = p.instances() * p.n_q;
  const std::int64_t passes = counts.query_rows_read;
  const std::int64_t accumulator_stores = rows + passes - counts.query_rows_touched;
  const Traffic keys{.l2_to_sm_bytes = columns.key_rows_touched * row};
  const Traffic queries{.l2_to_sm_bytes = passes * row};
  const Traffic statistics{.l2_to_sm_bytes = numbers_of(p, tile).visible_tile_bytes(p, runs.rows)};
  const Traffic key_gradients{.sm_to_l2_bytes = p.kv_instances() * p.n_k * output};
  return {
      {Tensor::q, queries},
      {Tensor::k, keys},
      {Tensor::v, keys},
      {Tensor::o, {.l2_to_sm_bytes = passes * output}},
      {Tensor::dout, queries},
      {Tensor::l, statistics},
      {Tensor::m, statistics},
      {Tensor::dq_acc, {.l2_to_sm_bytes = passes * accumulator, .sm_to_l2_bytes = accumulator_stores * accumulator}},
      {Tensor::dq, {.sm_to_l2_bytes = rows * output}},
      {Tensor::dk, key_gradients},
      {Tensor::dv, key_gradients}};
}

/// Block-mask lookups of one query head: the row tiles of every column, and from every visited row tile to the next
/// visited column.
std::int64_t mask_reads(std::span<const TileRun> rows, std::span<const TileRun> columns) {
  return mask_reads_by_tile(columns) + mask_reads_by_tile(rows);
}

/// A block processes a K/V head; heads differ only if batch entries do.
BlockOrder backward_order(const AttentionProblem& p, const BatchRuns& runs, std::int64_t k_tiles,
                          std::int64_t rounds_per_tile) {
  if (runs.columns.size() == 1) return {};
  HeadTileLaunch launch{.heads = p.kv_instances()};
  for (std::size_t entry = 0; entry < runs.columns.size(); ++entry) {
    const std::vector<TileRun>& entry_columns = runs.columns[entry];
    const std::int64_t tiles = visited_tiles(entry_columns) * group_size(p);
    launch.tiles.push_back(
        {{.blocks = 1,
          .steps = static_cast<double>(1 + k_tiles + touched_tiles(entry_columns) + tiles),
          .rounds = static_cast<double>(tiles * rounds_per_tile),
          .mask_reads = static_cast<double>(group_size(p) * mask_reads(runs.rows[entry], entry_columns))}});
  }
  return make_block_order(launch);
}

KernelWork backward_work(const AttentionProblem& p, const TileShape& tile, const BatchRuns& runs,
                         const TileCounts& counts, const ColumnCounts& columns, const DeviceLimits& device) {
  const int d = static_cast<int>(p.d);
  const int element = bytes_per_element(p.dtype);
  const auto row = static_cast<double>(p.d * element);
  const auto tiles = static_cast<double>(counts.tiles);
  const double cells = tiles * tile.br * tile.bc;
  const std::int64_t k_tiles = ceil_div(p.n_k, tile.bc);
  const std::int64_t rounds_per_tile = ceil_div(tile.bc, gradient::chunk_columns(tile.br, tile.bc, d));
  const auto query_rows = static_cast<double>(p.instances() * p.n_q);
  const auto visible_rows = static_cast<double>(counts.query_rows_touched);
  const auto key_rows = static_cast<double>(p.kv_instances() * p.n_k);
  const double output = static_cast<double>(p.d) * output_bytes(p.dtype);
  return {.steps = static_cast<double>(p.kv_instances() * (1 + k_tiles) + columns.k_tiles_touched + counts.tiles),
          .order = backward_order(p, runs, k_tiles, rounds_per_tile),
          .rounds = tiles * static_cast<double>(rounds_per_tile),
          .mask_reads = static_cast<double>(p.instances()) * (mean_mask_reads(runs.columns, mask_reads_by_tile) +
                                                              mean_mask_reads(runs.rows, mask_reads_by_tile)),
          .tensor_flops = 10 * static_cast<double>(p.d) * cells,
          .exponentials = cells,
          .fp32_values = tiles * tile.br * d,
          .shared_bytes = tiles * static_cast<double>(gradient::operand_bytes(tile.br, tile.bc, d, element)),
          .distinct_bytes = visible_rows * (2 * row + output + 2 * fp32_bytes) +
                            query_rows * (static_cast<double>(p.d) * fp32_bytes + output) +
                            static_cast<double>(2 * columns.key_rows_touched) * row + key_rows * 2 * output,
          .reread_bytes = static_cast<double>(working_set_bytes(p, tile, device))};
}

}  // namespace

KernelModel model(const AttentionProblem& p, const TileShape& tile, const DeviceLimits& device) {
  const BatchGrid grids(p, tile);
  const BatchRuns runs{.rows = grids.row_runs(), .columns = grids.column_runs()};
  const TileCounts counts = grids.counts(runs.rows);
  const ColumnCounts columns = grids.kv_columns(runs.columns);
  return kernel_model("bwd", p.kv_instances(), needs(p, tile), backward_traffic(p, tile, runs, counts, columns),
                      gradient_layout(p, tile, {"Q", "dO", "O"}, "m, l"),
                      backward_work(p, tile, runs, counts, columns, device), backward_timing);
}

KernelLaunch launch(const AttentionProblem& p, const TileShape& tile, const DeviceLimits& device) {
  KernelModel kernel = model(p, tile, device);
  auto program = std::make_shared<const Fa1BackwardProgram>(p, tile);
  return {std::move(kernel),
          {"fa1/fa1_backward.cuh", "attn_fa1_backward",
           kernel_defines({"ATTN_BF16", "ATTN_D", "ATTN_BR", "ATTN_BC", "ATTN_MASK", "ATTN_DROPOUT"}, p, Config(tile))},
          attention_arguments({"q", "k", "v", "o", "dout", "l", "m", "dq_acc", "dq", "dk", "dv"}, p),
          std::move(program)};
}

std::optional<Refusal> refusal(const AttentionProblem& p, const TileShape& tile, const DeviceLimits& device) {
  if (auto refused = check_features("fa1 bwd", p, tile, features, true)) return refused;
  return check_resources({needs(p, tile)}, device);
}

TileShape preferred_tile(const AttentionProblem& p) {
  return p.d <= 32    ? TileShape{.br = 128, .bc = 256}
         : p.d <= 64  ? TileShape{.br = 64, .bc = 256}
         : p.d <= 128 ? TileShape{.br = 64, .bc = 128}
                      : TileShape{.br = 64, .bc = 64};
}

std::int64_t working_set_bytes(const AttentionProblem& p, const TileShape& tile, const DeviceLimits& device) {
  // Q, O and dO, the fp32 dQ accumulator, l and m of the concurrent K/V heads.
  const std::int64_t resident = resident_blocks(device, needs(p, tile));
  const std::int64_t row = p.d * (2 * bytes_per_element(p.dtype) + output_bytes(p.dtype)) + (p.d + 2) * fp32_bytes;
  return std::min(resident, p.kv_instances()) * group_size(p) * p.n_q * row;
}

}  // namespace attnscope::fa1_backward
