// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>
#include <vector>

#include "kernels/algorithm_parts.h"
#include "kernels/device/gradient_shape.h"
#include "kernels/fa2/fa2_shape.h"
#include "kernels/key_stationary.h"
#include "kernels/model/tile_grid.h"
#include "kernels/query_stationary.h"
#include "kernels/registry.h"
#include "messages/tile_meaning.h"

namespace attnscope {
namespace {

// Timing constants, fitted by tests/gpu/fit_times.py to half of the launches recorded on an NVIDIA H200 and to fitted
// rates of assets/samples/published.csv (forward: those with a stated clock).

/// mma.sync, whose peak on Hopper is 2/3 of the wgmma peak. One K and one V tile in flight.
constexpr KernelTiming forward_timing{
    .block_latency = 6480,
    .step_latency = 344,
    .round_latency = 752,
    .mask_read_latency = 237,
    .alone = {.tensor = 0.67, .exponential = 0, .fp32 = 0, .shared = 0, .l2 = 0.821},
    .busy = {.tensor = 1.15, .exponential = 0.361, .fp32 = 0, .shared = 1.37, .l2 = 0},
    .skew = 0.0824,
    .overlap = 1.28,
    .launch_ns = 7430,
    .use = {.wavefronts = {.exponential = 0.331, .fp32 = 0.396, .shared = 1.13, .l2 = 0.193}},
};

/// mma.sync; dQ is accumulated in L2.
constexpr KernelTiming backward_timing{
    .block_latency = 2630,
    .step_latency = 50.7,
    .round_latency = 667,
    .mask_read_latency = 307,
    .alone = {.tensor = 0.471, .exponential = 0.885, .fp32 = 0.492, .shared = 0.00344, .l2 = 0.43},
    .busy = {.tensor = 1, .exponential = 0.187, .fp32 = 0.459, .shared = 0.964, .l2 = 0.842},
    .skew = 0.0766,
    .overlap = 1,
    .launch_ns = 9000,
    .use = {.exponentials = 1.01, .wavefronts = {.exponential = 4.91, .shared = 0.811}},
};

/// Dot kernel before the main kernel; streams rows of O and dO.
constexpr KernelTiming dot_timing{
    .block_latency = 1340,
    .step_latency = 269,
    .round_latency = 483,
    .alone = {.tensor = 0, .exponential = 0, .fp32 = 0.514, .shared = 0, .l2 = 0.743},
    .busy = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 2.41},
    .skew = 0.11,
    .overlap = 1,
    .launch_ns = 3670,
    .use = {.wavefronts = {.l2 = 0.056}},
};

/// Convert kernel after the main kernel; streams rows of dQ.
constexpr KernelTiming convert_timing{
    .block_latency = 1340,
    .step_latency = 293,
    .round_latency = 483,
    .alone = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.503},
    .busy = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.836},
    .skew = 0.1,
    .overlap = 2.14,
    .launch_ns = 4200,
    .use = {.wavefronts = {.l2 = 0.347}},
};

constexpr Features features{.window = true, .lengths = true, .blocks = true, .dropout = true};

KernelResources needs(const AttentionProblem& p, const Config& config) {
  const TileShape& tile = config.tile;
  const int d = static_cast<int>(p.d);
  const int warps = numeric_knob(config, knob::warps);
  return {.kernel = "fa2 fwd",
          .threads = fa2::threads(tile.br, d, warps),
          .registers = fa2::register_estimate(tile.br, tile.bc, d, warps, p.dropout > 0, p.mask.has_window()),
          .shared_bytes = fa2::shared_bytes(tile.br, tile.bc, d, bytes_per_element(p.dtype))};
}

/// Returns Bc, halved until two blocks fit on an SM, but at least 32: one block alone does not hide its latencies.
int columns_for_two_blocks(const AttentionProblem& p, TileShape tile, const DeviceLimits& device) {
  const auto fits_twice = [&] {
    const std::int64_t bytes = fa2::shared_bytes(tile.br, tile.bc, static_cast<int>(p.d), bytes_per_element(p.dtype));
    return 2 * (bytes + device.shared_bytes_reserved) <= device.shared_bytes_per_sm;
  };
  while (tile.bc > 32 && !fits_twice()) tile.bc /= 2;
  return tile.bc;
}

