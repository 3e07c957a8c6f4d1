// SPDX-License-Identifier: Apache-2.0
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

#include "kernels/algorithm_parts.h"
#include "kernels/model/integer.h"
#include "kernels/model/io_model.h"
#include "kernels/model/tile_grid.h"
#include "kernels/naive/naive_programs.h"
#include "kernels/naive/naive_shape.h"
#include "messages/tile_meaning.h"

namespace attnscope {
namespace {

// Timing constants, fitted on an NVIDIA H200 by tests/gpu/fit_times.py to half of the recorded launches.

/// S = Q K^T, and dP: mma.sync, both tiles loaded before the product.
constexpr KernelTiming qk_timing{
    .block_latency = 1430,
    .step_latency = 303,
    .round_latency = 913,
    .alone = {.tensor = 0.142, .exponential = 0, .fp32 = 0.52, .shared = 0.189, .l2 = 0.467},
    .busy = {.tensor = 1.42, .exponential = 0, .fp32 = 0.57, .shared = 0, .l2 = 1.82},
    .skew = 0.101,
    .overlap = 1,
    .launch_ns = 5750,
    .use = {.wavefronts = {.fp32 = 0.508, .shared = 1.42}},
};

/// Softmax: rows held in registers, long rows read twice; streaming.
constexpr KernelTiming softmax_timing{
    .block_latency = 1850,
    .step_latency = 421,
    .round_latency = 537,
    .alone = {.tensor = 0, .exponential = 0.451, .fp32 = 0.494, .shared = 0, .l2 = 0.451},
    .busy = {.tensor = 0, .exponential = 0.5, .fp32 = 0.5, .shared = 0, .l2 = 1.54},
    .skew = 0.125,
    .overlap = 1,
    .launch_ns = 4950,
    .use = {.exponentials = 2.27, .wavefronts = {.l2 = 0.288}},
};

/// dS: like softmax, with two input matrices.
constexpr KernelTiming ds_timing{
    .block_latency = 1370,
    .step_latency = 300,
    .round_latency = 486,
    .alone = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.495},
    .busy = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.822},
    .skew = 0.0999,
    .overlap = 2.15,
    .launch_ns = 1270,
    .use = {.wavefronts = {.l2 = 0.165}},
};

/// O = P V, and dQ: mma.sync with a ring of pipeline steps.
constexpr KernelTiming pv_timing{
    .block_latency = 1830,
    .step_latency = 511,
    .round_latency = 609,
    .alone = {.tensor = 0, .exponential = 0, .fp32 = 0.503, .shared = 0.241, .l2 = 0.661},
    .busy = {.tensor = 1, .exponential = 0, .fp32 = 0.5, .shared = 0.704, .l2 = 1.23},
    .skew = 0.106,
    .overlap = 2.15,
    .launch_ns = 5840,
    .use = {.wavefronts = {.fp32 = 0.438, .shared = 1.09}},
};

/// dV and dK: mma.sync like pv, with the left matrix transposed.
constexpr KernelTiming tn_timing{
    .block_latency = 1290,
    .step_latency = 302,
    .round_latency = 584,
    .alone = {.tensor = 0.494, .exponential = 0, .fp32 = 0.498, .shared = 0.507, .l2 = 0.512},
    .busy = {.tensor = 1.1, .exponential = 0, .fp32 = 0.5, .shared = 0.887, .l2 = 0.808},
    .skew = 0.1,
    .overlap = 2,
    .launch_ns = 1960,
    .use = {.wavefronts = {.shared = 0.955, .l2 = 0.326}},
};

using naive::ds;
using naive::Product;
using naive::row_blocks;
using naive::RowWork;
using naive::softmax;
using naive::unmasked_grid;

KernelResources qk_needs(const AttentionProblem& p, const TileShape& tile) {
  return {.kernel = "naive qk",
          .threads = naive::qk_threads(tile.br),
          .registers = naive::qk_register_estimate(tile.br, tile.bc),
          .shared_bytes = naive::qk_shared_bytes(tile.br, tile.bc, static_cast<int>(p.d), bytes_per_element(p.dtype))};
}

KernelResources row_kernel_resources(std::string_view kernel, const AttentionProblem& p, const RowWork& work) {
  return {
      .kernel = kernel, .threads = naive::row_threads(p.n_k, work.pieces), .registers = naive::row_register_estimate};
}

