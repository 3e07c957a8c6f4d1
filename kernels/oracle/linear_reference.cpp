// SPDX-License-Identifier: Apache-2.0
#include "kernels/oracle/reference.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <thread>
#include <utility>

#include "kernels/oracle/float16.h"

namespace attnscope {
namespace {

double elu_plus_one(double x) {
  return x > 0 ? x + 1 : std::exp(x);
}

/// phi() of a matrix, exact and rounded.
struct FeatureMatrix {
  std::vector<double> exact;
  std::vector<float> rounded;

  FeatureMatrix(DType dtype, const std::vector<float>& values) {
    exact.reserve(values.size());
    rounded.reserve(values.size());
    for (const float each : values) {
      exact.push_back(elu_plus_one(static_cast<double>(each)));
      rounded.push_back(round_intermediate(dtype, static_cast<float>(exact.back()), exponential_roundoffs));
    }
  }
};

class LinearHead {
 public:
  LinearHead(const AttentionProblem& p, const FeatureMatrix& queries, const FeatureMatrix& keys,
             const std::vector<float>& values)
      : p_(p), d_(static_cast<std::size_t>(p.d)), queries_(queries), keys_(keys), values_(values) {}

  /// Computes row `at.row` and stores it at index `place` of the result.
  void row(const RowId& at, std::size_t place, Reference& result) const {
    const KeyRange range = visible_keys(p_, at.instance / p_.heads_q, at.row);
    const double* q = &queries_.exact[static_cast<std::size_t>(at.row) * d_];
    const float* naive_q = &queries_.rounded[static_cast<std::size_t>(at.row) * d_];
    std::vector<double> o(d_, 0);
    std::vector<std::pair<std::size_t, float>> weights;  // rounded, with the offsets of their keys
    double sum = 0;
    float naive_sum = 0;
    for (std::int64_t key = range.first; key < range.last; ++key) {
      if (!counts(at.row, key)) continue;
      const std::size_t from = static_cast<std::size_t>(key) * d_;
      double weight = 0;
      float naive_weight = 0;
      for (std::size_t c = 0; c < d_; ++c) {
        weight += q[c] * keys_.exact[from + c];
        naive_weight += naive_q[c] * keys_.rounded[from + c];
      }
      for (std::size_t c = 0; c < d_; ++c) o[c] += weight * static_cast<double>(values_[from + c]);
      weights.emplace_back(from, round_intermediate(p_.dtype, naive_weight, product_roundoffs(p_.d)));
      sum += weight;
      naive_sum += weights.back().second;
    }
    if (weights.empty()) return;
    result.lse[place] = std::log(sum);
    std::vector<float> naive_o(d_, 0);
    for (const auto& [from, weight] : weights) {
      const float share = round_intermediate(p_.dtype, weight / naive_sum, result_roundoffs);
      for (std::size_t c = 0; c < d_; ++c) naive_o[c] += share * values_[from + c];
    }
    for (std::size_t c = 0; c < d_; ++c) {
      result.o.exact[place * d_ + c] = o[c] / sum;
      result.o.naive[place * d_ + c] = round_intermediate(p_.dtype, naive_o[c], result_roundoffs);
    }
  }

 private:
  [[nodiscard]] bool counts(std::int64_t row, std::int64_t key) const {
    return !p_.mask.has_block_mask() || p_.mask.block_counts(row / p_.mask.block_size, key / p_.mask.block_size);
  }

  const AttentionProblem& p_;
  std::size_t d_;
  const FeatureMatrix& queries_;
  const FeatureMatrix& keys_;
  const std::vector<float>& values_;
};

}  // namespace

/// O_i = sum_j phi(Q_i)·phi(K_j) V_j / sum_j phi(Q_i)·phi(K_j) over the keys j that row i sees, phi(x) = elu(x) + 1 (A.
/// Katharopoulos et al., arXiv 2006.16236, equations 4, 5 and 7). Evaluates the definition directly, without prefix
/// sums over keys. `lse` is the logarithm of the divisor, -inf for a row that sees no key. In `naive`,
/// features, products, weights and the result are rounded by round_intermediate(), accumulation is fp32. Pre: a forward
/// pass without dropout. Multiply-adds: 2 n_k d per row.
Reference reference_linear_attention(const AttentionProblem& p, const MatrixSource& matrix, ReferenceRequest request) {
  const auto elements = request.rows.size() * static_cast<std::size_t>(p.d);
  Reference result;
  result.dtype = p.dtype;
  result.d = p.d;
  result.rows = std::move(request.rows);
  result.lse.assign(result.rows.size(), -std::numeric_limits<double>::infinity());
  if (p.dtype == DType::fp32) result.lse_tolerance = fp32_lse_tolerance(p.d);
  result.o.exact.assign(elements, 0);
  result.o.naive.assign(elements, 0);
  const unsigned wanted = request.threads == 0 ? std::thread::hardware_concurrency() : request.threads;
  // One query head at a time, which limits memory to one head's matrices; rows are sorted by head.
  for (std::size_t begin = 0, end = 0; begin < result.rows.size(); begin = end) {
    const std::int64_t instance = result.rows[begin].instance;
    while (end < result.rows.size() && result.rows[end].instance == instance) ++end;
    const std::int64_t kv = instance / group_size(p);
    const FeatureMatrix queries(p.dtype, matrix(Tensor::q, instance));
    const FeatureMatrix keys(p.dtype, matrix(Tensor::k, kv));
    const std::vector<float> values = matrix(Tensor::v, kv);
    const LinearHead head(p, queries, keys, values);
    std::atomic<std::size_t> next{begin};
    const auto work = [&] {
      for (std::size_t place = next++; place < end; place = next++) head.row(result.rows[place], place, result);
    };
    std::vector<std::jthread> helpers;
    for (std::size_t t = 1; t < std::min<std::size_t>(wanted, end - begin); ++t) helpers.emplace_back(work);
    work();
  }
  return result;
}

}  // namespace attnscope
