// SPDX-License-Identifier: Apache-2.0
#include "kernels/fa3/fa3_quantise.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "kernels/algorithm_parts.h"
#include "kernels/device/quantise_shape.h"
#include "kernels/fa3/fa3_shape.h"
#include "kernels/fa3/fa3_timing.h"
#include "kernels/model/integer.h"
#include "messages/load_order.h"

namespace attnscope::fa3_quantise {
namespace {

/// One of the three matrices, and what becomes of it.
struct Matrix {
  const char* launch;
  const char* given;
  const char* made;
  const char* scales;
  Tensor from;
  Tensor to;
  Tensor scale;
  Phase load;
  std::int64_t block_rows;

  [[nodiscard]] bool of_queries() const { return to == Tensor::q; }
  [[nodiscard]] bool transposed() const { return to == Tensor::v; }
  [[nodiscard]] std::int64_t instances(const AttentionProblem& p) const {
    return of_queries() ? p.instances() : p.kv_instances();
  }
  [[nodiscard]] std::int64_t rows(const AttentionProblem& p) const { return of_queries() ? p.n_q : p.n_k; }
  [[nodiscard]] std::int64_t blocks(const AttentionProblem& p) const {
    return instances(p) * ceil_div(rows(p), block_rows);
  }
  /// Of the result.
  [[nodiscard]] std::int64_t stored_rows(const AttentionProblem& p) const {
    return transposed() ? padded_keys(p) : rows(p);
  }
};
constexpr std::array matrices{
    Matrix{"quantise Q", "q", "q8", "q_scales", Tensor::q16, Tensor::q, Tensor::q_scales, Phase::load_q,
           scaled_queries},
    Matrix{"quantise K", "k", "k8", "k_scales", Tensor::k16, Tensor::k, Tensor::k_scales, Phase::load_k, scaled_keys},
    Matrix{"transpose V", "v", "v8", "v_scales", Tensor::v16, Tensor::v, Tensor::v_scales, Phase::load_v, scaled_keys}};

/// A block has one block of rows: step 0 loads them in 16 bits, step 1 stores them in 8, and their scale. V's are
/// stored with the keys that the last block lacks, as zeros.
class Program final : public TileProgram {
 public:
  Program(const AttentionProblem& p, const Matrix& matrix) : p_(p), matrix_(matrix) {}

  [[nodiscard]] std::int64_t blocks() const override { return matrix_.blocks(p_); }
  [[nodiscard]] std::int64_t steps(std::int64_t /*block*/) const override { return 2; }

  void visit(std::int64_t block, std::int64_t step, std::vector<TileAccess>& out) const override {
    const std::int64_t of_head = ceil_div(matrix_.rows(p_), matrix_.block_rows);
    const std::int64_t instance = block / of_head;
    const std::int64_t first = block % of_head * matrix_.block_rows;
    if (step == 0) {
      out.push_back({matrix_.from, Access::load, instance, first, rows(block), 0, p_.d,
                     bytes_per_element(held_as(p_.dtype)), matrix_.load, no_part});
      return;
    }
    const TileAccess stored{
        matrix_.to,           Access::store, instance, first, rows(block), 0, p_.d, bytes_per_element(p_.dtype),
        Phase::store_operand, no_part};
    out.push_back(matrix_.transposed() ? stored.in_boxes(static_cast<int>(matrix_.block_rows)) : stored);
    out.push_back({matrix_.scale, Access::store, instance, first / matrix_.block_rows, 1, 0, 1,
                   static_cast<int>(sector_bytes), Phase::store_scale, no_part});
  }
  void compute(std::int64_t block, std::int64_t step, std::vector<Computation>& out) const override {
    if (step == 0) out.push_back({Phase::quantise, no_part, {}, {}, rows(block), p_.d, bytes_per_element(p_.dtype)});
  }

 private:
  /// Of the block, inside the matrix.
  [[nodiscard]] std::int64_t rows(std::int64_t block) const {
    const std::int64_t first = block % ceil_div(matrix_.rows(p_), matrix_.block_rows) * matrix_.block_rows;
    return std::min(matrix_.block_rows, matrix_.rows(p_) - first);
  }

  AttentionProblem p_;
  Matrix matrix_;
};

KernelModel model(const AttentionProblem& p, const Matrix& matrix, bool measured) {
  const std::int64_t read = matrix.instances(p) * matrix.rows(p) * p.d * bytes_per_element(held_as(p.dtype));
  const std::int64_t written = matrix.instances(p) * matrix.stored_rows(p) * p.d * bytes_per_element(p.dtype);
  const std::int64_t blocks = matrix.blocks(p);
  const KernelWork work{.steps = static_cast<double>(2 * blocks),
                        .rounds = static_cast<double>(blocks),
                        .fp32_values = static_cast<double>(matrix.instances(p) * matrix.rows(p) * p.d),
                        .distinct_bytes = static_cast<double>(read + written)};
  KernelModel made =
      kernel_model(matrix.launch, blocks,
                   {.kernel = "fa3 quantise", .threads = fa3::quantise_threads, .registers = fa3::quantise_registers},
                   {{matrix.from, {.l2_to_sm_bytes = read}},
                    {matrix.to, {.sm_to_l2_bytes = written}},
                    {matrix.scale, {.sm_to_l2_bytes = blocks * sector_bytes}}},
                   0, {}, {.why = say::load_order::rows{}}, work, fa3::quantise_timing);
  made.setup = !measured;
  return made;
}

}  // namespace

std::int64_t padded_keys(const AttentionProblem& p) {
  return round_up(p.n_k, scaled_keys);
}

std::vector<KernelModel> models(const AttentionProblem& p, bool measured) {
  std::vector<KernelModel> all;
  all.reserve(matrices.size());
  for (const Matrix& matrix : matrices) all.push_back(model(p, matrix, measured));
  return all;
}

void append_buffers(std::vector<BufferSpec>& buffers, const AttentionProblem& p) {
  for (const Matrix& matrix : matrices) {
    buffers.push_back({matrix.made, matrix.instances(p) * matrix.stored_rows(p) * p.d * bytes_per_element(p.dtype)});
    buffers.push_back({matrix.scales, matrix.blocks(p) * scale_record_bytes});
  }
}

std::vector<KernelLaunch> launches(const AttentionProblem& p, bool rotated, bool measured) {
  std::vector<KernelLaunch> all;
  for (const Matrix& matrix : matrices) {
    std::vector<std::string> defines = kernel_defines({"ATTN_BF16", "ATTN_D"}, p, Config());
    defines.push_back(fmt::format("ATTN_ROWS={}", matrix.block_rows));
    const int rotation = !rotated || matrix.transposed() ? 0 : matrix.of_queries() ? 2 : 1;
    defines.push_back(fmt::format("ATTN_ROTATE={}", rotation));
    all.emplace_back(
        model(p, matrix, measured),
        KernelSource{"fa3/fa3_quantise.cuh",
                     matrix.transposed() ? "attn_fa3_quantise_values" : "attn_fa3_quantise_rows", std::move(defines)},
        kernel_arguments({matrix.given, matrix.made, matrix.scales}, {matrix.rows(p)}),
        std::make_shared<const Program>(p, matrix));
  }
  return all;
}

}  // namespace attnscope::fa3_quantise