KernelResources pv_needs(const AttentionProblem& p, const TileShape& tile) {
  const int d = static_cast<int>(p.d);
  return {.kernel = "naive pv",
          .threads = naive::pv_threads(tile.br, d),
          .registers = naive::pv_register_estimate(tile.br, d),
          .shared_bytes = naive::pv_shared_bytes(tile.br, d, bytes_per_element(p.dtype))};
}

KernelResources tn_needs(const AttentionProblem& p, const TileShape& tile) {
  const int d = static_cast<int>(p.d);
  return {.kernel = "naive tn",
          .threads = naive::tn_threads(tile.bc, d),
          .registers = naive::tn_register_estimate(tile.bc, d),
          .shared_bytes = naive::tn_shared_bytes(tile.bc, d, bytes_per_element(p.dtype))};
}

/// Scale of the entries that dropout keeps.
float dropout_factor(const AttentionProblem& p) {
  return 256.0F / static_cast<float>(dropout_keep_count(p));
}

/// Launch of a product out = factor left right: name, matrices, their on-chip labels and their buffers.
struct ProductLaunch {
  const char* name;
  const Product& product;
  std::array<const char*, 3> on_chip;
  std::array<const char*, 3> buffers;
  float factor = 1;
  bool left_has_dropout = false;  ///< the left matrix is P, whose sign bits mark dropped entries
};

class LaunchBuilder {
 public:
  LaunchBuilder(const AttentionProblem& problem, const Config& config)
      : p_(problem), config_(config), tile_(config.tile) {}

  /// Product with the right matrix transposed; `out` has 16 bits.
  [[nodiscard]] KernelLaunch qk(const ProductLaunch& of) const {
    const TileGrid grid = unmasked_grid(p_, tile_);
    const std::int64_t columns = naive::qk_chunk_columns(tile_.br, tile_.bc);
    return product(of, "qk", {"ATTN_BF16", "ATTN_D", "ATTN_BR", "ATTN_BC", "ATTN_HEADS_FASTEST"}, p_.instances(),
                   kernel_model(of.name, grid.q_tiles() * grid.k_tiles() * p_.instances(), qk_needs(p_, tile_),
                                naive::qk_traffic(p_, tile_, of.product),
                                {shared_memory_part(of.on_chip[0], tile_.br * p_.d * element_),
                                 shared_memory_part(of.on_chip[1], tile_.bc * p_.d * element_),
                                 register_part(of.on_chip[2], tile_.br * columns * accumulator_)},
                                qk_work(grid, columns), qk_timing),
                   naive::qk_program(p_, config_, of.product));
  }

  [[nodiscard]] KernelLaunch pv(const ProductLaunch& of) const {
    const int d = static_cast<int>(p_.d);
    const int stages = naive::pv_stages(tile_.br, d, element_);
    return product(
        of, "pv", {"ATTN_BF16", "ATTN_D", "ATTN_BR", "ATTN_DROPOUT", "ATTN_HEADS_FASTEST"}, p_.instances(),
        kernel_model(
            of.name, p_.instances() * ceil_div(p_.n_q, tile_.br), pv_needs(p_, tile_),
            naive::pv_traffic(p_, tile_, of.product),
            {shared_memory_part(of.on_chip[0], std::int64_t{stages} * naive::pv_step * tile_.br * element_, stages),
             shared_memory_part(of.on_chip[1], std::int64_t{stages} * naive::pv_step * d * element_, stages),
             register_part(of.on_chip[2],
                           std::int64_t{tile_.br} * d * accumulator_ * naive::pv_column_warps(tile_.br, d))},
            pv_work(), pv_timing),
        naive::pv_program(p_, config_, of.product));
  }

  /// Product with the left matrix transposed.
  [[nodiscard]] KernelLaunch tn(const ProductLaunch& of) const {
    constexpr std::int64_t stages = naive::tn_stages;
    return product(
        of, "tn", {"ATTN_BF16", "ATTN_D", "ATTN_BC", "ATTN_DROPOUT", "ATTN_HEADS_FASTEST"}, p_.kv_instances(),
        kernel_model(of.name, p_.kv_instances() * ceil_div(p_.n_k, tile_.bc), tn_needs(p_, tile_),
                     naive::tn_traffic(p_, tile_, of.product),
                     {shared_memory_part(of.on_chip[0], stages * naive::tn_step * tile_.bc * element_, stages),
                      shared_memory_part(of.on_chip[1], stages * naive::tn_step * p_.d * element_, stages),
                      register_part(of.on_chip[2], tile_.bc * p_.d * accumulator_)},
                     tn_work(), tn_timing),
        naive::tn_program(p_, config_, of.product));
  }

