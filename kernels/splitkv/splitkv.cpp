// SPDX-License-Identifier: Apache-2.0
#include "kernels/splitkv/splitkv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include "kernels/descriptor.h"
#include "kernels/model/integer.h"
#include "kernels/oracle/inputs.h"
#include "kernels/splitkv/splitkv_shape.h"
#include "kernels/tile_computations.h"

namespace attnscope {
namespace {

constexpr std::int64_t sector_bytes = 32;
constexpr std::int64_t table_entry_bytes = 4;

/// Query rows that one K/V head's block packs into its Q tile: all that share the head, contiguous in memory.
std::int64_t packed_rows(const AttentionProblem& p) {
  return group_size(p) * p.n_q;
}

/// The number of splits for which a simple account of time is least: blocks come in waves over the SMs; each costs its
/// start and end beside its keys; each split costs the combine some. In bytes of K and V that an SM could have read
/// meanwhile, measured on an H200.
std::int64_t best_splits(const AttentionProblem& p, std::int64_t sm_count) {
  constexpr std::int64_t block_overhead = 65'536;
  constexpr std::int64_t split_overhead = 512;
  const std::int64_t fragments = ceil_div(p.n_k, splitkv::fragment);
  const std::int64_t fragment_bytes = 2LL * splitkv::fragment * p.d * bytes_per_element(p.dtype);
  std::int64_t best = 1;
  std::int64_t least = 0;
  for (std::int64_t splits = 1; splits <= std::min(fragments, 4 * sm_count); ++splits) {
    const std::int64_t waves = ceil_div(p.kv_instances() * splits, sm_count);
    const std::int64_t cost =
        waves * (block_overhead + ceil_div(fragments, splits) * fragment_bytes) + splits * split_overhead;
    if (splits == 1 || cost < least) {
      best = splits;
      least = cost;
    }
  }
  return best;
}

/// The tile with its splits chosen. A plan knows no device: where the tile does not say, it is made for 132 SMs.
Tiling with_splits(const AttentionProblem& p, Tiling tile) {
  constexpr std::int64_t nominal_sms = 132;
  if (tile.splits == 0) tile.splits = static_cast<int>(best_splits(p, nominal_sms));
  return tile;
}

/// Steps of Bc keys that a block holds: what the tile says, else what fits in `shared_limit`.
int stages_of(const AttentionProblem& p, const Tiling& tile, std::int64_t shared_limit) {
  if (tile.stages > 0) return tile.stages;
  return splitkv::stages_within(tile.br, tile.bc, static_cast<int>(p.d), bytes_per_element(p.dtype), p.page > 0,
                                p.mask.padded(), shared_limit);
}

KernelNeeds partial_needs(const AttentionProblem& p, const Tiling& tile, int stages) {
  const int d = static_cast<int>(p.d);
  return {.kernel = "splitkv partial",
          .threads = splitkv::threads(tile.br, tile.bc, d),
          .registers = splitkv::register_estimate(tile.br, tile.bc, d, p.page > 0),
          .shared_bytes = splitkv::shared_bytes(tile.br, tile.bc, d, bytes_per_element(p.dtype), stages, p.page > 0,
                                                p.mask.padded())};
}

KernelNeeds combine_needs() {
  return {.kernel = "splitkv combine",
          .threads = splitkv::combine_warps * 32,
          .registers = splitkv::combine_registers,
          .shared_bytes = splitkv::combine_shared_bytes};
}

/// One problem cut into splits: what both launches' programs and closed forms have in common.
class SplitGrid {
 public:
  SplitGrid(const AttentionProblem& problem, int splits)
      : p_(problem),
        splits_(splits),
        rows_(packed_rows(problem)),
        lse_rows_(splitkv::lse_rows(static_cast<int>(rows_))),
        pages_(problem.page > 0 ? ceil_div(problem.n_k, problem.page) : 0) {}

  [[nodiscard]] const AttentionProblem& problem() const { return p_; }
  [[nodiscard]] int splits() const { return splits_; }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  /// Rows of partial LSE, whole sectors.
  [[nodiscard]] std::int64_t lse_rows() const { return lse_rows_; }

  /// The matrix of partial results of a split of a K/V head.
  [[nodiscard]] std::int64_t part(std::int64_t split, std::int64_t kv) const { return kv * splits_ + split; }

