// SPDX-License-Identifier: Apache-2.0
#include "kernels/splitkv/splitkv_programs.h"

#include <utility>
#include <vector>

#include "kernels/algorithm_parts.h"
#include "kernels/block_orders.h"
#include "kernels/model/tile_grid.h"

namespace attnscope::splitkv {
namespace {

constexpr std::int64_t key_lengths_per_sector = 8;
constexpr std::int64_t scales_per_sector = 8;

/// With key lengths, a block first loads its entry's length past L1: one sector.
void append_key_length(std::vector<TileAccess>& out, const SplitGrid& grid, std::int64_t kv) {
  if (!grid.problem().mask.padded()) return;
  const std::int64_t row = kv / grid.problem().heads_kv / key_lengths_per_sector;
  out.push_back({Tensor::key_lengths, Access::load, 0, row, 1, 0, 1, static_cast<int>(sector_bytes)});
}
Traffic key_length_traffic(const SplitGrid& grid, std::int64_t blocks) {
  return {.l2_to_sm_bytes = grid.problem().mask.padded() ? blocks * sector_bytes : 0};
}

/// With an 8-bit cache, a block with keys loads its head's scales of K and V: one sector each.
void append_scales(std::vector<TileAccess>& out, const SplitGrid& grid, std::int64_t kv) {
  if (grid.problem().dtype != DType::fp8) return;
  for (const Tensor tensor : {Tensor::k_scales, Tensor::v_scales}) {
    out.push_back({tensor, Access::load, 0, kv / scales_per_sector, 1, 0, 1, static_cast<int>(sector_bytes)});
  }
}
Traffic scale_traffic(const SplitGrid& grid) {
  return {.l2_to_sm_bytes = grid.problem().dtype == DType::fp8 ? grid.total_used_splits() * sector_bytes : 0};
}

/// Block (split, K/V head): loads Q, then K_j and V_j per step, stores the partial results. With a paged cache, it
/// loads the block-table entries first, one window at a time. A split without keys stores only its partial LSE.
class PartialProgram final : public TileProgram {
 public:
  PartialProgram(SplitGrid grid, const TileShape& tile) : grid_(std::move(grid)), bc_(tile.bc) {}

  [[nodiscard]] std::int64_t blocks() const override { return grid_.splits() * grid_.problem().kv_instances(); }

  [[nodiscard]] std::int64_t steps(std::int64_t block) const override {
    const auto [split, kv] = place(block);
    const KeyRange keys = grid_.keys(kv, split);
    if (keys.first == keys.last) return 1;
    std::int64_t steps = 2;  // Q, and the results
    for (std::int64_t first = keys.first; first < keys.last;) {
      const std::int64_t last = segment_end(kv, first, keys.last);
      steps += table_steps() + ceil_div(last - first, bc_);
      first = last;
    }
    return steps;
  }

  void visit(std::int64_t block, std::int64_t step, std::vector<TileAccess>& out) const override {
    const auto [split, kv] = place(block);
    const AttentionProblem& p = grid_.problem();
    const int element = bytes_per_element(p.dtype);
    const KeyRange keys = grid_.keys(kv, split);
    if (step == 0) append_key_length(out, grid_, kv);
    if (step == steps(block) - 1) {
      const std::int64_t part = grid_.part_index(split, kv);
      const bool any = keys.first < keys.last;
      if (any) {
        out.push_back({Tensor::o_part, Access::store, part, 0, grid_.rows(), 0, p.d, fp32_bytes});
      }
      out.push_back({Tensor::lse_part, Access::store, part, 0, grid_.lse_rows(), 0, 1, fp32_bytes});
      return;
    }
    if (step == 0) {
      for (std::int64_t head = 0; head < group_size(p); ++head) {
        out.push_back({Tensor::q, Access::load, kv * group_size(p) + head, 0, p.n_q, 0, p.d,
                       bytes_per_element(output_dtype(p.dtype))});
      }
      append_scales(out, grid_, kv);
      return;
    }
    const Segment at = segment(kv, keys, step);
    if (at.step < table_steps()) {
      // The table as rows of one sector, the unit of a load.
      const KeyRange sectors = grid_.table_sectors(kv, at.keys);
      out.push_back({Tensor::block_table, Access::load, 0, sectors.first, sectors.last - sectors.first, 0, 1,
                     static_cast<int>(sector_bytes)});
      return;
    }
    const KeyRange here = keys_of(at);
    const std::int64_t rows = here.last - here.first;
    out.push_back({Tensor::k, Access::load, kv, here.first, rows, 0, p.d, element});
    out.push_back({Tensor::v, Access::load, kv, here.first, rows, 0, p.d, element});
  }

