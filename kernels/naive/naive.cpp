// SPDX-License-Identifier: Apache-2.0
#include "kernels/naive/naive.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/descriptor.h"
#include "kernels/model/integer.h"
#include "kernels/model/io_model.h"
#include "kernels/model/tile_grid.h"
#include "kernels/naive/naive_shape.h"

namespace attnscope {
namespace {

/// The grid of tiles over a whole score matrix: standard attention computes and stores what the mask hides, too.
TileGrid whole_grid(AttentionProblem p, const Tiling& tile) {
  p.mask = Mask::none;
  return {p, tile};
}

/// Appends an access to rows [begin, end) of all instances' matrices of `n_q` rows, seen as one: one access for each
/// instance that they straddle.
void append_rows(std::vector<TileAccess>& out, TileAccess access, std::int64_t n_q, std::int64_t begin,
                 std::int64_t end) {
  for (std::int64_t row = begin; row < end;) {
    access.instance = row / n_q;
    access.row = row % n_q;
    access.rows = std::min(end, (access.instance + 1) * n_q) - row;
    out.push_back(access);
    row += access.rows;
  }
}

/// The three matrices of a product: out = left right.
struct Product {
  Tensor left;
  Tensor right;
  Tensor out;
};

/// One block for each Br x Bc tile of S (or dP): loads the Q and the K tile (dO, V), stores the S tile with its padding
/// columns.
class QkProgram final : public TileProgram {
 public:
  QkProgram(const AttentionProblem& problem, const Tiling& tile, const Product& product)
      : p_(problem),
        tile_(tile),
        product_(product),
        grid_(whole_grid(problem, tile)),
        stride_(naive::row_stride(problem.n_k)) {}

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
      out.push_back({product_.left, Access::load, instance, row, grid_.q_rows(i), 0, p_.d, element});
      out.push_back({product_.right, Access::load, kv, column, grid_.k_rows(j), 0, p_.d, element});
    } else {
      const std::int64_t columns = std::min<std::int64_t>(tile_.bc, stride_ - column);
      out.push_back({product_.out, Access::store, instance, row, grid_.q_rows(i), column, columns, element});
    }
  }

 private:
  AttentionProblem p_;
  Tiling tile_;
  Product product_;
  TileGrid grid_;
  std::int64_t stride_;
};

Traffic qk_traffic(const AttentionProblem& p, const Tiling& tile) {
  const std::int64_t element = bytes_per_element(p.dtype);
  const std::int64_t q_reads = p.n_q * ceil_div(p.n_k, tile.bc);
  const std::int64_t k_reads = p.n_k * ceil_div(p.n_q, tile.br);
  return {.l2_to_sm_bytes = p.instances() * (q_reads + k_reads) * p.d * element,
          .sm_to_l2_bytes = p.instances() * p.n_q * naive::row_stride(p.n_k) * element};
}

/// Whole rows of n_q x n_k matrices, over all instances: what is read, what is written, and on how many pieces of a row
/// a thread works at most.
struct RowWork {
  std::span<const Tensor> in;
  Tensor out;
  int pieces;
};
constexpr std::array softmax_in{Tensor::s};
constexpr std::array ds_in{Tensor::p, Tensor::dp};
constexpr RowWork softmax{.in = softmax_in, .out = Tensor::p, .pieces = naive::softmax_pieces};
constexpr RowWork ds{.in = ds_in, .out = Tensor::ds, .pieces = naive::ds_pieces};

/// A block takes a few rows: loads them whole, stores them whole. A row that does not fit on chip has a block of its
/// own, which walks it twice, a step of columns at a time: loading, then loading again and storing.
class RowProgram final : public TileProgram {
 public:
  RowProgram(const AttentionProblem& problem, const RowWork& work)
      : p_(problem),
        work_(work),
        long_(naive::long_rows(problem.n_k, work_.pieces)),
        rows_per_block_(long_ ? 1 : naive::rows_per_block(problem.n_k, work_.pieces)),
        stride_(naive::row_stride(problem.n_k)) {}

  [[nodiscard]] std::int64_t blocks() const override { return ceil_div(p_.instances() * p_.n_q, rows_per_block_); }
  [[nodiscard]] std::int64_t steps(std::int64_t /*block*/) const override {
    return long_ ? 2 * ceil_div(stride_, naive::long_row_step) : 2;
  }

