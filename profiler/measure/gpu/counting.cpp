// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/counting.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "profiler/measure/gpu/point_abort.h"
#include "profiler/metrics/metrics.h"

namespace attnscope::gpu {
namespace {

/// Name of a launch or part in ranges. CUPTI cuts names of ranges that are longer than about 60 characters.
std::string range_label(const CountedPoint& point, const PreparedLaunch& launch) {
  constexpr std::size_t max_length = 24;
  if (launch.name().size() <= max_length) return launch.name();
  const auto is_it = [&](const PreparedLaunch& each) { return &each == &launch; };
  const auto part = std::ranges::find_if(point.parts, is_it);
  if (part != point.parts.end()) return fmt::format("part {}", part - point.parts.begin());
  return fmt::format("launch {}", std::ranges::find_if(point.launches, is_it) - point.launches.begin());
}
std::string launch_range_name(std::size_t number, const CountedPoint& point, const PreparedLaunch& launch) {
  return fmt::format("{} of point {}", range_label(point, launch), number);
}
std::string write_back_range_name(std::size_t number, const CountedPoint& point, const PreparedLaunch& launch) {
  return fmt::format("{} with write-back", launch_range_name(number, point, launch));
}
std::string sequence_range_name(std::size_t point, std::size_t step) {
  return fmt::format("step {} of point {}", step, point);
}

std::string idle_range_name(std::size_t number) {
  return fmt::format("write-back only, {}", number);
}

/// Metric of a counter in the sequence of a call; empty if its values of separate kernels add up.
std::string_view in_sequence_key(std::string_view counter) {
  if (counter == metric_key::dram_read_bytes) return metric_key::dram_read_in_sequence;
  if (counter == metric_key::dram_write_bytes) return metric_key::dram_write_in_sequence;
  return {};
}

double min_idle_write(const std::map<std::string, std::vector<double>>& raw, std::size_t metric) {
  double least = raw.at(idle_range_name(0)).at(metric);
  for (std::size_t i = 1; i < CounterCollector::idle_ranges; ++i)
    least = std::min(least, raw.at(idle_range_name(i)).at(metric));
  return least;
}

/// Builds the ranges of one collect() call. Keeps references to its members' sources.
struct RangeBuilder {
  KernelRunner& runner;
  const CountingRequest& request;
  const CancelToken& cancel;
  std::optional<CounterCollector::Place>& place;

  /// `launch`: null for a range that contains only `after`. `after` may be empty. `in_sequence`: what precedes the
  /// launch in its call also precedes it in L2.
  [[nodiscard]] RangeProfiler::Range range(std::string name, const CountedPoint& point, std::size_t number,
                                           PreparedLaunch* launch, const std::function<void()>& after,
                                           bool in_sequence = false) const {
    return {.name = std::move(name),
            .before =
                [this, &point, number, launch, in_sequence] {
                  place = {number, launch != nullptr ? launch->name() : ""};
                  if (launch != nullptr && !in_sequence) launch->enqueue_before(runner.stream());
                  prepare(point, launch == point.launches.data());
                  if (!in_sequence) return;
                  launch->enqueue_before(runner.stream());
                  runner.wait(request.limit);
                },
            .work =
                [this, launch, after] {
                  if (launch != nullptr) launch->enqueue(runner.cuda(), runner.stream());
                  if (after) after();
                  runner.wait(request.limit);
                }};
  }