  [[nodiscard]] KeyRange keys(std::int64_t kv, std::int64_t split) const {
    const auto [first, last] =
        splitkv::split_keys(static_cast<int>(key_length(p_, kv / p_.heads_kv)), static_cast<int>(split), splits_);
    return {first, std::max(first, last)};
  }
  /// Splits of an entry's K/V heads that have keys: the first ones.
  [[nodiscard]] std::int64_t used(std::int64_t entry) const {
    return splitkv::splits_with_keys(static_cast<int>(key_length(p_, entry)), splits_);
  }
  /// Sum of used() over all K/V heads.
  [[nodiscard]] std::int64_t all_used() const {
    if (!p_.mask.padded()) return p_.kv_instances() * used(0);
    std::int64_t sum = 0;
    for (std::int64_t entry = 0; entry < p_.batch; ++entry) sum += p_.heads_kv * used(entry);
    return sum;
  }

  /// The sectors of the block table, [batch, pages], that name the pages of `keys`. Pre: paged, keys not empty.
  [[nodiscard]] KeyRange table_sectors(std::int64_t kv, const KeyRange& keys) const {
    const std::int64_t row = kv / p_.heads_kv * pages_;
    const std::int64_t each = sector_bytes / table_entry_bytes;
    return {(row + keys.first / p_.page) / each, (row + (keys.last - 1) / p_.page) / each + 1};
  }
  /// The end of the keys from `first` on that one window of the block table reaches. Pre: paged.
  [[nodiscard]] std::int64_t window_end(std::int64_t kv, std::int64_t first) const {
    const std::int64_t row = kv / p_.heads_kv * pages_;
    const std::int64_t next = round_up(row + first / p_.page + 1, splitkv::table_window) - row;
    return next * p_.page;
  }

 private:
  AttentionProblem p_;
  int splits_;
  std::int64_t rows_;
  std::int64_t lse_rows_;
  std::int64_t pages_;
};

/// Block (split, K/V head): load Q, then K_j and V_j a step, store the partial results. Paged, the entries of the block
/// table come first, a window at a time. A split without keys stores its partial LSE alone. Each group of warps has
/// statistics and an O of its own, which are added up at the end: m and l come to their part in `on_chip`, the model's,
/// no earlier.
class PartialProgram final : public TileProgram {
 public:
  PartialProgram(SplitGrid grid, const Tiling& tile, std::span<const OnChipPart> on_chip)
      : grid_(std::move(grid)),
        bc_(tile.bc),
        groups_(splitkv::groups(tile.br, tile.bc, static_cast<int>(grid_.problem().d))),
        parts_(on_chip),
        merged_statistics_(parts_.statistics),
        exchange_(part_index(on_chip, "O exchange")),
        table_(part_index(on_chip, "block table")) {
    parts_.statistics = no_part;
  }

  [[nodiscard]] std::int64_t blocks() const override { return grid_.splits() * grid_.problem().kv_instances(); }

  [[nodiscard]] std::int64_t steps(std::int64_t block) const override {
    const auto [split, kv] = place(block);
    const KeyRange keys = grid_.keys(kv, split);
    if (keys.first == keys.last) return 1;
    std::int64_t steps = 2;  // Q; the results
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
    if (step == steps(block) - 1) {
      const std::int64_t part = grid_.part(split, kv);
      const bool any = keys.first < keys.last;
      if (any) {
        out.push_back(
            {Tensor::o_part, Access::store, part, 0, grid_.rows(), 0, p.d, fp32_bytes, Phase::store_partial, parts_.o});
      }
      out.push_back({Tensor::lse_part, Access::store, part, 0, grid_.lse_rows(), 0, 1, fp32_bytes, Phase::store_partial,
                     any ? merged_statistics_ : no_part});
      return;
    }
    if (step == 0) {
      for (std::int64_t head = 0; head < group_size(p); ++head) {
        out.push_back(
            {Tensor::q, Access::load, kv * group_size(p) + head, 0, p.n_q, 0, p.d, element, Phase::load_q, parts_.q});
      }
      return;
    }
    const Segment at = segment(kv, keys, step);
    if (at.step < table_steps()) {
      // The table as rows of one sector: what a load from it moves.
      const KeyRange sectors = grid_.table_sectors(kv, at.keys);
      out.push_back({Tensor::block_table, Access::load, 0, sectors.first, sectors.last - sectors.first, 0, 1,
                     static_cast<int>(sector_bytes), Phase::load_block_table, table_});
      return;
    }
    const KeyRange here = keys_of(at);
    const std::int64_t rows = here.last - here.first;
    out.push_back({Tensor::k, Access::load, kv, here.first, rows, 0, p.d, element, Phase::load_kv, parts_.k});
    out.push_back({Tensor::v, Access::load, kv, here.first, rows, 0, p.d, element, Phase::load_kv, parts_.v});
  }

