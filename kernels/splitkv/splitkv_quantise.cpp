// SPDX-License-Identifier: Apache-2.0
#include "kernels/splitkv/splitkv_quantise.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "kernels/algorithm_parts.h"
#include "kernels/model/integer.h"
#include "kernels/splitkv/splitkv_programs.h"
#include "kernels/splitkv/splitkv_shape.h"
#include "kernels/splitkv/splitkv_timing.h"
#include "messages/load_order.h"

namespace attnscope::splitkv {
namespace {

struct Matrix {
  const char* launch;
  const char* given;
  const char* made;
  const char* scales;
  Tensor from;
  Tensor to;
  Tensor scale;
  Phase load;
};
constexpr std::array matrices{
    Matrix{"quantise K", "k", "k8", "k_scales", Tensor::k16, Tensor::k, Tensor::k_scales, Phase::load_k},
    Matrix{"quantise V", "v", "v8", "v_scales", Tensor::v16, Tensor::v, Tensor::v_scales, Phase::load_v}};

std::int64_t blocks_of_head(const AttentionProblem& p) {
  return ceil_div(p.n_k, quantised_keys);
}

/// Block (keys, K/V head): step 0 loads all keys of the head, step 1 its own once more and stores them. The block table
/// comes through the L1, whole.
class QuantiseProgram final : public TileProgram {
 public:
  QuantiseProgram(const AttentionProblem& p, const Matrix& matrix) : p_(p), matrix_(matrix) {}

  [[nodiscard]] std::int64_t blocks() const override { return p_.kv_instances() * blocks_of_head(p_); }
  [[nodiscard]] std::int64_t steps(std::int64_t /*block*/) const override { return 2; }

  void visit(std::int64_t block, std::int64_t step, std::vector<TileAccess>& out) const override {
    const std::int64_t kv = block / blocks_of_head(p_);
    const std::int64_t first = step == 0 ? 0 : block % blocks_of_head(p_) * quantised_keys;
    const std::int64_t keys = step == 0 ? p_.n_k : std::min<std::int64_t>(quantised_keys, p_.n_k - first);
    const int given = bytes_per_element(held_as(p_.dtype));
    out.push_back({matrix_.from, Access::load, kv, first, keys, 0, p_.d, given, matrix_.load, no_part});
    if (step == 0) return;
    out.push_back({matrix_.to, Access::store, kv, first, keys, 0, p_.d, bytes_per_element(p_.dtype),
                   Phase::store_operand, no_part});
    if (first == 0) {
      out.push_back({matrix_.scale, Access::store, 0, kv / (sector_bytes / fp32_bytes), 1, 0, 1,
                     static_cast<int>(sector_bytes), Phase::store_scale, no_part});
    }
  }
  void compute(std::int64_t block, std::int64_t step, std::vector<Computation>& out) const override {
    const std::int64_t first = block % blocks_of_head(p_) * quantised_keys;
    const std::int64_t keys = std::min<std::int64_t>(quantised_keys, p_.n_k - first);
    if (step == 0) out.push_back({Phase::quantise, no_part, {}, {}, keys, p_.d, bytes_per_element(p_.dtype)});
  }

 private:
  AttentionProblem p_;
  Matrix matrix_;
};

KernelModel quantise_model(const AttentionProblem& p, const Matrix& matrix) {
  const std::int64_t values = p.kv_instances() * p.n_k * p.d;
  const std::int64_t given = values * bytes_per_element(held_as(p.dtype));
  const std::int64_t made = values * bytes_per_element(p.dtype);
  const std::int64_t blocks = p.kv_instances() * blocks_of_head(p);
  const KernelWork work{.steps = static_cast<double>(2 * blocks),
                        .rounds = static_cast<double>(blocks),
                        .fp32_values = static_cast<double>(values),
                        .distinct_bytes = static_cast<double>(given + made)};
  KernelModel model =
      kernel_model(matrix.launch, blocks,
                   {.kernel = "splitkv quantise", .threads = quantise_threads, .registers = quantise_registers},
                   {{matrix.from, {.l2_to_sm_bytes = given * (blocks_of_head(p) + 1)}},
                    {matrix.to, {.sm_to_l2_bytes = made}},
                    {matrix.scale, {.sm_to_l2_bytes = p.kv_instances() * sector_bytes}}},
                   0, {}, {.why = say::load_order::rows{}}, work, combine_timing);
  model.setup = true;
  return model;
}

}  // namespace

std::vector<KernelModel> quantise_models(const AttentionProblem& p) {
  return {quantise_model(p, matrices[0]), quantise_model(p, matrices[1])};
}

void append_quantised(std::vector<BufferSpec>& buffers, const AttentionProblem& p) {
  const std::int64_t keys = p.page > 0 ? round_up(p.n_k, p.page) : p.n_k;
  for (const Matrix& matrix : matrices) {
    buffers.push_back({matrix.made, p.kv_instances() * keys * p.d * bytes_per_element(p.dtype)});
    buffers.push_back({matrix.scales, p.kv_instances() * fp32_bytes});
  }
}

std::vector<KernelLaunch> quantise_launches(const AttentionProblem& p) {
  std::vector<KernelLaunch> all;
  all.reserve(matrices.size());
  for (const Matrix& matrix : matrices) {
    all.emplace_back(quantise_model(p, matrix),
                     KernelSource{"splitkv/splitkv_quantise.cuh", "attn_splitkv_quantise",
                                  kernel_defines({"ATTN_BF16", "ATTN_D", "ATTN_PAGED"}, p, Config())},
                     kernel_arguments({matrix.given, p.page > 0 ? "block_table" : "", matrix.made, matrix.scales},
                                      {p.n_k, p.page, p.heads_kv}),
                     std::make_shared<const QuantiseProgram>(p, matrix));
  }
  return all;
}

}  // namespace attnscope::splitkv
