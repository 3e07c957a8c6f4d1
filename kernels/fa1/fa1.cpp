// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "kernels/algorithm_parts.h"
#include "kernels/block_orders.h"
#include "kernels/device/gradient_shape.h"
#include "kernels/fa1/fa1_backward.h"
#include "kernels/fa1/fa1_shape.h"
#include "kernels/model/integer.h"
#include "kernels/model/io_model.h"
#include "kernels/model/tile_grid.h"
#include "messages/tile_meaning.h"

namespace attnscope {
namespace {

// Timing constants, fitted on an NVIDIA H200 by tests/gpu/fit_times.py to half of the recorded launches.

/// mma.sync; K and V stay on chip, the fp32 state of the rows passes through memory in every step.
constexpr KernelTiming forward_timing{
    .block_latency = 6500,
    .step_latency = 25.7,
    .round_latency = 156,
    .mask_read_latency = 323,
    .refill_latency = 5610,
    .alone = {.tensor = 0.693, .exponential = 0, .fp32 = 0.686, .shared = 0.759, .l2 = 1.58},
    .busy = {.tensor = 1, .exponential = 0.382, .fp32 = 0.396, .shared = 0.572, .l2 = 1.32},
    .skew = 0.0617,
    .overlap = 1,
    .launch_ns = 8340,
    .use = {.exponentials = 1.07, .wavefronts = {.exponential = 0.265, .fp32 = 0.224, .shared = 1.07}},
};

/// l and m: a warp loads and stores half of its 16 rows per request. All warps clear them.
RowValues numbers_of(const AttentionProblem& p, const TileShape& tile) {
  return {.head_rows = p.n_q, .tile_rows = tile.br, .request_rows = fa1::warp_rows / 2};
}
RowValues cleared_row_numbers(const AttentionProblem& p) {
  return {.head_rows = p.n_q, .tile_rows = p.n_q, .request_rows = 32};
}

/// One block per instance. Step 0 initializes O, l and m (and writes the 16-bit O of Q tiles that see no key). Each
/// visited K/V tile then has one step that loads it and one step per Q tile that visits it. The last pass over a Q tile
/// stores the 16-bit O instead of the fp32 accumulator.
class Fa1Program final : public TileProgram {
 public:
  Fa1Program(const AttentionProblem& problem, const TileShape& tile)
      : p_(problem), tile_(tile), numbers_(numbers_of(problem, tile)), grids_(problem, tile) {
    for (std::int64_t entry = 0; entry < (p_.mask.padded() ? p_.batch : 1); ++entry) {
      walks_.push_back(make_walk(grids_.of(entry * p_.heads_q)));
    }
  }

  [[nodiscard]] std::int64_t blocks() const override { return p_.instances(); }
  [[nodiscard]] std::int64_t steps(std::int64_t block) const override { return walk(block).steps; }

  void visit(std::int64_t instance, std::int64_t step, std::vector<TileAccess>& out) const override {
    const TileGrid& grid = grids_.of(instance);
    const Walk& walk = this->walk(instance);
    const int element = bytes_per_element(p_.dtype);
    if (step == 0) {
      out.push_back({Tensor::o_acc, Access::store, instance, 0, p_.n_q, 0, p_.d, fp32_bytes});
      for (const std::int64_t i : walk.empty_q_tiles) {
        out.push_back(
            {Tensor::o, Access::store, instance, i * tile_.br, grid.q_rows(i), 0, p_.d, output_bytes(p_.dtype)});
      }
      for (const Tensor tensor : {Tensor::l, Tensor::m}) {
        out.push_back(cleared_row_numbers(p_).access(tensor, Access::store, instance, 0, p_.n_q));
      }
      return;
    }
    const auto [pass, inner] = at(walk, step);
    if (inner == 0) {
      const std::int64_t kv = instance / group_size(p_);
      const std::int64_t row = pass.k_tile * tile_.bc;
      const std::int64_t rows = grid.k_rows(pass.k_tile);
      out.push_back({Tensor::k, Access::load, kv, row, rows, 0, p_.d, element});
      out.push_back({Tensor::v, Access::load, kv, row, rows, 0, p_.d, element});
      return;
    }
    const std::int64_t i = q_tile(grid, pass, inner);
    const std::int64_t row = i * tile_.br;
    const std::int64_t rows = grid.q_rows(i);
    const auto state = [&](Access access) {
      out.push_back({Tensor::o_acc, access, instance, row, rows, 0, p_.d, fp32_bytes});
    };
    const auto statistics = [&](Access access) {
      for (const Tensor tensor : {Tensor::l, Tensor::m}) {
        out.push_back(numbers_.access(tensor, access, instance, row, rows));
      }
    };
    out.push_back({Tensor::q, Access::load, instance, row, rows, 0, p_.d, element});
    state(Access::load);
    statistics(Access::load);
    if (pass.k_tile == walk.last_k_tile.at(static_cast<std::size_t>(i))) {
      out.push_back({Tensor::o, Access::store, instance, row, rows, 0, p_.d, output_bytes(p_.dtype)});
    } else {
      state(Access::store);
    }
    statistics(Access::store);
  }

