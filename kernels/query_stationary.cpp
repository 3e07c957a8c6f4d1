// SPDX-License-Identifier: Apache-2.0
#include "kernels/query_stationary.h"

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "kernels/block_orders.h"
#include "kernels/device/head_blocks_shape.h"
#include "kernels/device/quantize_shape.h"
#include "kernels/model/integer.h"
#include "kernels/model/tile_grid.h"

namespace attnscope::query_stationary {
namespace {

/// Returns true if operands have scales.
bool quantized(const AttentionProblem& p) {
  return p.dtype == DType::fp8;
}

/// Interleaved heads: more than one if later Q tiles see more keys.
std::int64_t heads_per_group(const AttentionProblem& p) {
  return has_only_right_bound(p) ? interleaved_heads(p.n_k) : 1;
}

/// LSE: a warp stores half of its 16 rows per request.
RowValues lse_values(const AttentionProblem& p, const TileShape& tile) {
  return {.head_rows = p.n_q, .tile_rows = tile.br, .request_rows = 8};
}

/// Steps of a block whose Q tile sees `seen` K tiles.
std::int64_t block_steps(std::int64_t seen) {
  return seen == 0 ? 1 : seen + 2;
}

/// A block owns Q tile i of one instance: step 0 loads Q_i, the next steps load K_j and V_j of the visited tiles j, the
/// last step stores O_i and LSE_i. A tile whose rows see no key loads nothing. If later rows see more keys, the last
/// tiles are scheduled first (head_block()). With a persistent grid, a block here is a tile taken from the counter.
class Program final : public TileProgram {
 public:
  Program(const AttentionProblem& problem, const Config& config, const Execution& execution)
      : p_(problem),
        tile_(config.tile),
        raster_(raster_of(config)),
        persistent_(execution.persistent_blocks > 0),
        box_rows_(execution.box_rows),
        grids_(problem, config.tile) {
    q_tiles_ = grids_.of(0).q_tiles();
  }

  [[nodiscard]] std::int64_t blocks() const override { return q_tiles_ * p_.instances(); }

  [[nodiscard]] std::int64_t steps(std::int64_t block) const override { return tile_steps(place(block)); }

  void visit(std::int64_t block, std::int64_t step, std::vector<TileAccess>& out) const override {
    const BlockLocation at = place(block);
    const TileGrid& grid = grids_.of(at.instance);
    const int element = bytes_per_element(p_.dtype);
    const std::int64_t row = at.tile * tile_.br;
    const std::int64_t rows = grid.q_rows(at.tile);
    const bool takes = persistent_ && step == 0;
    if (takes) out.push_back(taken(Access::load));
    if (step == tile_steps(at) - 1) {
      const int bytes = output_bytes(p_.dtype);
      out.push_back({Tensor::o, Access::store, at.instance, row, rows, 0, p_.d, bytes});
      out.push_back(lse_values(p_, tile_).access(Tensor::lse, Access::store, at.instance, row, rows));
    } else if (step == 0) {
      const TileAccess q{Tensor::q, Access::load, at.instance, row, rows, 0, p_.d, element};
      out.push_back(box_rows_ > 0 ? q.with_tma_boxes(box_rows_) : q);
      if (quantized(p_)) {
        out.push_back(scales(Tensor::q_scales, at.instance, row / scaled_queries, ceil_div(rows, scaled_queries)));
      }
    } else {
      const std::int64_t j = k_tile(grid, at, step);
      const std::int64_t kv = at.instance / group_size(p_);
      const std::int64_t key = j * tile_.bc;
      const std::int64_t keys = box_rows_ > 0 ? std::min<std::int64_t>(tile_.bc, p_.n_k - key) : grid.k_rows(j);
      for (const Tensor tensor : {Tensor::k, Tensor::v}) {
        const TileAccess tile{tensor, Access::load, kv, key, keys, 0, p_.d, element};
        out.push_back(box_rows_ > 0 ? tile.with_tma_boxes(tile_.bc) : tile);
      }
      if (!quantized(p_)) return;
      for (const Tensor tensor : {Tensor::k_scales, Tensor::v_scales}) {
        out.push_back(scales(tensor, kv, key / scaled_keys, 1));
      }
    }
    if (takes) out.push_back(taken(Access::reduce));
  }

