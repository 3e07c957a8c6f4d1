// SPDX-License-Identifier: Apache-2.0
#include "kernels/key_stationary.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "kernels/block_orders.h"
#include "kernels/device/head_blocks_shape.h"
#include "kernels/model/integer.h"
#include "kernels/model/tile_grid.h"

namespace attnscope::key_stationary {
namespace {

std::int64_t q_tiles(const AttentionProblem& p, const TileShape& tile) {
  return ceil_div(p.n_q, tile.br);
}

/// LSE and D: each thread of a warp loads one row.
RowValues statistics_values(const AttentionProblem& p, const TileShape& tile) {
  return {.head_rows = p.n_q, .tile_rows = tile.br, .request_rows = 32};
}

/// D as stored by dot.
RowValues delta_values(const AttentionProblem& p, const TileShape& tile, const Kernels& kernels) {
  return {.head_rows = p.n_q, .tile_rows = tile.br, .request_rows = kernels.delta_request_rows};
}

/// Common part of dot and convert: a block owns Q tile i of one instance.
class RowProgram : public TileProgram {
 public:
  RowProgram(const AttentionProblem& p, const TileShape& tile, const Kernels& kernels)
      : p_(p), br_(tile.br), whole_tiles_(kernels.whole_tiles), delta_(delta_values(p, tile, kernels)) {}

  [[nodiscard]] std::int64_t blocks() const override { return p_.instances() * ceil_div(p_.n_q, br_); }

 protected:
  void push(std::vector<TileAccess>& out, std::int64_t block, Tensor tensor, Access access, std::int64_t columns,
            int element) const {
    const std::int64_t tiles = ceil_div(p_.n_q, br_);
    const bool whole = whole_tiles_ && tensor == Tensor::dq_acc;
    out.push_back({tensor, access, block / tiles, block % tiles * br_, whole ? br_ : rows(block), 0, columns, element});
  }
  void push_delta(std::vector<TileAccess>& out, std::int64_t block) const {
    const std::int64_t tiles = ceil_div(p_.n_q, br_);
    out.push_back(delta_.access(Tensor::delta, Access::store, block / tiles, block % tiles * br_, rows(block)));
  }
  /// Rows of the block's tile inside the matrix.
  [[nodiscard]] std::int64_t rows(std::int64_t block) const {
    return std::min<std::int64_t>(br_, p_.n_q - block % ceil_div(p_.n_q, br_) * br_);
  }

  AttentionProblem p_;
  int br_;
  bool whole_tiles_;
  RowValues delta_;
};

/// Step 0 loads O_i and dO_i; step 1 stores D_i and clears dq_acc_i.
class DotProgram final : public RowProgram {
 public:
  using RowProgram::RowProgram;

  [[nodiscard]] std::int64_t steps(std::int64_t /*block*/) const override { return 2; }
  void visit(std::int64_t block, std::int64_t step, std::vector<TileAccess>& out) const override {
    if (step == 0) {
      push(out, block, Tensor::o, Access::load, p_.d, output_bytes(p_.dtype));
      push(out, block, Tensor::dout, Access::load, p_.d, bytes_per_element(p_.dtype));
    } else {
      push_delta(out, block);
      push(out, block, Tensor::dq_acc, Access::store, p_.d, fp32_bytes);
    }
  }
};

/// Step 0 loads dq_acc_i; step 1 stores dQ_i.
class ConvertProgram final : public RowProgram {
 public:
  using RowProgram::RowProgram;

  [[nodiscard]] std::int64_t steps(std::int64_t /*block*/) const override { return 2; }
  void visit(std::int64_t block, std::int64_t step, std::vector<TileAccess>& out) const override {
    if (step == 0) {
      push(out, block, Tensor::dq_acc, Access::load, p_.d, fp32_bytes);
    } else {
      push(out, block, Tensor::dq, Access::store, p_.d, output_bytes(p_.dtype));
    }
  }
};

/// Returns true if the last keys are processed first: their blocks wait for no other block.
bool starts_with_last_keys(const AttentionProblem& p) {
  return p.deterministic && p.mask.right != Mask::unlimited;
}

/// Interleaved K/V heads. More than one only if earlier keys are seen by more rows and blocks do not wait for each
/// other.
std::int64_t heads_per_group(const AttentionProblem& p) {
  return !p.deterministic && has_only_right_bound(p) ? interleaved_heads(p.n_k) : 1;
}

/// Steps of a block whose K/V tile is seen by `seen` Q tiles of a head.
std::int64_t block_steps(const AttentionProblem& p, std::int64_t seen) {
  return seen == 0 ? 1 : 2 + seen * group_size(p);
}

/// A block owns K/V tile j of one K/V head. Step 0 loads K_j and V_j. Then each query head of the group has one step
/// per Q tile that sees part of tile j. The last step stores dK_j and dV_j. If no Q tile sees tile j, the only step
/// stores zeros.
class MainProgram final : public TileProgram {
 public:
  MainProgram(const AttentionProblem& p, const Config& config, const Kernels& kernels)
      : p_(p),
        tile_(config.tile),
        raster_(raster_of(config)),
        whole_tiles_(kernels.whole_tiles),
        grids_(p, config.tile) {}