  void visit(std::int64_t block, std::int64_t step, std::vector<TileAccess>& out) const override {
    const std::int64_t walk = steps(block) / 2;
    const std::int64_t begin = block * rows_per_block_;
    const std::int64_t end = std::min(begin + rows_per_block_, p_.instances() * p_.n_q);
    TileAccess access{.element_bytes = bytes_per_element(p_.dtype)};
    access.col = long_ ? step % walk * naive::long_row_step : 0;
    access.cols = long_ ? std::min<std::int64_t>(naive::long_row_step, stride_ - access.col) : stride_;
    if (long_ || step == 0) {
      access.access = Access::load;
      for (const Tensor in : work_.in) {
        access.tensor = in;
        append_rows(out, access, p_.n_q, begin, end);
      }
    }
    if (step >= walk) {
      access.access = Access::store;
      access.tensor = work_.out;
      append_rows(out, access, p_.n_q, begin, end);
    }
  }

 private:
  AttentionProblem p_;
  RowWork work_;
  bool long_;
  std::int64_t rows_per_block_;
  std::int64_t stride_;
};

Traffic row_traffic(const AttentionProblem& p, const RowWork& work) {
  const std::int64_t matrix = p.instances() * p.n_q * naive::row_stride(p.n_k) * bytes_per_element(p.dtype);
  const std::int64_t reads = naive::long_rows(p.n_k, work.pieces) ? 2 : 1;
  return {.l2_to_sm_bytes = reads * std::ssize(work.in) * matrix, .sm_to_l2_bytes = matrix};
}

/// One block for each Br x d tile of O (or dQ): walks along P (dS) in steps of pv_step columns, loading as many rows of
/// V (K) with each.
class PvProgram final : public TileProgram {
 public:
  PvProgram(const AttentionProblem& problem, const Tiling& tile, const Product& product)
      : p_(problem),
        tile_(tile),
        product_(product),
        grid_(whole_grid(problem, tile)),
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
      out.push_back({product_.out, Access::store, instance, row, rows, 0, p_.d, element});
      return;
    }
    const std::int64_t key = step * naive::pv_step;
    const std::int64_t columns = std::min<std::int64_t>(naive::pv_step, stride_ - key);
    const std::int64_t keys = std::min<std::int64_t>(naive::pv_step, p_.n_k - key);
    out.push_back({product_.left, Access::load, instance, row, rows, key, columns, element});
    out.push_back({product_.right, Access::load, instance / group_size(p_), key, keys, 0, p_.d, element});
  }

 private:
  AttentionProblem p_;
  Tiling tile_;
  Product product_;
  TileGrid grid_;
  std::int64_t stride_;
  std::int64_t loads_;
};

Traffic pv_traffic(const AttentionProblem& p, const Tiling& tile) {
  const std::int64_t element = bytes_per_element(p.dtype);
  const std::int64_t v_reads = p.n_k * ceil_div(p.n_q, tile.br);
  return {.l2_to_sm_bytes = p.instances() * (p.n_q * naive::row_stride(p.n_k) + v_reads * p.d) * element,
          .sm_to_l2_bytes = p.instances() * p.n_q * p.d * element};
}

/// One block for each Bc x d tile of dV (or dK): walks down P (dS) in steps of tn_step query rows, loading as many rows
/// of dO (Q) with each; the rows of a K/V head's query heads follow one another.
class TnProgram final : public TileProgram {
 public:
  TnProgram(const AttentionProblem& problem, const Tiling& tile, const Product& product)
      : p_(problem),
        tile_(tile),
        product_(product),
        grid_(whole_grid(problem, tile)),
        stride_(naive::row_stride(problem.n_k)),
        rows_(group_size(problem) * problem.n_q),
        loads_(ceil_div(rows_, naive::tn_step)) {}

  [[nodiscard]] std::int64_t blocks() const override { return grid_.k_tiles() * p_.kv_instances(); }
  [[nodiscard]] std::int64_t steps(std::int64_t /*block*/) const override { return loads_ + 1; }

  void visit(std::int64_t block, std::int64_t step, std::vector<TileAccess>& out) const override {
    const int element = bytes_per_element(p_.dtype);
    const auto [j, kv] = place_of(block, tile_.raster, grid_.k_tiles(), p_.kv_instances());
    const std::int64_t column = j * tile_.bc;
    if (step == loads_) {
      out.push_back({product_.out, Access::store, kv, column, grid_.k_rows(j), 0, p_.d, element});
      return;
    }
    const std::int64_t begin = kv * rows_ + step * naive::tn_step;
    const std::int64_t end = std::min(begin + naive::tn_step, (kv + 1) * rows_);
    TileAccess access{.tensor = product_.left, .access = Access::load, .element_bytes = element};
    access.col = column;
    access.cols = std::min<std::int64_t>(tile_.bc, stride_ - column);
    append_rows(out, access, p_.n_q, begin, end);
    access.tensor = product_.right;
    access.col = 0;
    access.cols = p_.d;
    append_rows(out, access, p_.n_q, begin, end);
  }

