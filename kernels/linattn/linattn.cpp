// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/algorithm_parts.h"
#include "kernels/linattn/linattn_programs.h"
#include "kernels/linattn/linattn_shape.h"
#include "messages/linattn.h"

namespace attnscope {
namespace {

// Timing constants, fitted by tests/gpu/fit_times.py to launches of the preset `linear` on an H100.

/// mma.sync with transposed operands, few warps, next keys prefetched in registers.
constexpr KernelTiming states_timing{
    .block_latency = 1500,
    .step_latency = 348,
    .round_latency = 635,
    .alone = {.tensor = 0.514, .exponential = 0.533, .fp32 = 0.505, .shared = 0.523, .l2 = 0.535},
    .busy = {.tensor = 1.1, .exponential = 0.5, .fp32 = 0.5, .shared = 0.864, .l2 = 1.06},
    .skew = 0.0998,
    .overlap = 1.17,
    .launch_ns = 5330,
    .use = {.exponentials = 1.1, .wavefronts = {.exponential = 0.3, .fp32 = 0.695, .shared = 1.03}},
};

/// mma.sync; tiles are loaded before each product, other blocks of the SM overlap.
constexpr KernelTiming outputs_timing{
    .block_latency = 2290,
    .step_latency = 297,
    .round_latency = 578,
    .alone = {.tensor = 0.512, .exponential = 0.519, .fp32 = 0.505, .shared = 0.521, .l2 = 0.523},
    .busy = {.tensor = 1.1, .exponential = 0.5, .fp32 = 0.5, .shared = 1.42, .l2 = 1.44},
    .skew = 0.102,
    .overlap = 1,
    .launch_ns = 5030,
    .use = {.exponentials = 1.25, .wavefronts = {.fp32 = 0.671, .shared = 0.759, .l2 = 0.772}},
};

using linattn::ChunkGrid;
using linattn::HeadSums;

/// Nominal FLOPs for any chunk size: KV of all keys and phi(Q) KV, 2 d^2 per row of K and of Q.
double linear_flops(const AttentionProblem& p) {
  return 2.0 * static_cast<double>(p.d * p.d) * static_cast<double>(p.instances() * p.n_q + p.kv_instances() * p.n_k);
}
double linear_flops_per_exponential(const AttentionProblem& p) {
  return 2.0 * static_cast<double>(p.d);
}

KernelResources states_needs(const AttentionProblem& p, const TileShape& tile) {
  const int d = static_cast<int>(p.d);
  return {.kernel = "linattn states",
          .threads = linattn::states_threads(d),
          .registers = linattn::states_register_estimate(tile.bc, d),
          .shared_bytes = linattn::states_shared_bytes(tile.bc, d, bytes_per_element(p.dtype))};
}

KernelResources outputs_needs(const ChunkGrid& grid) {
  const int d = static_cast<int>(grid.problem().d);
  const auto [br, bc] = grid.tile();
  return {
      .kernel = "linattn outputs",
      .threads = linattn::outputs_threads(br),
      .registers = linattn::outputs_register_estimate(br, bc, d, grid.causal()),
      .shared_bytes = linattn::outputs_shared_bytes(br, bc, d, bytes_per_element(grid.problem().dtype), grid.causal())};
}

/// Returns "states", if any tile starts from a state, and "outputs".
std::vector<KernelLaunch> launches(const ChunkGrid& grid, const Config& config) {
  const AttentionProblem& p = grid.problem();
  const TileShape& tile = grid.tile();
  const int element = bytes_per_element(p.dtype);
  const int accumulator = accumulator_bytes(p.dtype);
  const std::int64_t keys = grid.step() * p.d * element;
  const std::int64_t state = (p.d + 1) * p.d;
  std::vector<KernelLaunch> all;
  if (grid.states() > 0) {
    KernelModel model = kernel_model(
        "states", p.kv_instances(), states_needs(p, tile), states_traffic(grid),
        {shared_memory_part("K", keys), shared_memory_part("V", keys), register_part("KV", state * accumulator)},
        states_work(grid), states_timing);
    all.emplace_back(std::move(model),
                     KernelSource{"linattn/linattn_states.cuh", "attn_linattn_states",
                                  kernel_defines({"ATTN_BF16", "ATTN_D", "ATTN_BC", "ATTN_MASK"}, p, config)},
                     kernel_arguments({"k", "v", "kv_state"}, {p.n_k, grid.states()}), states_program(grid));
  }
  const HeadSums sums = head_sums(grid);
  std::vector<OnChipPart> parts{shared_memory_part("Q", tile.br * p.d * element)};
  if (grid.causal()) {
    parts.push_back(shared_memory_part("K", keys));
    parts.push_back(shared_memory_part("V", keys));
  }
  parts.push_back(shared_memory_part("KV", state * element));
  if (grid.causal()) parts.push_back(register_part("P", tile.br * grid.step() * element));
  parts.push_back(register_part("O", tile.br * p.d * accumulator));
  parts.push_back(register_part("l", std::int64_t{tile.br} * fp32_bytes));
  all.emplace_back(
      kernel_model("outputs", grid.row_tiles() * p.instances(), outputs_needs(grid), outputs_traffic(grid, sums),
                   std::move(parts), outputs_work(grid, sums), outputs_timing),
      KernelSource{"linattn/linattn_outputs.cuh", "attn_linattn_outputs",
                   kernel_defines({"ATTN_BF16", "ATTN_D", "ATTN_BR", "ATTN_BC", "ATTN_MASK"}, p, config)},
      kernel_arguments({"q", "k", "v", "kv_state", "o"}, {group_size(p), p.n_q, p.n_k, grid.states()}),
      outputs_program(grid));
  return all;
}

/// Linear attention: O_i = phi(Q_i) KV_i / phi(Q_i) z_i with phi(x) = elu(x) + 1, where KV_i is the sum of phi(K_j)^T
/// V_j and z_i that of phi(K_j) over the keys j that row i sees. Forward, full and causal.
///
/// The first kernel accumulates keys (chunk by chunk under a causal mask) and stores the state after each chunk. The
/// second computes rows of O from a state and, under a causal mask, from the keys between the state and the diagonal.
class LinearAttention final : public Algorithm {
 public:
  LinearAttention()
      : Algorithm({.name = "linattn",
                   .title = "Linear attention",
                   .short_title = "Linear",
                   .source = "A. Katharopoulos et al., Transformers are RNNs (arXiv 2006.16236), equations 7 to 12",
                   .tile_meaning = msg::linattn::tile_meaning{},
                   .plot_slot = PlotSlot::plus,
                   .power_law = PowerLaw{.title = "Linear attention", .text = "N·d", .exponents = {1, 1, 0}},
                   .nominal_flops = linear_flops,
                   .flops_per_exponential = linear_flops_per_exponential,
                   .reference = "linear",
                   .forward_side = TileSide::bc,
                   .presets = {{.name = "linear",
                                .description = msg::linattn::preset{},
                                .grids = {{.axes = {"d=[64,128]", "heads=32", "N[pow2]=[9:14]", "mask=[full,causal]"},
                                           .companions = {"naive", "fa2"}},
                                          // For M = 4 d^2 or more, tiles have d rows, and the state reads are N d for
                                          // every M.
                                          {.axes = {"d=[32,64,128]", "heads=132", "N=[3072,6144,12288]",
                                                    "M=[65536,90112,114688]"}}}}},
                   .head_dims = supported_head_dims<linattn::supported_head_dim>()}) {}

