// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/counting.h"

#include <algorithm>

#include <fmt/format.h>

#include "profiler/metrics/metrics.h"

namespace attnscope::gpu {

std::vector<CounterMetric> default_counters(int compute_major) {
  std::vector<CounterMetric> counters;
  for (const Metric& metric : metrics_table()) {
    if (!metric.collected_by_default) continue;
    const bool other_name = compute_major == 12 && !metric.counter_cc12.empty();
    counters.push_back({.name = std::string(metric.key),
                        .counter = std::string(other_name ? metric.counter_cc12 : metric.counter),
                        .unit = std::string(metric.unit),
                        .scale = metric.scale});
  }
  return counters;
}

CounterCollector::CounterCollector(const CuptiApi& cupti, CUcontext context, int device, int compute_major)
    : profiler_(cupti, context, device), compute_major_(compute_major) {}

void CounterCollector::configure(std::span<const std::string> extra_metrics) {
  if (config_ && std::ranges::equal(extras_, extra_metrics)) return;
  config_.reset();
  metrics_ = default_counters(compute_major_);
  for (const std::string& name : extra_metrics) {
    if (std::ranges::find(metrics_, name, &CounterMetric::counter) != metrics_.end()) continue;
    metrics_.push_back({.name = name, .counter = name, .unit = host().unit(name)});
  }
  const auto counters = [&] {
    std::vector<std::string> names;
    for (const CounterMetric& metric : metrics_) names.push_back(metric.counter);
    return names;
  };
  try {
    config_ = std::make_unique<CounterConfig>(host().configure(counters()));
  } catch (const CuptiError&) {
    // A chip that lacks one of them still has the others.
    std::erase_if(metrics_, [&](const CounterMetric& metric) { return !host().knows(metric.counter); });
    config_ = std::make_unique<CounterConfig>(host().configure(counters()));
  }
  extras_.assign(extra_metrics.begin(), extra_metrics.end());
}

std::map<std::string, std::vector<MetricValue>> CounterCollector::collect(KernelRunner& runner,
                                                                          std::span<PreparedLaunch> launches,
                                                                          CacheState cache,
                                                                          std::span<const std::string> extra_metrics,
                                                                          std::chrono::milliseconds limit) {
  configure(extra_metrics);
  std::vector<RangeProfiler::Range> ranges;
  for (PreparedLaunch& launch : launches) {
    ranges.push_back({.name = launch.name(),
                      .before =
                          [&runner, cache, limit] {
                            if (cache == CacheState::cold) runner.enqueue_cold_cache();
                            runner.wait(limit);
                          },
                      .work =
                          [&runner, &launch, limit] {
                            launch.enqueue(runner.cuda(), runner.stream());
                            runner.wait(limit);
                          }});
  }
  const auto raw = profiler_.collect(*config_, ranges);
  std::map<std::string, std::vector<MetricValue>> values;
  for (const PreparedLaunch& launch : launches) {
    if (!raw.contains(launch.name())) {
      throw CuptiError(CUPTI_ERROR_UNKNOWN,
                       fmt::format("CUPTI gave back {} ranges, none of them '{}'", raw.size(), launch.name()));
    }
  }
  for (const auto& [kernel, counted] : raw) {
    auto& target = values[kernel];
    for (std::size_t i = 0; i < counted.size(); ++i) {
      target.push_back({metrics_[i].name, counted[i] * metrics_[i].scale, metrics_[i].unit, Provenance::measured});
    }
  }
  return values;
}

}  // namespace attnscope::gpu
