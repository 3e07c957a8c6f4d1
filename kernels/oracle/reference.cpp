// SPDX-License-Identifier: Apache-2.0
#include "kernels/oracle/reference.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <thread>
#include <utility>

#include "kernels/oracle/float16.h"
#include "kernels/oracle/inputs.h"

namespace attnscope {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Maximum relative error of an 8-bit weight: half a step of e4m3, times up to 4% if the exponential is linearly
/// interpolated between powers of two.
constexpr double max_weight_error = (1 + 0x1p-4) * 1.04 - 1;

/// Dot product with eight partial sums: more accurate than one, and vectorizable.
double dot(const double* a, const float* b, std::size_t n) {
  std::array<double, 8> part{};
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (std::size_t k = 0; k < 8; ++k) part[k] += a[i + k] * static_cast<double>(b[i + k]);
  }
  for (std::size_t k = 0; i < n; ++i, ++k) part[k] += a[i] * static_cast<double>(b[i]);
  return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

void add(double* to, double weight, const float* row, std::size_t n) {
  for (std::size_t c = 0; c < n; ++c) to[c] += weight * static_cast<double>(row[c]);
}
void add(float* to, float weight, const float* row, std::size_t n) {
  for (std::size_t c = 0; c < n; ++c) to[c] += weight * row[c];
}

std::size_t index(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

/// The problem with precomputed values that every row needs.
struct ProblemContext {
  explicit ProblemContext(const AttentionProblem& problem) : p(problem), d(index(problem.d)) {}

  /// P or dS; see ReferenceTensor::naive.
  [[nodiscard]] float rounded(double value) const { return rounded_by(value, exponential_roundoffs); }
  /// S or dP of a pair.
  [[nodiscard]] float rounded_product(double value, std::int64_t row, std::size_t key) const {
    return rounded_by(value, product_error(row, key));
  }
  /// dP of the second computation of the gradients: not rounded; fp32: with the opposite error.
  [[nodiscard]] float other_product(double value, std::int64_t row, std::size_t key) const {
    return p.dtype == DType::fp32 ? rounded_by(value, -product_error(row, key)) : static_cast<float>(value);
  }
  [[nodiscard]] float rounded_result(double value) const { return rounded_by(value, result_roundoffs); }
  /// Only fp32 rounds LSE; the errors of other types are larger than that of an fp32 LSE.
  [[nodiscard]] float rounded_lse(float lse) const {
    return p.dtype == DType::fp32 ? rounded_by(static_cast<double>(lse), lse_roundoffs) : lse;
  }
  [[nodiscard]] std::int64_t entry_of(std::int64_t instance) const { return instance / p.heads_q; }
  [[nodiscard]] bool block_counts(std::int64_t row, std::int64_t key) const {
    return !p.mask.has_block_mask() || p.mask.block_counts(row / p.mask.block_size, key / p.mask.block_size);
  }
  /// Factor by which dropout multiplies an entry of P.
  [[nodiscard]] double dropout_factor(std::int64_t instance, std::int64_t row, std::int64_t key) const {
    if (p.dropout <= 0) return 1;
    return dropout_draw(instance, row, key) < keep ? 256.0 / keep : 0.0;
  }

  /// Signs differ between rows of equal values, or the errors may cancel in all of them.
  [[nodiscard]] double product_error(std::int64_t row, std::size_t key) const {
    const bool negative = ((index(row) * 31 + key) * 0x9E37'79B9U >> 31U & 1U) != 0;
    return negative ? -product_roundoffs(p.d) : product_roundoffs(p.d);
  }
  [[nodiscard]] float rounded_by(double value, double roundoffs) const {
    return round_intermediate(p.dtype, static_cast<float>(value), roundoffs);
  }

  const AttentionProblem& p;
  std::size_t d;
  double scale = 1.0 / std::sqrt(static_cast<double>(p.d));
  int keep = dropout_keep_count(p);
  bool gradients = p.pass != Pass::fwd;
};

/// Two matrices of a head: K and V, or Q and dO.
struct MatrixPair {
  std::vector<float> first;
  std::vector<float> second;
};

RowStatistics statistics_of(std::size_t rows) {
  return {.lse = std::vector<double>(rows, -infinity),
          .delta = std::vector<double>(rows, 0),
          .naive_lse = std::vector<float>(rows, -std::numeric_limits<float>::infinity()),
          .naive_delta = std::vector<float>(rows, 0)};
}

/// Destinations of a row's results; null if not requested.
struct RowTarget {
  double* lse = nullptr;
  double* lse_error = nullptr;
  double* o = nullptr;
  float* naive_o = nullptr;
  double* dq = nullptr;
  float* naive_dq = nullptr;
  RowStatistics* statistics = nullptr;
};

float naive_ds(const ProblemContext& s, float weight, float dp, float delta) {
  return s.rounded(static_cast<double>(weight * (dp - delta)));
}

/// Returns the value with the larger error. Standard attention rounds dP, fused kernels do not; if dP and D cancel,
/// either may be accidentally accurate.
float less_accurate(double exact, float a, float b) {
  return std::abs(static_cast<double>(a) - exact) >= std::abs(static_cast<double>(b) - exact) ? a : b;
}

class RowWorker {
 public:
  explicit RowWorker(const ProblemContext& context)
      : s_(context), q_(context.d), dout_(context.d), o_(context.d), naive_o_(context.d), unrounded_dq_(context.d) {}

  /// Pre: the target is initialized with the results of a row that sees no key.
  void run(std::int64_t instance, std::int64_t row, const MatrixPair& q_dout, const MatrixPair& kv,
           const RowTarget& target) {
    const std::size_t d = s_.d;
    find_keys(instance, row);
    if (key_.empty()) return;

    load(q_, &q_dout.first[index(row) * d]);
    double max = -infinity;
    float naive_max = -std::numeric_limits<float>::infinity();
    for (std::size_t n = 0; n < key_.size(); ++n) {
      weight_[n] = s_.scale * dot(q_.data(), &kv.first[key_[n] * d], d);
      naive_weight_[n] = s_.rounded_product(weight_[n], row, key_[n]);
      max = std::max(max, weight_[n]);
      naive_max = std::max(naive_max, naive_weight_[n]);
    }
    double sum = 0;
    float naive_sum = 0;
    for (std::size_t n = 0; n < key_.size(); ++n) {
      sum += weight_[n] = std::exp(weight_[n] - max);
      naive_sum += naive_weight_[n] = std::exp(naive_weight_[n] - naive_max);
    }
    std::ranges::fill(o_, 0);
    std::ranges::fill(naive_o_, 0);
    for (std::size_t n = 0; n < key_.size(); ++n) {
      weight_[n] /= sum;
      naive_weight_[n] = s_.rounded(static_cast<double>(naive_weight_[n] / naive_sum));
      factor_[n] = s_.dropout_factor(instance, row, static_cast<std::int64_t>(key_[n]));
      const float* v = &kv.second[key_[n] * d];
      add(o_.data(), weight_[n] * factor_[n], v, d);
      add(naive_o_.data(), s_.rounded(static_cast<double>(naive_weight_[n]) * factor_[n]), v, d);
    }
    for (float& x : naive_o_) x = s_.rounded_result(static_cast<double>(x));
    if (s_.p.dtype == DType::fp8) bound_weight_errors(kv.second);
    const double lse = max + std::log(sum);
    const float unrounded_naive_lse = naive_max + std::log(naive_sum);
    const float naive_lse = s_.rounded_lse(unrounded_naive_lse);
    if (target.lse != nullptr) {
      *target.lse = lse;
      *target.lse_error = std::abs(static_cast<double>(naive_lse) - lse);
    }
    if (target.o != nullptr) std::ranges::copy(o_, target.o);
    if (target.naive_o != nullptr) std::ranges::copy(naive_o_, target.naive_o);
    if (!s_.gradients) return;

    load(dout_, &q_dout.second[index(row) * d]);
    const double delta = std::inner_product(o_.begin(), o_.end(), dout_.begin(), 0.0);
    float naive_delta = 0;
    for (std::size_t c = 0; c < d; ++c) naive_delta += naive_o_[c] * static_cast<float>(dout_[c]);
    if (target.statistics != nullptr) {
      target.statistics->lse[index(row)] = lse;
      target.statistics->delta[index(row)] = delta;
      target.statistics->naive_lse[index(row)] = naive_lse;
      target.statistics->naive_delta[index(row)] = naive_delta;
    }
    if (target.dq == nullptr) return;
    std::ranges::fill(unrounded_dq_, 0);
    for (float& weight : naive_weight_) weight *= std::exp(unrounded_naive_lse - naive_lse);  // recomputed from LSE
    for (std::size_t n = 0; n < key_.size(); ++n) {
      const float* k = &kv.first[key_[n] * d];
      const double dp = factor_[n] == 0 ? 0 : dot(dout_.data(), &kv.second[key_[n] * d], d) * factor_[n];
      add(target.dq, s_.scale * weight_[n] * (dp - delta), k, d);
      add(target.naive_dq, naive_ds(s_, naive_weight_[n], s_.rounded_product(dp, row, key_[n]), naive_delta), k, d);
      add(unrounded_dq_.data(), naive_ds(s_, naive_weight_[n], s_.other_product(dp, row, key_[n]), naive_delta), k, d);
    }
    for (std::size_t c = 0; c < d; ++c) {
      target.naive_dq[c] =
          less_accurate(target.dq[c], s_.rounded_result(static_cast<double>(target.naive_dq[c]) * s_.scale),
                        s_.rounded_result(static_cast<double>(unrounded_dq_[c]) * s_.scale));
    }
  }

 private:
  static void load(std::vector<double>& to, const float* from) { std::copy_n(from, to.size(), to.begin()); }

  /// With 8 bits, rounding errors of few weights vary too much between draws to serve as a bound. The allowed error
  /// (together with output_allowance) is instead the smaller of the sum of all maximum errors and twice the root of
  /// their squares. The latter is six standard deviations, since the standard deviation of each error is a third of its
  /// maximum.
  void bound_weight_errors(const std::vector<float>& v) {
    for (std::size_t c = 0; c < s_.d; ++c) {
      double sum = 0;
      double squares = 0;
      for (std::size_t n = 0; n < key_.size(); ++n) {
        const double term = weight_[n] * factor_[n] * static_cast<double>(v[key_[n] * s_.d + c]);
        sum += std::abs(term);
        squares += term * term;
      }
      const double worst = max_weight_error * std::min(sum, 2 * std::sqrt(squares));
      naive_o_[c] = static_cast<float>(o_[c] + worst / output_allowance(s_.p.dtype));
    }
  }

  void find_keys(std::int64_t instance, std::int64_t row) {
    key_.clear();
    const KeyRange range = visible_keys(s_.p, s_.entry_of(instance), row);
    for (std::int64_t key = range.first; key < range.last; ++key) {
      if (s_.block_counts(row, key)) key_.push_back(index(key));
    }
    // Sums from the last key lose more if that key dominates. Kernels may add in any order.
    if (s_.p.dtype == DType::fp32) std::ranges::reverse(key_);
    weight_.resize(key_.size());
    naive_weight_.resize(key_.size());
    factor_.resize(key_.size());
  }

  const ProblemContext& s_;
  std::vector<double> q_;
  std::vector<double> dout_;
  std::vector<double> o_;
  std::vector<float> naive_o_;
  std::vector<float> unrounded_dq_;  ///< dQ from an unrounded dP
  std::vector<std::size_t> key_;     ///< visible keys of the row
  std::vector<double> weight_;       ///< scores, then P
  std::vector<float> naive_weight_;
  std::vector<double> factor_;
};

/// Sums for one key over the query rows that see it.
struct KeySums {
  std::vector<double> dk, dv;
  std::vector<float> naive_dk, unrounded_dk, naive_dv;
  bool seen = false;

  explicit KeySums(std::size_t d) : dk(d), dv(d), naive_dk(d), unrounded_dk(d), naive_dv(d) {}
};

/// Adds the contribution of query head `instance` to a key's gradients.
void add_head(const ProblemContext& s, std::int64_t instance, std::int64_t key, const MatrixPair& q_dout,
              const MatrixPair& kv, std::span<const KeyRange> visible, const RowStatistics& statistics, KeySums& sums) {
  const std::size_t d = s.d;
  const auto row_of = [&](const std::vector<float>& matrix) {
    const auto begin = matrix.begin() + static_cast<std::ptrdiff_t>(index(key) * d);
    return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(d));
  };
  const std::vector<double> k = row_of(kv.first);
  const std::vector<double> v = row_of(kv.second);
  for (std::int64_t row = 0; row < s.p.n_q; ++row) {
    const std::size_t i = index(row);
    if (key < visible[i].first || key >= visible[i].last || !s.block_counts(row, key)) continue;
    sums.seen = true;
    const float* q = &q_dout.first[i * d];
    const float* dout = &q_dout.second[i * d];
    const double score = s.scale * dot(k.data(), q, d);
    const double weight = std::exp(score - statistics.lse[i]);
    const float naive_weight =
        s.rounded(static_cast<double>(std::exp(s.rounded_product(score, row, index(key)) - statistics.naive_lse[i])));
    const double factor = s.dropout_factor(instance, row, key);
    const double dp = factor == 0 ? 0 : dot(v.data(), dout, d) * factor;
    add(sums.dv.data(), weight * factor, dout, d);
    add(sums.naive_dv.data(), s.rounded(static_cast<double>(naive_weight) * factor), dout, d);
    add(sums.dk.data(), s.scale * weight * (dp - statistics.delta[i]), q, d);
    add(sums.naive_dk.data(),
        naive_ds(s, naive_weight, s.rounded_product(dp, row, index(key)), statistics.naive_delta[i]), q, d);
    add(sums.unrounded_dk.data(),
        naive_ds(s, naive_weight, s.other_product(dp, row, index(key)), statistics.naive_delta[i]), q, d);
  }
}

/// Calls work(make(), i) for each i below `count`, with one worker object per thread.
template <class Make, class Work>
void parallel_for(std::size_t count, unsigned threads, const Make& make, const Work& work) {
  std::atomic<std::size_t> next{0};
  const auto run = [&] {
    auto worker = make();
    for (std::size_t i = next++; i < count; i = next++) work(worker, i);
  };
  std::vector<std::jthread> helpers;
  for (std::size_t t = 1; t < std::min<std::size_t>(threads, count); ++t) helpers.emplace_back(run);
  run();
}

/// Work of one K/V head: the rows of its query heads, then its keys.
class HeadWork {
 public:
  HeadWork(const ProblemContext& context, const MatrixSource& matrix, const ReferenceRequest& request, unsigned threads,
           Reference& result)
      : s_(context),
        matrix_(matrix),
        request_(request),
        threads_(threads),
        result_(result),
        lse_errors_(result.rows.size()) {}

  [[nodiscard]] double max_lse_error() const {
    return lse_errors_.empty() ? 0 : *std::ranges::max_element(lse_errors_);
  }

  /// Computes rows [row_begin, row_end) and keys [key_begin, key_end) of the result, which belong to K/V instance `kv`.
  void run(std::int64_t kv, std::size_t row_begin, std::size_t row_end, std::size_t key_begin, std::size_t key_end) {
    const MatrixPair keys{matrix_(Tensor::k, kv), matrix_(Tensor::v, kv)};
    const std::int64_t group = s_.p.heads_q / s_.p.heads_kv;
    std::vector<KeySums> sums(key_end - key_begin, KeySums(s_.d));
    for (std::int64_t instance = kv * group; instance < (kv + 1) * group; ++instance) {
      std::size_t end = row_begin;
      while (end < row_end && result_.rows[end].instance == instance) ++end;
      if (row_begin == end && sums.empty()) continue;
      const MatrixPair queries{matrix_(Tensor::q, instance),
                               s_.gradients ? matrix_(Tensor::dout, instance) : std::vector<float>{}};
      std::optional<RowStatistics> statistics;
      const bool own = !sums.empty() && !request_.statistics;
      if (own) statistics = statistics_of(index(s_.p.n_q));
      if (!sums.empty() && !own) statistics = request_.statistics(instance);
      run_rows(instance, row_begin, end, queries, keys, own ? &*statistics : nullptr);
      if (!sums.empty()) run_keys(instance, key_begin, queries, keys, *statistics, sums);
      row_begin = end;
    }
    store(key_begin, sums);
  }

 private:
  /// With `statistics`, computes all rows of the head, not only the requested ones.
  void run_rows(std::int64_t instance, std::size_t begin, std::size_t end, const MatrixPair& queries,
                const MatrixPair& keys, RowStatistics* statistics) {
    struct Job {
      std::int64_t row = 0;
      RowTarget target;
    };
    std::vector<Job> jobs;
    if (statistics != nullptr) {
      for (std::int64_t row = 0; row < s_.p.n_q; ++row) jobs.push_back({row, {.statistics = statistics}});
    }
    for (std::size_t i = begin; i < end; ++i) {
      const std::int64_t row = result_.rows[i].row;
      if (statistics == nullptr) jobs.push_back({row, {}});
      RowTarget& target = (statistics == nullptr ? jobs.back() : jobs[index(row)]).target;
      target.lse = &result_.lse[i];
      target.lse_error = &lse_errors_[i];
      target.o = &result_.o.exact[i * s_.d];
      target.naive_o = &result_.o.naive[i * s_.d];
      if (!s_.gradients) continue;
      target.dq = &result_.dq.exact[i * s_.d];
      target.naive_dq = &result_.dq.naive[i * s_.d];
    }
    parallel_for(
        jobs.size(), threads_, [&] { return RowWorker(s_); },
        [&](RowWorker& worker, std::size_t i) { worker.run(instance, jobs[i].row, queries, keys, jobs[i].target); });
  }

  void run_keys(std::int64_t instance, std::size_t begin, const MatrixPair& queries, const MatrixPair& keys,
                const RowStatistics& statistics, std::vector<KeySums>& sums) const {
    std::vector<KeyRange> visible;
    for (std::int64_t row = 0; row < s_.p.n_q; ++row) {
      visible.push_back(visible_keys(s_.p, s_.entry_of(instance), row));
    }
    parallel_for(
        sums.size(), threads_, [] { return 0; },
        [&](int, std::size_t i) {
          add_head(s_, instance, result_.keys[begin + i].row, queries, keys, visible, statistics, sums[i]);
        });
  }

  void store(std::size_t begin, const std::vector<KeySums>& sums) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const std::size_t at = (begin + i) * s_.d;
      result_.seen[begin + i] = sums[i].seen ? 1 : 0;
      for (std::size_t c = 0; c < s_.d; ++c) {
        result_.dk.exact[at + c] = sums[i].dk[c];
        result_.dv.exact[at + c] = sums[i].dv[c];
        result_.dk.naive[at + c] =
            less_accurate(sums[i].dk[c], s_.rounded_result(static_cast<double>(sums[i].naive_dk[c]) * s_.scale),
                          s_.rounded_result(static_cast<double>(sums[i].unrounded_dk[c]) * s_.scale));
        result_.dv.naive[at + c] = s_.rounded_result(static_cast<double>(sums[i].naive_dv[c]));
      }
    }
  }