  [[nodiscard]] Config default_config(const AttentionProblem& p, const DeviceLimits& device) const override {
    // Chunks as long as tiles, so that a tile starts from each stored state.
    return shrink_to_fit({.br = 128, .bc = 128}, [&](const TileShape& tile) { return !refusal(p, tile, device); });
  }

  [[nodiscard]] std::optional<Refusal> refusal(const AttentionProblem& p, const Config& config,
                                               const DeviceLimits& device) const override {
    if (auto refused = check_shape(p, config.tile, facts())) return refused;
    if (auto refused = check_knobs(facts(), config.knobs)) return refused;
    if (auto refused = check_features("linattn", p, config.tile, {}, false)) return refused;
    const ChunkGrid grid(p, config.tile);
    if (auto refused = check_grid_size("linattn outputs", grid.row_tiles() * p.instances())) return refused;
    return check_resources({states_needs(p, config.tile), outputs_needs(grid)}, device);
  }

  [[nodiscard]] std::int64_t working_set_bytes(const AttentionProblem& p, const Config& config,
                                               const DeviceLimits& /*device*/) const override {
    const ChunkGrid grid(p, config.tile);
    if (!grid.causal()) return 0;  // only one state per head is reread
    // The first kernel streams K and V and writes states; the second reads all of them again.
    return p.kv_instances() * (2 * p.n_k + grid.states() * (p.d + 1)) * p.d * bytes_per_element(p.dtype);
  }

  [[nodiscard]] std::vector<BufferSpec> buffers(const AttentionProblem& p, const Config& config,
                                                const DeviceLimits& /*device*/) const override {
    // At least one state, which stays unused if no tile starts from one.
    const std::int64_t states = std::max<std::int64_t>(1, ChunkGrid(p, config.tile).states());
    std::vector<BufferSpec> all = input_buffers(p);
    all.push_back({"kv_state", p.kv_instances() * states * (p.d + 1) * p.d * bytes_per_element(p.dtype)});
    all.push_back(row_buffer("o", p, p.d, output_bytes(p.dtype)));
    return all;
  }

  [[nodiscard]] AttentionPlan plan(const AttentionProblem& p, const Config& config,
                                   const DeviceLimits& device) const override {
    return {.buffers = buffers(p, config, device), .launches = launches(ChunkGrid(p, config.tile), config)};
  }
};

}  // namespace

std::unique_ptr<const Algorithm> make_linattn() {
  return std::make_unique<LinearAttention>();
}

}  // namespace attnscope