  void compute(std::int64_t block, std::int64_t step, std::vector<Computation>& out) const override {
    const auto [split, kv] = place(block);
    const AttentionProblem& p = grid_.problem();
    const KeyRange keys = grid_.keys(kv, split);
    if (keys.first == keys.last) return;
    const std::int64_t rows = grid_.rows();
    if (step == 0) append_cleared(out, parts_, p, rows * groups_);
    if (step == steps(block) - 1) {
      const OnChipParts o = parts_of({parts_.o});
      out.push_back({Phase::merge, merged_statistics_, {}, {}, rows * groups_, 2, fp32_bytes});
      const OnChipParts merged = parts_of({merged_statistics_});
      if (exchange_ != no_part) {
        out.push_back({Phase::merge, exchange_, o | merged, {}, rows * groups_, p.d, fp32_bytes});
      }
      append_normalized(out, parts_, p, rows, parts_of({exchange_}));
    } else if (step > 0) {
      const Segment at = segment(kv, keys, step);
      if (at.step < table_steps()) return;
      const KeyRange here = keys_of(at);
      OnChipParts last = parts_of({parts_.k, parts_.v});
      if (here.last == at.keys.last) last |= parts_of({table_});
      if (here.last == keys.last) last |= parts_of({parts_.q});
      append_attention(out, parts_, p, rows, here.last - here.first, rows * groups_, last);
    }
  }

 private:
  /// The keys that one window of the block table reaches, or all of the split, and which step of theirs it is.
  struct Segment {
    KeyRange keys;
    std::int64_t step;
  };
  /// Of a step between the first and the last.
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
  /// Of a step that loads keys.
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
  std::int64_t groups_;
  ForwardParts parts_;  ///< without statistics: each group's are in registers without a name
  std::uint8_t merged_statistics_;
  std::uint8_t exchange_;
  std::uint8_t table_;
};

/// Block (K/V head, eight packed rows, 16 columns): load what the splits with keys say of them, several splits a step;
/// store O, and LSE beside the first columns.
class CombineProgram final : public TileProgram {
 public:
  explicit CombineProgram(SplitGrid grid) : grid_(std::move(grid)) {}

  [[nodiscard]] std::int64_t blocks() const override { return grid_.problem().kv_instances() * blocks_of_head(); }

  [[nodiscard]] std::int64_t steps(std::int64_t block) const override {
    return ceil_div(grid_.used(block / blocks_of_head() / grid_.problem().heads_kv), at_once) + 1;
  }

  void visit(std::int64_t block, std::int64_t step, std::vector<TileAccess>& out) const override {
    const AttentionProblem& p = grid_.problem();
    const std::int64_t slice = block % slices();
    const std::int64_t first = block / slices() % row_groups() * splitkv::combine_rows;
    const std::int64_t kv = block / blocks_of_head();
    const std::int64_t rows = std::min<std::int64_t>(splitkv::combine_rows, grid_.rows() - first);
    const std::int64_t column = slice * splitkv::combine_columns;
    if (step < steps(block) - 1) {
      const std::int64_t end = std::min(grid_.used(kv / p.heads_kv), (step + 1) * at_once);
      for (std::int64_t split = step * at_once; split < end; ++split) {
        const std::int64_t part = grid_.part(split, kv);
        out.push_back({Tensor::lse_part, Access::load, part, first, splitkv::combine_rows, 0, 1, fp32_bytes,
                       Phase::load_partial});
        out.push_back({Tensor::o_part, Access::load, part, first, rows, column, splitkv::combine_columns, fp32_bytes,
                       Phase::load_partial});
      }
      return;
    }
    // Packed row r is row r % n_q of query head r / n_q of the group.
    for (std::int64_t row = first; row < first + rows;) {
      const std::int64_t instance = kv * group_size(p) + row / p.n_q;
      const std::int64_t count = std::min(first + rows - row, p.n_q - row % p.n_q);
      out.push_back({Tensor::o, Access::store, instance, row % p.n_q, count, column, splitkv::combine_columns,
                     output_bytes(p.dtype), Phase::store_o});
      if (slice == 0) {
        out.push_back({Tensor::lse, Access::store, instance, row % p.n_q, count, 0, 1, fp32_bytes, Phase::store_lse});
      }
      row += count;
    }
  }