/// The warps knob adds a define only if it differs from the kernel's default.
std::vector<std::string> forward_defines(const AttentionProblem& p, const Config& config) {
  std::vector<std::string> defines = query_stationary::defines(p, config);
  const int d = static_cast<int>(p.d);
  const int warps = numeric_knob(config, knob::warps);
  if (fa2::threads(config.tile.br, d, warps) != fa2::threads(config.tile.br, d)) {
    defines.push_back(fmt::format("ATTN_WARPS={}", warps));
  }
  return defines;
}

KernelModel forward_model(const AttentionProblem& p, const Config& config) {
  const TileShape& tile = config.tile;
  const int d = static_cast<int>(p.d);
  const int warps = numeric_knob(config, knob::warps);
  const int element = bytes_per_element(p.dtype);
  const int accumulator = accumulator_bytes(p.dtype);
  const std::int64_t rows = tile.br;
  const std::int64_t chunk = fa2::chunk_columns(tile.br, tile.bc, d, warps, p.dropout > 0);
  const std::int64_t kv = std::int64_t{tile.bc} * d * element;
  return query_stationary::model(
      p, config, needs(p, config),
      {shared_memory_part("Q", rows * d * element), shared_memory_part("K", kv), shared_memory_part("V", kv),
       register_part("S", rows * chunk * accumulator), register_part("P", rows * chunk * element),
       register_part("O", rows * d * accumulator), register_part("m, l", rows * 2 * fp32_bytes)},
      {.operand_rows = fa2::rows_per_warp(tile.br, d, warps),
       .chunk_columns = static_cast<int>(chunk),
       .timing = forward_timing});
}

constexpr int operands = 2;  // Q, dO
constexpr Features backward_features{
    .backward = true, .window = true, .lengths = true, .blocks = true, .dropout = true};

KernelResources backward_needs(const AttentionProblem& p, const TileShape& tile) {
  const int d = static_cast<int>(p.d);
  return {.kernel = "fa2 bwd",
          .threads = gradient::threads(tile.br, tile.bc, d),
          .registers = gradient::register_estimate(tile.br, tile.bc, d),
          .shared_bytes = gradient::shared_bytes(tile.br, tile.bc, d, bytes_per_element(p.dtype), operands)};
}

key_stationary::Kernels backward_kernel_set(const AttentionProblem& p, const TileShape& tile) {
  const int d = static_cast<int>(p.d);
  return {.file = "fa2/fa2_backward.cuh",
          .entry = "attn_fa2_backward",
          .needs = backward_needs(p, tile),
          .on_chip = gradient_layout(p, tile, {"Q", "dO"}, "LSE, D"),
          .rows_file = "fa2/fa2_backward_rows.cuh",
          .row_threads = gradient::row_threads,
          .row_registers = gradient::row_registers(d),
          .chunk_columns = gradient::chunk_columns(tile.br, tile.bc, d),
          .operand_bytes = gradient::operand_bytes(tile.br, tile.bc, d, bytes_per_element(p.dtype)),
          .timing = backward_timing,
          .dot_timing = dot_timing,
          .convert_timing = convert_timing};
}

class FlashAttention2 final : public TwoPassAlgorithm {
 public:
  FlashAttention2()
      : TwoPassAlgorithm({.name = "fa2",
                          .title = "FlashAttention-2",
                          .short_title = "FA2",
                          .source = "T. Dao, FlashAttention-2 (arXiv 2307.08691), Algorithm 1",
                          .tile_meaning = msg::tile_meaning::query_tiles{},
                          .plot_slot = PlotSlot::diamond,
                          .power_law = theorem_2(),
                          .forward_side = TileSide::br,
                          .backward_side = TileSide::bc,
                          .paper_column = PaperColumn::flash,
                          .groups = {Group::prefill, Group::tile_maps, Group::paper, Group::decoding, Group::law},
                          .head_dims = supported_head_dims<fa2::supported_head_dim>(),
                          .knobs = {raster_knob(), warps_knob()}}) {}