 private:
  /// Pass of one K/V tile over the Q tiles.
  struct KTilePass {
    std::int64_t k_tile = 0;
    std::int64_t first_step = 0;
  };
  struct Walk {
    std::vector<KTilePass> passes;
    std::vector<std::int64_t> last_k_tile;  ///< per Q tile; -1 if it visits none
    std::vector<std::int64_t> empty_q_tiles;
    std::int64_t steps = 1;
  };

  /// Pass of a step after the first, and the step's index in it.
  struct At {
    const KTilePass& pass;
    std::int64_t inner;
  };
  static At at(const Walk& walk, std::int64_t step) {
    const KTilePass& pass = *(std::ranges::upper_bound(walk.passes, step, {}, &KTilePass::first_step) - 1);
    return {pass, step - pass.first_step};
  }
  static std::int64_t q_tile(const TileGrid& grid, const KTilePass& pass, std::int64_t inner) {
    return grid.nth_q_tile(pass.k_tile, inner - 1);
  }

  [[nodiscard]] Walk make_walk(const TileGrid& grid) const {
    Walk walk;
    walk.last_k_tile.assign(static_cast<std::size_t>(grid.q_tiles()), -1);
    for (std::int64_t j = 0; j < grid.k_tiles(); ++j) {
      const std::int64_t seen = grid.visible_q_tiles(j);
      if (seen == 0) continue;
      walk.passes.push_back({j, walk.steps});
      walk.steps += 1 + seen;
    }
    for (std::int64_t i = 0; i < grid.q_tiles(); ++i) {
      const std::int64_t seen = grid.visible_k_tiles(i);
      if (seen == 0) {
        walk.empty_q_tiles.push_back(i);
      } else {
        walk.last_k_tile[static_cast<std::size_t>(i)] = grid.nth_k_tile(i, seen - 1);
      }
    }
    return walk;
  }

  [[nodiscard]] const Walk& walk(std::int64_t instance) const {
    return walks_.at(static_cast<std::size_t>(p_.mask.padded() ? instance / p_.heads_q : 0));
  }

