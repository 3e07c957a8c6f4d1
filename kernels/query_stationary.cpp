// SPDX-License-Identifier: Apache-2.0
#include "kernels/query_stationary.h"

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "kernels/block_orders.h"
#include "kernels/device/row_blocks_shape.h"
#include "kernels/model/integer.h"
#include "kernels/model/row_numbers.h"
#include "kernels/model/tile_grid.h"
#include "kernels/tile_computations.h"

namespace attnscope::query_stationary {
namespace {

/// Whether launches begin with the last Q tiles: where those see more keys.
bool hands_out_last_first(const AttentionProblem& p) {
  return p.mask.right != Mask::unlimited && p.mask.left == Mask::unlimited;
}

/// LSE, of which a warp stores half of its 16 rows at a time.
RowNumbers lse_of(const AttentionProblem& p, const TileShape& tile) {
  return {.head_rows = p.n_q, .tile_rows = tile.br, .request_rows = 8};
}

/// Of a block whose Q tile sees so many K tiles.
std::int64_t steps_of(std::int64_t seen) {
  return seen == 0 ? 1 : seen + 2;
}

/// A block owns Q tile i of one instance: step 0 loads Q_i, the next ones load K_j and V_j of the tiles j that it
/// visits, the last step stores O_i and LSE_i. A tile whose rows see no key loads nothing. Where later rows see more
/// keys, launches hand out the last tiles first (row_block()). `on_chip` is the model's.
class Program final : public TileProgram {
 public:
  Program(const AttentionProblem& problem, const Config& config, std::span<const OnChipPart> on_chip)
      : p_(problem), tile_(config.tile), raster_(raster_of(config)), parts_(on_chip), grids_(problem, config.tile) {
    q_tiles_ = grids_.of(0).q_tiles();
  }

  [[nodiscard]] std::int64_t blocks() const override { return q_tiles_ * p_.instances(); }

  [[nodiscard]] std::int64_t steps(std::int64_t block) const override { return steps_of_tile(place(block)); }

  void visit(std::int64_t block, std::int64_t step, std::vector<TileAccess>& out) const override {
    const BlockPlace at = place(block);
    const TileGrid& grid = grids_.of(at.instance);
    const int element = bytes_per_element(p_.dtype);
    const std::int64_t row = at.q_tile * tile_.br;
    const std::int64_t rows = grid.q_rows(at.q_tile);
    if (step == steps_of_tile(at) - 1) {
      const int bytes = output_bytes(p_.dtype);
      out.push_back({Tensor::o, Access::store, at.instance, row, rows, 0, p_.d, bytes, Phase::store_o, parts_.o});
      out.push_back(lse_of(p_, tile_).access(Tensor::lse, Access::store, at.instance, row, rows, Phase::store_lse,
                                             parts_.statistics));
    } else if (step == 0) {
      out.push_back({Tensor::q, Access::load, at.instance, row, rows, 0, p_.d, element, Phase::load_q, parts_.q});
    } else {
      const std::int64_t j = k_tile(grid, at, step);
      const std::int64_t kv = at.instance / group_size(p_);
      const std::int64_t key = j * tile_.bc;
      const std::int64_t keys = grid.k_rows(j);
      out.push_back({Tensor::k, Access::load, kv, key, keys, 0, p_.d, element, Phase::load_kv, parts_.k});
      out.push_back({Tensor::v, Access::load, kv, key, keys, 0, p_.d, element, Phase::load_kv, parts_.v});
    }
  }

  void compute(std::int64_t block, std::int64_t step, std::vector<Computation>& out) const override {
    const BlockPlace at = place(block);
    const TileGrid& grid = grids_.of(at.instance);
    const std::int64_t rows = grid.q_rows(at.q_tile);
    const std::int64_t last_step = steps_of_tile(at) - 1;
    if (step == 0) append_cleared(out, parts_, p_, rows);
    if (step == last_step) {
      append_normalized(out, parts_, p_, rows);
    } else if (step > 0) {
      OnChipParts last = parts_of({parts_.k, parts_.v});
      if (step == last_step - 1) last |= parts_of({parts_.q});
      append_attention(out, parts_, p_, rows, grid.k_rows(k_tile(grid, at, step)), rows, last);
    }
  }

 private:
  /// That a step between the first and the last works on.
  static std::int64_t k_tile(const TileGrid& grid, const BlockPlace& at, std::int64_t step) {
    return grid.nth_k_tile(at.q_tile, step - 1);
  }

  [[nodiscard]] std::int64_t steps_of_tile(const BlockPlace& at) const {
    return steps_of(grids_.of(at.instance).k_tiles_seen(at.q_tile));
  }

  [[nodiscard]] BlockPlace place(std::int64_t block) const {
    const bool last_first = hands_out_last_first(p_);
    if (raster_ == Raster::q_fastest) {
      const auto [tile, instance] = row_block(block, q_tiles_, p_.instances(), heads_in_turn(p_.n_k), last_first);
      return {.q_tile = tile, .instance = instance};
    }
    BlockPlace place = place_of(block, raster_, q_tiles_, p_.instances());
    if (last_first) place.q_tile = q_tiles_ - 1 - place.q_tile;
    return place;
  }