  [[nodiscard]] Config default_config(const AttentionProblem& p, const DeviceLimits& device) const override {
    const auto accepted = [&](const TileShape& tile) { return !refusal(p, tile, device); };
    const int d = p.d <= 32 ? 0 : p.d <= 64 ? 1 : p.d <= 128 ? 2 : 3;
    // Forward: wide tiles if the scores fit in registers next to O, shorter ones if O alone fills them. Backward,
    // measured on an H200 (N 4096): as many keys as registers allow for dK and dV, then rows; see gradient_shape.h.
    constexpr std::array<TileShape, 4> forward{{{128, 128}, {128, 64}, {128, 64}, {64, 64}}};
    constexpr std::array<TileShape, 4> backward{{{128, 256}, {128, 128}, {64, 128}, {64, 64}}};
    TileShape preferred = (p.pass == Pass::fwd ? forward : backward).at(static_cast<std::size_t>(d));
    if (p.pass == Pass::fwd) preferred.bc = columns_for_two_blocks(p, preferred, device);
    return shrink_to_fit({.br = tile_side_for_mask(p, preferred.br), .bc = tile_side_for_mask(p, preferred.bc)},
                         accepted);
  }

 protected:
  [[nodiscard]] std::optional<Refusal> refuse_forward(const AttentionProblem& p, const Config& config,
                                                      const DeviceLimits& device) const override {
    const TileShape& tile = config.tile;
    if (auto refused = check_features("fa2", p, tile, features, true)) return refused;
    const int warps = numeric_knob(config, knob::warps);
    if (!fa2::supported_warps(tile.br, warps)) {
      return make_shape_refusal(make_reason(
          "refusal.warps", "fa2 fwd: Br {} cannot be split over {} warps (use 16 or 32 query rows per warp).", tile.br,
          warps));
    }
    if (auto refused = check_grid_size("fa2 fwd", TileGrid(p, tile).q_tiles() * p.instances())) return refused;
    return check_resources({needs(p, config)}, device);
  }

  [[nodiscard]] std::optional<Refusal> refuse_backward(const AttentionProblem& p, const Config& config,
                                                       const DeviceLimits& device) const override {
    if (auto refused = check_knobs_except("fa2 bwd", config.knobs, {knob::raster})) return refused;
    if (auto refused = check_features("fa2 bwd", p, config.tile, backward_features, true)) return refused;
    if (auto refused = key_stationary::refuse_grids("fa2", p, config.tile)) return refused;
    return check_resources({backward_needs(p, config.tile)}, device);
  }

  [[nodiscard]] std::vector<KernelModel> forward_kernels(const AttentionProblem& p, const Config& config,
                                                         const DeviceLimits& /*device*/) const override {
    return {forward_model(p, config)};
  }
  [[nodiscard]] std::vector<KernelModel> backward_kernels(const AttentionProblem& p, const Config& config,
                                                          const DeviceLimits& /*device*/) const override {
    return key_stationary::models(p, config, backward_kernel_set(p, config.tile));
  }
  [[nodiscard]] std::vector<BufferSpec> forward_buffers(const AttentionProblem& p) const override {
    return query_stationary::buffers(p);
  }
  [[nodiscard]] std::vector<BufferSpec> backward_buffers(const AttentionProblem& p,
                                                         const Config& config) const override {
    return key_stationary::buffers(p, config.tile);
  }
  [[nodiscard]] AttentionPlan forward_plan(const AttentionProblem& p, const Config& config,
                                           const DeviceLimits& /*device*/) const override {
    return query_stationary::forward(p, config, forward_model(p, config),
                                     {"fa2/fa2_forward.cuh", "attn_fa2_forward", forward_defines(p, config)});
  }
  [[nodiscard]] std::vector<KernelLaunch> backward_launches(const AttentionProblem& p, const Config& config,
                                                            const DeviceLimits& /*device*/) const override {
    return key_stationary::launches(p, config, backward_kernel_set(p, config.tile));
  }
};

}  // namespace

std::unique_ptr<const Algorithm> make_fa2() {
  return std::make_unique<FlashAttention2>();
}

}  // namespace attnscope
