// SPDX-License-Identifier: Apache-2.0
#include "kernels/fa2/fa2.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "kernels/algorithm_parts.h"
#include "kernels/fa2/fa2_backward.h"
#include "kernels/fa2/fa2_shape.h"
#include "kernels/fa2/fa2_timing.h"
#include "kernels/growth_laws.h"
#include "kernels/key_stationary.h"
#include "kernels/model/tile_grid.h"
#include "kernels/query_stationary.h"
#include "messages/load_order.h"
#include "messages/tile_meaning.h"

namespace attnscope {
namespace {

constexpr Features features{.window = true, .lengths = true, .blocks = true, .dropout = true};

KernelNeeds needs(const AttentionProblem& p, const Config& config) {
  const TileShape& tile = config.tile;
  const int d = static_cast<int>(p.d);
  const int warps = knob_of(config, knob::warps);
  return {.kernel = "fa2 fwd",
          .threads = fa2::threads(tile.br, d, warps),
          .registers = fa2::register_estimate(tile.br, tile.bc, d, warps, p.dropout > 0, p.mask.windowed()),
          .shared_bytes = fa2::shared_bytes(tile.br, tile.bc, d, bytes_per_element(p.dtype))};
}

/// The choice of warps adds a macro where it is not what the kernel does of itself.
std::vector<std::string> forward_defines(const AttentionProblem& p, const Config& config) {
  std::vector<std::string> defines = query_stationary::defines(p, config);
  const int d = static_cast<int>(p.d);
  const int warps = knob_of(config, knob::warps);
  if (fa2::threads(config.tile.br, d, warps) != fa2::threads(config.tile.br, d)) {
    defines.push_back(fmt::format("ATTN_WARPS={}", warps));
  }
  return defines;
}

KernelModel forward_model(const AttentionProblem& p, const Config& config) {
  const TileShape& tile = config.tile;
  const int d = static_cast<int>(p.d);
  const int warps = knob_of(config, knob::warps);
  const int element = bytes_per_element(p.dtype);
  const int accumulator = accumulator_bytes(p.dtype);
  const std::int64_t rows = tile.br;
  const std::int64_t chunk = fa2::chunk_columns(tile.br, tile.bc, d, warps, p.dropout > 0);
  const std::int64_t kv = std::int64_t{tile.bc} * d * element;
  return query_stationary::model(
      p, config, needs(p, config),
      {in_shared("Q", rows * d * element), in_shared("K", kv), in_shared("V", kv),
       in_registers("S", rows * chunk * accumulator), in_registers("P", rows * chunk * element),
       in_registers("O", rows * d * accumulator), in_registers("m, l", rows * 2 * fp32_bytes)},
      {.steps_ahead = 1, .why = say::load_order::k_and_v_in_turn{}},
      {.operand_rows = fa2::rows_per_warp(tile.br, d, warps),
       .chunk_columns = static_cast<int>(chunk),
       .timing = fa2::forward_timing});
}

}  // namespace

FlashAttention2::FlashAttention2()
    : Algorithm({.name = "fa2",
                 .title = "FlashAttention-2",
                 .short_title = "FA2",
                 .source = "T. Dao, FlashAttention-2 (arXiv 2307.08691), Algorithm 1",
                 .tile_meaning = say::tile_meaning::query_tiles{},
                 .law = tile_law,
                 .power_law = theorem_2(),
                 .forward_side = TileSide::br,
                 .backward_side = TileSide::bc,
                 .paper_column = PaperColumn::flash,
                 .groups = {Group::prefill, Group::tile_maps, Group::paper, Group::decoding, Group::law, Group::linear},
                 .head_dims = supported_head_dims<fa2::supported_head_dim>(),
                 .knobs = {raster_knob(), warps_knob()}}) {}

Config FlashAttention2::default_config(const AttentionProblem& p, const DeviceLimits& device) const {
  const auto accepted = [&](const TileShape& tile) { return !refusal(p, tile, device); };
  if (p.pass != Pass::fwd) return fa2_backward::default_tile(p, accepted);
  // Wide while the scores fit in registers beside O, shorter where O alone fills them.
  const TileShape wished = p.d <= 32    ? TileShape{.br = 128, .bc = 128}
                           : p.d <= 128 ? TileShape{.br = 128, .bc = 64}
                                        : TileShape{.br = 64, .bc = 64};
  return shrink_to_fit({.br = dividing_blocks(p, wished.br), .bc = dividing_blocks(p, wished.bc)}, accepted);
}

std::optional<Refusal> FlashAttention2::refusal(const AttentionProblem& p, const Config& config,
                                                const DeviceLimits& device) const {
  const TileShape& tile = config.tile;
  if (auto refused = refuse_shape(p, tile, facts())) return refused;
  if (auto refused = refuse_knobs(facts(), config.knobs)) return refused;
  if (p.pass != Pass::fwd) {
    const AttentionProblem forward = forward_problem(p);
    const Config forward_config = p.pass == Pass::bwd ? default_config(forward, device) : config;
    if (auto refused = refuse_other_knobs("fa2 bwd", config.knobs, {knob::raster})) return refused;
    if (auto refused = fa2_backward::refusal(p, tile, device)) return refused;
    return refusal(forward, forward_config, device);
  }
  if (auto refused = refuse_features("fa2", p, tile, features, true)) return refused;
  const int warps = knob_of(config, knob::warps);
  if (!fa2::supported_warps(tile.br, warps)) {
    return Refusal{
        Refusal::Cause::shape,
        make_reason("refusal.warps", "fa2 fwd takes 16 or 32 query rows a warp: Br {} has no tile of {} warps.",
                    tile.br, warps)};
  }
  if (auto refused = refuse_grid("fa2 fwd", TileGrid(p, tile).q_tiles() * p.instances())) return refused;
  return refuse_needs({needs(p, config)}, device);
}

std::int64_t FlashAttention2::working_set_bytes(const AttentionProblem& /*p*/, const Config& /*config*/,
                                                const DeviceLimits& /*device*/) const {
  return 0;  // blocks of one head walk K and V together: what one has read, the next finds in the L2
}

std::vector<KernelModel> FlashAttention2::kernels(const AttentionProblem& p, const Config& config,
                                                  const DeviceLimits& device) const {
  if (p.pass == Pass::fwd) return {forward_model(p, config)};
  const AttentionProblem forward = forward_problem(p);
  const Config forward_config = p.pass == Pass::bwd ? default_config(forward, device) : config;
  return with_backward(kernels(forward, forward_config, device), fa2_backward::models(p, config), p);
}

std::vector<BufferSpec> FlashAttention2::buffers(const AttentionProblem& p, const Config& config,
                                                 const DeviceLimits& /*device*/) const {
  if (p.pass == Pass::fwd) return query_stationary::buffers(p);
  return key_stationary::append_buffers(query_stationary::buffers(forward_problem(p)), p, config.tile);
}

AttentionPlan FlashAttention2::plan(const AttentionProblem& p, const Config& config, const DeviceLimits& device) const {
  if (p.pass != Pass::fwd) {
    const AttentionProblem forward = forward_problem(p);
    const Config forward_config = p.pass == Pass::bwd ? default_config(forward, device) : config;
    return fa2_backward::append(plan(forward, forward_config, device), p, config);
  }
  return query_stationary::forward(p, config, forward_model(p, config),
                                   {"fa2/fa2_forward.cuh", "attn_fa2_forward", forward_defines(p, config)});
}

}  // namespace attnscope
