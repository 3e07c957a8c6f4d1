// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include "kernels/algorithm_parts.h"
#include "kernels/model/integer.h"
#include "kernels/oracle/inputs.h"
#include "kernels/splitkv/splitkv_programs.h"
#include "kernels/splitkv/splitkv_shape.h"
#include "kernels/splitkv/splitkv_timing.h"
#include "messages/tile_meaning.h"

namespace attnscope {
namespace {

using splitkv::combine_blocks;
using splitkv::packed_rows;
using splitkv::SplitGrid;
using splitkv::table_entry_bytes;

bool is_fp8(const AttentionProblem& p) {
  return p.dtype == DType::fp8;
}

/// Number of splits with the lowest estimated cost: blocks run in waves over the SMs; each block has a start-up cost in
/// addition to its keys, and each split a cost in the combine. Costs are in bytes of K and V that an SM could read in
/// that time (measured on an H200).
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

/// A plan is independent of the device: unless the configuration sets it, the count is chosen for 132 SMs.
int splits_of(const AttentionProblem& p, const Config& config) {
  constexpr std::int64_t nominal_sms = 132;
  const int given = numeric_knob(config, knob::splits);
  return given != 0 ? given : static_cast<int>(best_splits(p, nominal_sms));
}

/// Steps of Bc keys that a block holds: the configured number, else what fits in `shared_limit`. An 8-bit cache holds
/// at most 512 keys, as more took 6 to 8% longer (d 128, 65,536 keys, H200).
int stages_of(const AttentionProblem& p, const Config& config, std::int64_t shared_limit) {
  constexpr int max_keys = 512;
  if (const int given = numeric_knob(config, knob::stages); given > 0) return given;
  const TileShape& tile = config.tile;
  const int fitting = splitkv::stages_for_limit(tile.br, tile.bc, static_cast<int>(p.d), bytes_per_element(p.dtype),
                                                p.page > 0, p.mask.padded(), shared_limit);
  return is_fp8(p) ? std::min(fitting, std::max(1, max_keys / tile.bc)) : fitting;
}

KernelResources partial_needs(const AttentionProblem& p, const TileShape& tile, int stages) {
  const int d = static_cast<int>(p.d);
  return {.kernel = "splitkv partial",
          .threads = splitkv::threads(tile.br, tile.bc, d),
          .registers = splitkv::register_estimate(tile.br, tile.bc, d, p.page > 0),
          .shared_bytes = splitkv::shared_bytes(tile.br, tile.bc, d, bytes_per_element(p.dtype), stages, p.page > 0,
                                                p.mask.padded())};
}

KernelResources combine_needs() {
  return {.kernel = "splitkv combine",
          .threads = splitkv::combine_warps * 32,
          .registers = splitkv::combine_registers,
          .shared_bytes = splitkv::combine_shared_bytes};
}

BufferSpec table_buffer(const AttentionProblem& p) {
  const auto make = [p] {
    const std::vector<std::int32_t> table = block_table(p);
    std::vector<std::byte> bytes(table.size() * sizeof(std::int32_t));
    std::memcpy(bytes.data(), table.data(), bytes.size());
    return bytes;
  };
  return contents_buffer("block_table", p.batch * ceil_div(p.n_k, p.page) * table_entry_bytes, make);
}

/// Parts in address order. The O exchange reuses K, V and Q at the end; only its excess is listed.
std::vector<OnChipPart> partial_layout(const AttentionProblem& p, const TileShape& tile, int stages) {
  const int d = static_cast<int>(p.d);
  const int element = bytes_per_element(p.dtype);
  const int accumulator = accumulator_bytes(p.dtype);
  const std::int64_t ring = splitkv::ring_bytes(tile.br, tile.bc, d, element, stages);
  const std::int64_t q = std::int64_t{tile.br} * d * bytes_per_element(output_dtype(p.dtype));
  const std::int64_t rest = splitkv::tile_area_bytes(tile.br, tile.bc, d, element, stages) - ring - q;
  const int slots = splitkv::ring_chunks(tile.br, tile.bc, d, stages);
  const std::int64_t rows = std::int64_t{tile.br} * splitkv::groups(tile.br, tile.bc, d);
  const std::int64_t chunk = splitkv::chunk_keys(tile.br, tile.bc, d);
  std::vector<OnChipPart> parts{shared_memory_part("K", ring / 2, slots), shared_memory_part("V", ring / 2, slots),
                                shared_memory_part("Q", q)};
  if (rest > 0) parts.push_back(shared_memory_part("O exchange", rest));
  parts.push_back(shared_memory_part("m, l", splitkv::statistics_bytes(tile.br, tile.bc, d)));
  if (p.page > 0) parts.push_back(shared_memory_part("block table", table_entry_bytes * splitkv::table_window));
  if (p.mask.padded()) parts.push_back(shared_memory_part("key length", splitkv::key_length_bytes));
  if (is_fp8(p)) parts.push_back(shared_memory_part("scales", splitkv::scale_bytes(element)));
  parts.push_back(register_part("S", rows * chunk * accumulator));
  parts.push_back(register_part("P", rows * chunk * bytes_per_element(output_dtype(p.dtype))));
  parts.push_back(register_part("O", rows * d * accumulator));
  return parts;
}

// --- 8-bit cache, quantized from 16-bit K and V; not measured, as it is written once and read in every step ---

struct Matrix {
  const char* launch;
  const char* given;
  const char* made;
  const char* scales;
  Tensor from;
  Tensor to;
  Tensor scale;
};
constexpr std::array matrices{Matrix{"quantise K", "k", "k8", "k_scales", Tensor::k16, Tensor::k, Tensor::k_scales},
                              Matrix{"quantise V", "v", "v8", "v_scales", Tensor::v16, Tensor::v, Tensor::v_scales}};

std::int64_t blocks_of_head(const AttentionProblem& p) {
  return ceil_div(p.n_k, splitkv::quantized_keys);
}

/// Block (keys, K/V head): step 0 loads all keys of the head, step 1 loads its own keys again and stores them. The
/// block table passes through L1.
class QuantizeProgram final : public TileProgram {
 public:
  QuantizeProgram(const AttentionProblem& p, const Matrix& matrix) : p_(p), matrix_(matrix) {}

