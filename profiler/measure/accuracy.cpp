// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/accuracy.h"

#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "kernels/common_knobs.h"
#include "kernels/registry.h"

namespace attnscope {
namespace {

/// The paper states no shape; this one is of its benchmarks' kind.
const AttentionProblem shape{.batch = 4, .heads_q = 16, .heads_kv = 16, .n_q = 2048, .n_k = 2048, .d = 128};

struct Row {
  bool (*of)(const Facts&);
  DType dtype;
  bool rotated;
  double paper;
};
bool is_standard(const Facts& facts) {
  return facts.paper_column == PaperColumn::standard;
}
bool has_8_bits(const Facts& facts) {
  return std::ranges::find(facts.dtypes, DType::fp8) != facts.dtypes.end();
}
constexpr std::array rows{Row{is_standard, DType::fp16, false, 3.2e-4}, Row{has_8_bits, DType::fp16, false, 1.9e-4},
                          Row{has_8_bits, DType::fp8, false, 2.4e-2}, Row{has_8_bits, DType::fp8, true, 9.1e-3}};

}  // namespace

std::vector<AccuracyLine> accuracy_lines(const Registry& registry, const DeviceLimits& limits) {
  std::vector<AccuracyLine> lines;
  for (const Row& row : rows) {
    for (const Algorithm* algorithm : registry.algorithms()) {
      if (!row.of(algorithm->facts())) continue;
      AttentionProblem problem = shape;
      problem.dtype = row.dtype;
      Config config = algorithm->default_config(problem, limits);
      if (row.rotated) config.knobs.set(knob::rotation, std::string(knob::hadamard));
      if (algorithm->refusal(problem, config, limits)) continue;
      lines.push_back({.spec = {.algorithm = algorithm->name(),
                                .problem = problem,
                                .tile = config.tile,
                                .knobs = config.knobs,
                                .cache = CacheState::warm},
                       .paper = row.paper});
    }
  }
  return lines;
}

MeanInterval mean_interval(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double t = boost::math::quantile(boost::math::students_t(n - 1), 0.975);
  const double half = t * std::sqrt(squares / (n - 1) / n);
  return {.mean = mean, .low = mean - half, .high = mean + half};
}

bool measure_accuracy(Device& device, std::vector<AccuracyLine>& lines, int seeds, const CancelToken& cancel) {
  MeasureOptions options;
  options.counters = false;
  options.min_samples = options.max_samples = 1;
  for (int i = 0; i < seeds; ++i, ++options.seed) {
    for (AccuracyLine& line : lines) {
      if (cancel.cancelled()) return false;
      if (!line.failed.empty()) continue;
      const PointRecord record = device.measure(line.spec, options, cancel);
      if (record.disposition == Disposition::cancelled) return false;
      if (record.disposition == Disposition::ok && record.rms_error) {
        line.rms.push_back(*record.rms_error);
      } else {
        line.failed = record.reason;
      }
    }
  }
  return true;
}

}  // namespace attnscope