 private:
  AttentionProblem p_;
  Tiling tile_;
  Product product_;
  TileGrid grid_;
  std::int64_t stride_;
  std::int64_t rows_;
  std::int64_t loads_;
};

Traffic tn_traffic(const AttentionProblem& p, const Tiling& tile) {
  const std::int64_t element = bytes_per_element(p.dtype);
  const std::int64_t dout_reads = p.n_q * ceil_div(p.n_k, tile.bc);
  return {.l2_to_sm_bytes = p.instances() * (p.n_q * naive::row_stride(p.n_k) + dout_reads * p.d) * element,
          .sm_to_l2_bytes = p.kv_instances() * p.n_k * p.d * element};
}

KernelNeeds qk_needs(const AttentionProblem& p, const Tiling& tile) {
  return {.kernel = "naive qk",
          .threads = naive::qk_threads(tile.br),
          .registers = naive::qk_register_estimate(tile.br, tile.bc),
          .shared_bytes = naive::qk_shared_bytes(tile.br, tile.bc, static_cast<int>(p.d))};
}

KernelNeeds row_needs(std::string_view kernel, const AttentionProblem& p, const RowWork& work) {
  return {
      .kernel = kernel, .threads = naive::row_threads(p.n_k, work.pieces), .registers = naive::row_register_estimate};
}

KernelNeeds pv_needs(const AttentionProblem& p, const Tiling& tile) {
  const int d = static_cast<int>(p.d);
  return {.kernel = "naive pv",
          .threads = naive::pv_threads(tile.br, d),
          .registers = naive::pv_register_estimate(tile.br, d),
          .shared_bytes = naive::pv_shared_bytes(tile.br, d)};
}

KernelNeeds tn_needs(const AttentionProblem& p, const Tiling& tile) {
  const int d = static_cast<int>(p.d);
  return {.kernel = "naive tn",
          .threads = naive::tn_threads(tile.bc, d),
          .registers = naive::tn_register_estimate(tile.bc, d),
          .shared_bytes = naive::tn_shared_bytes(tile.bc, d)};
}