 private:
  /// Keys covered by one window of the block table (or the whole split), and the step within them.
  struct Segment {
    KeyRange keys;
    std::int64_t step;
  };
  [[nodiscard]] Segment segment(std::int64_t kv, const KeyRange& keys, std::int64_t step) const {
    --step;
    std::int64_t first = keys.first;
    while (true) {
      const std::int64_t last = segment_end(kv, first, keys.last);
      const std::int64_t here = table_steps() + ceil_div(last - first, bc_);
      if (step < here) return {.keys = {first, last}, .step = step};
      step -= here;
      first = last;
    }
  }
  [[nodiscard]] KeyRange keys_of(const Segment& at) const {
    const std::int64_t first = at.keys.first + (at.step - table_steps()) * bc_;
    return {first, std::min<std::int64_t>(first + bc_, at.keys.last)};
  }

  struct Place {
    std::int64_t split;
    std::int64_t kv;
  };
  [[nodiscard]] Place place(std::int64_t block) const { return {block % grid_.splits(), block / grid_.splits()}; }
  [[nodiscard]] std::int64_t table_steps() const { return grid_.problem().page > 0 ? 1 : 0; }
  [[nodiscard]] std::int64_t segment_end(std::int64_t kv, std::int64_t first, std::int64_t last) const {
    return grid_.problem().page > 0 ? std::min(last, grid_.window_end(kv, first)) : last;
  }

  SplitGrid grid_;
  int bc_;
};

/// LSE access pattern: a block stores its rows with one request; heads have `rows` rows.
RowValues lse_of(std::int64_t rows) {
  return {.head_rows = rows, .tile_rows = combine_rows, .request_rows = combine_rows};
}

/// Block (K/V head, eight packed rows, 16 columns): loads the partial results of the splits with keys, several splits
/// per step; stores O, and LSE with the first columns.
class CombineProgram final : public TileProgram {
 public:
  explicit CombineProgram(SplitGrid grid) : grid_(std::move(grid)), numbers_(lse_of(grid_.problem().n_q)) {}

  [[nodiscard]] std::int64_t blocks() const override { return grid_.problem().kv_instances() * blocks_of_head(); }

  [[nodiscard]] std::int64_t steps(std::int64_t block) const override {
    return ceil_div(grid_.used_splits(block / blocks_of_head() / grid_.problem().heads_kv), at_once) + 1;
  }

  void visit(std::int64_t block, std::int64_t step, std::vector<TileAccess>& out) const override {
    const AttentionProblem& p = grid_.problem();
    const std::int64_t slice = block % slices();
    const std::int64_t first = block / slices() % row_groups() * combine_rows;
    const std::int64_t kv = block / blocks_of_head();
    const std::int64_t rows = std::min<std::int64_t>(combine_rows, grid_.rows() - first);
    const std::int64_t column = slice * combine_columns;
    if (step == 0) append_key_length(out, grid_, kv);
    if (step < steps(block) - 1) {
      const std::int64_t end = std::min(grid_.used_splits(kv / p.heads_kv), (step + 1) * at_once);
      for (std::int64_t split = step * at_once; split < end; ++split) {
        const std::int64_t part = grid_.part_index(split, kv);
        out.push_back({Tensor::lse_part, Access::load, part, first, combine_rows, 0, 1, fp32_bytes});
        out.push_back({Tensor::o_part, Access::load, part, first, rows, column, combine_columns, fp32_bytes});
      }
      return;
    }
    // Packed row r is row r % n_q of query head r / n_q of the group.
    for (std::int64_t row = first; row < first + rows;) {
      const std::int64_t instance = kv * group_size(p) + row / p.n_q;
      const std::int64_t count = std::min(first + rows - row, p.n_q - row % p.n_q);
      out.push_back(
          {Tensor::o, Access::store, instance, row % p.n_q, count, column, combine_columns, output_bytes(p.dtype)});
      if (slice == 0) {
        out.push_back(numbers_.access(Tensor::lse, Access::store, instance, row % p.n_q, count));
        // One request stores the LSE of all its heads.
        TileAccess& lse = out.back();
        if (row > first && lse.place > 0) lse.place = static_cast<std::int8_t>(lse.place - combine_rows);
      }
      row += count;
    }
  }

