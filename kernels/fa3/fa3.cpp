// SPDX-License-Identifier: Apache-2.0
#include "kernels/fa3/fa3.h"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <string>
#include <vector>

#include "kernels/algorithm_parts.h"
#include "kernels/device/quantise_shape.h"
#include "kernels/fa3/fa3_backward.h"
#include "kernels/fa3/fa3_quantise.h"
#include "kernels/fa3/fa3_shape.h"
#include "kernels/fa3/fa3_timing.h"
#include "kernels/growth_laws.h"
#include "kernels/key_stationary.h"
#include "kernels/model/tile_grid.h"
#include "kernels/query_stationary.h"
#include "messages/load_order.h"
#include "messages/tile_meaning.h"

namespace attnscope {
namespace {

constexpr Features features{.window = true, .lengths = true, .blocks = true, .dropout = true};
/// The keys of one scale; with fewer or more rows registers are short, or lie idle.
constexpr TileShape tile_of_8_bits{.br = 128, .bc = scaled_keys};
constexpr Features features_of_8_bits{.window = true, .lengths = true, .blocks = true};

bool of_8_bits(const AttentionProblem& p) {
  return p.dtype == DType::fp8;
}
bool rotated(const Config& config) {
  return config.knobs.word(knob::rotation) == knob::hadamard;
}
bool quantising_measured(const Config& config) {
  return config.knobs.word(knob::quantising) == knob::measured;
}

KernelNeeds needs(const AttentionProblem& p, const Config& config) {
  const TileShape& tile = config.tile;
  return {.kernel = "fa3 fwd",
          .threads = fa3::threads(tile.br),
          .registers = fa3::launch_registers(tile.br),
          .shared_bytes = fa3::shared_bytes(tile.br, tile.bc, static_cast<int>(p.d), bytes_per_element(p.dtype),
                                            knob_of(config, knob::stages))};
}

Refusal shape(Message reason) {
  return {Refusal::Cause::shape, std::move(reason)};
}

/// What of the problem and the knobs is for 8-bit operands alone, or is not there with them.
std::optional<Refusal> refuse_operands(const AttentionProblem& p, const Config& config) {
  if (!of_8_bits(p)) {
    for (const std::string_view each : {knob::rotation, knob::quantising}) {
      if (!config.knobs.word(each).empty())
        return shape(make_reason("refusal.only_8_bit", "The knob {} is for fp8 alone.", each));
    }
    return std::nullopt;
  }
  if (fa3::supported_8_bit_head_dim(static_cast<int>(p.d))) return std::nullopt;
  return shape(make_reason("refusal.kernel_head_dim", "fa3 fp8 has no d {}; it has 64, 128.", p.d));
}

/// Why the forward kernel has no such tile, on any device.
std::optional<Refusal> refuse_tile(const AttentionProblem& p, const Config& config) {
  const TileShape& tile = config.tile;
  if (of_8_bits(p) && tile != tile_of_8_bits) {
    return shape(make_reason("refusal.only_tile", "fa3 fp8 takes tiles of {} alone, not {}.", describe(tile_of_8_bits),
                             describe(tile)));
  }
  if (!fa3::supported_rows(tile.br)) {
    return shape(make_reason("refusal.warpgroup_rows",
                             "fa3 fwd has 64 query rows a warpgroup: Br is 64, 128 or 192, not {}.", tile.br));
  }
  if (auto refused = refuse_over("Bc", tile.bc, fa3::most_keys, "fa3 fwd has no wider product")) return refused;
  if (auto refused =
          refuse_over("stages", knob_of(config, knob::stages), fa3::most_stages, "fa3 fwd has no longer ring"))
    return refused;
  return std::nullopt;
}

/// Cause::registers for what the warpgroups that multiply have, which is more than the launch's share.
std::optional<Refusal> refuse_registers(const AttentionProblem& p, const TileShape& tile) {
  const int d = static_cast<int>(p.d);
  const int registers = fa3::register_estimate(tile.bc, d, bytes_per_element(p.dtype));
  if (registers > fa3::consumer_registers(tile.br, bytes_per_element(p.dtype))) {
    return Refusal{
        Refusal::Cause::registers,
        make_reason("refusal.multiplying_registers",
                    "fa3 fwd needs about {} registers a thread that multiplies at {} and d {}; Br {} leaves {}.",
                    registers, describe(tile), d, tile.br,
                    fa3::consumer_registers(tile.br, bytes_per_element(p.dtype)))};
  }
  return std::nullopt;
}

/// wgmma is in the instruction set of compute capability 9.0 alone.
std::optional<Refusal> refuse_architecture(const DeviceLimits& device) {
  if (device.compute_major == 9 && device.compute_minor == 0) return std::nullopt;
  return Refusal{Refusal::Cause::architecture,
                 make_reason("refusal.instruction", "fa3 needs compute capability 9.0 (wgmma); {} has {}.{}.",
                             device.name, device.compute_major, device.compute_minor)};
}

/// The choice of stages adds a macro where it is not what the kernel does of itself.
std::vector<std::string> forward_defines(const AttentionProblem& p, const Config& config) {
  std::vector<std::string> defines = query_stationary::defines(p, config);
  if (of_8_bits(p)) defines.emplace_back("ATTN_FP8=1");
  const TileShape& tile = config.tile;
  const int stages = knob_of(config, knob::stages);
  if (stages > 0 && stages != fa3::stages(tile.br, tile.bc, static_cast<int>(p.d), bytes_per_element(p.dtype))) {
    defines.push_back(fmt::format("ATTN_STAGES={}", stages));
  }
  return defines;
}

std::vector<Argument> forward_matrices(const AttentionProblem& p, const TileShape& tile) {
  const auto boxes = [&](const char* given, const char* quantised, std::int64_t instances, std::int64_t n, int rows) {
    return boxes_of(of_8_bits(p) ? quantised : given, p, instances, n, rows);
  };
  const auto scales = [&](const char* name) { return BufferArgument{of_8_bits(p) ? name : ""}; };
  const auto d = static_cast<int>(p.d);
  return {boxes("q", "q8", p.instances(), p.n_q, fa3::group_rows),
          boxes("k", "k8", p.kv_instances(), p.n_k, tile.bc),
          of_8_bits(p) ? boxes_of("v8", p.dtype, p.kv_instances(), d, fa3_quantise::padded_keys(p), d, tile.bc)
                       : boxes_of("v", p, p.kv_instances(), p.n_k, tile.bc),
          boxes_of("o", held_as(p.dtype), p.instances(), p.n_q, d, fa3::group_rows, d),
          scales("q_scales"),
          scales("k_scales"),
          scales("v_scales"),
          BufferArgument{"lse"},
          BufferArgument{"taken"}};
}

query_stationary::Execution execution(const AttentionProblem& p, const Config& config, const DeviceLimits& device) {
  return {
      .operand_rows = fa3::group_rows,
      .chunk_columns = config.tile.bc,
      .persistent_blocks = resident_blocks(device, needs(p, config)),
      .box_rows = fa3::group_rows,
      .exponential_share = of_8_bits(p) ? 1 - fa3::line_tiles_of(static_cast<int>(p.d), mask_bits(p.mask)) / 8.0 : 1,
      .timing = fa3::forward_timing};
}

KernelModel forward_model(const AttentionProblem& p, const Config& config, const DeviceLimits& device) {
  const TileShape& tile = config.tile;
  const int d = static_cast<int>(p.d);
  const int element = bytes_per_element(p.dtype);
  const int accumulator = accumulator_bytes(p.dtype);
  const std::int64_t rows = tile.br;
  const int stages = fa3::stages(tile.br, tile.bc, d, element, knob_of(config, knob::stages));
  const bool o_apart = fa3::has_room_for_o(tile.br, tile.bc, d, element, stages);
  const std::int64_t row = std::int64_t{d} * element;
  const std::int64_t ring_rows = std::int64_t{stages} * tile.bc;
  std::vector<OnChipPart> parts{in_shared("Q", rows * row), in_shared("K", ring_rows * row, stages),
                                in_shared("V", ring_rows * (row + fa3::ones_rows(element)), stages)};
  if (o_apart) parts.push_back(in_shared("O out", fa3::o_bytes(tile.br, d)));
  parts.push_back(in_shared("barriers", fa3::barrier_bytes(tile.br, stages)));
  if (of_8_bits(p)) parts.push_back(in_shared("scales", fa3::scale_bytes(tile.br, stages, element)));
  for (const OnChipPart& part :
       {in_registers("S", rows * tile.bc * accumulator), in_registers("P", rows * tile.bc * element),
        in_registers("O", rows * d * accumulator), in_registers("m, l", rows * 2 * fp32_bytes)}) {
    parts.push_back(part);
  }
  return query_stationary::model(
      p, config, needs(p, config), std::move(parts),
      {.unordered = {Tensor::q, Tensor::k, Tensor::v},
       .steps_ahead = stages + 1,  // S of the next K tile is there, and its buffer free, before O += PV of this one
       .why = say::load_order::forward_warps{.tiles = stages}},
      execution(p, config, device));
}

}  // namespace

FlashAttention3::FlashAttention3()
    : Algorithm({.name = "fa3",
                 .title = "FlashAttention-3",
                 .short_title = "FA3",
                 .source = "J. Shah et al., FlashAttention-3 (arXiv 2407.08608), Algorithms 1 and 2",
                 .tile_meaning = say::tile_meaning::warpgroups{},
                 .law = tile_law,
                 .power_law = theorem_2(),
                 .forward_side = TileSide::br,
                 .backward_side = TileSide::bc,
                 .instruction = MatrixInstruction::wgmma,
                 .paper_column = PaperColumn::flash,
                 .groups = {Group::prefill, Group::tile_maps, Group::paper},
                 .dtypes = {DType::fp16, DType::bf16, DType::fp8},
                 .head_dims = supported_head_dims<fa3::supported_head_dim>(),
                 .knobs = {raster_knob(), stages_knob(), rotation_knob(), quantising_knob()}}) {}

Config FlashAttention3::default_config(const AttentionProblem& p, const DeviceLimits& device) const {
  if (p.pass != Pass::fwd) return fa3_backward::default_tile(p);
  if (of_8_bits(p)) return tile_of_8_bits;
  // Measured on an H200 at N 512 to 16384; the same at every N, so that a curve over N is one tile's.
  const TileShape wished = p.d <= 64        ? TileShape{.br = 192, .bc = 128}
                           : p.d <= 96      ? TileShape{.br = 192, .bc = 96}
                           : p.d <= 128     ? TileShape{.br = 128, .bc = 128}
                           : p.d <= 192     ? TileShape{.br = 128, .bc = 96}
                           : p.dropout == 0 ? TileShape{.br = 128, .bc = 80}
                                            : TileShape{.br = 128, .bc = 64};  // its random bytes need registers
  const TileShape best{.br = dividing_blocks(p, wished.br, 64), .bc = dividing_blocks(p, wished.bc)};
  // Fewer rows leave fewer registers where O fills them: then fewer keys.
  TileShape tile = best;
  while (refuse_registers(p, tile) && tile.bc > 16) tile.bc = dividing_blocks(p, tile.bc - 16);
  return refusal(p, tile, device) ? best : tile;
}

std::optional<Refusal> FlashAttention3::refusal(const AttentionProblem& p, const Config& config,
                                                const DeviceLimits& device) const {
  const TileShape& tile = config.tile;
  if (auto refused = refuse_shape(p, tile, facts())) return refused;
  if (auto refused = refuse_knobs(facts(), config.knobs)) return refused;
  if (auto refused = refuse_operands(p, config)) return refused;
  if (of_8_bits(p)) {
    if (auto refused = refuse_features("fa3 fp8", p, tile, features_of_8_bits, true)) return refused;
  }
  if (p.pass != Pass::fwd) {
    if (auto refused = refuse_other_knobs("fa3 bwd", config.knobs, {})) return refused;
    if (auto refused = fa3_backward::refuse_tile(p, tile)) return refused;
    const AttentionProblem forward = forward_problem(p);
    const Config forward_config = p.pass == Pass::bwd ? default_config(forward, device) : config;
    if (auto refused = refusal(forward, forward_config, device)) return refused;
    return refuse_needs({fa3_backward::needs(p, tile)}, device);
  }
  if (auto refused = refuse_features("fa3", p, tile, features, true)) return refused;
  if (auto refused = refuse_tile(p, config)) return refused;
  if (auto refused = refuse_grid("fa3 fwd", TileGrid(p, tile).q_tiles() * p.instances())) return refused;
  if (auto refused = refuse_architecture(device)) return refused;
  if (auto refused = refuse_registers(p, tile)) return refused;
  return refuse_needs({needs(p, config)}, device);
}

std::int64_t FlashAttention3::working_set_bytes(const AttentionProblem& /*p*/, const Config& /*config*/,
                                                const DeviceLimits& /*device*/) const {
  return 0;  // blocks of one head walk K and V together: what one has read, the next finds in the L2
}

std::vector<KernelModel> FlashAttention3::kernels(const AttentionProblem& p, const Config& config,
                                                  const DeviceLimits& device) const {
  if (p.pass == Pass::fwd) {
    std::vector<KernelModel> all;
    if (of_8_bits(p)) all = fa3_quantise::models(p, quantising_measured(config));
    all.push_back(forward_model(p, config, device));
    return all;
  }
  const AttentionProblem forward = forward_problem(p);
  const Config forward_config = p.pass == Pass::bwd ? default_config(forward, device) : config;
  return with_backward(kernels(forward, forward_config, device), fa3_backward::models(p, config), p);
}

std::vector<BufferSpec> FlashAttention3::buffers(const AttentionProblem& p, const Config& config,
                                                 const DeviceLimits& /*device*/) const {
  std::vector<BufferSpec> forward = query_stationary::buffers(forward_problem(p), true);
  if (of_8_bits(p)) fa3_quantise::append_buffers(forward, p);
  return p.pass == Pass::fwd ? forward : key_stationary::append_buffers(std::move(forward), p, config.tile);
}

AttentionPlan FlashAttention3::plan(const AttentionProblem& p, const Config& config, const DeviceLimits& device) const {
  if (p.pass != Pass::fwd) {
    const AttentionProblem forward = forward_problem(p);
    const Config forward_config = p.pass == Pass::bwd ? default_config(forward, device) : config;
    return fa3_backward::append(plan(forward, forward_config, device), p, config);
  }
  AttentionPlan plan =
      query_stationary::forward(p, config, forward_model(p, config, device),
                                {"fa3/fa3_forward.cuh", "attn_fa3_forward", forward_defines(p, config)},
                                execution(p, config, device), forward_matrices(p, config.tile));
  if (!of_8_bits(p)) return plan;
  fa3_quantise::append_buffers(plan.buffers, p);
  std::vector<KernelLaunch> before = fa3_quantise::launches(p, rotated(config), quantising_measured(config));
  plan.launches.insert(plan.launches.begin(), std::move_iterator(before.begin()), std::move_iterator(before.end()));
  plan.quantised = Quantisation{.query_rows = scaled_queries, .keys = scaled_keys, .rotated = rotated(config)};
  return plan;
}

}  // namespace attnscope