/// Kernel `kernel` lives in naive/naive_<kernel>.cuh as attn_naive_<kernel>.
KernelLaunch launch(std::string name, const std::string& kernel, std::vector<std::string> defines,
                    const KernelNeeds& needs, std::shared_ptr<const TileProgram> program, Traffic traffic,
                    double matrix_flops, std::vector<Argument> arguments) {
  KernelLaunch launch;
  launch.name = std::move(name);
  launch.source = {"naive/naive_" + kernel + ".cuh", "attn_naive_" + kernel, std::move(defines)};
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

/// What Z multiplies the entries by that it keeps.
float dropout_factor(const AttentionProblem& p) {
  return 256.0F / static_cast<float>(dropout_keep(p));
}

/// Makes the launches of one problem and tile.
class Launches {
 public:
  Launches(const AttentionProblem& problem, const Tiling& tile)
      : p_(problem),
        tile_(tile),
        stride_(naive::row_stride(problem.n_k)),
        // A mask spares the products nothing: S is whole.
        product_flops_(2.0 * static_cast<double>(problem.d) *
                       static_cast<double>(problem.instances() * problem.n_q * problem.n_k)) {}

  /// out = scale left right^T, 16 bits.
  [[nodiscard]] KernelLaunch qk(std::string name, const Product& product,
                                std::initializer_list<std::string_view> buffers, float scale) const {
    std::vector<Argument> arguments =
        kernel_arguments(buffers, {p_.instances(), group_size(p_), p_.n_q, p_.n_k, stride_});
    arguments.emplace_back(scale);
    return launch(std::move(name), "qk",
                  kernel_defines({"ATTN_BF16", "ATTN_D", "ATTN_BR", "ATTN_BC", "ATTN_HEADS_FASTEST"}, p_, tile_),
                  qk_needs(p_, tile_), std::make_shared<const QkProgram>(p_, tile_, product), qk_traffic(p_, tile_),
                  product_flops_, std::move(arguments));
  }

  [[nodiscard]] KernelLaunch softmax_rows() const {
    const bool long_row = naive::long_rows(p_.n_k, softmax.pieces);
    std::vector<Argument> arguments = kernel_arguments({"s", "p"}, {p_.instances(), p_.n_q, p_.n_k, stride_});
    if (!long_row) arguments.emplace_back(std::int32_t{naive::warps_per_row(p_.n_k, softmax.pieces)});
    append_mask_arguments(arguments, p_);
    return launch("softmax", long_row ? "softmax_long" : "softmax",
                  kernel_defines({"ATTN_BF16", "ATTN_MASK", "ATTN_DROPOUT"}, p_, tile_),
                  row_needs("naive softmax", p_, softmax), std::make_shared<const RowProgram>(p_, softmax),
                  row_traffic(p_, softmax), 0.0, std::move(arguments));
  }

  /// dS over dP.
  [[nodiscard]] KernelLaunch ds_rows(std::string_view buffer) const {
    const bool long_row = naive::long_rows(p_.n_k, ds.pieces);
    std::vector<Argument> arguments = kernel_arguments({"p", buffer, buffer}, {p_.instances(), p_.n_q, stride_});
    if (!long_row) arguments.emplace_back(std::int32_t{naive::warps_per_row(p_.n_k, ds.pieces)});
    arguments.emplace_back(dropout_factor(p_));
    return launch("ds", long_row ? "ds_long" : "ds", kernel_defines({"ATTN_BF16", "ATTN_DROPOUT"}, p_, tile_),
                  row_needs("naive ds", p_, ds), std::make_shared<const RowProgram>(p_, ds), row_traffic(p_, ds), 0.0,
                  std::move(arguments));
  }

  /// out = scale left right; `left_drops`: it is P, whose signs say what dropout drops.
  [[nodiscard]] KernelLaunch pv(std::string name, const Product& product,
                                std::initializer_list<std::string_view> buffers, bool left_drops, float scale) const {
    std::vector<Argument> arguments =
        kernel_arguments(buffers, {p_.instances(), group_size(p_), p_.n_q, p_.n_k, stride_});
    arguments.emplace_back(scale);
    return launch(std::move(name), "pv",
                  kernel_defines({"ATTN_BF16", "ATTN_D", "ATTN_BR", "ATTN_DROPOUT", "ATTN_HEADS_FASTEST"},
                                 dropping(left_drops), tile_),
                  pv_needs(p_, tile_), std::make_shared<const PvProgram>(p_, tile_, product), pv_traffic(p_, tile_),
                  product_flops_, std::move(arguments));
  }

  /// out = scale left^T right.
  [[nodiscard]] KernelLaunch tn(std::string name, const Product& product,
                                std::initializer_list<std::string_view> buffers, bool left_drops, float scale) const {
    std::vector<Argument> arguments =
        kernel_arguments(buffers, {p_.kv_instances(), group_size(p_), p_.n_q, p_.n_k, stride_});
    arguments.emplace_back(scale);
    return launch(std::move(name), "tn",
                  kernel_defines({"ATTN_BF16", "ATTN_D", "ATTN_BC", "ATTN_DROPOUT", "ATTN_HEADS_FASTEST"},
                                 dropping(left_drops), tile_),
                  tn_needs(p_, tile_), std::make_shared<const TnProgram>(p_, tile_, product), tn_traffic(p_, tile_),
                  product_flops_, std::move(arguments));
  }

 private:
  [[nodiscard]] AttentionProblem dropping(bool drops) const {
    AttentionProblem p = p_;
    if (!drops) p.dropout = 0;
    return p;
  }

  AttentionProblem p_;
  Tiling tile_;
  std::int64_t stride_;
  double product_flops_;
};

}  // namespace

NaiveAttention::NaiveAttention()
    : Algorithm({.name = "naive",
                 .title = "Standard attention",
                 .short_title = "Naive",
                 .source = "T. Dao et al., FlashAttention (arXiv 2205.14135v2), Algorithms 0 and 3",
                 .tile_meaning = "Br x Bc is the GEMM tile of S = QK^T, Br that of O = PV, Bc that of dV and dK: it "
                                 "decides how often Q, K and V are read again, not the N^2 traffic of S and P.",
                 .growth = Growth::n2,
                 .paper_column = PaperColumn::standard,
                 .groups = {Group::prefill, Group::paper, Group::decoding},
                 .head_dims = supported_head_dims<naive::supported_head_dim>(),
                 .knobs = {raster_knob()}}) {}