  [[nodiscard]] std::int64_t blocks() const override { return p_.kv_instances() * ceil_div(p_.n_k, tile_.bc); }

  [[nodiscard]] std::int64_t steps(std::int64_t block) const override {
    const auto [j, kv] = place(block);
    return block_steps(p_, grids_.kv_grid(kv).visible_q_tiles(j));
  }

  void visit(std::int64_t block, std::int64_t step, std::vector<TileAccess>& out) const override {
    const auto [j, kv] = place(block);
    const TileGrid& grid = grids_.kv_grid(kv);
    const std::int64_t seen = grid.visible_q_tiles(j);
    const int element = bytes_per_element(p_.dtype);
    const std::int64_t key = j * tile_.bc;
    if (step == block_steps(p_, seen) - 1) {
      const std::int64_t keys = std::min<std::int64_t>(tile_.bc, p_.n_k - key);
      const int bytes = output_bytes(p_.dtype);
      out.push_back({Tensor::dk, Access::store, kv, key, keys, 0, p_.d, bytes});
      out.push_back({Tensor::dv, Access::store, kv, key, keys, 0, p_.d, bytes});
      return;
    }
    if (step == 0) {
      const std::int64_t keys = grid.k_rows(j);
      out.push_back({Tensor::k, Access::load, kv, key, keys, 0, p_.d, element});
      out.push_back({Tensor::v, Access::load, kv, key, keys, 0, p_.d, element});
      return;
    }
    const std::int64_t instance = kv * group_size(p_) + (step - 1) / seen;
    const std::int64_t i = q_tile(grid, j, step);
    const std::int64_t row = i * tile_.br;
    const std::int64_t rows = grid.q_rows(i);
    const auto load = [&](Tensor tensor) {
      const TileAccess tile{tensor, Access::load, instance, row, rows, 0, p_.d, element};
      out.push_back(whole_tiles_ ? tile.with_tma_boxes(tile_.br) : tile);
    };
    load(Tensor::q);
    load(Tensor::dout);
    for (const Tensor tensor : {Tensor::lse, Tensor::delta}) {
      out.push_back(statistics_values(p_, tile_).access(tensor, Access::load, instance, row, rows));
    }
    out.push_back({Tensor::dq_acc, Access::reduce, instance, row, dq_rows(rows), 0, p_.d, fp32_bytes});
  }

 private:
  /// Q tile of a step between the first and the last.
  static std::int64_t q_tile(const TileGrid& grid, std::int64_t j, std::int64_t step) {
    return grid.nth_q_tile(j, (step - 1) % grid.visible_q_tiles(j));
  }
  [[nodiscard]] std::int64_t dq_rows(std::int64_t rows) const { return whole_tiles_ ? tile_.br : rows; }

  [[nodiscard]] BlockLocation place(std::int64_t block) const {
    const std::int64_t k_tiles = ceil_div(p_.n_k, tile_.bc);
    return block_location(block, raster_, k_tiles, p_.kv_instances(), heads_per_group(p_), starts_with_last_keys(p_));
  }