  [[nodiscard]] std::int64_t blocks() const override { return p_.kv_instances() * blocks_of_head(p_); }
  [[nodiscard]] std::int64_t steps(std::int64_t /*block*/) const override { return 2; }

  void visit(std::int64_t block, std::int64_t step, std::vector<TileAccess>& out) const override {
    const std::int64_t kv = block / blocks_of_head(p_);
    const std::int64_t first = step == 0 ? 0 : block % blocks_of_head(p_) * splitkv::quantized_keys;
    const std::int64_t keys = step == 0 ? p_.n_k : std::min<std::int64_t>(splitkv::quantized_keys, p_.n_k - first);
    const int given = bytes_per_element(output_dtype(p_.dtype));
    out.push_back({matrix_.from, Access::load, kv, first, keys, 0, p_.d, given});
    if (step == 0) return;
    out.push_back({matrix_.to, Access::store, kv, first, keys, 0, p_.d, bytes_per_element(p_.dtype)});
    if (first == 0) {
      out.push_back(
          {matrix_.scale, Access::store, 0, kv / (sector_bytes / fp32_bytes), 1, 0, 1, static_cast<int>(sector_bytes)});
    }
  }

 private:
  AttentionProblem p_;
  Matrix matrix_;
};

KernelModel quantize_model(const AttentionProblem& p, const Matrix& matrix) {
  const std::int64_t values = p.kv_instances() * p.n_k * p.d;
  const std::int64_t given = values * bytes_per_element(output_dtype(p.dtype));
  const std::int64_t made = values * bytes_per_element(p.dtype);
  const std::int64_t blocks = p.kv_instances() * blocks_of_head(p);
  const KernelWork work{.steps = static_cast<double>(2 * blocks),
                        .rounds = static_cast<double>(blocks),
                        .fp32_values = static_cast<double>(values),
                        .distinct_bytes = static_cast<double>(given + made)};
  KernelModel model = kernel_model(
      matrix.launch, blocks,
      {.kernel = "splitkv quantise", .threads = splitkv::quantize_threads, .registers = splitkv::quantize_registers},
      {{matrix.from, {.l2_to_sm_bytes = given * (blocks_of_head(p) + 1)}},
       {matrix.to, {.sm_to_l2_bytes = made}},
       {matrix.scale, {.sm_to_l2_bytes = p.kv_instances() * sector_bytes}}},
      {}, work, splitkv::combine_timing);
  model.setup = true;
  return model;
}

/// Appends the buffers "k8", "v8" (layout of K and V) and "k_scales", "v_scales" ([K/V heads] fp32).
void append_quantized(std::vector<BufferSpec>& buffers, const AttentionProblem& p) {
  const std::int64_t keys = p.page > 0 ? round_up(p.n_k, p.page) : p.n_k;
  for (const Matrix& matrix : matrices) {
    buffers.push_back({matrix.made, p.kv_instances() * keys * p.d * bytes_per_element(p.dtype)});
    buffers.push_back({matrix.scales, p.kv_instances() * fp32_bytes});
  }
}

std::vector<KernelLaunch> quantize_launches(const AttentionProblem& p) {
  std::vector<KernelLaunch> all;
  all.reserve(matrices.size());
  for (const Matrix& matrix : matrices) {
    all.emplace_back(quantize_model(p, matrix),
                     KernelSource{"splitkv/splitkv_quantise.cuh", "attn_splitkv_quantise",
                                  kernel_defines({"ATTN_BF16", "ATTN_D", "ATTN_PAGED"}, p, Config())},
                     kernel_arguments({matrix.given, p.page > 0 ? "block_table" : "", matrix.made, matrix.scales},
                                      {p.n_k, p.page, p.heads_kv}),
                     std::make_shared<const QuantizeProgram>(p, matrix));
  }
  return all;
}

// --- the two launches ---

std::vector<KernelModel> models(const SplitGrid& grid, const TileShape& tile, int stages, const DeviceLimits& device) {
  const AttentionProblem& p = grid.problem();
  KernelResources combine = combine_needs();
  combine.shared_bytes = 0;  // static shared memory, not part of the launch request
  std::vector<KernelModel> all;
  all.push_back(kernel_model("partial", grid.splits() * p.kv_instances(), partial_needs(p, tile, stages),
                             splitkv::partial_traffic(grid), partial_layout(p, tile, stages),
                             splitkv::partial_work(grid, tile),
                             p.dtype == DType::fp8 ? splitkv::partial_fp8_timing : splitkv::partial_timing));
  all.push_back(kernel_model("combine", combine_blocks(grid), combine, splitkv::combine_traffic(grid), {},
                             splitkv::combine_work(grid), splitkv::combine_timing));
  all.back().starts_early = device.compute_major >= 9;
  return all;
}

std::vector<BufferSpec> buffers_of(const SplitGrid& grid) {
  const AttentionProblem& p = grid.problem();
  const std::int64_t parts = grid.splits() * p.kv_instances();
  std::vector<BufferSpec> all = input_buffers(p);
  if (p.page > 0) all.push_back(table_buffer(p));
  all.push_back({"o_part", parts * grid.rows() * p.d * fp32_bytes});
  all.push_back({"lse_part", parts * grid.lse_rows() * fp32_bytes});
  all.push_back(row_buffer("o", p, p.d, output_bytes(p.dtype)));
  all.push_back(row_buffer("lse", p, 1, fp32_bytes));
  if (is_fp8(p)) append_quantized(all, p);
  return all;
}

/// 8-bit caches need compute capability 8.9 and multiples of 32 columns. Each quantization block reads the whole head,
/// so with many keys it would exceed a point's time limit.
std::optional<Refusal> refuse_fp8(const AttentionProblem& p, const DeviceLimits& device) {
  if (!is_fp8(p)) return std::nullopt;
  if (!splitkv::supported_8_bit_head_dim(static_cast<int>(p.d))) {
    return Refusal{Refusal::Cause::shape,
                   make_reason("refusal.kernel_head_dim",
                               "splitkv fp8 does not support d {} (use a multiple of 32 up to 256).", p.d)};
  }
  constexpr std::int64_t max_keys = std::int64_t{1} << 22;
  if (auto refused = check_upper_limit("n_k", p.n_k, max_keys, "splitkv fp8 rebuilds its cache for each point"))
    return refused;
  if (device.compute_major * 10 + device.compute_minor >= 89) return std::nullopt;
  return Refusal{
      Refusal::Cause::architecture,
      make_reason("refusal.instruction", "splitkv fp8 needs compute capability 8.9 (cvt.f16x2.e4m3x2); {} has {}.{}.",
                  device.name, device.compute_major, device.compute_minor)};
}

AttentionPlan plan_for_grid(const SplitGrid& grid, const TileShape& tile, int stages, const DeviceLimits& device) {
  const AttentionProblem& p = grid.problem();

  AttentionPlan plan;
  plan.buffers = buffers_of(grid);

  const bool fp8 = is_fp8(p);
  if (fp8) {
    plan.launches = quantize_launches(p);
    plan.quantized = Quantization{.keys = p.n_k, .weights = false};
  }

  std::vector<KernelModel> model = models(grid, tile, stages, device);
  KernelModel& of_partial = model.front();
  AttentionProblem multiplied = p;
  if (fp8) multiplied.dtype = DType::fp16;  // e4m3 values are widened to fp16 (splitkv_fp8.cuh)
  std::vector<std::string> defines = kernel_defines(
      {"ATTN_BF16", "ATTN_D", "ATTN_BR", "ATTN_BC", "ATTN_MASK", "ATTN_PAGED"}, multiplied, Config(tile));
  defines.push_back(fmt::format("ATTN_STAGES={}", stages));
  if (fp8) defines.emplace_back("ATTN_FP8=1");
  std::vector<Argument> arguments =
      kernel_arguments({"q", fp8 ? "k8" : "k", fp8 ? "v8" : "v", p.page > 0 ? "block_table" : "", "o_part", "lse_part"},
                       {group_size(p), p.n_q, p.n_k, grid.splits(), p.page});
  arguments.emplace_back(score_scale(p));
  append_mask_arguments(arguments, p);
  for (const char* scales : {"k_scales", "v_scales"}) arguments.emplace_back(BufferArgument{fp8 ? scales : ""});
  auto partial = splitkv::partial_program(grid, tile);
  plan.launches.emplace_back(std::move(of_partial),
                             KernelSource{"splitkv/splitkv_partial.cuh", "attn_splitkv_partial", std::move(defines)},
                             std::move(arguments), std::move(partial));

  arguments = kernel_arguments({"o_part", "lse_part", "o", "lse"}, {group_size(p), p.n_q, p.n_k, grid.splits()});
  append_mask_arguments(arguments, p);
  plan.launches.emplace_back(std::move(model.back()),
                             KernelSource{"splitkv/splitkv_combine.cuh", "attn_splitkv_combine",
                                          kernel_defines({"ATTN_BF16", "ATTN_D", "ATTN_MASK"}, p, Config(tile))},
                             std::move(arguments), splitkv::combine_program(grid));
  return plan;
}

/// Flash-Decoding: few queries against many keys. The keys of each K/V head are split among thread blocks; a second
/// kernel combines the partial results by their LSE.
class SplitKv final : public Algorithm {
 public:
  SplitKv()
      : Algorithm({.name = "splitkv",
                   .title = "Flash-Decoding (split-KV)",
                   .short_title = "Split-KV",
                   .source = "T. Dao et al., Flash-Decoding, 2023; split-KV kernels of the FlashAttention-2 repository "
                             "(arXiv 2307.08691)",
                   .tile_meaning = msg::tile_meaning::splits{},
                   .plot_slot = PlotSlot::triangle_down,
                   .for_decoding = true,
                   .groups = {Group::decoding},
                   .dtypes = {DType::fp16, DType::bf16, DType::fp8},
                   .head_dims = supported_head_dims<splitkv::supported_head_dim>(),
                   .knobs = {splits_knob(), stages_knob()}}) {}

