// SPDX-License-Identifier: Apache-2.0
#include "kernels/fa1/fa1.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "kernels/descriptor.h"
#include "kernels/fa1/fa1_backward.h"
#include "kernels/fa1/fa1_shape.h"
#include "kernels/io_model.h"
#include "kernels/tile_grid.h"

namespace attnscope {
namespace {

/// One block does a whole instance. Step 0 initialises O, l and m (and writes the 16-bit O of Q tiles that see no key);
/// then each K/V tile has one step that loads it and one for each Q tile that sees it. The last pass over a Q tile
/// stores the 16-bit O instead of the fp32 accumulator.
class Fa1Program final : public TileProgram {
 public:
  Fa1Program(const AttentionProblem& problem, const TileShape& tile) : p_(problem), tile_(tile), grid_(problem, tile) {
    std::int64_t next = 1;
    for (std::int64_t j = 0; j < grid_.k_tiles(); ++j) {
      first_step_.push_back(next);
      next += 1 + grid_.q_tiles_seen(j);
    }
    steps_ = next;
  }

  [[nodiscard]] std::int64_t blocks() const override { return p_.instances(); }
  [[nodiscard]] std::int64_t steps(std::int64_t /*block*/) const override { return steps_; }

  void visit(std::int64_t instance, std::int64_t step, std::vector<TileAccess>& out) const override {
    const int element = bytes_per_element(p_.dtype);
    if (step == 0) {
      out.push_back({Tensor::o_acc, Access::store, instance, 0, p_.n_q, 0, p_.d, fp32_bytes});
      if (const std::int64_t empty = p_.n_q - grid_.query_rows_touched(); empty > 0) {
        out.push_back({Tensor::o, Access::store, instance, 0, empty, 0, p_.d, element});
      }
      out.push_back({Tensor::l, Access::store, instance, 0, p_.n_q, 0, 1, fp32_bytes});
      out.push_back({Tensor::m, Access::store, instance, 0, p_.n_q, 0, 1, fp32_bytes});
      return;
    }
    const std::int64_t j = std::ranges::upper_bound(first_step_, step) - first_step_.begin() - 1;
    const std::int64_t inner = step - first_step_[static_cast<std::size_t>(j)];
    if (inner == 0) {
      const std::int64_t kv = instance / group_size(p_);
      out.push_back({Tensor::k, Access::load, kv, j * tile_.bc, grid_.k_rows(j), 0, p_.d, element});
      out.push_back({Tensor::v, Access::load, kv, j * tile_.bc, grid_.k_rows(j), 0, p_.d, element});
      return;
    }
    const std::int64_t i = grid_.q_begin(j) + inner - 1;
    const std::int64_t row = i * tile_.br;
    const std::int64_t rows = grid_.q_rows(i);
    out.push_back({Tensor::q, Access::load, instance, row, rows, 0, p_.d, element});
    out.push_back({Tensor::o_acc, Access::load, instance, row, rows, 0, p_.d, fp32_bytes});
    out.push_back({Tensor::l, Access::load, instance, row, rows, 0, 1, fp32_bytes});
    out.push_back({Tensor::m, Access::load, instance, row, rows, 0, 1, fp32_bytes});
    const bool finished = j == grid_.k_tiles_seen(i) - 1;
    out.push_back({finished ? Tensor::o : Tensor::o_acc, Access::store, instance, row, rows, 0, p_.d,
                   finished ? element : fp32_bytes});
    out.push_back({Tensor::l, Access::store, instance, row, rows, 0, 1, fp32_bytes});
    out.push_back({Tensor::m, Access::store, instance, row, rows, 0, 1, fp32_bytes});
  }

