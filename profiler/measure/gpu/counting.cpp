// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/counting.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "profiler/measure/gpu/point_end.h"
#include "profiler/metrics/metrics.h"

namespace attnscope::gpu {
namespace {

std::string settled_name(const PreparedLaunch& launch) {
  return launch.name() + " and its write-back";
}

/// Of so many, the median is taken.
constexpr std::size_t idle_ranges = 5;
std::string idle_name(std::size_t number) {
  return fmt::format("write-back of nothing, {}", number);
}

double median_idle(const std::map<std::string, std::vector<double>>& raw, std::size_t metric) {
  std::array<double, idle_ranges> values{};
  for (std::size_t i = 0; i < idle_ranges; ++i) values.at(i) = raw.at(idle_name(i)).at(metric);
  std::ranges::sort(values);
  return values.at(idle_ranges / 2);
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
    if (cancel.cancelled()) throw PointEnd(Disposition::cancelled, "Cancelled while it was counted.");
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

std::vector<std::vector<std::string>> one_pass_sets(const CounterHost& host, std::span<const std::string> counters,
                                                    std::string_view dram_write) {
  std::vector<std::string> left(counters.begin(), counters.end());
  std::stable_partition(left.begin(), left.end(), [&](const std::string& counter) { return counter == dram_write; });
  const auto one_pass = [&](const std::vector<std::string>& names) { return host.configure(names).passes() <= 1; };
  std::vector<std::string> several;
  std::erase_if(left, [&](const std::string& counter) {
    if (one_pass({counter})) return false;
    several.push_back(counter);
    return true;
  });
  std::vector<std::vector<std::string>> sets;
  while (!left.empty()) {
    std::vector<std::string> set;
    std::erase_if(left, [&](const std::string& counter) {
      set.push_back(counter);
      if (one_pass(set)) return true;
      set.pop_back();
      return false;
    });
    sets.push_back(std::move(set));
  }
  if (!several.empty()) sets.push_back(std::move(several));
  return sets;
}

CounterCollector::CounterCollector(const CuptiApi& cupti, CUcontext context, int device, int compute_major, Sets sets,
                                   RangeProfiler::Reuse reuse)
    : profiler_(cupti, context, device, reuse), compute_major_(compute_major), how_(sets) {}

void CounterCollector::configure(std::span<const std::string> extra_metrics) {
  if (!sets_.empty() && std::ranges::equal(extras_, extra_metrics)) return;
  sets_.clear();
  counters_ = default_counters(compute_major_);
  for (const std::string& name : extra_metrics) {
    if (std::ranges::find(counters_, name, &CounterMetric::counter) != counters_.end()) continue;
    counters_.push_back({.name = name, .counter = name, .unit = host().unit(name)});
  }
  try {
    sets_ = make_sets();
  } catch (const CuptiError&) {
    // A chip that lacks one of them still has the others.
    std::erase_if(counters_, [&](const CounterMetric& metric) { return !host().knows(metric.counter); });
    sets_ = make_sets();
  }
  extras_.assign(extra_metrics.begin(), extra_metrics.end());
}

std::vector<CounterCollector::Set> CounterCollector::make_sets() const {
  std::vector<std::string> all;
  for (const CounterMetric& metric : counters_) all.push_back(metric.counter);
  const auto dram_write = std::ranges::find(counters_, metric_key::dram_write_bytes, &CounterMetric::name);
  const std::string written = dram_write == counters_.end() ? std::string() : dram_write->counter;
  std::vector<std::vector<std::string>> parts{all};
  if (how_ == Sets::one_pass_each) parts = one_pass_sets(host(), all, written);
  std::vector<Set> sets;
  for (const std::vector<std::string>& part : parts) {
    Set set{.config = host().configure(part), .places = {}, .dram_write = {}};
    for (std::size_t i = 0; i < part.size(); ++i) {
      const auto place = std::ranges::find(counters_, part[i], &CounterMetric::counter);
      set.places.push_back(static_cast<std::size_t>(place - counters_.begin()));
      if (part[i] == written) set.dram_write = i;
    }
    sets.push_back(std::move(set));
  }
  return sets;
}

std::size_t CounterCollector::passes() const {
  std::size_t passes = 0;
  for (const Set& set : sets_) passes += set.config.passes();
  return passes;
}

std::map<std::string, std::vector<MetricValue>> CounterCollector::collect(KernelRunner& runner,
                                                                          std::span<PreparedLaunch> launches,
                                                                          const CountingRequest& request,
                                                                          const CancelToken& cancel) {
  configure(request.extra_metrics);
  const bool settles = request.cache == CacheState::cold && request.write_back &&
                       std::ranges::any_of(sets_, [](const Set& set) { return set.dram_write.has_value(); });
  metrics_ = counters_;
  if (settles) {
    const Metric& row = *find_metric(metric_key::dram_writeback_bytes);
    metrics_.push_back({.name = std::string(row.key), .counter = {}, .unit = std::string(row.unit)});
  }
  std::map<std::string, std::vector<MetricValue>> values;
  for (const PreparedLaunch& launch : launches) {
    for (const CounterMetric& metric : metrics_) {
      values[launch.name()].push_back({metric.name, 0, metric.unit, Provenance::measured});
    }
  }
  const RangeMaker make{runner, request, cancel};
  // Beginning with the set that the last point ended with, whose configuration the GPU still has.
  const bool backwards = std::exchange(backwards_, !backwards_);
  for (std::size_t n = 0; n < sets_.size(); ++n) {
    const Set& set = sets_[backwards ? sets_.size() - 1 - n : n];
    const bool settles_here = settles && set.dram_write;
    std::vector<RangeProfiler::Range> ranges;
    for (PreparedLaunch& launch : launches) {
      ranges.push_back(make.own(launch));
      if (settles_here) ranges.push_back(make.settled(launch));
    }
    const bool idles_here = settles_here && !idle_write_;
    for (std::size_t i = 0; idles_here && i < idle_ranges; ++i) ranges.push_back(make.idle(i));
    const auto raw = profiler_.collect(set.config, ranges);
    if (idles_here) idle_write_ = median_idle(raw, *set.dram_write);
    for (const PreparedLaunch& launch : launches) {
      const std::vector<double>& own = raw.at(launch.name());
      std::vector<MetricValue>& target = values[launch.name()];
      for (std::size_t i = 0; i < own.size(); ++i) {
        const std::size_t place = set.places[i];
        target[place].value = own[i] * counters_[place].scale;
      }
      if (!settles_here) continue;
      const std::size_t written = *set.dram_write;
      const double settled = raw.at(settled_name(launch))[written];
      target.back().value = (settled - own[written] - *idle_write_) * counters_[set.places[written]].scale;
    }
  }
  return values;
}

}  // namespace attnscope::gpu
