// SPDX-License-Identifier: Apache-2.0
#include "kernels/fa2/fa2.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/descriptor.h"
#include "kernels/fa2/fa2_backward.h"
#include "kernels/fa2/fa2_hopper_shape.h"
#include "kernels/fa2/fa2_shape.h"
#include "kernels/model/tile_grid.h"

namespace attnscope {
namespace {

/// A block owns Q tile i of one instance: step 0 loads Q_i, the next ones load K_j and V_j of the tiles j that it
/// visits, the last step stores O_i and LSE_i. A tile whose rows see no key loads nothing. Where later rows see more
/// keys, launches hand out the last tiles first.
class Fa2Program final : public TileProgram {
 public:
  Fa2Program(const AttentionProblem& problem, const TileShape& tile) : p_(problem), tile_(tile), grids_(problem, tile) {
    q_tiles_ = grids_.of(0).q_tiles();
    if (!p_.mask.sparse()) return;
    for (std::int64_t entry = 0; entry < (p_.mask.padded() ? p_.batch : 1); ++entry) {
      for (std::int64_t i = 0; i < q_tiles_; ++i) {
        visited_.push_back(grids_.of(entry * p_.heads_q).k_tiles_of(i));
      }
    }
  }

  [[nodiscard]] std::int64_t blocks() const override { return q_tiles_ * p_.instances(); }

  [[nodiscard]] std::int64_t steps(std::int64_t block) const override { return steps_of_tile(place(block)); }

  void visit(std::int64_t block, std::int64_t step, std::vector<TileAccess>& out) const override {
    const BlockPlace at = place(block);
    const TileGrid& grid = grids_.of(at.instance);
    const int element = bytes_per_element(p_.dtype);
    const std::int64_t row = at.q_tile * tile_.br;
    const std::int64_t rows = grid.q_rows(at.q_tile);
    if (step == steps_of_tile(at) - 1) {
      out.push_back({Tensor::o, Access::store, at.instance, row, rows, 0, p_.d, element});
      out.push_back({Tensor::lse, Access::store, at.instance, row, rows, 0, 1, fp32_bytes});
    } else if (step == 0) {
      out.push_back({Tensor::q, Access::load, at.instance, row, rows, 0, p_.d, element});
    } else {
      const std::int64_t j =
          p_.mask.sparse() ? visited(at).at(static_cast<std::size_t>(step - 1)) : grid.k_begin(at.q_tile) + step - 1;
      const std::int64_t kv = at.instance / group_size(p_);
      out.push_back({Tensor::k, Access::load, kv, j * tile_.bc, grid.k_rows(j), 0, p_.d, element});
      out.push_back({Tensor::v, Access::load, kv, j * tile_.bc, grid.k_rows(j), 0, p_.d, element});
    }
  }

 private:
  [[nodiscard]] const std::vector<std::int64_t>& visited(const BlockPlace& at) const {
    const std::int64_t entry = p_.mask.padded() ? at.instance / p_.heads_q : 0;
    return visited_.at(static_cast<std::size_t>(entry * q_tiles_ + at.q_tile));
  }

  [[nodiscard]] std::int64_t steps_of_tile(const BlockPlace& at) const {
    const std::int64_t seen =
        p_.mask.sparse() ? std::ssize(visited(at)) : grids_.of(at.instance).k_tiles_seen(at.q_tile);
    return seen == 0 ? 1 : seen + 2;
  }

  [[nodiscard]] BlockPlace place(std::int64_t block) const {
    BlockPlace place = place_of(block, tile_.raster, q_tiles_, p_.instances());
    if (p_.mask.right != Mask::unlimited && p_.mask.left == Mask::unlimited) place.q_tile = q_tiles_ - 1 - place.q_tile;
    return place;
  }

