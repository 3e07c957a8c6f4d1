// SPDX-License-Identifier: Apache-2.0
#include "kernels/naive/naive.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "kernels/descriptor.h"
#include "kernels/integer.h"
#include "kernels/io_model.h"
#include "kernels/naive/naive_shape.h"
#include "kernels/tile_grid.h"

namespace attnscope {
namespace {

/// One block for each Br x Bc tile of S: loads the Q and the K tile, stores the S tile with its padding columns.
class QkProgram final : public TileProgram {
 public:
  QkProgram(const AttentionProblem& problem, const TileShape& tile)
      : p_(problem), tile_(tile), grid_(problem, tile), stride_(naive::row_stride(problem.n_k)) {}

  [[nodiscard]] std::int64_t blocks() const override { return grid_.q_tiles() * grid_.k_tiles() * p_.instances(); }
  [[nodiscard]] std::int64_t steps(std::int64_t /*block*/) const override { return 2; }

  void visit(std::int64_t block, std::int64_t step, std::vector<TileAccess>& out) const override {
    const int element = bytes_per_element(p_.dtype);
    const auto [tile, instance] = place_of(block, tile_.raster, grid_.q_tiles() * grid_.k_tiles(), p_.instances());
    const std::int64_t i = tile % grid_.q_tiles();
    const std::int64_t j = tile / grid_.q_tiles();
    const std::int64_t row = i * tile_.br;
    const std::int64_t column = j * tile_.bc;
    if (step == 0) {
      const std::int64_t kv = instance / group_size(p_);
      out.push_back({Tensor::q, Access::load, instance, row, grid_.q_rows(i), 0, p_.d, element});
      out.push_back({Tensor::k, Access::load, kv, column, grid_.k_rows(j), 0, p_.d, element});
    } else {
      const std::int64_t columns = std::min<std::int64_t>(tile_.bc, stride_ - column);
      out.push_back({Tensor::s, Access::store, instance, row, grid_.q_rows(i), column, columns, element});
    }
  }

 private:
  AttentionProblem p_;
  TileShape tile_;
  TileGrid grid_;
  std::int64_t stride_;
};

Traffic qk_traffic(const AttentionProblem& p, const TileShape& tile) {
  const std::int64_t element = bytes_per_element(p.dtype);
  const std::int64_t q_reads = p.n_q * ceil_div(p.n_k, tile.bc);
  const std::int64_t k_reads = p.n_k * ceil_div(p.n_q, tile.br);
  return {.l2_to_sm_bytes = p.instances() * (q_reads + k_reads) * p.d * element,
          .sm_to_l2_bytes = p.instances() * p.n_q * naive::row_stride(p.n_k) * element};
}

/// A block takes a few rows, over all instances: loads them whole from S, stores them whole to P.
class SoftmaxProgram final : public TileProgram {
 public:
  explicit SoftmaxProgram(const AttentionProblem& problem)
      : p_(problem), rows_per_block_(naive::softmax_rows_per_block(problem.n_k)) {}

  [[nodiscard]] std::int64_t blocks() const override { return ceil_div(p_.instances() * p_.n_q, rows_per_block_); }
  [[nodiscard]] std::int64_t steps(std::int64_t /*block*/) const override { return 2; }

  void visit(std::int64_t block, std::int64_t step, std::vector<TileAccess>& out) const override {
    // A block's rows may straddle instances: one access for each part.
    const std::int64_t end = std::min((block + 1) * rows_per_block_, p_.instances() * p_.n_q);
    for (std::int64_t row = block * rows_per_block_; row < end;) {
      const std::int64_t instance = row / p_.n_q;
      const std::int64_t part_end = std::min(end, (instance + 1) * p_.n_q);
      out.push_back({step == 0 ? Tensor::s : Tensor::p, step == 0 ? Access::load : Access::store, instance,
                     row % p_.n_q, part_end - row, 0, naive::row_stride(p_.n_k), bytes_per_element(p_.dtype)});
      row = part_end;
    }
  }