  void compute(std::int64_t block, std::int64_t step, std::vector<Computation>& out) const override {
    if (step == steps(block) - 1) return;
    const std::int64_t first = block / slices() % row_groups() * splitkv::combine_rows;
    const std::int64_t rows = std::min<std::int64_t>(splitkv::combine_rows, grid_.rows() - first);
    out.push_back({Phase::combine, no_part, {}, {}, rows, splitkv::combine_columns, fp32_bytes});
  }

 private:
  static constexpr std::int64_t at_once = std::int64_t{splitkv::combine_warps} * splitkv::combine_splits;

  [[nodiscard]] std::int64_t slices() const { return grid_.problem().d / splitkv::combine_columns; }
  [[nodiscard]] std::int64_t row_groups() const { return grid_.lse_rows() / splitkv::combine_rows; }
  [[nodiscard]] std::int64_t blocks_of_head() const { return slices() * row_groups(); }

  SplitGrid grid_;
};

/// K and V once, Q once for every split that has keys; partial O of those, partial LSE of all.
Traffic partial_traffic(const SplitGrid& grid) {
  const AttentionProblem& p = grid.problem();
  const std::int64_t row = p.d * bytes_per_element(p.dtype);
  std::int64_t keys = 0;
  for (std::int64_t entry = 0; entry < p.batch; ++entry) keys += p.heads_kv * key_length(p, entry);
  std::int64_t sectors = 0;
  if (p.page > 0) {
    for (std::int64_t entry = 0; entry < p.batch; ++entry) {
      const std::int64_t kv = entry * p.heads_kv;
      for (std::int64_t split = 0; split < grid.used(entry); ++split) {
        const KeyRange of_split = grid.table_sectors(kv, grid.keys(kv, split));
        sectors += p.heads_kv * (of_split.last - of_split.first);
      }
    }
  }
  const std::int64_t used = grid.all_used();
  return {
      .l2_to_sm_bytes = (used * grid.rows() + 2 * keys) * row + sectors * sector_bytes,
      .sm_to_l2_bytes = (used * grid.rows() * p.d + grid.splits() * p.kv_instances() * grid.lse_rows()) * fp32_bytes};
}

/// What the splits with keys wrote, once, partial LSE once for every 16 columns; O and LSE once.
Traffic combine_traffic(const SplitGrid& grid) {
  const AttentionProblem& p = grid.problem();
  const std::int64_t slices = p.d / splitkv::combine_columns;
  return {.l2_to_sm_bytes = grid.all_used() * (grid.rows() * p.d + slices * grid.lse_rows()) * fp32_bytes,
          .sm_to_l2_bytes = p.instances() * p.n_q * (p.d * output_bytes(p.dtype) + fp32_bytes)};
}

BufferSpec table_buffer(const AttentionProblem& p) {
  const std::vector<std::int32_t> table = block_table(p);
  std::vector<std::byte> bytes(table.size() * sizeof(std::int32_t));
  std::memcpy(bytes.data(), table.data(), bytes.size());
  return {"block_table", std::ssize(bytes), BufferFill::contents,
          std::make_shared<const std::vector<std::byte>>(std::move(bytes))};
}

std::int64_t combine_blocks(const SplitGrid& grid) {
  return grid.problem().kv_instances() * (grid.problem().d / splitkv::combine_columns) *
         (grid.lse_rows() / splitkv::combine_rows);
}

/// In the order of its addresses; where the groups' O, which comes over K, V and Q at the end, is longer, its rest.
std::vector<OnChipPart> partial_layout(const AttentionProblem& p, const Tiling& tile, int stages) {
  const int d = static_cast<int>(p.d);
  const int element = bytes_per_element(p.dtype);
  const int accumulator = accumulator_bytes(p.dtype);
  const std::int64_t ring = splitkv::ring_bytes(tile.br, tile.bc, d, element, stages);
  const std::int64_t q = std::int64_t{tile.br} * d * element;
  const std::int64_t rest = splitkv::tile_area_bytes(tile.br, tile.bc, d, element, stages) - ring - q;
  const int slots = splitkv::ring_chunks(tile.br, tile.bc, d, stages);
  const std::int64_t rows = std::int64_t{tile.br} * splitkv::groups(tile.br, tile.bc, d);
  const std::int64_t chunk = splitkv::chunk_keys(tile.br, tile.bc, d);
  std::vector<OnChipPart> parts{in_shared("K", ring / 2, slots), in_shared("V", ring / 2, slots), in_shared("Q", q)};
  if (rest > 0) parts.push_back(in_shared("O exchange", rest));
  parts.push_back(in_shared("m, l", splitkv::statistics_bytes(tile.br, tile.bc, d)));
  if (p.page > 0) parts.push_back(in_shared("block table", table_entry_bytes * splitkv::table_window));
  if (p.mask.padded()) parts.push_back(in_shared("key length", splitkv::key_length_bytes));
  parts.push_back(in_registers("S", rows * chunk * accumulator));
  parts.push_back(in_registers("P", rows * chunk * element));
  parts.push_back(in_registers("O", rows * d * accumulator));
  return parts;
}

/// What theory says of the two launches. Pre: the tile's splits are chosen.
std::vector<KernelModel> models(const SplitGrid& grid, const Tiling& tile, int stages) {
  const AttentionProblem& p = grid.problem();
  KernelNeeds combine = combine_needs();
  combine.shared_bytes = 0;  // static: no part of what the launch asks for
  return {kernel_model("partial", tile.splits * p.kv_instances(), partial_needs(p, tile, stages), partial_traffic(grid),
                       forward_flops(p), partial_layout(p, tile, stages)),
          kernel_model("combine", combine_blocks(grid), combine, combine_traffic(grid), 0, {})};
}

AttentionPlan plan_with(const AttentionProblem& p, const Tiling& tile, int stages, bool early_combine) {
  const SplitGrid grid(p, tile.splits);
  const std::int64_t parts = tile.splits * p.kv_instances();

  AttentionPlan plan;
  plan.buffers = input_buffers(p);
  if (p.page > 0) plan.buffers.push_back(table_buffer(p));
  plan.buffers.push_back({"o_part", parts * grid.rows() * p.d * fp32_bytes});
  plan.buffers.push_back({"lse_part", parts * grid.lse_rows() * fp32_bytes});
  plan.buffers.push_back(row_buffer("o", p, p.d, output_bytes(p.dtype)));
  plan.buffers.push_back(row_buffer("lse", p, 1, fp32_bytes));

  std::vector<KernelModel> model = models(grid, tile, stages);
  std::vector<std::string> defines =
      kernel_defines({"ATTN_BF16", "ATTN_D", "ATTN_BR", "ATTN_BC", "ATTN_MASK", "ATTN_PAGED"}, p, tile);
  defines.push_back(fmt::format("ATTN_STAGES={}", stages));
  std::vector<Argument> arguments =
      kernel_arguments({"q", "k", "v", p.page > 0 ? "block_table" : "", "o_part", "lse_part"},
                       {group_size(p), p.n_q, p.n_k, tile.splits, p.page});
  arguments.emplace_back(score_scale(p));
  append_mask_arguments(arguments, p);
  auto partial = std::make_shared<const PartialProgram>(grid, tile, model[0].on_chip);
  plan.launches.emplace_back(std::move(model[0]),
                             KernelSource{"splitkv/splitkv_partial.cuh", "attn_splitkv_partial", std::move(defines)},
                             std::move(arguments), std::move(partial));

  arguments = kernel_arguments({"o_part", "lse_part", "o", "lse"}, {group_size(p), p.n_q, p.n_k, tile.splits});
  append_mask_arguments(arguments, p);
  plan.launches.emplace_back(std::move(model[1]),
                             KernelSource{"splitkv/splitkv_combine.cuh", "attn_splitkv_combine",
                                          kernel_defines({"ATTN_BF16", "ATTN_D", "ATTN_MASK"}, p, tile)},
                             std::move(arguments), std::make_shared<const CombineProgram>(grid));
  plan.launches.back().starts_early = early_combine;
  return plan;
}

}  // namespace

SplitKv::SplitKv()
    : Algorithm({.name = "splitkv",
                 .title = "Flash-Decoding (split-KV)",
                 .short_title = "Split-KV",
                 .source = "T. Dao et al., Flash-Decoding, 2023; split-KV kernels of the FlashAttention-2 repository "
                           "(arXiv 2307.08691)",
                 .tile_meaning = "Br holds the query rows that share a K/V head and follows from the problem; Bc keys "
                                 "are a step. The splits decide how many SMs share a head's keys, and what the partial "
                                 "results add to the traffic.",
                 .growth = Growth::nd,
                 .decodes = true,
                 .groups = {Group::decoding},
                 .head_dims = supported_head_dims<splitkv::supported_head_dim>(),
                 .knobs = {splits_knob(), stages_knob()}}) {}

Config SplitKv::default_config(const AttentionProblem& p, const DeviceLimits& device) const {
  // Three m16 tiles would leave two of eight warps out: 48 rows are slower by themselves than within 64.
  const std::int64_t rows = packed_rows(p);
  Tiling tile{.br = rows <= 16 ? 16 : rows <= 32 ? 32 : 64};
  tile.splits = static_cast<int>(best_splits(p, std::max(device.sm_count, 1)));
  // The widest step of which three fit, so that two are on their way while one is worked on; else two, else one.
  for (const int stages : {3, 2, 1}) {
    for (const int bc : {128, 64, 32, 16}) {
      tile.bc = bc;
      if (partial_needs(p, tile, stages).shared_bytes <= device.shared_bytes_per_block) return tile;
    }
  }
  return tile;
}

std::optional<Refusal> SplitKv::refusal(const AttentionProblem& p, const Config& config,
                                        const DeviceLimits& device) const {
  const Tiling tile = tiling_of(config);
  if (auto refused = refuse_shape(p, tile, facts().head_dims)) return refused;
  if (auto refused = refuse_knobs(facts(), config.knobs)) return refused;
  if (auto refused = refuse_features("splitkv", p, tile, {.lengths = true, .paged = true}, false)) {
    return refused;
  }
  if (auto refused = refuse_over("heads_q / heads_kv x n_q", packed_rows(p), splitkv::max_rows,
                                 "splitkv decodes, with all queries of a K/V head in one tile")) {
    return refused;
  }
  if (auto refused = refuse_over("Br", tile.br, splitkv::max_rows, "splitkv has no taller Q tile")) return refused;
  if (tile.br < packed_rows(p)) {
    return Refusal{Refusal::Cause::shape, fmt::format("Br {} is too small for the {} query rows that share a K/V head.",
                                                      tile.br, packed_rows(p))};
  }
  if (auto refused = refuse_over("Bc", tile.bc, splitkv::max_bc, "splitkv has no wider step")) return refused;
  if (auto refused = refuse_over("stages", tile.stages, splitkv::max_stages, "splitkv has no longer ring")) {
    return refused;
  }
  const Tiling whole = with_splits(p, tile);
  if (auto refused = refuse_grid("splitkv partial", whole.splits * p.kv_instances())) return refused;
  if (auto refused = refuse_grid("splitkv combine", combine_blocks(SplitGrid(p, whole.splits)))) return refused;
  const int stages = stages_of(p, tile, device.shared_bytes_per_block);
  return refuse_needs({partial_needs(p, tile, stages), combine_needs()}, device);
}

std::int64_t SplitKv::working_set_bytes(const AttentionProblem& /*p*/, const Config& /*config*/,
                                        const DeviceLimits& /*device*/) const {
  return 0;  // K and V pass by once
}

std::vector<KernelModel> SplitKv::kernels(const AttentionProblem& p, const Config& config,
                                          const DeviceLimits& device) const {
  const Tiling tile = tiling_of(config);
  const Tiling whole = with_splits(p, tile);
  return models(SplitGrid(p, whole.splits), whole, stages_of(p, tile, device.shared_bytes_per_block));
}

AttentionPlan SplitKv::plan(const AttentionProblem& p, const Config& config, const DeviceLimits& device) const {
  const Tiling tile = tiling_of(config);
  return plan_with(p, with_splits(p, tile), stages_of(p, tile, device.shared_bytes_per_block),
                   device.compute_major >= 9);
}

}  // namespace attnscope