 private:
  void prepare(const CountedPoint& point, bool first) const {
    if (cancel.cancelled())
      throw PointAbort(Disposition::cancelled, "point.cancelled_counting", "Cancelled during counting.");
    if (point.before) point.before();
    if (point.cache == CacheState::cold) {
      runner.enqueue_l2_clear();
    } else if (first) {
      for (PreparedLaunch& launch : point.launches) launch.enqueue(runner.cuda(), runner.stream());
    }
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

CounterCollector::CounterCollector(const CuptiApi& cupti, CUcontext context, int device, int compute_major)
    : profiler_(cupti, context, device), compute_major_(compute_major) {}

void CounterCollector::configure(std::span<const std::string> extra_metrics) {
  if (config_ && std::ranges::equal(extra_metrics_, extra_metrics)) return;
  config_.reset();
  counters_ = default_counters(compute_major_);
  for (const std::string& name : extra_metrics) {
    if (std::ranges::find(counters_, name, &CounterMetric::counter) != counters_.end()) continue;
    if (const Metric* row = find_counter(name)) {
      counters_.push_back(
          {.name = std::string(row->key), .counter = name, .unit = std::string(row->unit), .scale = row->scale});
    } else {
      counters_.push_back({.name = name, .counter = name, .unit = host().unit(name)});
    }
  }
  try {
    config_.emplace(make_config());
  } catch (const CuptiError&) {
    // If the chip lacks one of the counters, collect the others.
    std::erase_if(counters_, [&](const CounterMetric& metric) { return !host().has_metric(metric.counter); });
    config_.emplace(make_config());
  }
  extra_metrics_.assign(extra_metrics.begin(), extra_metrics.end());
}

CounterConfig CounterCollector::make_config() const {
  std::vector<std::string> names;
  for (const CounterMetric& metric : counters_) names.push_back(metric.counter);
  return host().configure(std::move(names));
}

std::optional<std::size_t> CounterCollector::write_back_counter(const CountedPoint& point) const {
  if (point.cache != CacheState::cold || point.write_back == nullptr) return std::nullopt;
  const auto dram_write = std::ranges::find(counters_, metric_key::dram_write_bytes, &CounterMetric::name);
  if (dram_write == counters_.end()) return std::nullopt;
  return static_cast<std::size_t>(dram_write - counters_.begin());
}

std::vector<PointCounts> CounterCollector::collect(KernelRunner& runner, std::span<const CountedPoint> points,
                                                   const CountingRequest& request, const CancelToken& cancel) {
  place_.reset();
  configure(request.extra_metrics);
  const RangeBuilder make{runner, request, cancel, place_};
  std::vector<RangeProfiler::Range> ranges;
  std::optional<std::size_t> idle_point;
  std::size_t written = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto settled = write_back_counter(points[i]);
    for (const std::span<PreparedLaunch> launches : {points[i].launches, points[i].parts}) {
      for (PreparedLaunch& launch : launches) {
        ranges.push_back(make.range(launch_range_name(i, points[i], launch), points[i], i, &launch, {}));
        if (!settled) continue;
        ranges.push_back(
            make.range(write_back_range_name(i, points[i], launch), points[i], i, &launch, points[i].write_back));
      }
    }
    for (std::size_t step = 0; step < points[i].sequence.size(); ++step)
      ranges.push_back(make.range(sequence_range_name(i, step), points[i], i, &points[i].sequence[step], {}, true));
    if (!settled || idle_write_ || idle_point) continue;
    idle_point = i;
    written = *settled;
    for (std::size_t idle = 0; idle < idle_ranges; ++idle)
      ranges.push_back(make.range(idle_range_name(idle), points[i], i, nullptr, points[i].write_back));
  }
  const auto raw = profiler_.collect(*config_, ranges);
  if (idle_point) idle_write_ = min_idle_write(raw, written);

  std::vector<PointCounts> counts;
  for (std::size_t i = 0; i < points.size(); ++i) counts.push_back(counts_of(points[i], i, raw));
  return counts;
}

void CounterCollector::add_step(const std::vector<double>& counted, std::vector<MetricValue>& sums) const {
  for (std::size_t i = 0; i < counters_.size(); ++i) {
    const std::string_view key = in_sequence_key(counters_[i].name);
    if (key.empty()) continue;
    const double value = counted[i] * counters_[i].scale;
    const auto sum = std::ranges::find(sums, key, &MetricValue::name);
    if (sum == sums.end()) {
      sums.push_back({std::string(key), value, counters_[i].unit, Provenance::measured});
    } else {
      sum->value += value;
    }
  }
}

PointCounts CounterCollector::counts_of(const CountedPoint& point, std::size_t number,
                                        const std::map<std::string, std::vector<double>>& raw) const {
  const auto written = write_back_counter(point);
  PointCounts counts{.metrics = counters_, .values = {}, .in_sequence = {}};
  if (written) {
    const Metric& row = *find_metric(metric_key::dram_writeback_bytes);
    counts.metrics.push_back({.name = std::string(row.key), .counter = {}, .unit = std::string(row.unit)});
  }
  const auto add_values = [&](const PreparedLaunch& launch) {
    const std::vector<double>& own = raw.at(launch_range_name(number, point, launch));
    std::vector<MetricValue>& target = counts.values[launch.name()];
    for (std::size_t i = 0; i < counters_.size(); ++i) {
      target.push_back({counters_[i].name, own[i] * counters_[i].scale, counters_[i].unit, Provenance::measured});
    }
    if (!written) return;
    const double settled = raw.at(write_back_range_name(number, point, launch))[*written];
    const double left_dirty = (settled - own[*written] - *idle_write_) * counters_[*written].scale;
    target.push_back({counts.metrics.back().name, left_dirty, counts.metrics.back().unit, Provenance::measured});
  };
  std::ranges::for_each(point.launches, add_values);
  std::ranges::for_each(point.parts, add_values);
  for (std::size_t step = 0; step < point.sequence.size(); ++step)
    add_step(raw.at(sequence_range_name(number, step)), counts.in_sequence[point.sequence[step].name()]);
  return counts;
}

}  // namespace attnscope::gpu
