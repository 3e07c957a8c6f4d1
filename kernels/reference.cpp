// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include "kernels/float16.h"

namespace attnscope {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// fp32 scores of some hundreds, summed in another order and exponentiated by the fast instruction, stay well within.
constexpr double lse_tolerance = 1e-4;

/// Every value of the type, for conversion by look-up.
std::vector<float> value_table(DType dtype) {
  std::vector<float> table(1U << 16);
  for (std::uint32_t bits = 0; bits < table.size(); ++bits) {
    table[bits] = from_bits(dtype, static_cast<std::uint16_t>(bits));
  }
  return table;
}

/// Sums in eight interleaved parts: more exact than one, and the compiler can keep them in vector registers.
double dot(const double* a, const float* b, std::size_t n) {
  std::array<double, 8> part{};
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (std::size_t k = 0; k < 8; ++k) part[k] += a[i + k] * static_cast<double>(b[i + k]);
  }
  for (std::size_t k = 0; i < n; ++i, ++k) part[k] += a[i] * static_cast<double>(b[i]);
  return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

/// One K/V head as fp32 (exact), shared by the rows that read it.
struct Head {
  std::vector<float> k;
  std::vector<float> v;
};

class RowWorker {
 public:
  RowWorker(const AttentionProblem& problem, std::span<const float> table)
      : p_(problem),
        table_(table),
        d_(static_cast<std::size_t>(problem.d)),
        scale_(1.0 / std::sqrt(static_cast<double>(problem.d))),
        q_(d_),
        s_(static_cast<std::size_t>(problem.n_k)),
        s16_(s_.size()) {}

  /// Pre: o (d zeros) and naive16 (d zeros).
  void run(const std::uint16_t* q, std::int64_t row, const Head& head, double* o, double& lse, float* naive16) {
    const std::int64_t last = p_.mask == Mask::causal ? row + p_.n_k - p_.n_q : p_.n_k - 1;
    if (last < 0) {
      lse = -infinity;
      return;
    }
    const auto keys = static_cast<std::size_t>(std::min(last + 1, p_.n_k));
    for (std::size_t c = 0; c < d_; ++c) q_[c] = static_cast<double>(table_[q[c]]);
    double max = -infinity;
    float max16 = -std::numeric_limits<float>::infinity();
    for (std::size_t j = 0; j < keys; ++j) {
      s_[j] = scale_ * dot(q_.data(), &head.k[j * d_], d_);
      s16_[j] = round_to(p_.dtype, static_cast<float>(s_[j]));
      max = std::max(max, s_[j]);
      max16 = std::max(max16, s16_[j]);
    }
    double sum = 0;
    float sum16 = 0;
    for (std::size_t j = 0; j < keys; ++j) {
      s_[j] = std::exp(s_[j] - max);
      s16_[j] = std::exp(s16_[j] - max16);
      sum += s_[j];
      sum16 += s16_[j];
    }
    for (std::size_t j = 0; j < keys; ++j) {
      const double weight = s_[j] / sum;
      const float weight16 = round_to(p_.dtype, s16_[j] / sum16);
      const float* v = &head.v[j * d_];
      for (std::size_t c = 0; c < d_; ++c) o[c] += weight * static_cast<double>(v[c]);
      for (std::size_t c = 0; c < d_; ++c) naive16[c] += weight16 * v[c];
    }
    for (std::size_t c = 0; c < d_; ++c) naive16[c] = round_to(p_.dtype, naive16[c]);
    lse = max + std::log(sum);
  }

 private:
  const AttentionProblem& p_;
  std::span<const float> table_;
  std::size_t d_;
  double scale_;
  std::vector<double> q_;
  std::vector<double> s_;
  std::vector<float> s16_;
};

std::vector<float> to_floats(std::span<const std::uint16_t> bits, std::span<const float> table) {
  std::vector<float> values(bits.size());
  std::ranges::transform(bits, values.begin(), [&](std::uint16_t b) { return table[b]; });
  return values;
}

}  // namespace