 private:
  static constexpr std::int64_t at_once = std::int64_t{combine_warps} * combine_splits;

  [[nodiscard]] std::int64_t slices() const { return grid_.problem().d / combine_columns; }
  [[nodiscard]] std::int64_t row_groups() const { return grid_.lse_rows() / combine_rows; }
  [[nodiscard]] std::int64_t blocks_of_head() const { return slices() * row_groups(); }

  SplitGrid grid_;
  RowValues numbers_;
};

}  // namespace

std::int64_t packed_rows(const AttentionProblem& p) {
  return group_size(p) * p.n_q;
}

std::int64_t combine_blocks(const SplitGrid& grid) {
  return grid.problem().kv_instances() * (grid.problem().d / combine_columns) * (grid.lse_rows() / combine_rows);
}

std::shared_ptr<const TileProgram> partial_program(const SplitGrid& grid, const TileShape& tile) {
  return std::make_shared<const PartialProgram>(grid, tile);
}

std::shared_ptr<const TileProgram> combine_program(const SplitGrid& grid) {
  return std::make_shared<const CombineProgram>(grid);
}

/// K and V once; Q (and scales) once per split with keys; partial O of these splits, partial LSE of all.
std::vector<OperandTraffic> partial_traffic(const SplitGrid& grid) {
  const AttentionProblem& p = grid.problem();
  const std::int64_t row = p.d * bytes_per_element(p.dtype);
  std::int64_t keys = 0;
  for (std::int64_t entry = 0; entry < p.batch; ++entry) keys += p.heads_kv * key_length(p, entry);
  std::int64_t sectors = 0;
  if (p.page > 0) {
    for (std::int64_t entry = 0; entry < p.batch; ++entry) {
      const std::int64_t kv = entry * p.heads_kv;
      for (std::int64_t split = 0; split < grid.used_splits(entry); ++split) {
        const KeyRange of_split = grid.table_sectors(kv, grid.keys(kv, split));
        sectors += p.heads_kv * (of_split.last - of_split.first);
      }
    }
  }
  const std::int64_t used = grid.total_used_splits();
  return {{Tensor::q, {.l2_to_sm_bytes = used * grid.rows() * p.d * bytes_per_element(output_dtype(p.dtype))}},
          {Tensor::k, {.l2_to_sm_bytes = keys * row}},
          {Tensor::v, {.l2_to_sm_bytes = keys * row}},
          {Tensor::block_table, {.l2_to_sm_bytes = sectors * sector_bytes}},
          {Tensor::key_lengths, key_length_traffic(grid, grid.splits() * p.kv_instances())},
          {Tensor::k_scales, scale_traffic(grid)},
          {Tensor::v_scales, scale_traffic(grid)},
          {Tensor::o_part, {.sm_to_l2_bytes = used * grid.rows() * p.d * fp32_bytes}},
          {Tensor::lse_part, {.sm_to_l2_bytes = grid.splits() * p.kv_instances() * grid.lse_rows() * fp32_bytes}}};
}

/// Partial results of the splits with keys once, partial LSE once per 16 columns; O and LSE once.
std::vector<OperandTraffic> combine_traffic(const SplitGrid& grid) {
  const AttentionProblem& p = grid.problem();
  const std::int64_t slices = p.d / combine_columns;
  const std::int64_t rows = p.instances() * p.n_q;
  return {{Tensor::o_part, {.l2_to_sm_bytes = grid.total_used_splits() * grid.rows() * p.d * fp32_bytes}},
          {Tensor::lse_part, {.l2_to_sm_bytes = grid.total_used_splits() * slices * grid.lse_rows() * fp32_bytes}},
          {Tensor::key_lengths, key_length_traffic(grid, combine_blocks(grid))},
          {Tensor::o, {.sm_to_l2_bytes = rows * p.d * output_bytes(p.dtype)}},
          {Tensor::lse, {.sm_to_l2_bytes = lse_of(grid.rows()).single_visit_bytes(p.kv_instances())}}};
}

KernelWork partial_work(const SplitGrid& grid, const TileShape& tile) {
  const AttentionProblem& p = grid.problem();
  const int d = static_cast<int>(p.d);
  const std::int64_t chunk = chunk_keys(tile.br, tile.bc, d);
  const std::int64_t at_once = groups(tile.br, tile.bc, d);
  const bool paged = p.page > 0;
  const std::int64_t entries = p.mask.padded() || paged ? p.batch : 1;
  KernelWork work;
  HeadTileLaunch launch{.heads = p.kv_instances()};
  double processed_keys = 0;  // rounded up to whole chunks
  for (std::int64_t entry = 0; entry < entries; ++entry) {
    const std::int64_t kv = entry * p.heads_kv;
    const std::int64_t alike = p.batch / entries;
    const auto heads = static_cast<double>(p.heads_kv * alike);
    std::vector<BlockRun>& blocks = launch.tiles.emplace_back();
    for (std::int64_t split = 0; split < grid.splits(); ++split) {
      const KeyRange keys = grid.keys(kv, split);
      std::int64_t steps = keys.first < keys.last ? 2 : 1;
      for (std::int64_t first = keys.first; first < keys.last;) {
        const std::int64_t last = paged ? std::min(keys.last, grid.window_end(kv, first)) : keys.last;
        steps += (paged ? 1 : 0) + ceil_div(last - first, tile.bc);
        first = last;
      }
      const std::int64_t chunks = ceil_div(keys.last - keys.first, chunk);
      const BlockRun block{
          .blocks = 1, .steps = static_cast<double>(steps), .rounds = static_cast<double>(ceil_div(chunks, at_once))};
      append(blocks, block);
      work.steps += heads * block.steps;
      work.rounds += heads * block.rounds;
      processed_keys += heads * static_cast<double>(chunks * chunk);
    }
  }
  work.order = make_block_order(launch);
  const double cells = processed_keys * tile.br;
  const Traffic traffic = sum_of(partial_traffic(grid));
  work.tensor_flops = 4 * static_cast<double>(p.d) * cells;
  work.exponentials = cells;
  work.fp32_values = cells / static_cast<double>(chunk) * static_cast<double>(p.d);
  const std::int64_t fragments = tile.br / fragment;
  work.shared_bytes = processed_keys * 2 * static_cast<double>(p.d * bytes_per_element(p.dtype) * fragments);
  // Splits of a head read the same Q; lengths and scales are the same few sectors for all blocks.
  const Traffic lengths = key_length_traffic(grid, grid.splits() * p.kv_instances());
  std::int64_t heads_with_keys = 0;
  for (const auto& [length, count] : length_counts(p)) heads_with_keys += length > 0 ? count * p.heads_kv : 0;
  const std::int64_t q_rereads =
      (grid.total_used_splits() - heads_with_keys) * grid.rows() * p.d * bytes_per_element(output_dtype(p.dtype));
  work.distinct_bytes =
      static_cast<double>(traffic.total() - q_rereads - lengths.total() - 2 * scale_traffic(grid).total());
  return work;
}

KernelWork combine_work(const SplitGrid& grid) {
  constexpr std::int64_t at_once = std::int64_t{combine_warps} * combine_splits;
  const AttentionProblem& p = grid.problem();
  const std::int64_t blocks_of_entry = combine_blocks(grid) / p.batch;
  const std::int64_t entries = p.mask.padded() ? p.batch : 1;
  HeadTileLaunch launch{.heads = p.batch};  // the blocks of an entry's heads are equal
  KernelWork work;
  for (std::int64_t entry = 0; entry < entries; ++entry) {
    const auto steps = static_cast<double>(ceil_div(grid.used_splits(entry), at_once) + 1);
    const std::int64_t alike = p.batch / entries;
    work.steps += steps * static_cast<double>(blocks_of_entry * alike);
    launch.tiles.push_back({{.blocks = blocks_of_entry, .steps = steps, .rounds = steps}});
  }
  work.order = make_block_order(launch);
  work.rounds = work.steps;
  work.fp32_values = static_cast<double>(grid.total_used_splits() * grid.rows() * p.d);
  const std::int64_t column_groups = p.d / combine_columns;
  work.exponentials = static_cast<double>(grid.total_used_splits() * grid.lse_rows() * column_groups);
  work.distinct_bytes =
      static_cast<double>(grid.total_used_splits() * (grid.rows() * p.d + grid.lse_rows()) * fp32_bytes +
                          p.instances() * p.n_q * (p.d * output_bytes(p.dtype) + fp32_bytes));
  return work;
}

}  // namespace attnscope::splitkv