  AttentionProblem p_;
  TileShape tile_;
  RowValues numbers_;
  BatchGrid grids_;
  std::vector<Walk> walks_;  ///< one element if all grids are equal
};

/// K and V once if any query sees them; Q and the fp32 state of each Q tile once per K/V tile that it visits; the state
/// once more to initialize it; O once, in place of the accumulator's last store.
std::vector<OperandTraffic> forward_traffic(const AttentionProblem& p, const TileShape& tile, const BatchRuns& runs,
                                            const TileCounts& counts, const ColumnCounts& columns) {
  const std::int64_t row = p.d * bytes_per_element(p.dtype);
  const std::int64_t accumulator = p.d * fp32_bytes;
  const std::int64_t rows = p.instances() * p.n_q;
  const std::int64_t passes = counts.query_rows_read;
  const std::int64_t accumulator_stores = rows + passes - counts.query_rows_touched;
  const Traffic keys{.l2_to_sm_bytes = columns.key_rows_touched * group_size(p) * row};
  const std::int64_t numbers = numbers_of(p, tile).visible_tile_bytes(p, runs.rows);
  const Traffic statistics{.l2_to_sm_bytes = numbers,
                           .sm_to_l2_bytes = numbers + cleared_row_numbers(p).single_visit_bytes(p.instances())};
  return {{Tensor::q, {.l2_to_sm_bytes = passes * row}},
          {Tensor::k, keys},
          {Tensor::v, keys},
          {Tensor::o_acc, {.l2_to_sm_bytes = passes * accumulator, .sm_to_l2_bytes = accumulator_stores * accumulator}},
          {Tensor::l, statistics},
          {Tensor::m, statistics},
          {Tensor::o, {.sm_to_l2_bytes = rows * p.d * output_bytes(p.dtype)}}};
}

constexpr Features features{.window = true, .lengths = true, .blocks = true, .dropout = true};

KernelResources needs(const AttentionProblem& p, const TileShape& tile, int teams = 1) {
  const int d = static_cast<int>(p.d);
  return {.kernel = "fa1 fwd",
          .threads = fa1::threads(tile.br, teams),
          .registers = fa1::register_estimate(tile.br, tile.bc, d, p.dropout > 0),
          .shared_bytes = fa1::shared_bytes(tile.br, tile.bc, d, bytes_per_element(p.dtype), teams)};
}

int team_count(const DeviceLimits& device, const AttentionProblem& p, const TileShape& tile) {
  int teams = fa1::max_teams(tile.br);
  while (teams > 1 && needs(p, tile, teams).shared_bytes > device.shared_bytes_per_block) --teams;
  return teams;
}

/// Block-mask lookups of one head: for every slice, each team scans the row tiles of a column; for each row tile that
/// it processes, it also looks for a later visited column.
double mask_reads(std::span<const TileRun> rows, std::span<const TileRun> columns, int slices, int teams) {
  return slices *
         (static_cast<double>(mask_reads_by_square(columns)) + static_cast<double>(mask_reads_by_square(rows)) / teams);
}

/// A block processes a head; heads differ only if batch entries do.
BlockOrder forward_block_order(const AttentionProblem& p, const BatchRuns& runs, double rounds_per_tile, int slices,
                               int teams) {
  if (runs.columns.size() == 1) return {};
  HeadTileLaunch launch{.heads = p.instances()};
  for (std::size_t entry = 0; entry < runs.columns.size(); ++entry) {
    const std::vector<TileRun>& columns = runs.columns[entry];
    const auto tiles = static_cast<double>(visited_tiles(columns));
    launch.tiles.push_back({{.blocks = 1,
                             .steps = 1 + static_cast<double>(touched_tiles(columns)) + tiles,
                             .rounds = tiles * rounds_per_tile,
                             .mask_reads = mask_reads(runs.rows[entry], columns, slices, teams)}});
  }
  return make_block_order(launch);
}

/// Bytes that every pass over the Q tiles rereads if `heads_at_once` heads run concurrently: Q (16-bit), O, l and m
/// (fp32).
std::int64_t forward_working_set(const AttentionProblem& p, std::int64_t heads_at_once) {
  const std::int64_t row = p.d * bytes_per_element(p.dtype) + (p.d + 2) * fp32_bytes;
  return std::min(heads_at_once, p.instances()) * p.n_q * row;
}

KernelWork forward_work(const AttentionProblem& p, const TileShape& tile, const BatchRuns& runs,
                        const TileCounts& counts, const ColumnCounts& columns, const DeviceLimits& device, int teams) {
  const int d = static_cast<int>(p.d);
  const auto row = static_cast<double>(p.d * bytes_per_element(p.dtype));
  const auto tiles = static_cast<double>(counts.tiles);
  const double cells = tiles * tile.br * tile.bc;
  const int slices = fa1::slices_per_warp(tile.br);
  const std::int64_t rounds_per_tile =
      slices * ceil_div(tile.bc, fa1::chunk_columns(tile.br, tile.bc, d, p.dropout > 0));
  const std::int64_t read_once = counts.query_rows_touched + 2 * columns.key_rows_touched;
  const auto rows = static_cast<double>(p.instances() * p.n_q);
  const double state = static_cast<double>(p.d + 2) * fp32_bytes;
  const std::int64_t rows_at_once = std::int64_t{fa1::warps(tile.br)} * fa1::warp_rows * teams;
  return {.steps = static_cast<double>(p.instances() + columns.k_tiles_touched * group_size(p) + counts.tiles),
          .order = forward_block_order(p, runs, static_cast<double>(rounds_per_tile) / teams, slices, teams),
          .concurrent_steps = static_cast<double>(teams),
          .rounds = tiles * static_cast<double>(rounds_per_tile) / teams,
          .mask_reads = static_cast<double>(p.instances()) * slices *
                        (mean_mask_reads(runs.columns, mask_reads_by_square) +
                         mean_mask_reads(runs.rows, mask_reads_by_square) / teams),
          .tensor_flops = 4 * static_cast<double>(p.d) * cells,
          .exponentials = cells,
          .fp32_values = 3 * tiles * tile.br * d,  // O is multiplied by l, rescaled and divided again
          .shared_bytes = tiles * static_cast<double>(ceil_div(tile.br, fa1::warp_rows)) * 2 * tile.bc * row,
          .register_bytes = static_cast<double>(counts.query_rows_read) * state,
          .concurrent_load_bytes = static_cast<double>(rows_at_once) * state,
          .distinct_bytes =
              static_cast<double>(read_once) * row + rows * (state + static_cast<double>(p.d * output_bytes(p.dtype))),
          .reread_bytes = static_cast<double>(forward_working_set(p, resident_blocks(device, needs(p, tile, teams))))};
}

KernelModel forward_model(const AttentionProblem& p, const TileShape& tile, const DeviceLimits& device) {
  const BatchGrid grids(p, tile);
  const BatchRuns runs{.rows = grids.row_runs(), .columns = grids.column_runs()};
  const TileCounts counts = grids.counts(runs.rows);
  const ColumnCounts columns = grids.kv_columns(runs.columns);
  const int teams = team_count(device, p, tile);
  const int element = bytes_per_element(p.dtype);
  const int accumulator = accumulator_bytes(p.dtype);
  const int d = static_cast<int>(p.d);
  const std::int64_t rows = std::int64_t{fa1::warps(tile.br)} * fa1::warp_rows * teams;  // processed at once
  const std::int64_t chunk = fa1::chunk_columns(tile.br, tile.bc, d, p.dropout > 0);
  const std::int64_t kv = std::int64_t{tile.bc} * d * element;
  return kernel_model("fwd", p.instances(), needs(p, tile, teams), forward_traffic(p, tile, runs, counts, columns),
                      {shared_memory_part("K", kv), shared_memory_part("V", kv),
                       shared_memory_part("Q", std::int64_t{teams} * tile.br * d * element, teams),
                       register_part("S", rows * chunk * accumulator), register_part("P", rows * chunk * element),
                       register_part("O", rows * d * accumulator), register_part("m, l", rows * 2 * fp32_bytes)},
                      forward_work(p, tile, runs, counts, columns, device, teams), forward_timing);
}

class FlashAttention1 final : public TwoPassAlgorithm {
 public:
  FlashAttention1()
      : TwoPassAlgorithm({.name = "fa1",
                          .title = "FlashAttention",
                          .short_title = "FA1",
                          .source = "T. Dao et al., FlashAttention (arXiv 2205.14135v2), Algorithm 1",
                          .tile_meaning = msg::tile_meaning::key_tiles{},
                          .plot_slot = PlotSlot::square,
                          .power_law = theorem_2(),
                          .forward_side = TileSide::bc,
                          .backward_side = TileSide::bc,
                          .paper_column = PaperColumn::flash,
                          .groups = {Group::prefill, Group::tile_maps, Group::paper, Group::paper_blocks, Group::law},
                          .head_dims = supported_head_dims<fa1::supported_head_dim>()}) {}