std::optional<PaperCount> NaiveAttention::paper_count(const AttentionProblem& p, const TileShape& /*tile*/) const {
  const auto formula = p.pass == Pass::fwd ? "4N²+4Nd" : p.pass == Pass::bwd ? "7N²+8Nd" : "11N²+12Nd";
  return PaperCount{formula, standard_attention_bytes(p)};
}
std::int64_t NaiveAttention::working_set_bytes(const AttentionProblem& p, const Config& /*config*/,
                                               const DeviceLimits& /*device*/) const {
  // The scores of all heads: one kernel writes them, the next reads them back.
  return p.instances() * p.n_q * naive::row_stride(p.n_k) * bytes_per_element(p.dtype);
}
Config NaiveAttention::default_config(const AttentionProblem& p, const DeviceLimits& device) const {
  // A decoding step has no rows to fill a larger tile with.
  const TileShape wished{.br = p.n_q <= 16 ? 16 : 128, .bc = 128};
  return shrink_to_fit(wished, [&](const TileShape& tile) { return !refusal(p, tile, device); });
}

std::optional<Refusal> NaiveAttention::refusal(const AttentionProblem& p, const Config& config,
                                               const DeviceLimits& device) const {
  const Tiling tile = tiling_of(config);
  if (auto refused = refuse_shape(p, tile, facts().head_dims)) return refused;
  if (auto refused = refuse_knobs(facts(), config.knobs)) return refused;
  constexpr Features has{.backward = true, .window = true, .lengths = true, .blocks = true, .dropout = true};
  if (auto refused = refuse_features("naive", p, tile, has, false)) return refused;
  const TileGrid grid = whole_grid(p, tile);
  if (auto refused = refuse_grid("naive qk", grid.q_tiles() * grid.k_tiles() * p.instances())) return refused;
  if (auto refused = refuse_grid("naive softmax", RowProgram(p, softmax).blocks())) return refused;
  const KernelNeeds rows = row_needs("naive softmax", p, softmax);
  if (p.pass == Pass::fwd) return refuse_needs({qk_needs(p, tile), rows, pv_needs(p, tile)}, device);
  if (auto refused = refuse_grid("naive ds", RowProgram(p, ds).blocks())) return refused;
  return refuse_needs({qk_needs(p, tile), rows, pv_needs(p, tile), row_needs("naive ds", p, ds), tn_needs(p, tile)},
                      device);
}

AttentionPlan NaiveAttention::plan(const AttentionProblem& p, const Config& config,
                                   const DeviceLimits& /*device*/) const {
  const Tiling tile = tiling_of(config);
  const std::int64_t stride = naive::row_stride(p.n_k);
  const int element = bytes_per_element(p.dtype);
  const float scale = score_scale(p);
  const float kept = dropout_factor(p);
  AttentionPlan plan;
  plan.buffers = input_buffers(p);
  plan.buffers.push_back(row_buffer("s", p, stride, element));
  plan.buffers.push_back(row_buffer("p", p, stride, element));
  plan.buffers.push_back(row_buffer("o", p, p.d, element));

  const Launches make(p, tile);
  plan.launches.push_back(make.qk("qk", {Tensor::q, Tensor::k, Tensor::s}, {"q", "k", "s"}, scale));
  plan.launches.push_back(make.softmax_rows());
  plan.launches.push_back(make.pv("pv", {Tensor::p, Tensor::v, Tensor::o}, {"p", "v", "o"}, true, kept));
  if (p.pass == Pass::fwd) return plan;

  for (KernelLaunch& forward : plan.launches) forward.setup = p.pass == Pass::bwd;
  std::ranges::move(gradient_buffers(p), std::back_inserter(plan.buffers));
  // Two N x N matrices are what standard attention needs at any time: nothing reads S once P is there, dS replaces dP
  // row by row, and so both live where S was.
  plan.launches.push_back(make.tn("dv", {Tensor::p, Tensor::dout, Tensor::dv}, {"p", "dout", "dv"}, true, kept));
  plan.launches.push_back(make.qk("dp", {Tensor::dout, Tensor::v, Tensor::dp}, {"dout", "v", "s"}, 1.0F));
  plan.launches.push_back(make.ds_rows("s"));
  plan.launches.push_back(make.pv("dq", {Tensor::ds, Tensor::k, Tensor::dq}, {"s", "k", "dq"}, false, scale));
  plan.launches.push_back(make.tn("dk", {Tensor::ds, Tensor::q, Tensor::dk}, {"s", "q", "dk"}, false, scale));
  return plan;
}

}  // namespace attnscope
