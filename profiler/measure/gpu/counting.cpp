// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/counting.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "messages/point.h"
#include "profiler/measure/gpu/point_end.h"
#include "profiler/metrics/metrics.h"

namespace attnscope::gpu {
namespace {

std::string settled_name(const PreparedLaunch& launch) {
  return launch.name() + " and its write-back";
}

/// Of so many, the least is taken: what else writes to DRAM comes in bursts, and only adds.
constexpr std::size_t idle_ranges = 9;
std::string idle_name(std::size_t number) {
  return fmt::format("write-back of nothing, {}", number);
}

double least_idle(const std::map<std::string, std::vector<double>>& raw, std::size_t metric) {
  double least = raw.at(idle_name(0)).at(metric);
  for (std::size_t i = 1; i < idle_ranges; ++i) least = std::min(least, raw.at(idle_name(i)).at(metric));
  return least;
}

/// The ranges of one collection. Refers to what it is made of.
struct RangeMaker {
  KernelRunner& runner;
  const CountingRequest& request;
  const CancelToken& cancel;

  [[nodiscard]] RangeProfiler::Range own(PreparedLaunch& launch) const {
    return {.name = launch.name(), .before = [this] { prepare(); }, .work = [this, &launch] { run(launch, {}); }};
  }
  [[nodiscard]] RangeProfiler::Range idle(std::size_t number) const {
    return {.name = idle_name(number),
            .before = [this] { prepare(); },
            .work =
                [this] {
                  request.write_back();
                  runner.wait(request.limit);
                }};
  }
  [[nodiscard]] RangeProfiler::Range settled(PreparedLaunch& launch) const {
    return {.name = settled_name(launch),
            .before = [this] { prepare(); },
            .work = [this, &launch] { run(launch, request.write_back); }};
  }

 private:
  void prepare() const {
    if (cancel.cancelled()) throw PointEnd(Disposition::cancelled, say::point::cancelled_counting{});
    if (request.cache == CacheState::cold) runner.enqueue_cold_cache();
    runner.wait(request.limit);
  }
  void run(PreparedLaunch& launch, const std::function<void()>& after) const {
    launch.enqueue(runner.cuda(), runner.stream());
    if (after) after();
    runner.wait(request.limit);
  }
};

}  // namespace

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

CounterCollector::CounterCollector(const CuptiApi& cupti, CUcontext context, int device, int compute_major,
                                   RangeProfiler::Reuse reuse)
    : profiler_(cupti, context, device, reuse), compute_major_(compute_major) {}

void CounterCollector::configure(std::span<const std::string> extra_metrics) {
  if (config_ && std::ranges::equal(extras_, extra_metrics)) return;
  config_.reset();
  counters_ = default_counters(compute_major_);
  for (const std::string& name : extra_metrics) {
    if (std::ranges::find(counters_, name, &CounterMetric::counter) != counters_.end()) continue;
    counters_.push_back({.name = name, .counter = name, .unit = host().unit(name)});
  }
  try {
    config_.emplace(make_config());
  } catch (const CuptiError&) {
    // A chip that lacks one of them still has the others.
    std::erase_if(counters_, [&](const CounterMetric& metric) { return !host().knows(metric.counter); });
    config_.emplace(make_config());
  }
  extras_.assign(extra_metrics.begin(), extra_metrics.end());
}

CounterConfig CounterCollector::make_config() const {
  std::vector<std::string> names;
  for (const CounterMetric& metric : counters_) names.push_back(metric.counter);
  return host().configure(std::move(names));
}

std::map<std::string, std::vector<MetricValue>> CounterCollector::collect(KernelRunner& runner,
                                                                          std::span<PreparedLaunch> launches,
                                                                          const CountingRequest& request,
                                                                          const CancelToken& cancel) {
  configure(request.extra_metrics);
  const auto dram_write = std::ranges::find(counters_, metric_key::dram_write_bytes, &CounterMetric::name);
  const bool settles =
      request.cache == CacheState::cold && request.write_back != nullptr && dram_write != counters_.end();
  const RangeMaker make{runner, request, cancel};
  std::vector<RangeProfiler::Range> ranges;
  for (PreparedLaunch& launch : launches) {
    ranges.push_back(make.own(launch));
    if (settles) ranges.push_back(make.settled(launch));
  }
  const bool idles = settles && !idle_write_;
  for (std::size_t i = 0; idles && i < idle_ranges; ++i) ranges.push_back(make.idle(i));
  const auto raw = profiler_.collect(*config_, ranges);

  const auto written = static_cast<std::size_t>(dram_write - counters_.begin());
  if (idles) idle_write_ = least_idle(raw, written);
  metrics_ = counters_;
  if (settles) {
    const Metric& row = *find_metric(metric_key::dram_writeback_bytes);
    metrics_.push_back({.name = std::string(row.key), .counter = {}, .unit = std::string(row.unit)});
  }
  std::map<std::string, std::vector<MetricValue>> values;
  for (const PreparedLaunch& launch : launches) {
    const std::vector<double>& own = raw.at(launch.name());
    std::vector<MetricValue>& target = values[launch.name()];
    for (std::size_t i = 0; i < counters_.size(); ++i) {
      target.push_back({counters_[i].name, own[i] * counters_[i].scale, counters_[i].unit, Provenance::measured});
    }
    if (!settles) continue;
    const double settled = raw.at(settled_name(launch))[written];
    const double left_dirty = (settled - own[written] - *idle_write_) * dram_write->scale;
    target.push_back({metrics_.back().name, left_dirty, metrics_.back().unit, Provenance::measured});
  }
  return values;
}

}  // namespace attnscope::gpu