  [[nodiscard]] Config default_config(const AttentionProblem& p, const DeviceLimits& device) const override {
    const TileShape preferred =
        p.pass == Pass::fwd ? tile_of_memory(device.sram_elements(bytes_per_element(p.dtype)), p.d, TileSide::bc)
                            : fa1_backward::preferred_tile(p);
    return shrink_to_fit({.br = tile_side_for_mask(p, preferred.br), .bc = tile_side_for_mask(p, preferred.bc)},
                         [&](const TileShape& tile) { return !refusal(p, tile, device); });
  }

  [[nodiscard]] std::int64_t working_set_bytes(const AttentionProblem& p, const Config& config,
                                               const DeviceLimits& device) const override {
    const TileShape& tile = config.tile;
    if (p.pass != Pass::fwd) {
      const std::int64_t backward = fa1_backward::working_set_bytes(p, tile, device);
      if (p.pass == Pass::bwd) return backward;
      return std::max(backward, working_set_bytes(forward_problem(p), config, device));
    }
    // A block processes a head: each K/V tile passes over the Q, O, l and m of all resident heads.
    return forward_working_set(p, resident_blocks(device, needs(p, tile, team_count(device, p, tile))));
  }

 protected:
  /// Returns a tile that is feasible for the forward pass on every device.
  [[nodiscard]] Config setup_config(const AttentionProblem& forward, const DeviceLimits& /*device*/) const override {
    const int side = tile_side_for_mask(forward, 64);
    return TileShape{.br = side, .bc = side};
  }
  [[nodiscard]] std::optional<Refusal> refuse_forward(const AttentionProblem& p, const Config& config,
                                                      const DeviceLimits& device) const override {
    if (auto refused = check_features("fa1", p, config.tile, features, true)) return refused;
    return check_resources({needs(p, config.tile)}, device);
  }
  [[nodiscard]] std::optional<Refusal> refuse_backward(const AttentionProblem& p, const Config& config,
                                                       const DeviceLimits& device) const override {
    return fa1_backward::refusal(p, config.tile, device);
  }
  [[nodiscard]] std::vector<KernelModel> forward_kernels(const AttentionProblem& p, const Config& config,
                                                         const DeviceLimits& device) const override {
    return {forward_model(p, config.tile, device)};
  }
  [[nodiscard]] std::vector<KernelModel> backward_kernels(const AttentionProblem& p, const Config& config,
                                                          const DeviceLimits& device) const override {
    return {fa1_backward::model(p, config.tile, device)};
  }
  [[nodiscard]] std::vector<BufferSpec> forward_buffers(const AttentionProblem& p) const override {
    std::vector<BufferSpec> all = input_buffers(p);
    all.push_back(row_buffer("o", p, p.d, output_bytes(p.dtype)));
    all.push_back(row_buffer("o_acc", p, p.d, fp32_bytes));
    all.push_back(row_buffer("l", p, 1, fp32_bytes));
    all.push_back(row_buffer("m", p, 1, fp32_bytes));
    return all;
  }
  [[nodiscard]] std::vector<BufferSpec> backward_buffers(const AttentionProblem& p,
                                                         const Config& /*config*/) const override {
    return backward_pass_buffers(
        p, {{"dq_acc", p.instances() * round_up(p.n_q, gradient::accumulator_rows) * p.d * fp32_bytes}});
  }
  [[nodiscard]] AttentionPlan forward_plan(const AttentionProblem& p, const Config& config,
                                           const DeviceLimits& device) const override {
    const TileShape& tile = config.tile;
    std::vector<std::string> defines =
        kernel_defines({"ATTN_BF16", "ATTN_D", "ATTN_BR", "ATTN_BC", "ATTN_MASK", "ATTN_DROPOUT"}, p, config);
    if (const int teams = team_count(device, p, tile); teams > 1)
      defines.push_back(fmt::format("ATTN_TEAMS={}", teams));
    AttentionPlan plan;
    plan.buffers = forward_buffers(p);
    KernelModel model = forward_model(p, tile, device);
    auto program = std::make_shared<const Fa1Program>(p, tile);
    plan.launches.emplace_back(std::move(model),
                               KernelSource{"fa1/fa1_forward.cuh", "attn_fa1_forward", std::move(defines)},
                               attention_arguments({"q", "k", "v", "o", "o_acc", "l", "m"}, p), std::move(program));
    return plan;
  }
  [[nodiscard]] std::vector<KernelLaunch> backward_launches(const AttentionProblem& p, const Config& config,
                                                            const DeviceLimits& device) const override {
    return {fa1_backward::launch(p, config.tile, device)};
  }
};

}  // namespace

std::unique_ptr<const Algorithm> make_fa1() {
  return std::make_unique<FlashAttention1>();
}

}  // namespace attnscope
