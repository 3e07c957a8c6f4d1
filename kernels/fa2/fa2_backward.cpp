// SPDX-License-Identifier: Apache-2.0
#include "kernels/fa2/fa2_backward.h"

#include <utility>

#include "kernels/algorithm_parts.h"
#include "kernels/device/gradient_shape.h"
#include "kernels/fa2/fa2_timing.h"
#include "kernels/key_stationary.h"
#include "messages/load_order.h"

namespace attnscope::fa2_backward {
namespace {

constexpr int operands = 2;  // Q, dO
constexpr Features features{.backward = true, .window = true, .lengths = true, .blocks = true, .dropout = true};

KernelNeeds needs(const AttentionProblem& p, const TileShape& tile) {
  const int d = static_cast<int>(p.d);
  return {.kernel = "fa2 bwd",
          .threads = gradient::threads(tile.br, tile.bc, d),
          .registers = gradient::register_estimate(tile.br, tile.bc, d),
          .shared_bytes = gradient::shared_bytes(tile.br, tile.bc, d, bytes_per_element(p.dtype), operands)};
}

key_stationary::Kernels kernels(const AttentionProblem& p, const TileShape& tile) {
  const int d = static_cast<int>(p.d);
  return {.file = "fa2/fa2_backward.cuh",
          .entry = "attn_fa2_backward",
          .needs = needs(p, tile),
          .on_chip = gradient_layout(p, tile, {"Q", "dO"}, "LSE, D"),
          .load_order = {.steps_ahead = 1, .why = say::load_order::next_q_tile{}},
          .rows_file = "fa2/fa2_backward_rows.cuh",
          .row_threads = gradient::row_threads,
          .row_registers = gradient::row_registers(d),
          .chunk_columns = gradient::chunk_columns(tile.br, tile.bc, d),
          .operand_bytes = gradient::operand_bytes(tile.br, tile.bc, d, bytes_per_element(p.dtype)),
          .timing = fa2::backward_timing,
          .dot_timing = fa2::dot_timing,
          .convert_timing = fa2::convert_timing};
}

}  // namespace

std::vector<KernelModel> models(const AttentionProblem& p, const Config& config) {
  return key_stationary::models(p, config, kernels(p, config.tile));
}

AttentionPlan append(AttentionPlan forward, const AttentionProblem& p, const Config& config) {
  return key_stationary::append(std::move(forward), p, config, kernels(p, config.tile));
}

std::optional<Refusal> refusal(const AttentionProblem& p, const TileShape& tile, const DeviceLimits& device) {
  if (auto refused = refuse_features("fa2 bwd", p, tile, features, true)) return refused;
  if (auto refused = key_stationary::refuse_grids("fa2", p, tile)) return refused;
  return refuse_needs({needs(p, tile)}, device);
}

TileShape default_tile(const AttentionProblem& p, const std::function<bool(const TileShape&)>& accepted) {
  // Measured on an H200 (N 4096): as many keys as dK and dV leave registers for, then rows; see gradient_shape.h.
  const TileShape wished = p.d <= 32    ? TileShape{.br = 128, .bc = 256}
                           : p.d <= 64  ? TileShape{.br = 128, .bc = 128}
                           : p.d <= 128 ? TileShape{.br = 64, .bc = 128}
                                        : TileShape{.br = 64, .bc = 64};
  return shrink_to_fit({.br = dividing_blocks(p, wished.br), .bc = dividing_blocks(p, wished.bc)}, accepted);
}

}  // namespace attnscope::fa2_backward