  const ProblemContext& s_;
  const MatrixSource& matrix_;
  const ReferenceRequest& request_;
  unsigned threads_;
  Reference& result_;
  std::vector<double> lse_errors_;  ///< LSE errors of naive attention, per row
};

}  // namespace

std::vector<RowId> all_rows(const AttentionProblem& p) {
  std::vector<RowId> rows;
  rows.reserve(index(p.instances() * p.n_q));
  for (std::int64_t instance = 0; instance < p.instances(); ++instance) {
    for (std::int64_t row = 0; row < p.n_q; ++row) rows.push_back({instance, row});
  }
  return rows;
}

std::vector<RowId> all_keys(const AttentionProblem& p) {
  std::vector<RowId> keys;
  keys.reserve(index(p.kv_instances() * p.n_k));
  for (std::int64_t instance = 0; instance < p.kv_instances(); ++instance) {
    for (std::int64_t key = 0; key < p.n_k; ++key) keys.push_back({instance, key});
  }
  return keys;
}

std::vector<RowId> sample_rows(const AttentionProblem& p, std::size_t count, std::uint64_t seed) {
  const std::int64_t total = p.instances() * p.n_q;
  if (std::cmp_less_equal(total, count)) return all_rows(p);
  std::set<std::int64_t> chosen;
  for (const std::int64_t row : {std::int64_t{0}, total - 1, p.n_q - 1, total - p.n_q}) {
    if (chosen.size() < count) chosen.insert(row);
  }
  std::mt19937_64 random(seed);
  while (chosen.size() < count) chosen.insert(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(total)));
  std::vector<RowId> rows;
  rows.reserve(chosen.size());
  for (const std::int64_t row : chosen) rows.push_back({row / p.n_q, row % p.n_q});
  return rows;
}

