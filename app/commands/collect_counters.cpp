// SPDX-License-Identifier: Apache-2.0
// Selects and checks the counters of a sweep.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/commands/collect.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/text.h"

namespace attnscope {

std::vector<std::string> extra_counters(const std::vector<std::string>& names) {
  std::vector<std::string> extra;
  for (const std::string& name : names) {
    const auto is_named = [&](const Metric& metric) {
      return !metric.counter.empty() && (metric.key == name || metric.counter == name);
    };
    const auto table = metrics_table();
    const auto known = std::find_if(table.begin(), table.end(), is_named);
    if (known != table.end() && known->collected_by_default) continue;
    const std::string counter = known != table.end() ? std::string(known->counter) : name;
    if (std::find(extra.begin(), extra.end(), counter) == extra.end()) extra.push_back(counter);
  }
  return extra;
}

namespace {

void require_known_metrics(const Device& device, const std::vector<std::string>& names) {
  const auto unknown = device.unknown_metrics(names);
  if (unknown.empty()) return;
  const auto lacking = std::find_if(unknown.begin(), unknown.end(), [](const auto& name) { return name.near.empty(); });
  if (device.info().simulated && lacking != unknown.end()) {  // a real GPU may have these counters
    std::vector<std::string> simulated;
    for (const Metric& metric : metrics_table()) {
      const std::string counter(metric.counter);
      if (!counter.empty() && device.unknown_metrics({{counter}}).empty()) simulated.push_back(counter);
    }
    throw CommandError(ExitCode::no_counters, "the simulated {} has no counter {}; available: {}",
                       device.info().limits.name, lacking->name, fmt::join(simulated, ", "));
  }
  Message all;
  for (const auto& metric : unknown) {
    Message one = make_message("unknown metric {}", metric.name);
    if (std::ranges::find(metric.near, metric.name) != metric.near.end()) {
      one = make_message("this GPU does not support metric {}, although CUPTI lists it for its architecture",
                         metric.name);
    } else if (!metric.near.empty()) {
      one = make_message("unknown metric {}; did you mean {}?", metric.name, join_or(metric.near));
    }
    all = all.empty() ? one : make_message("{}; {}", all, one);
  }
  throw CommandError(ExitCode::usage, all);
}

/// Returns the counters of --utilization that the device supports; logs those that it does not.
std::vector<std::string> utilization_counters(const Device& device, Reporter& reporter) {
  if (device.info().simulated) {
    throw CommandError(ExitCode::no_counters,
                       "--utilization requires a GPU, and the {} is simulated (set --device or omit --utilization)",
                       device.info().limits.name);
  }
  std::vector<std::string> counters;
  for (const Metric& metric : metrics_table()) {
    if (metric.why != CounterGroup::none && !metric.counter.empty()) counters.emplace_back(metric.counter);
  }
  std::vector<std::string> lacking;
  for (const Device::UnknownMetric& unknown : device.unknown_metrics(counters)) {
    lacking.emplace_back(find_counter(unknown.name)->key);
    std::erase(counters, unknown.name);
  }
  if (!lacking.empty()) {
    reporter.report(LogEvent{
        "warning", format_text("--utilization: metrics that this GPU does not support: {}", fmt::join(lacking, ", "))});
  }
  return counters;
}

}  // namespace

std::string counters_text(const Device& device, const Measurement& measure) {
  if (!measure.options.counters) return "not requested";
  const CounterAvailability counters = device.counters();
  if (counters.state == CounterState::available) return "available";
  return counters.fix.empty() ? text(counters.reason) : text(counters.reason) + " " + text(counters.fix);
}

void resolve_counters(Measurement& measure, const Device& device, Reporter& reporter) {
  require_known_metrics(device, measure.options.extra_metrics);
  if (measure.why) {
    for (std::string& counter : utilization_counters(device, reporter)) {
      if (std::ranges::find(measure.options.extra_metrics, counter) == measure.options.extra_metrics.end()) {
        measure.options.extra_metrics.push_back(std::move(counter));
      }
    }
  }
  if (measure.requires_any_counters() && device.counters().state != CounterState::available) {
    const CounterAvailability counters = device.counters();
    throw CommandError(ExitCode::no_counters, "counters are not available: {} {}", counters.reason, counters.fix);
  }
}

}  // namespace attnscope