  [[nodiscard]] Config default_config(const AttentionProblem& p, const DeviceLimits& device) const override {
    // Three m16 tiles would leave two of eight warps unused: 48 rows are slower than a 64-row tile.
    const std::int64_t rows = packed_rows(p);
    Config config(TileShape{.br = rows <= 16   ? 16
                                  : rows <= 32 ? 32
                                               : 64},
                  {{knob::splits, best_splits(p, std::max(device.sm_count, 1))}});
    // The widest step of which three fit (two in flight, one in use); else two, else one.
    for (const int stages : {3, 2, 1}) {
      for (const int bc : {128, 64, 32, 16}) {
        config.tile.bc = bc;
        if (partial_needs(p, config.tile, stages).shared_bytes <= device.shared_bytes_per_block) return config;
      }
    }
    return config;
  }

  [[nodiscard]] std::optional<Refusal> refusal(const AttentionProblem& p, const Config& config,
                                               const DeviceLimits& device) const override {
    const TileShape& tile = config.tile;
    if (auto refused = check_shape(p, tile, facts())) return refused;
    if (auto refused = check_knobs(facts(), config.knobs)) return refused;
    if (auto refused = check_features("splitkv", p, tile, {.lengths = true, .paged = true}, false)) {
      return refused;
    }
    if (auto refused = refuse_fp8(p, device)) return refused;
    if (auto refused = check_upper_limit("heads_q / heads_kv x n_q", packed_rows(p), splitkv::max_rows,
                                         "splitkv packs all query rows of a K/V head into one tile")) {
      return refused;
    }
    if (auto refused =
            check_upper_limit("Br", tile.br, splitkv::max_rows, "splitkv has at most 64 query rows per tile"))
      return refused;
    if (tile.br < packed_rows(p)) {
      return Refusal{
          Refusal::Cause::shape,
          make_reason("refusal.too_few_rows", "Br {} is less than the {} query rows per K/V head (increase Br).",
                      tile.br, packed_rows(p))};
    }
    if (auto refused = check_upper_limit("Bc", tile.bc, splitkv::max_bc, "splitkv loads at most 512 keys per step"))
      return refused;
    if (auto refused = check_upper_limit("stages", numeric_knob(config, knob::stages), splitkv::max_stages,
                                         "splitkv has at most 8 stages")) {
      return refused;
    }
    const int splits = splits_of(p, config);
    if (auto refused = check_grid_size("splitkv partial", std::int64_t{splits} * p.kv_instances())) return refused;
    if (auto refused = check_grid_size("splitkv combine", combine_blocks(SplitGrid(p, splits)))) return refused;
    const int stages = stages_of(p, config, device.shared_bytes_per_block);
    return check_resources({partial_needs(p, tile, stages), combine_needs()}, device);
  }

  [[nodiscard]] std::int64_t working_set_bytes(const AttentionProblem& /*p*/, const Config& /*config*/,
                                               const DeviceLimits& /*device*/) const override {
    return 0;  // K and V are streamed once
  }

  [[nodiscard]] std::vector<BufferSpec> buffers(const AttentionProblem& p, const Config& config,
                                                const DeviceLimits& /*device*/) const override {
    return buffers_of(SplitGrid(p, splits_of(p, config)));
  }

  [[nodiscard]] AttentionPlan plan(const AttentionProblem& p, const Config& config,
                                   const DeviceLimits& device) const override {
    return plan_for_grid(SplitGrid(p, splits_of(p, config)), config.tile,
                         stages_of(p, config, device.shared_bytes_per_block), device);
  }
};

}  // namespace

std::unique_ptr<const Algorithm> make_splitkv() {
  return std::make_unique<SplitKv>();
}

}  // namespace attnscope
