// SPDX-License-Identifier: Apache-2.0
#include "kernels/fa3/fa3_backward.h"

#include <utility>

#include "kernels/fa3/fa3_backward_shape.h"
#include "kernels/fa3/fa3_timing.h"
#include "kernels/key_stationary.h"
#include "messages/load_order.h"

namespace attnscope::fa3_backward {
namespace {

constexpr Features features{.backward = true, .window = true, .lengths = true};

std::vector<OnChipPart> layout(const AttentionProblem& p, const TileShape& tile) {
  const int element = bytes_per_element(p.dtype);
  const int accumulator = accumulator_bytes(p.dtype);
  constexpr std::int64_t rows_at_once = 64;
  const std::int64_t kv = tile.bc * p.d;
  const std::int64_t q = tile.br * p.d;
  const std::int64_t scores = std::int64_t{tile.br} * tile.bc;
  return {
      in_shared("K", kv * element),
      in_shared("V", kv * element),
      in_shared("Q", stages * q * element, stages),
      in_shared("dO", stages * q * element, stages),
      in_shared("LSE, D", std::int64_t{stages} * tile.br * 2 * fp32_bytes, stages),
      in_shared("dS", ds_buffers * scores * element, ds_buffers),
      p.deterministic ? in_shared("dQ", dq_buffers * q * fp32_bytes, dq_buffers) : in_registers("dQ", q * accumulator),
      in_shared("barriers", barrier_bytes),
      in_registers("dK", kv * accumulator),
      in_registers("dV", kv * accumulator),
      in_registers("S", scores * accumulator),
      in_registers("dP", rows_at_once * tile.bc * accumulator)};
}

key_stationary::Kernels kernels(const AttentionProblem& p, const TileShape& tile) {
  return {.file = "fa3/fa3_backward.cuh",
          .entry = "attn_fa3_backward",
          .needs = needs(p, tile),
          .on_chip = layout(p, tile),
          .load_order = {.unordered = {Tensor::q, Tensor::dout, Tensor::lse, Tensor::delta},
                         .steps_ahead = stages,
                         .why = say::load_order::backward_warps{.tiles = stages}},
          .rows_file = "fa3/fa3_backward_rows.cuh",
          .row_threads = row_threads,
          .row_registers = row_registers,
          .chunk_columns = tile.bc,
          .operand_bytes = operand_bytes(tile.br, tile.bc, static_cast<int>(p.d), bytes_per_element(p.dtype)),
          .timing = fa3::backward_timing,
          .dot_timing = fa3::dot_timing,
          .convert_timing = fa3::convert_timing,
          .delta_request_rows = 32,
          .whole_tiles = true};
}

}  // namespace

std::vector<KernelModel> models(const AttentionProblem& p, const Config& config) {
  return key_stationary::models(p, config, kernels(p, config.tile));
}

AttentionPlan append(AttentionPlan forward, const AttentionProblem& p, const Config& config) {
  return key_stationary::append(std::move(forward), p, config, kernels(p, config.tile));
}

std::optional<Refusal> refuse_tile(const AttentionProblem& p, const TileShape& tile) {
  if (auto refused = refuse_features("fa3 bwd", p, tile, features, true)) return refused;
  const TileShape own = default_tile(p);
  const int d = static_cast<int>(p.d);
  if (!supported_tile(own.br, own.bc, d)) {
    return Refusal{Refusal::Cause::shape,
                   make_reason("refusal.kernel_head_dim", "fa3 bwd has no d {}; it has 64 and 128.", p.d)};
  }
  if (!supported_tile(tile.br, tile.bc, d)) {
    return Refusal{Refusal::Cause::shape, make_reason("refusal.kernel_tile", "fa3 bwd has the tile {} at d {}, not {}.",
                                                      describe(own), p.d, describe(tile))};
  }
  return key_stationary::refuse_grids("fa3", p, tile);
}

KernelNeeds needs(const AttentionProblem& p, const TileShape& tile) {
  return {.kernel = "fa3 bwd",
          .threads = threads,
          .registers = launch_registers,
          .shared_bytes =
              shared_bytes(tile.br, tile.bc, static_cast<int>(p.d), bytes_per_element(p.dtype), p.deterministic)};
}

TileShape default_tile(const AttentionProblem& p) {
  return {.br = query_rows(static_cast<int>(p.d)), .bc = 64 * consumers};
}

}  // namespace attnscope::fa3_backward