std::vector<RowId> all_rows(const AttentionProblem& p) {
  std::vector<RowId> rows;
  rows.reserve(static_cast<std::size_t>(p.instances() * p.n_q));
  for (std::int64_t instance = 0; instance < p.instances(); ++instance) {
    for (std::int64_t row = 0; row < p.n_q; ++row) rows.push_back({instance, row});
  }
  return rows;
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

Reference reference_attention(const AttentionProblem& p, const AttentionInputs& inputs, std::vector<RowId> rows,
                              unsigned threads) {
  const auto d = static_cast<std::size_t>(p.d);
  Reference result{.dtype = p.dtype, .d = p.d, .rows = std::move(rows), .o = {}, .lse = {}, .naive16 = {}};
  result.o.resize(result.rows.size() * d);
  result.naive16.resize(result.rows.size() * d);
  result.lse.resize(result.rows.size());

  const std::vector<float> table = value_table(p.dtype);
  const std::int64_t group = p.heads_q / p.heads_kv;
  const auto head_size = static_cast<std::size_t>(p.n_k) * d;
  const auto instance_of = [&](std::size_t i) { return result.rows[i].instance; };
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());

  // One K/V head at a time, so that memory stays at one head's K and V whatever the batch; rows come grouped.
  for (std::size_t begin = 0; begin < result.rows.size();) {
    const std::int64_t kv = instance_of(begin) / group;
    std::size_t end = begin;
    while (end < result.rows.size() && instance_of(end) / group == kv) ++end;
    const std::size_t offset = static_cast<std::size_t>(kv) * head_size;
    const Head head{.k = to_floats(std::span(inputs.k).subspan(offset, head_size), table),
                    .v = to_floats(std::span(inputs.v).subspan(offset, head_size), table)};
    std::atomic<std::size_t> next{begin};
    const auto work = [&] {
      RowWorker worker(p, table);
      for (std::size_t i = next++; i < end; i = next++) {
        const auto q_row = static_cast<std::size_t>(result.rows[i].instance * p.n_q + result.rows[i].row);
        worker.run(&inputs.q[q_row * d], result.rows[i].row, head, &result.o[i * d], result.lse[i],
                   &result.naive16[i * d]);
      }
    };
    std::vector<std::jthread> helpers;
    const std::size_t wanted = std::min<std::size_t>(threads, end - begin);
    for (std::size_t t = 1; t < wanted; ++t) helpers.emplace_back(work);
    work();
    helpers.clear();
    begin = end;
  }
  return result;
}

Reference reference_attention(const AttentionProblem& p, const AttentionInputs& inputs, unsigned threads) {
  return reference_attention(p, inputs, all_rows(p), threads);
}

double error_bound(const Reference& reference) {
  double naive_error = 0;
  double rounding_error = 0;
  for (std::size_t e = 0; e < reference.o.size(); ++e) {
    const double exact = reference.o[e];
    naive_error = std::max(naive_error, std::abs(static_cast<double>(reference.naive16[e]) - exact));
    const float rounded = round_to(reference.dtype, static_cast<float>(exact));
    const float there = round_to(reference.dtype, rounded + 0.3F);
    const float back = round_to(reference.dtype, there - 0.3F);
    rounding_error = std::max(rounding_error, std::abs(static_cast<double>(back) - exact));
  }
  return 2 * naive_error + 2 * rounding_error;
}

CheckResult check(const Reference& reference, std::span<const std::uint16_t> o, std::span<const float> lse) {
  CheckResult result;
  result.bound = error_bound(reference);
  if (o.size() != reference.o.size() || (!lse.empty() && lse.size() != reference.lse.size())) {
    result.max_abs_error = infinity;
    result.reason = fmt::format("the output has {} elements of O, the reference {}.", o.size(), reference.o.size());
    return result;
  }
  const auto d = static_cast<std::size_t>(reference.d);
  const auto place = [&](std::size_t row) {
    return fmt::format("instance {} row {}", reference.rows[row].instance, reference.rows[row].row);
  };
  double squares = 0;
  std::size_t worst = 0;
  for (std::size_t e = 0; e < o.size(); ++e) {
    const auto value = static_cast<double>(from_bits(reference.dtype, o[e]));
    const bool empty_row = reference.lse[e / d] == -infinity;
    const double difference = std::abs(value - reference.o[e]);
    const double error = std::isfinite(value) ? difference : infinity;
    squares += error * error;
    if (error > result.max_abs_error) {
      result.max_abs_error = error;
      worst = e;
    }
    if (empty_row && value != 0 && result.reason.empty()) {
      result.reason = fmt::format("O is {} instead of 0 at {}, which sees no key.", value, place(e / d));
    }
  }
  result.rms_error = o.empty() ? 0 : std::sqrt(squares / static_cast<double>(o.size()));
  if (result.reason.empty() && !(result.max_abs_error <= result.bound)) {
    result.reason = fmt::format("O is {:.6g} instead of {:.6g} at {} column {}: error {:.3g}, bound {:.3g}.",
                                from_bits(reference.dtype, o[worst]), reference.o[worst], place(worst / d), worst % d,
                                result.max_abs_error, result.bound);
  }
  for (std::size_t row = 0; row < lse.size(); ++row) {
    const double exact = reference.lse[row];
    const auto value = static_cast<double>(lse[row]);
    const double difference = value == exact ? 0 : std::abs(value - exact);  // equal infinities differ by NaN
    const double error = std::isfinite(difference) ? difference : infinity;
    result.max_lse_error = std::max(result.max_lse_error, error);
    const double tolerance = std::isfinite(exact) ? lse_tolerance * std::max(1.0, std::abs(exact)) : 0;
    if (result.reason.empty() && error > tolerance) {
      result.reason = fmt::format("LSE is {} instead of {:.7g} at {}.", lse[row], exact, place(row));
    }
  }
  result.pass = result.reason.empty();
  return result;
}

}  // namespace attnscope