Reference reference_attention(const AttentionProblem& p, const MatrixSource& matrix, ReferenceRequest request) {
  const ProblemContext context(p);
  Reference result;
  result.dtype = output_dtype(p.dtype);
  // The default tolerance covers fp32 scores of several hundred with a different summation order and fast exponentials.
  // For fp8, sums of 8-bit products have about 14 bits on Hopper, and sums of weights use rounded weights.
  if (p.dtype == DType::fp8) {
    result.lse_tolerance = 1e-3;
    result.lse_rounding = max_weight_error;
  }
  result.d = p.d;
  result.rows = std::move(request.rows);
  result.lse.assign(result.rows.size(), -infinity);
  if (context.gradients) result.keys = std::move(request.keys);
  result.seen.assign(result.keys.size(), 0);
  const auto make_room = [&](ReferenceTensor& tensor, std::size_t rows) {
    tensor.exact.assign(rows * context.d, 0);
    tensor.naive.assign(rows * context.d, 0);
  };
  make_room(result.o, result.rows.size());
  if (context.gradients) make_room(result.dq, result.rows.size());
  make_room(result.dk, result.keys.size());
  make_room(result.dv, result.keys.size());

  // One K/V head at a time, which limits memory to one head's matrices; rows and keys are sorted by head.
  const std::int64_t group = p.heads_q / p.heads_kv;
  const unsigned threads = request.threads == 0 ? std::max(1U, std::thread::hardware_concurrency()) : request.threads;
  HeadWork work(context, matrix, request, threads, result);
  for (std::size_t row = 0, key = 0; row < result.rows.size() || key < result.keys.size();) {
    std::int64_t kv = std::numeric_limits<std::int64_t>::max();
    if (row < result.rows.size()) kv = std::min(kv, result.rows[row].instance / group);
    if (key < result.keys.size()) kv = std::min(kv, result.keys[key].instance);
    std::size_t row_end = row;
    std::size_t key_end = key;
    while (row_end < result.rows.size() && result.rows[row_end].instance / group == kv) ++row_end;
    while (key_end < result.keys.size() && result.keys[key_end].instance == kv) ++key_end;
    work.run(kv, row, row_end, key, key_end);
    row = row_end;
    key = key_end;
  }
  if (p.dtype == DType::fp32) {
    result.lse_tolerance = fp32_lse_tolerance(p.d);
    result.lse_rounding = output_allowance(p.dtype) * work.max_lse_error();
  }
  return result;
}

namespace {

constexpr std::array reference_table{ReferenceKind{"softmax", reference_attention},
                                     ReferenceKind{"linear", reference_linear_attention}};

}  // namespace

std::span<const ReferenceKind> references() {
  return reference_table;
}

const ReferenceKind* find_reference(std::string_view name) {
  const auto found = std::ranges::find(reference_table, name, &ReferenceKind::name);
  return found == reference_table.end() ? nullptr : &*found;
}

}  // namespace attnscope