  [[nodiscard]] KernelLaunch softmax_rows() const {
    std::vector<Argument> arguments = kernel_arguments({"s", "p"}, {p_.instances(), p_.n_q, p_.n_k, stride_});
    append_row_warps(arguments, softmax);
    append_mask_arguments(arguments, p_);
    return rows("softmax", "naive softmax", softmax, {"ATTN_BF16", "ATTN_MASK", "ATTN_DROPOUT"}, std::move(arguments));
  }

  /// Computes dS in place of dP.
  [[nodiscard]] KernelLaunch ds_rows() const {
    std::vector<Argument> arguments = kernel_arguments({"p", "s", "s"}, {p_.instances(), p_.n_q, stride_});
    append_row_warps(arguments, ds);
    arguments.emplace_back(dropout_factor(p_));
    return rows("ds", "naive ds", ds, {"ATTN_BF16", "ATTN_DROPOUT"}, std::move(arguments));
  }

 private:
  /// Kernel `kernel` is attn_naive_<kernel> in naive/naive_<kernel>.cuh.
  static KernelSource source(const std::string& kernel, std::vector<std::string> defines) {
    return {"naive/naive_" + kernel + ".cuh", "attn_naive_" + kernel, std::move(defines)};
  }

  [[nodiscard]] KernelLaunch product(const ProductLaunch& of, const char* kernel,
                                     std::initializer_list<std::string_view> macros, std::int64_t instances,
                                     KernelModel model, naive::ProgramPointer program) const {
    AttentionProblem told = p_;
    if (!of.left_has_dropout) told.dropout = 0;
    std::vector<Argument> arguments = kernel_arguments({of.buffers[0], of.buffers[1], of.buffers[2]},
                                                       {instances, group_size(p_), p_.n_q, p_.n_k, stride_});
    arguments.emplace_back(of.factor);
    return {std::move(model), source(kernel, kernel_defines(macros, told, config_)), std::move(arguments),
            std::move(program)};
  }

  /// `needs`: kernel name in messages about the kernel's resource needs.
  [[nodiscard]] KernelLaunch rows(const std::string& name, std::string_view needs, const RowWork& work,
                                  std::initializer_list<std::string_view> macros,
                                  std::vector<Argument> arguments) const {
    const bool long_row = naive::has_long_rows(p_.n_k, work.pieces);
    const std::int64_t held = std::min<std::int64_t>(long_row ? naive::long_row_step : stride_, stride_);
    std::vector<OnChipPart> parts;
    for (const Tensor in : work.in) {
      parts.push_back(register_part(on_chip_name(in), naive::rows_per_block(p_, work) * held * element_));
    }
    return {
        kernel_model(name, row_blocks(p_, work), row_kernel_resources(needs, p_, work), naive::row_traffic(p_, work),
                     std::move(parts), row_kernel_work(work), work.out == Tensor::p ? softmax_timing : ds_timing),
        source(long_row ? name + "_long" : name, kernel_defines(macros, p_, config_)), std::move(arguments),
        naive::row_program(p_, work)};
  }

  void append_row_warps(std::vector<Argument>& arguments, const RowWork& work) const {
    if (naive::has_long_rows(p_.n_k, work.pieces)) return;
    arguments.emplace_back(std::int32_t{naive::warps_per_row(p_.n_k, work.pieces)});
  }

  [[nodiscard]] double elements(std::int64_t rows, std::int64_t columns) const {
    return static_cast<double>(rows) * static_cast<double>(columns) * element_;
  }
  /// Bytes of Q (dO, O), K (V) and S (P, dP, dS), all heads.
  [[nodiscard]] double q_bytes() const { return elements(p_.instances() * p_.n_q, p_.d); }
  [[nodiscard]] double kv_bytes() const { return elements(p_.kv_instances() * p_.n_k, p_.d); }
  [[nodiscard]] double s_bytes() const { return elements(p_.instances() * p_.n_q, naive::row_stride(p_.n_k)); }