  AttentionProblem p_;
  TileShape tile_;
  BatchGrid grids_;
  std::int64_t q_tiles_ = 0;
  std::vector<std::vector<std::int64_t>> visited_;  ///< of each Q tile of each grid, under a block mask
};

/// O and LSE once, Q once where it sees any key, K and V once for every Q tile that visits them.
Traffic forward_traffic(const AttentionProblem& p, const TileShape& tile) {
  const BatchGrid grids(p, tile);
  const std::int64_t row = p.d * bytes_per_element(p.dtype);
  return {.l2_to_sm_bytes = (grids.sum(&TileGrid::query_rows_touched) + 2 * grids.sum(&TileGrid::key_rows_seen)) * row,
          .sm_to_l2_bytes = p.instances() * p.n_q * (row + fp32_bytes)};
}

constexpr Features features{
    .window = true, .lengths = true, .blocks = true, .dropout = true, .warps = true, .stages = true, .raster = true};

/// The kernel for every architecture from sm_80 on.
KernelNeeds needs(const AttentionProblem& p, const TileShape& tile) {
  const int d = static_cast<int>(p.d);
  return {.kernel = "fa2 fwd",
          .threads = fa2::threads(tile.br, d, tile.warps),
          .registers = fa2::register_estimate(tile.br, tile.bc, d, tile.warps, p.dropout > 0),
          .shared_bytes = fa2::shared_bytes(tile.br, tile.bc, d)};
}

/// Whether the kernel for sm_90a exists for the tile there, whatever its warps and stages.
bool hopper_runs(const AttentionProblem& p, const TileShape& tile, const DeviceLimits& device) {
  return device.compute_major == 9 && device.compute_minor == 0 &&
         fa2_hopper::shared_limit <= device.shared_bytes_per_block &&
         fa2_hopper::supported_tile(tile.br, tile.bc, static_cast<int>(p.d));
}

/// Whether the device runs the tile with the kernel for sm_90a: other tiles, and all on other GPUs, go to the first.
bool on_hopper(const AttentionProblem& p, const TileShape& tile, const DeviceLimits& device) {
  return hopper_runs(p, tile, device) && (tile.warps == 0 || tile.warps * 16 == tile.br) &&
         tile.stages <= fa2_hopper::most_stages &&
         fa2_hopper::shared_bytes(tile.br, tile.bc, static_cast<int>(p.d), tile.stages) <= fa2_hopper::shared_limit;
}

KernelNeeds hopper_needs(const AttentionProblem& p, const TileShape& tile) {
  return {.kernel = "fa2 fwd",
          .threads = fa2_hopper::threads(tile.br),
          .registers = fa2_hopper::launch_registers(tile.br),
          .shared_bytes = fa2_hopper::shared_bytes(tile.br, tile.bc, static_cast<int>(p.d), tile.stages)};
}

/// Cause::shape for warps or stages that no forward kernel has there.
std::optional<Refusal> refuse_choices(const AttentionProblem& p, const TileShape& tile, const DeviceLimits& device) {
  const auto shape = [](std::string reason) { return Refusal{Refusal::Cause::shape, std::move(reason)}; };
  if (on_hopper(p, tile, device)) return std::nullopt;
  if (!fa2::supported_warps(tile.br, tile.warps)) {
    return shape(
        fmt::format("fa2 fwd takes 16 or 32 query rows a warp: Br {} has no tile of {} warps.", tile.br, tile.warps));
  }
  if (tile.stages > 1) {
    return shape(hopper_runs(p, tile, device) && tile.warps * 32 != tile.br
                     ? fmt::format("fa2 fwd has 1 to {} stages, as shared memory allows; {} of {} do not fit.",
                                   fa2_hopper::most_stages, tile.stages, describe(TileShape{tile.br, tile.bc}))
                     : fmt::format("fa2 fwd has one stage of K and V there, not {}: more are for whole warpgroups on "
                                   "Hopper.",
                                   tile.stages));
  }
  return std::nullopt;
}

/// The macros that the choice of warps or stages adds: none where it is what the kernel does of itself.
std::vector<std::string> forward_defines(const AttentionProblem& p, const TileShape& tile, bool hopper) {
  std::vector<std::string> defines = kernel_defines(
      {"ATTN_BF16", "ATTN_D", "ATTN_BR", "ATTN_BC", "ATTN_MASK", "ATTN_DROPOUT", "ATTN_HEADS_FASTEST"}, p, tile);
  const int d = static_cast<int>(p.d);
  if (hopper) {
    if (tile.stages > 0 && tile.stages != fa2_hopper::stages(tile.br, tile.bc, d)) {
      defines.push_back(fmt::format("ATTN_STAGES={}", tile.stages));
    }
  } else if (fa2::threads(tile.br, d, tile.warps) != fa2::threads(tile.br, d)) {
    defines.push_back(fmt::format("ATTN_WARPS={}", tile.warps));
  }
  return defines;
}

/// What the device runs the backward pass with.
fa2_backward::Kernels backward_kernels(const AttentionProblem& p, const TileShape& tile, const DeviceLimits& device) {
  return fa2_backward::hopper_kernels(p, tile, device).value_or(fa2_backward::portable_kernels(p, tile));
}

}  // namespace

std::string_view FlashAttention2::name() const {
  return "fa2";
}
std::string_view FlashAttention2::title() const {
  return "FlashAttention-2";
}
std::string_view FlashAttention2::source() const {
  return "T. Dao, FlashAttention-2 (arXiv 2307.08691), Algorithm 1";
}
std::string_view FlashAttention2::tile_meaning() const {
  return "Br decides the traffic: K and V are read once for every Br query rows. Bc only takes on-chip memory. "
         "On Hopper, Br 64, 128 and 192 run on whole warpgroups (wgmma), other tiles warp by warp (mma.sync).";
}
bool FlashAttention2::tile_decides_traffic() const {
  return true;
}
Growth FlashAttention2::growth() const {
  return Growth::n2d2_over_m;
}
std::optional<PaperCount> FlashAttention2::paper_count(const AttentionProblem& /*p*/, const TileShape& /*tile*/) const {
  return {};
}
std::int64_t FlashAttention2::working_set_bytes(const AttentionProblem& /*p*/, const TileShape& /*tile*/,
                                                const DeviceLimits& /*device*/) const {
  return 0;  // blocks of one head walk K and V together: what one has read, the next finds in the L2
}
std::span<const int> FlashAttention2::head_dims() const {
  return supported_head_dims<fa2::supported_head_dim>();
}

TileShape FlashAttention2::default_tile(const AttentionProblem& p, const DeviceLimits& device) const {
  if (p.pass != Pass::fwd) {
    return fa2_backward::default_tile(p, [&](const TileShape& tile) { return !refusal(p, tile, device); });
  }
  // Measured on an H200 at N 512 to 16384; the same at every N, so that a curve over N is one tile's. Hopper's kernel
  // takes whole warpgroups of 64 rows.
  const auto accepted = [&](const TileShape& tile) { return !refusal(p, tile, device); };
  TileShape hopper = p.d <= 64        ? TileShape{.br = 192, .bc = 128}
                     : p.d <= 96      ? TileShape{.br = 192, .bc = 96}
                     : p.d <= 128     ? TileShape{.br = 128, .bc = 128}
                     : p.d <= 192     ? TileShape{.br = 128, .bc = 96}
                     : p.dropout == 0 ? TileShape{.br = 128, .bc = 80}
                                      : TileShape{.br = 128, .bc = 64};  // its random bytes need registers
  hopper.br = dividing_blocks(p, hopper.br, 64);
  hopper.bc = dividing_blocks(p, hopper.bc);
  if (on_hopper(p, hopper, device) && accepted(hopper)) return hopper;
  // Elsewhere: wide while the scores fit in registers beside O, shorter where O alone fills them.
  const TileShape wished = p.d <= 32    ? TileShape{.br = 128, .bc = 128}
                           : p.d <= 128 ? TileShape{.br = 128, .bc = 64}
                                        : TileShape{.br = 64, .bc = 64};
  return shrink_to_fit({.br = dividing_blocks(p, wished.br), .bc = dividing_blocks(p, wished.bc)}, accepted);
}

std::optional<Refusal> FlashAttention2::refusal(const AttentionProblem& p, const TileShape& tile,
                                                const DeviceLimits& device) const {
  if (auto refused = refuse_shape(p, tile, head_dims())) return refused;
  if (p.pass != Pass::fwd) {
    const AttentionProblem forward = forward_problem(p);
    const TileShape forward_tile = p.pass == Pass::bwd ? default_tile(forward, device) : tile;
    if (auto refused = fa2_backward::refusal(p, tile, backward_kernels(p, tile, device), device)) return refused;
    return refusal(forward, forward_tile, device);
  }
  if (auto refused = refuse_features("fa2", p, tile, features, true)) return refused;
  if (auto refused = refuse_choices(p, tile, device)) return refused;
  if (auto refused = refuse_grid("fa2 fwd", TileGrid(p, tile).q_tiles() * p.instances())) return refused;
  return refuse_needs({on_hopper(p, tile, device) ? hopper_needs(p, tile) : needs(p, tile)}, device);
}

AttentionPlan FlashAttention2::plan(const AttentionProblem& p, const TileShape& tile) const {
  if (p.pass != Pass::fwd) {
    const TileShape forward_tile = p.pass == Pass::bwd ? set_up_tile(p) : tile;
    return fa2_backward::append(plan(forward_problem(p), forward_tile), p, tile,
                                fa2_backward::portable_kernels(p, tile));
  }
  auto program = std::make_shared<const Fa2Program>(p, tile);
  const KernelNeeds kernel = needs(p, tile);
  std::vector<Argument> arguments =
      kernel_arguments({"q", "k", "v", "o", "lse"}, {p.instances(), group_size(p), p.n_q, p.n_k});
  arguments.emplace_back(score_scale(p));
  append_mask_arguments(arguments, p);

  const std::int64_t blocks = program->blocks();
  AttentionPlan plan;
  plan.buffers = input_buffers(p);
  plan.buffers.push_back(row_buffer("o", p, p.d, bytes_per_element(p.dtype)));
  plan.buffers.push_back(row_buffer("lse", p, 1, fp32_bytes));
  plan.launches.push_back({.name = "fwd",
                           .source = {"fa2/fa2_forward.cuh", "attn_fa2_forward", forward_defines(p, tile, false)},
                           .grid = grid_of(blocks),
                           .block = block_of(kernel.threads),
                           .dynamic_shared_bytes = kernel.shared_bytes,
                           .arguments = std::move(arguments),
                           .registers_per_thread = kernel.registers,
                           .matrix_flops = forward_flops(p),
                           .traffic = forward_traffic(p, tile),
                           .program = std::move(program)});
  return plan;
}

AttentionPlan FlashAttention2::plan_on(const DeviceLimits& device, const AttentionProblem& p,
                                       const TileShape& tile) const {
  if (p.pass != Pass::fwd) {
    const AttentionProblem forward = forward_problem(p);
    const TileShape forward_tile = p.pass == Pass::bwd ? default_tile(forward, device) : tile;
    return fa2_backward::append(plan_on(device, forward, forward_tile), p, tile, backward_kernels(p, tile, device));
  }
  AttentionPlan plan = this->plan(p, tile);
  if (on_hopper(p, tile, device)) {
    const KernelNeeds kernel = hopper_needs(p, tile);
    KernelLaunch& launch = plan.launches.front();
    launch.source = {"fa2/fa2_hopper_forward.cuh", "attn_fa2_forward", forward_defines(p, tile, true)};
    launch.block = block_of(kernel.threads);
    launch.dynamic_shared_bytes = kernel.shared_bytes;
    launch.registers_per_thread = kernel.registers;
  }
  return plan;
}

}  // namespace attnscope