 private:
  AttentionProblem p_;
  TileShape tile_;
  TileGrid grid_;
  std::vector<std::int64_t> first_step_;  ///< of each K/V tile
  std::int64_t steps_ = 0;
};

/// K and V once; Q and the fp32 state of every Q tile again for each K/V tile it sees; the state once more to
/// initialise it; O once, in place of the accumulator's last store.
Traffic forward_traffic(const AttentionProblem& p, const TileShape& tile) {
  const TileGrid grid(p, tile);
  const std::int64_t row = p.d * bytes_per_element(p.dtype);
  const std::int64_t accumulator = p.d * fp32_bytes;
  constexpr std::int64_t statistics = 8;  // l, m in fp32
  const std::int64_t passes = grid.query_rows_seen();
  const std::int64_t accumulator_stores = p.n_q + passes - grid.query_rows_touched();
  return {.l2_to_sm_bytes = p.instances() * (2 * p.n_k * row + passes * (row + accumulator + statistics)),
          .sm_to_l2_bytes =
              p.instances() * (accumulator_stores * accumulator + (p.n_q + passes) * statistics + p.n_q * row)};
}

KernelNeeds needs(const AttentionProblem& p, const TileShape& tile) {
  const int d = static_cast<int>(p.d);
  return {.kernel = "fa1 fwd",
          .threads = fa1::threads(tile.br),
          .registers = fa1::register_estimate(tile.br, tile.bc, d),
          .shared_bytes = fa1::shared_bytes(tile.br, tile.bc, d)};
}

}  // namespace

std::string_view FlashAttention1::name() const {
  return "fa1";
}
std::string_view FlashAttention1::title() const {
  return "FlashAttention";
}
std::string_view FlashAttention1::source() const {
  return "T. Dao et al., FlashAttention (arXiv 2205.14135v2), Algorithm 1";
}
std::string_view FlashAttention1::tile_meaning() const {
  return "Bc decides the traffic: Q, O, l and m pass through memory once for every Bc keys. Br only takes on-chip "
         "memory and threads.";
}
bool FlashAttention1::tile_decides_traffic() const {
  return true;
}
Growth FlashAttention1::growth() const {
  return Growth::n2d2_over_m;
}
std::optional<PaperCount> FlashAttention1::paper_count(const AttentionProblem& p, const TileShape& tile) const {
  const std::string_view formula = p.pass == Pass::fwd ? "(3Tc+1)Nd" : p.pass == Pass::bwd ? "(4Tc+4)Nd" : "(7Tc+5)Nd";
  return PaperCount{formula, flash_paper_bytes(p, tile.bc)};
}
std::int64_t FlashAttention1::working_set_bytes(const AttentionProblem& p, const TileShape& tile,
                                                const DeviceLimits& device) const {
  if (p.pass != Pass::fwd) {
    const std::int64_t backward = fa1_backward::working_set_bytes(p, tile, device);
    if (p.pass == Pass::bwd) return backward;
    return std::max(backward, working_set_bytes(fa1_backward::forward_problem(p), tile, device));
  }
  // One block does a head: every K/V tile passes over the Q, O, l and m of all heads that are resident.
  const std::int64_t block_bytes = needs(p, tile).shared_bytes + device.shared_bytes_reserved;
  const std::int64_t blocks_per_sm =
      std::clamp<std::int64_t>(device.shared_bytes_per_sm / block_bytes, 1, device.max_blocks_per_sm);
  return fa1_working_set_bytes(p, device.sm_count * blocks_per_sm);
}
std::span<const int> FlashAttention1::head_dims() const {
  return supported_head_dims<fa1::supported_head_dim>();
}

TileShape FlashAttention1::default_tile(const AttentionProblem& p, const DeviceLimits& device) const {
  if (p.pass != Pass::fwd) {
    return fa1_backward::default_tile(p, [&](const TileShape& tile) { return !refusal(p, tile, device); });
  }
  // The paper's rule, in whole steps of the matrix instruction.
  const PaperTile paper = paper_tile(device.sram_elements(bytes_per_element(p.dtype)), p.d);
  const auto whole_steps = [](std::int64_t n) { return static_cast<int>(std::max<std::int64_t>(n / 16 * 16, 16)); };
  const TileShape wished{.br = whole_steps(paper.br), .bc = whole_steps(paper.bc)};
  return shrink_to_fit(wished, [&](const TileShape& tile) { return !refusal(p, tile, device); });
}

std::optional<Refusal> FlashAttention1::refusal(const AttentionProblem& p, const TileShape& tile,
                                                const DeviceLimits& device) const {
  if (auto refused = refuse_shape(p, tile, head_dims())) return refused;
  if (p.pass != Pass::fwd) {
    const AttentionProblem forward = fa1_backward::forward_problem(p);
    const TileShape forward_tile = p.pass == Pass::bwd ? fa1_backward::set_up_tile(p) : tile;
    if (auto refused = fa1_backward::refusal(p, tile, device)) return refused;
    return refusal(forward, forward_tile, device);
  }
  if (auto refused = refuse_features("fa1", p, tile, {}, true)) return refused;
  return refuse_needs({needs(p, tile)}, device);
}

AttentionPlan FlashAttention1::plan(const AttentionProblem& p, const TileShape& tile) const {
  if (p.pass != Pass::fwd) {
    const TileShape forward_tile = p.pass == Pass::bwd ? fa1_backward::set_up_tile(p) : tile;
    return fa1_backward::append(plan(fa1_backward::forward_problem(p), forward_tile), p, tile);
  }
  auto program = std::make_shared<const Fa1Program>(p, tile);
  const KernelNeeds kernel = needs(p, tile);
  std::vector<Argument> arguments =
      kernel_arguments({"q", "k", "v", "o", "o_acc", "l", "m"}, {p.instances(), group_size(p), p.n_q, p.n_k});
  arguments.emplace_back(score_scale(p));

  const std::int64_t blocks = program->blocks();
  AttentionPlan plan;
  plan.buffers = input_buffers(p);
  plan.buffers.push_back(row_buffer("o", p, p.d, bytes_per_element(p.dtype)));
  plan.buffers.push_back(row_buffer("o_acc", p, p.d, fp32_bytes));
  plan.buffers.push_back(row_buffer("l", p, 1, fp32_bytes));
  plan.buffers.push_back(row_buffer("m", p, 1, fp32_bytes));
  plan.launches.push_back(
      {.name = "fwd",
       .source = {"fa1/fa1_forward.cuh", "attn_fa1_forward",
                  kernel_defines({"ATTN_BF16", "ATTN_D", "ATTN_BR", "ATTN_BC", "ATTN_MASK"}, p, tile)},
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

}  // namespace attnscope