  [[nodiscard]] KernelWork qk_work(const TileGrid& grid, std::int64_t chunk) const {
    const auto blocks = static_cast<double>(grid.q_tiles() * grid.k_tiles() * p_.instances());
    const double cells = blocks * tile_.br * tile_.bc;
    const std::int64_t row_groups = tile_.br / naive::qk_rows_per_warp(tile_.br);
    return {.steps = 2 * blocks,
            .rounds = blocks * static_cast<double>(ceil_div(tile_.bc, chunk)),
            .tensor_flops = 2 * static_cast<double>(p_.d) * cells,
            .fp32_values = cells,
            .shared_bytes = blocks * elements(row_groups * tile_.bc + tile_.br, p_.d),
            .distinct_bytes = q_bytes() + kv_bytes() + s_bytes()};
  }

  [[nodiscard]] KernelWork row_kernel_work(const RowWork& work) const {
    const auto blocks = static_cast<double>(row_blocks(p_, work));
    const bool long_row = naive::has_long_rows(p_.n_k, work.pieces);
    const auto steps =
        long_row ? static_cast<double>(2 * ceil_div(naive::row_stride(p_.n_k), naive::long_row_step)) : 2.0;
    const double values = s_bytes() / element_;
    return {.steps = steps * blocks,
            .rounds = (long_row ? steps : 1) * blocks,
            .exponentials = work.out == Tensor::p ? values : 0,
            .fp32_values = values,
            .distinct_bytes = static_cast<double>(work.in.size() + 1) * s_bytes()};
  }

  [[nodiscard]] KernelWork pv_work() const {
    const int d = static_cast<int>(p_.d);
    const auto blocks = static_cast<double>(p_.instances() * ceil_div(p_.n_q, tile_.br));
    const auto loads = static_cast<double>(ceil_div(p_.n_k, naive::pv_step));
    const std::int64_t row_groups = tile_.br / naive::pv_rows_per_warp(tile_.br, d);
    return {.steps = blocks * (loads + 1),
            .rounds = blocks * loads,
            .tensor_flops = blocks * loads * 2 * naive::pv_step * tile_.br * d,
            .fp32_values = blocks * tile_.br * d * naive::pv_column_warps(tile_.br, d),
            .shared_bytes = blocks * loads * elements(row_groups * d + tile_.br, naive::pv_step),
            .distinct_bytes = s_bytes() + kv_bytes() + q_bytes()};
  }

  [[nodiscard]] KernelWork tn_work() const {
    const int d = static_cast<int>(p_.d);
    const auto blocks = static_cast<double>(p_.kv_instances() * ceil_div(p_.n_k, tile_.bc));
    const auto loads = static_cast<double>(ceil_div(group_size(p_) * p_.n_q, naive::tn_step));
    const std::int64_t row_groups = tile_.bc / naive::tn_rows_per_warp(tile_.bc, d);
    return {.steps = blocks * (loads + 1),
            .rounds = blocks * loads,
            .tensor_flops = blocks * loads * 2 * naive::tn_step * tile_.bc * d,
            .fp32_values = blocks * tile_.bc * d,
            .shared_bytes = blocks * loads * elements(row_groups * d + tile_.bc, naive::tn_step),
            .distinct_bytes = s_bytes() + q_bytes() + kv_bytes()};
  }

  static const char* on_chip_name(Tensor tensor) {
    return tensor == Tensor::s ? "S" : tensor == Tensor::p ? "P" : "dP";
  }

  AttentionProblem p_;
  Config config_;
  TileShape tile_;
  std::int64_t stride_ = naive::row_stride(p_.n_k);
  int element_ = bytes_per_element(p_.dtype);
  int accumulator_ = accumulator_bytes(p_.dtype);
};

std::vector<KernelLaunch> launches(const AttentionProblem& p, const Config& config) {
  const LaunchBuilder make(p, config);
  const float scale = score_scale(p);
  const float kept = dropout_factor(p);
  std::vector<KernelLaunch> all;
  all.push_back(make.qk({"qk", naive::scores_product, {"Q", "K", "S"}, {"q", "k", "s"}, scale}));
  all.push_back(make.softmax_rows());
  all.push_back(make.pv({"pv", naive::values_product, {"P", "V", "O"}, {"p", "v", "o"}, kept, true}));
  if (p.pass == Pass::fwd) return all;
  for (KernelLaunch& forward : all) forward.setup = p.pass == Pass::bwd;
  // Standard attention needs two N x N matrices at any time: S is not read after P is computed, and dS replaces dP row
  // by row, so dP and dS reuse the buffer of S.
  all.push_back(make.tn({"dv", naive::dv_product, {"P", "dO", "dV"}, {"p", "dout", "dv"}, kept, true}));
  all.push_back(make.qk({"dp", naive::dp_product, {"dO", "V", "dP"}, {"dout", "v", "s"}}));
  all.push_back(make.ds_rows());
  all.push_back(make.pv({"dq", naive::dq_product, {"dS", "K", "dQ"}, {"s", "k", "dq"}, scale}));
  all.push_back(make.tn({"dk", naive::dk_product, {"dS", "Q", "dK"}, {"s", "q", "dk"}, scale}));
  return all;
}