 private:
  AttentionProblem p_;
  std::int64_t rows_per_block_;
};

Traffic softmax_traffic(const AttentionProblem& p) {
  const std::int64_t matrix = p.instances() * p.n_q * naive::row_stride(p.n_k) * bytes_per_element(p.dtype);
  return {.l2_to_sm_bytes = matrix, .sm_to_l2_bytes = matrix};
}

/// One block for each Br x d tile of O: walks along P in steps of pv_step columns, loading as many rows of V with each.
class PvProgram final : public TileProgram {
 public:
  PvProgram(const AttentionProblem& problem, const TileShape& tile)
      : p_(problem),
        tile_(tile),
        grid_(problem, tile),
        stride_(naive::row_stride(problem.n_k)),
        loads_(ceil_div(problem.n_k, naive::pv_step)) {}

  [[nodiscard]] std::int64_t blocks() const override { return grid_.q_tiles() * p_.instances(); }
  [[nodiscard]] std::int64_t steps(std::int64_t /*block*/) const override { return loads_ + 1; }

  void visit(std::int64_t block, std::int64_t step, std::vector<TileAccess>& out) const override {
    const int element = bytes_per_element(p_.dtype);
    const auto [i, instance] = place_of(block, tile_.raster, grid_.q_tiles(), p_.instances());
    const std::int64_t row = i * tile_.br;
    const std::int64_t rows = grid_.q_rows(i);
    if (step == loads_) {
      out.push_back({Tensor::o, Access::store, instance, row, rows, 0, p_.d, element});
      return;
    }
    const std::int64_t key = step * naive::pv_step;
    const std::int64_t columns = std::min<std::int64_t>(naive::pv_step, stride_ - key);
    const std::int64_t keys = std::min<std::int64_t>(naive::pv_step, p_.n_k - key);
    out.push_back({Tensor::p, Access::load, instance, row, rows, key, columns, element});
    out.push_back({Tensor::v, Access::load, instance / group_size(p_), key, keys, 0, p_.d, element});
  }