  AttentionProblem p_;
  TileShape tile_;
  Raster raster_;
  bool whole_tiles_;
  BatchGrid grids_;
};

/// Bytes of dq_acc that dot clears and convert reads.
std::int64_t dq_accumulator_bytes(const AttentionProblem& p, const TileShape& tile, const Kernels& kernels) {
  return p.instances() * (kernels.whole_tiles ? round_up(p.n_q, tile.br) : p.n_q) * p.d * fp32_bytes;
}

using Operands = std::vector<OperandTraffic>;

Operands dot_traffic(const AttentionProblem& p, const TileShape& tile, const Kernels& kernels) {
  const std::int64_t rows = p.instances() * p.n_q;
  return {{Tensor::o, {.l2_to_sm_bytes = rows * p.d * output_bytes(p.dtype)}},
          {Tensor::dout, {.l2_to_sm_bytes = rows * p.d * bytes_per_element(p.dtype)}},
          {Tensor::delta, {.sm_to_l2_bytes = delta_values(p, tile, kernels).single_visit_bytes(p.instances())}},
          {Tensor::dq_acc, {.sm_to_l2_bytes = dq_accumulator_bytes(p, tile, kernels)}}};
}

Operands convert_traffic(const AttentionProblem& p, const TileShape& tile, const Kernels& kernels) {
  return {{Tensor::dq_acc, {.l2_to_sm_bytes = dq_accumulator_bytes(p, tile, kernels)}},
          {Tensor::dq, {.sm_to_l2_bytes = p.instances() * p.n_q * p.d * output_bytes(p.dtype)}}};
}

/// K and V once if any query sees them; Q, dO and two statistics per visited tile; dQ reductions per visited tile,
/// which are stores only; dK and dV once.
Operands main_traffic(const AttentionProblem& p, const TileShape& tile, std::span<const std::vector<TileRun>> rows,
                      const TileCounts& counts, const ColumnCounts& columns, bool whole_tiles) {
  const std::int64_t row = p.d * bytes_per_element(p.dtype);
  const std::int64_t query_rows = whole_tiles ? counts.tiles * tile.br : counts.query_rows_read;
  const Traffic keys{.l2_to_sm_bytes = columns.key_rows_touched * row};
  const Traffic queries{.l2_to_sm_bytes = query_rows * row};
  const Traffic statistics{.l2_to_sm_bytes = statistics_values(p, tile).visible_tile_bytes(p, rows)};
  const Traffic key_gradients{.sm_to_l2_bytes = p.kv_instances() * p.n_k * p.d * output_bytes(p.dtype)};
  return {{Tensor::q, queries},
          {Tensor::k, keys},
          {Tensor::v, keys},
          {Tensor::dout, queries},
          {Tensor::lse, statistics},
          {Tensor::delta, statistics},
          {Tensor::dq_acc, {.sm_to_l2_bytes = query_rows * p.d * fp32_bytes}},
          {Tensor::dk, key_gradients},
          {Tensor::dv, key_gradients}};
}

BlockOrder main_block_order(const AttentionProblem& p, Raster raster, std::span<const std::vector<TileRun>> columns,
                            std::int64_t rounds_per_tile) {
  return make_block_order({.heads = p.kv_instances(),
                           .raster = raster,
                           .last_tile_first = starts_with_last_keys(p),
                           .heads_per_group = heads_per_group(p)},
                          columns, [&](const TileRun& run) -> BlockRun {
                            return {.steps = static_cast<double>(block_steps(p, run.seen)),
                                    .rounds = static_cast<double>(run.seen * group_size(p) * rounds_per_tile),
                                    .mask_reads = static_cast<double>(run.mask_reads_by_tile * group_size(p))};
                          });
}

KernelWork main_work(const AttentionProblem& p, const Config& config, std::span<const std::vector<TileRun>> runs,
                     const TileCounts& counts, const ColumnCounts& columns, const Kernels& kernels) {
  const TileShape& tile = config.tile;
  const std::int64_t blocks = p.kv_instances() * ceil_div(p.n_k, tile.bc);
  const std::int64_t rounds_per_tile = ceil_div(tile.bc, kernels.chunk_columns);
  const auto d = static_cast<double>(p.d);
  const auto row = d * bytes_per_element(p.dtype);
  const auto tiles = static_cast<double>(counts.tiles);
  const double cells = tiles * tile.br * tile.bc;
  const auto query_rows = static_cast<double>(counts.query_rows_touched);
  const double dq_rows = kernels.whole_tiles ? static_cast<double>(counts.q_tiles_touched * tile.br) : query_rows;
  // dQ is read, added to and written back in L2.
  return {.steps = static_cast<double>(counts.tiles + blocks + columns.k_tiles_touched),
          .order = main_block_order(p, raster_of(config), runs, rounds_per_tile),
          .rounds = tiles * static_cast<double>(rounds_per_tile),
          .mask_reads = mean_mask_reads(runs, mask_reads_by_tile) * static_cast<double>(p.instances()),
          .tensor_flops = 10 * d * cells,
          .exponentials = cells,
          .fp32_values = tiles * tile.br * d,
          .shared_bytes = tiles * static_cast<double>(kernels.operand_bytes),
          .distinct_bytes = static_cast<double>(2 * columns.key_rows_touched) * row +
                            query_rows * (2 * row + 2 * fp32_bytes) + dq_rows * 2 * d * fp32_bytes +
                            static_cast<double>(2 * p.kv_instances() * p.n_k) * d * output_bytes(p.dtype)};
}

/// Work of dot and convert: each byte is moved once.
KernelWork row_kernel_work(const AttentionProblem& p, std::int64_t blocks, std::int64_t bytes) {
  return {.steps = static_cast<double>(2 * blocks),
          .rounds = static_cast<double>(blocks),
          .fp32_values = static_cast<double>(p.instances() * p.n_q * p.d),
          .distinct_bytes = static_cast<double>(bytes)};
}

/// Resources of dot and convert, which use no shared memory.
KernelResources row_kernel_resources(const Kernels& kernels) {
  return {.kernel = "rows", .threads = kernels.row_threads, .registers = kernels.row_registers};
}

}  // namespace

std::vector<KernelModel> models(const AttentionProblem& p, const Config& config, const Kernels& kernels) {
  const TileShape& tile = config.tile;
  const std::int64_t row_blocks = p.instances() * q_tiles(p, tile);
  const std::int64_t blocks = p.kv_instances() * ceil_div(p.n_k, tile.bc);
  const BatchGrid grids(p, tile);
  const std::vector<std::vector<TileRun>> rows = grids.row_runs();
  const TileCounts counts = grids.counts(rows);
  const std::vector<std::vector<TileRun>> runs = grids.column_runs();
  const ColumnCounts columns = grids.kv_columns(runs);
  const std::int64_t accumulator = dq_accumulator_bytes(p, tile, kernels);
  const std::int64_t row = p.d * output_bytes(p.dtype);
  const std::int64_t dot_bytes = p.instances() * p.n_q * (row + p.d * bytes_per_element(p.dtype) + fp32_bytes);
  return {
      kernel_model("dot", row_blocks, row_kernel_resources(kernels), dot_traffic(p, tile, kernels), {},
                   row_kernel_work(p, row_blocks, dot_bytes + accumulator), kernels.dot_timing),
      kernel_model("bwd", blocks, kernels.needs, main_traffic(p, tile, rows, counts, columns, kernels.whole_tiles),
                   kernels.on_chip, main_work(p, config, runs, counts, columns, kernels), kernels.timing),
      kernel_model("convert", row_blocks, row_kernel_resources(kernels), convert_traffic(p, tile, kernels), {},
                   row_kernel_work(p, row_blocks, accumulator + p.instances() * p.n_q * row), kernels.convert_timing)};
}

std::vector<BufferSpec> buffers(const AttentionProblem& p, const TileShape& tile) {
  const std::int64_t rows = p.instances() * q_tiles(p, tile);
  std::vector<BufferSpec> scratch{row_buffer("delta", p, 1, fp32_bytes), {"dq_acc", rows * tile.br * p.d * fp32_bytes}};
  if (p.deterministic) scratch.push_back({"turns", rows * fp32_bytes});
  return backward_pass_buffers(p, std::move(scratch));
}

std::vector<KernelLaunch> launches(const AttentionProblem& p, const Config& config, const Kernels& kernels) {
  const TileShape& tile = config.tile;
  const std::string turns = p.deterministic ? "turns" : "";
  std::vector<KernelModel> kernel_models = models(p, config, kernels);
  const std::vector<std::string> row_defines = kernel_defines({"ATTN_BF16", "ATTN_D", "ATTN_BR"}, p, config);
  const auto rows_source = [&](const char* what) {
    return KernelSource{std::string(kernels.rows_file), fmt::format("{}_{}", kernels.entry, what), row_defines};
  };
  std::vector<KernelLaunch> all;
  all.emplace_back(std::move(kernel_models[0]), rows_source("dot"),
                   kernel_arguments({"o", "dout", "delta", "dq_acc", turns}, {p.n_q}),
                   std::make_shared<const DotProgram>(p, tile, kernels));

  std::vector<Argument> arguments =
      attention_arguments({"q", "k", "v", "dout", "lse", "delta", "dq_acc", "dk", "dv", turns}, p);
  if (kernels.whole_tiles) {
    arguments[0] = make_tensor_map("q", p, p.instances(), p.n_q, tile.br);
    arguments[3] = make_tensor_map("dout", p, p.instances(), p.n_q, tile.br);
  }
  all.emplace_back(std::move(kernel_models[1]),
                   KernelSource{std::string(kernels.file), std::string(kernels.entry),
                                kernel_defines({"ATTN_BF16", "ATTN_D", "ATTN_BR", "ATTN_BC", "ATTN_MASK",
                                                "ATTN_DROPOUT", "ATTN_DETERMINISTIC", "ATTN_HEADS_FASTEST"},
                                               p, config)},
                   std::move(arguments), std::make_shared<const MainProgram>(p, config, kernels));

  arguments = kernel_arguments({"dq_acc", "dq"}, {p.n_q});
  arguments.emplace_back(score_scale(p));
  all.emplace_back(std::move(kernel_models[2]), rows_source("convert"), std::move(arguments),
                   std::make_shared<const ConvertProgram>(p, tile, kernels));
  return all;
}

std::optional<Refusal> refuse_grids(std::string_view algorithm, const AttentionProblem& p, const TileShape& tile) {
  const std::int64_t blocks = p.kv_instances() * ceil_div(p.n_k, tile.bc);
  if (auto refused = check_grid_size(fmt::format("{} bwd", algorithm), blocks)) return refused;
  return check_grid_size(fmt::format("{} dot", algorithm), p.instances() * q_tiles(p, tile));
}

}  // namespace attnscope::key_stationary