/// Standard attention: S = Q K^T, P = softmax(mask(S)) and O = P V as three kernels with S and P in global memory;
/// backward dV, dP, dS, dQ and dK as five kernels with P, dP and dS in global memory.
class NaiveAttention final : public Algorithm {
 public:
  NaiveAttention()
      : Algorithm({.name = "naive",
                   .title = "Naive attention",
                   .short_title = "Naive",
                   .source = "T. Dao et al., FlashAttention (arXiv 2205.14135v2), Algorithms 0 and 3",
                   .tile_meaning = msg::tile_meaning::gemm{},
                   .plot_slot = PlotSlot::circle,
                   .paper_column = PaperColumn::standard,
                   .groups = {Group::prefill, Group::paper, Group::decoding},
                   .head_dims = supported_head_dims<naive::supported_head_dim>(),
                   .knobs = {raster_knob()}}) {}

  [[nodiscard]] Config default_config(const AttentionProblem& p, const DeviceLimits& device) const override {
    // A decoding step has too few rows for a larger tile.
    const TileShape preferred{.br = p.n_q <= 16 ? 16 : 128, .bc = 128};
    return shrink_to_fit(preferred, [&](const TileShape& tile) { return !refusal(p, tile, device); });
  }

  [[nodiscard]] std::optional<Refusal> refusal(const AttentionProblem& p, const Config& config,
                                               const DeviceLimits& device) const override {
    const TileShape& tile = config.tile;
    if (auto refused = check_shape(p, tile, facts())) return refused;
    if (auto refused = check_knobs(facts(), config.knobs)) return refused;
    constexpr Features has{.backward = true, .window = true, .lengths = true, .blocks = true, .dropout = true};
    if (auto refused = check_features("naive", p, tile, has, false)) return refused;
    const TileGrid grid = unmasked_grid(p, tile);
    if (auto refused = check_grid_size("naive qk", grid.q_tiles() * grid.k_tiles() * p.instances())) return refused;
    if (auto refused = check_grid_size("naive softmax", row_blocks(p, softmax))) return refused;
    const KernelResources rows = row_kernel_resources("naive softmax", p, softmax);
    if (p.pass == Pass::fwd) return check_resources({qk_needs(p, tile), rows, pv_needs(p, tile)}, device);
    if (auto refused = check_grid_size("naive ds", row_blocks(p, ds))) return refused;
    return check_resources(
        {qk_needs(p, tile), rows, pv_needs(p, tile), row_kernel_resources("naive ds", p, ds), tn_needs(p, tile)},
        device);
  }

  [[nodiscard]] std::int64_t working_set_bytes(const AttentionProblem& p, const Config& /*config*/,
                                               const DeviceLimits& /*device*/) const override {
    // Scores of all heads: one kernel writes them, the next reads them back.
    return p.instances() * p.n_q * naive::row_stride(p.n_k) * bytes_per_element(p.dtype);
  }

  [[nodiscard]] std::vector<BufferSpec> buffers(const AttentionProblem& p, const Config& /*config*/,
                                                const DeviceLimits& /*device*/) const override {
    const std::int64_t stride = naive::row_stride(p.n_k);
    const int element = bytes_per_element(p.dtype);
    std::vector<BufferSpec> all = input_buffers(p);
    all.push_back(row_buffer("s", p, stride, element));
    all.push_back(row_buffer("p", p, stride, element));
    all.push_back(row_buffer("o", p, p.d, output_bytes(p.dtype)));
    if (p.pass != Pass::fwd) std::ranges::move(gradient_buffers(p), std::back_inserter(all));
    return all;
  }

  [[nodiscard]] AttentionPlan plan(const AttentionProblem& p, const Config& config,
                                   const DeviceLimits& device) const override {
    return {.buffers = buffers(p, config, device), .launches = launches(p, config)};
  }
};

}  // namespace

std::unique_ptr<const Algorithm> make_naive() {
  return std::make_unique<NaiveAttention>();
}

}  // namespace attnscope