 private:
  AttentionProblem p_;
  TileShape tile_;
  TileGrid grid_;
  std::int64_t stride_;
  std::int64_t loads_;
};

Traffic pv_traffic(const AttentionProblem& p, const TileShape& tile) {
  const std::int64_t element = bytes_per_element(p.dtype);
  const std::int64_t v_reads = p.n_k * ceil_div(p.n_q, tile.br);
  return {.l2_to_sm_bytes = p.instances() * (p.n_q * naive::row_stride(p.n_k) + v_reads * p.d) * element,
          .sm_to_l2_bytes = p.instances() * p.n_q * p.d * element};
}

KernelNeeds qk_needs(const AttentionProblem& p, const TileShape& tile) {
  return {.kernel = "naive qk",
          .threads = naive::qk_threads(tile.br),
          .registers = naive::qk_register_estimate(tile.br, tile.bc),
          .shared_bytes = naive::qk_shared_bytes(tile.br, tile.bc, static_cast<int>(p.d))};
}

KernelNeeds softmax_needs(const AttentionProblem& p) {
  return {.kernel = "naive softmax",
          .threads = naive::softmax_threads(p.n_k),
          .registers = naive::softmax_register_estimate};
}

KernelNeeds pv_needs(const AttentionProblem& p, const TileShape& tile) {
  const int d = static_cast<int>(p.d);
  return {.kernel = "naive pv",
          .threads = naive::pv_threads(tile.br, d),
          .registers = naive::pv_register_estimate(tile.br, d),
          .shared_bytes = naive::pv_shared_bytes(tile.br, d)};
}

/// Kernel `name` lives in naive/naive_<name>.cuh as attn_naive_<name>.
KernelLaunch launch(const std::string& name, std::vector<std::string> defines, const KernelNeeds& needs,
                    std::shared_ptr<const TileProgram> program, Traffic traffic, double matrix_flops,
                    std::vector<Argument> arguments) {
  KernelLaunch launch;
  launch.name = name;
  launch.source = {"naive/naive_" + name + ".cuh", "attn_naive_" + name, std::move(defines)};
  launch.grid = grid_of(program->blocks());
  launch.block = block_of(needs.threads);
  launch.dynamic_shared_bytes = needs.shared_bytes;
  launch.arguments = std::move(arguments);
  launch.registers_per_thread = needs.registers;
  launch.matrix_flops = matrix_flops;
  launch.traffic = traffic;
  launch.program = std::move(program);
  return launch;
}

}  // namespace

std::string_view NaiveAttention::name() const {
  return "naive";
}
std::string_view NaiveAttention::title() const {
  return "Standard attention";
}
std::string_view NaiveAttention::source() const {
  return "T. Dao et al., FlashAttention (arXiv 2205.14135v2), Algorithm 0";
}
std::string_view NaiveAttention::tile_meaning() const {
  return "Br x Bc is the GEMM tile of S = QK^T, Br that of O = PV: it decides how often Q, K and V are read again, not "
         "the N^2 traffic of S and P.";
}
bool NaiveAttention::tile_decides_traffic() const {
  return false;
}
Growth NaiveAttention::growth() const {
  return Growth::n2;
}
std::optional<PaperCount> NaiveAttention::paper_count(const AttentionProblem& p, const TileShape& /*tile*/) const {
  return PaperCount{"4N²+4Nd", standard_attention_bytes(p)};
}
std::int64_t NaiveAttention::working_set_bytes(const AttentionProblem& p, const TileShape& /*tile*/,
                                               const DeviceLimits& /*device*/) const {
  // The scores of all heads: one kernel writes them, the next reads them back.
  return p.instances() * p.n_q * naive::row_stride(p.n_k) * bytes_per_element(p.dtype);
}
std::span<const int> NaiveAttention::head_dims() const {
  return supported_head_dims<naive::supported_head_dim>();
}

TileShape NaiveAttention::default_tile(const AttentionProblem& p, const DeviceLimits& device) const {
  return shrink_to_fit({.br = 128, .bc = 128}, [&](const TileShape& tile) { return !refusal(p, tile, device); });
}

std::optional<Refusal> NaiveAttention::refusal(const AttentionProblem& p, const TileShape& tile,
                                               const DeviceLimits& device) const {
  if (auto refused = refuse_shape(p, tile, head_dims())) return refused;
  if (auto refused = refuse_features("naive", p, tile, {}, false)) return refused;
  constexpr std::string_view why = "a row of S must fit in one block's registers";
  if (auto refused = refuse_over("n_k", p.n_k, naive::softmax_max_columns, why)) return refused;
  const TileGrid grid(p, tile);
  if (auto refused = refuse_grid("naive qk", grid.q_tiles() * grid.k_tiles() * p.instances())) return refused;
  if (auto refused = refuse_grid("naive softmax", SoftmaxProgram(p).blocks())) return refused;
  return refuse_needs({qk_needs(p, tile), softmax_needs(p), pv_needs(p, tile)}, device);
}

AttentionPlan NaiveAttention::plan(const AttentionProblem& p, const TileShape& tile) const {
  const std::int64_t stride = naive::row_stride(p.n_k);
  const int element = bytes_per_element(p.dtype);
  AttentionPlan plan;
  plan.buffers = input_buffers(p);
  plan.buffers.push_back(row_buffer("s", p, stride, element));
  plan.buffers.push_back(row_buffer("p", p, stride, element));
  plan.buffers.push_back(row_buffer("o", p, p.d, element));

  // A causal mask spares the products nothing: S is whole.
  const double product_flops = 2.0 * static_cast<double>(p.d) * static_cast<double>(p.instances() * p.n_q * p.n_k);
  std::vector<Argument> qk_arguments =
      kernel_arguments({"q", "k", "s"}, {p.instances(), group_size(p), p.n_q, p.n_k, stride});
  qk_arguments.emplace_back(score_scale(p));
  plan.launches.push_back(
      launch("qk", kernel_defines({"ATTN_BF16", "ATTN_D", "ATTN_BR", "ATTN_BC", "ATTN_HEADS_FASTEST"}, p, tile),
             qk_needs(p, tile), std::make_shared<const QkProgram>(p, tile), qk_traffic(p, tile), product_flops,
             std::move(qk_arguments)));
  plan.launches.push_back(
      launch("softmax", kernel_defines({"ATTN_BF16", "ATTN_MASK"}, p, tile), softmax_needs(p),
             std::make_shared<const SoftmaxProgram>(p), softmax_traffic(p), 0.0,
             kernel_arguments({"s", "p"}, {p.instances(), p.n_q, p.n_k, stride, naive::softmax_row_warps(p.n_k)})));
  plan.launches.push_back(
      launch("pv", kernel_defines({"ATTN_BF16", "ATTN_D", "ATTN_BR", "ATTN_HEADS_FASTEST"}, p, tile), pv_needs(p, tile),
             std::make_shared<const PvProgram>(p, tile), pv_traffic(p, tile), product_flops,
             kernel_arguments({"p", "v", "o"}, {p.instances(), group_size(p), p.n_q, p.n_k, stride})));
  return plan;
}

}  // namespace attnscope