  AttentionProblem p_;
  TileShape tile_;
  Raster raster_;
  ForwardParts parts_;
  BatchGrid grids_;
  std::int64_t q_tiles_ = 0;
};

/// O and LSE once, Q once where it sees any key, K and V once for every Q tile that visits them.
std::vector<OperandTraffic> forward_traffic(const AttentionProblem& p, const TileShape& tile,
                                            const TileCounts& counts) {
  const std::int64_t row = p.d * bytes_per_element(p.dtype);
  const std::int64_t rows = p.instances() * p.n_q;
  const Traffic keys{.l2_to_sm_bytes = counts.key_rows_seen * row};
  return {{Tensor::q, {.l2_to_sm_bytes = counts.query_rows_touched * row}},
          {Tensor::k, keys},
          {Tensor::v, keys},
          {Tensor::o, {.sm_to_l2_bytes = rows * p.d * output_bytes(p.dtype)}},
          {Tensor::lse, {.sm_to_l2_bytes = lse_of(p, tile).bytes_once(p.instances())}}};
}

/// As Program::place() has it.
BlockOrder forward_order(const AttentionProblem& p, Raster raster, std::span<const std::vector<TileRun>> rows,
                         std::int64_t rounds_of_tile) {
  HeadTiles launch{
      .heads = p.instances(), .raster = raster, .last_first = hands_out_last_first(p), .in_turn = heads_in_turn(p.n_k)};
  for (const std::vector<TileRun>& of_entry : rows) {
    std::vector<BlockRun>& tiles = launch.tiles.emplace_back();
    tiles.reserve(of_entry.size());
    for (const TileRun& run : of_entry) {
      append(tiles, {.blocks = run.tiles,
                     .steps = static_cast<double>(steps_of(run.seen)),
                     .rounds = static_cast<double>(run.seen * rounds_of_tile),
                     .squares_read = static_cast<double>(run.read_by_square)});
    }
  }
  return order_of(launch);
}

KernelWork forward_work(const AttentionProblem& p, const Config& config, const BatchGrid& grids,
                        std::span<const std::vector<TileRun>> rows, const TileCounts& counts,
                        const Execution& execution) {
  const TileShape& tile = config.tile;
  const auto row = static_cast<double>(p.d * bytes_per_element(p.dtype));
  const auto tiles = static_cast<double>(counts.tiles);
  const double cells = tiles * tile.br * tile.bc;
  const std::int64_t empty = p.instances() * ceil_div(p.n_q, tile.br) - counts.q_tiles_touched;
  const std::int64_t read_once = counts.query_rows_touched + 2 * grids.columns_kv().key_rows_touched;
  const std::int64_t rounds_of_tile = ceil_div(tile.bc, execution.chunk_columns);
  return {.steps = static_cast<double>(counts.tiles + 2 * counts.q_tiles_touched + empty),
          .order = forward_order(p, raster_of(config), rows, rounds_of_tile),
          .rounds = tiles * static_cast<double>(rounds_of_tile),
          .squares_read = mean_read(rows, read_by_square) * static_cast<double>(p.instances()),
          .tensor_flops = 4 * static_cast<double>(p.d) * cells,
          .exponentials = cells,
          .fp32_values = tiles * tile.br * static_cast<double>(p.d),
          .shared_bytes = tiles * static_cast<double>(ceil_div(tile.br, execution.operand_rows)) * 2 * tile.bc * row,
          .distinct_bytes = static_cast<double>(read_once) * row +
                            static_cast<double>(p.instances() * p.n_q * (p.d * output_bytes(p.dtype) + fp32_bytes))};
}

}  // namespace

KernelModel model(const AttentionProblem& p, const Config& config, const KernelNeeds& needs,
                  std::vector<OnChipPart> on_chip, LoadOrder load_order, const Execution& execution) {
  const BatchGrid grids(p, config.tile);
  const std::vector<std::vector<TileRun>> rows = grids.row_runs();
  const TileCounts counts = grids.counts(rows);
  return kernel_model("fwd", p.instances() * ceil_div(p.n_q, config.tile.br), needs,
                      forward_traffic(p, config.tile, counts), forward_flops(p), std::move(on_chip),
                      std::move(load_order), forward_work(p, config, grids, rows, counts, execution), execution.timing);
}

std::vector<BufferSpec> buffers(const AttentionProblem& p) {
  std::vector<BufferSpec> all = input_buffers(p);
  all.push_back(row_buffer("o", p, p.d, output_bytes(p.dtype)));
  all.push_back(row_buffer("lse", p, 1, fp32_bytes));
  return all;
}

AttentionPlan forward(const AttentionProblem& p, const Config& config, KernelModel model, KernelSource source) {
  std::vector<Argument> arguments =
      kernel_arguments({"q", "k", "v", "o", "lse"}, {p.instances(), group_size(p), p.n_q, p.n_k});
  arguments.emplace_back(score_scale(p));
  append_mask_arguments(arguments, p);

  AttentionPlan plan;
  plan.buffers = buffers(p);
  auto program = std::make_shared<const Program>(p, config, model.on_chip);
  plan.launches.emplace_back(std::move(model), std::move(source), std::move(arguments), std::move(program));
  return plan;
}

std::vector<std::string> defines(const AttentionProblem& p, const Config& config) {
  return kernel_defines(
      {"ATTN_BF16", "ATTN_D", "ATTN_BR", "ATTN_BC", "ATTN_MASK", "ATTN_DROPOUT", "ATTN_HEADS_FASTEST"}, p, config);
}

}  // namespace attnscope::query_stationary