 private:
  /// Scale records of one sector each.
  [[nodiscard]] TileAccess scales(Tensor tensor, std::int64_t instance, std::int64_t first, std::int64_t count) const {
    return {tensor, Access::load, instance, first, count, 0, 1, static_cast<int>(sector_bytes)};
  }

  /// One direction of an atomic operation on the counter: one sector.
  static TileAccess taken(Access way) { return {Tensor::taken, way, 0, 0, 1, 0, 1, static_cast<int>(sector_bytes)}; }

  /// K tile of a step between the first and the last.
  static std::int64_t k_tile(const TileGrid& grid, const BlockLocation& at, std::int64_t step) {
    return grid.nth_k_tile(at.tile, step - 1);
  }

  [[nodiscard]] std::int64_t tile_steps(const BlockLocation& at) const {
    return block_steps(grids_.of(at.instance).visible_k_tiles(at.tile));
  }

  [[nodiscard]] BlockLocation place(std::int64_t block) const {
    return block_location(block, raster_, q_tiles_, p_.instances(), heads_per_group(p_), has_only_right_bound(p_));
  }

  AttentionProblem p_;
  TileShape tile_;
  Raster raster_;
  bool persistent_;
  int box_rows_;
  BatchGrid grids_;
  std::int64_t q_tiles_ = 0;
};

/// Loaded rows of Q. With boxes, the last tile of a head is loaded whole if it sees any key.
std::int64_t query_rows_loaded(const AttentionProblem& p, const Execution& execution,
                               std::span<const std::vector<TileRun>> rows, const TileCounts& counts) {
  if (execution.box_rows == 0) return counts.query_rows_touched;
  const std::int64_t outside = ceil_div(p.n_q, execution.box_rows) * execution.box_rows - p.n_q;
  const auto seeing = std::ranges::count_if(rows, [](const auto& entry_runs) { return entry_runs.back().seen > 0; });
  return counts.query_rows_touched + outside * seeing * (p.instances() / std::ssize(rows));
}

/// O and LSE once; Q once if it sees any key; K and V once per visiting Q tile; with a persistent grid, one sector of
/// the counter per tile in each direction.
std::vector<OperandTraffic> forward_traffic(const AttentionProblem& p, const TileShape& tile,
                                            const Execution& execution, std::span<const std::vector<TileRun>> runs,
                                            const TileCounts& counts) {
  const std::int64_t row = p.d * bytes_per_element(p.dtype);
  const std::int64_t rows = p.instances() * p.n_q;
  const Traffic keys{.l2_to_sm_bytes = (execution.box_rows > 0 ? counts.tiles * tile.bc : counts.key_rows_read) * row};
  std::vector<OperandTraffic> all{
      {Tensor::q, {.l2_to_sm_bytes = query_rows_loaded(p, execution, runs, counts) * row}},
      {Tensor::k, keys},
      {Tensor::v, keys},
      {Tensor::o, {.sm_to_l2_bytes = rows * p.d * output_bytes(p.dtype)}},
      {Tensor::lse, {.sm_to_l2_bytes = lse_values(p, tile).single_visit_bytes(p.instances())}}};
  if (quantized(p)) {
    const std::int64_t groups = query_rows_loaded(p, execution, runs, counts) / scaled_queries;
    all.push_back({Tensor::q_scales, {.l2_to_sm_bytes = groups * sector_bytes}});
    for (const Tensor tensor : {Tensor::k_scales, Tensor::v_scales}) {
      all.push_back({tensor, {.l2_to_sm_bytes = counts.tiles * sector_bytes}});
    }
  }
  if (execution.persistent_blocks > 0) {
    const std::int64_t bytes = p.instances() * ceil_div(p.n_q, tile.br) * sector_bytes;
    all.push_back({Tensor::taken, {.l2_to_sm_bytes = bytes, .sm_to_l2_bytes = bytes}});
  }
  return all;
}

BlockOrder forward_block_order(const AttentionProblem& p, Raster raster, std::span<const std::vector<TileRun>> rows,
                               std::int64_t rounds_per_tile) {
  return make_block_order({.heads = p.instances(),
                           .raster = raster,
                           .last_tile_first = has_only_right_bound(p),
                           .heads_per_group = heads_per_group(p)},
                          rows, [&](const TileRun& run) -> BlockRun {
                            return {.steps = static_cast<double>(block_steps(run.seen)),
                                    .rounds = static_cast<double>(run.seen * rounds_per_tile),
                                    .mask_reads = static_cast<double>(run.mask_reads_by_square)};
                          });
}

KernelWork forward_work(const AttentionProblem& p, const Config& config, const BatchGrid& grids,
                        std::span<const std::vector<TileRun>> rows, const TileCounts& counts,
                        const Execution& execution) {
  const TileShape& tile = config.tile;
  const auto row = static_cast<double>(p.d * bytes_per_element(p.dtype));
  const auto tiles = static_cast<double>(counts.tiles);
  const double cells = tiles * tile.br * tile.bc;
  const std::int64_t empty = p.instances() * ceil_div(p.n_q, tile.br) - counts.q_tiles_touched;
  const std::int64_t read_once = counts.query_rows_touched + 2 * grids.kv_columns(grids.column_runs()).key_rows_touched;
  const std::int64_t rounds_per_tile = ceil_div(tile.bc, execution.chunk_columns);
  return {.steps = static_cast<double>(counts.tiles + 2 * counts.q_tiles_touched + empty),
          .order = forward_block_order(p, raster_of(config), rows, rounds_per_tile),
          .rounds = tiles * static_cast<double>(rounds_per_tile),
          .mask_reads = mean_mask_reads(rows, mask_reads_by_square) * static_cast<double>(p.instances()),
          .tensor_flops = 4 * static_cast<double>(p.d) * cells,
          .relative_throughput = relative_throughput(p.dtype),
          .exponentials = cells * execution.exponential_share,
          .fp32_values = tiles * tile.br * static_cast<double>(p.d),
          .shared_bytes = tiles * static_cast<double>(ceil_div(tile.br, execution.operand_rows)) * 2 * tile.bc * row,
          .distinct_bytes = static_cast<double>(read_once) * row +
                            static_cast<double>(p.instances() * p.n_q * (p.d * output_bytes(p.dtype) + fp32_bytes))};
}

}  // namespace

KernelModel model(const AttentionProblem& p, const Config& config, const KernelResources& needs,
                  std::vector<OnChipPart> on_chip, const Execution& execution) {
  const BatchGrid grids(p, config.tile);
  const std::vector<std::vector<TileRun>> rows = grids.row_runs();
  const TileCounts counts = grids.counts(rows);
  KernelModel model = kernel_model("fwd", p.instances() * ceil_div(p.n_q, config.tile.br), needs,
                                   forward_traffic(p, config.tile, execution, rows, counts), std::move(on_chip),
                                   forward_work(p, config, grids, rows, counts, execution), execution.timing);
  model.persistent_blocks = static_cast<std::uint32_t>(execution.persistent_blocks);
  return model;
}

std::vector<BufferSpec> buffers(const AttentionProblem& p, bool persistent) {
  std::vector<BufferSpec> all = input_buffers(p);
  all.push_back(row_buffer("o", p, p.d, output_bytes(p.dtype)));
  all.push_back(row_buffer("lse", p, 1, fp32_bytes));
  if (persistent) all.push_back({"taken", sector_bytes, BufferFill::zeros});
  return all;
}

AttentionPlan forward(const AttentionProblem& p, const Config& config, KernelModel model, KernelSource source,
                      const Execution& execution, const std::vector<Argument>& matrices) {
  std::vector<Argument> arguments = attention_arguments({}, p);
  const std::vector<Argument> first = matrices.empty() ? kernel_arguments({"q", "k", "v", "o", "lse"}, {}) : matrices;
  arguments.insert(arguments.begin(), first.begin(), first.end());

  AttentionPlan plan;
  plan.buffers = buffers(p, model.persistent_blocks > 0);
  auto program = std::make_shared<const Program>(p, config, execution);
  plan.launches.emplace_back(std::move(model), std::move(source), std::move(arguments), std::move(program));
  return plan;
}

std::vector<std::string> defines(const AttentionProblem& p, const Config& config) {
  return kernel_defines(
      {"ATTN_BF16", "ATTN_D", "ATTN_BR", "ATTN_BC", "ATTN_MASK", "ATTN_DROPOUT", "ATTN_HEADS_FASTEST"}, p, config);
}

}  // namespace attnscope::query_stationary
