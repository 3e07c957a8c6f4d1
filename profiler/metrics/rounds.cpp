// SPDX-License-Identifier: Apache-2.0
#include "profiler/metrics/rounds.h"

#include <algorithm>
#include <memory>

namespace attnscope {
namespace {

/// Copies names, samples and metrics of kernels; modeled metrics only on request.
std::vector<KernelRecord> values_of(const std::vector<KernelRecord>& kernels, bool include_modeled) {
  std::vector<KernelRecord> values;
  for (const KernelRecord& kernel : kernels) {
    KernelRecord& round_kernel = values.emplace_back();
    round_kernel.kernel = kernel.kernel;
    round_kernel.samples_ns = kernel.samples_ns;
    for (const MetricValue& metric : kernel.metrics) {
      if (include_modeled || metric.provenance != Provenance::modeled) round_kernel.metrics.push_back(metric);
    }
  }
  return values;
}

RoundRecord own_values(const PointRecord& point) {
  return {.round = 0, .kernels = values_of(point.kernels, true), .clocks = point.clocks};
}

double median(const std::vector<double>& values) {
  return summarize(values)->median;
}

/// Index of the first element for which `is_it` is true; appends `wanted` if there is none.
template <class Element, class IsIt>
std::size_t find_or_append(std::vector<Element>& elements, const Element& wanted, IsIt&& is_it) {
  const auto found = std::ranges::find_if(elements, is_it);
  const auto place = static_cast<std::size_t>(found - elements.begin());
  if (found == elements.end()) elements.push_back(wanted);
  return place;
}

void summarize_kernels(PointRecord& point) {
  for (KernelRecord& kernel : point.kernels) {
    kernel.metrics.clear();
    kernel.samples_ns.clear();
  }
  std::vector<std::vector<std::vector<double>>> values(point.kernels.size());  // indexed by kernel and metric
  for (const RoundRecord& round : point.rounds) {
    for (const KernelRecord& round_kernel : round.kernels) {
      KernelRecord named;
      named.kernel = round_kernel.kernel;
      const std::size_t k = find_or_append(
          point.kernels, named, [&](const KernelRecord& known) { return known.kernel == round_kernel.kernel; });
      values.resize(point.kernels.size());
      KernelRecord& kernel = point.kernels[k];
      kernel.samples_ns.insert(kernel.samples_ns.end(), round_kernel.samples_ns.begin(), round_kernel.samples_ns.end());
      for (const MetricValue& metric : round_kernel.metrics) {
        const std::size_t m = find_or_append(kernel.metrics, metric, [&](const MetricValue& known) {
          return known.name == metric.name && known.unit == metric.unit;
        });
        values[k].resize(kernel.metrics.size());
        values[k][m].push_back(metric.value);
      }
    }
  }
  for (std::size_t k = 0; k < point.kernels.size(); ++k) {
    for (std::size_t m = 0; m < values[k].size(); ++m) point.kernels[k].metrics[m].value = median(values[k][m]);
  }
}

void summarize_clocks(PointRecord& point) {
  std::vector<const ClockReading*> readings;
  for (const RoundRecord& round : point.rounds) {
    if (round.clocks) readings.push_back(&*round.clocks);
  }
  point.clocks.reset();
  if (readings.empty()) return;
  ClockReading& sum = point.clocks.emplace();
  for (double ClockReading::*member : {&ClockReading::sm_clock_hz, &ClockReading::memory_clock_hz,
                                       &ClockReading::temperature_c, &ClockReading::power_w}) {
    std::vector<double> values;
    values.reserve(readings.size());
    for (const ClockReading* reading : readings) {
      if (reading->*member > 0) values.push_back(reading->*member);  // 0: no reading
    }
    if (!values.empty()) sum.*member = median(values);
  }
  for (const ClockReading* reading : readings) {
    sum.throttle_reasons |= reading->throttle_reasons;
    sum.throttled = sum.throttled || reading->throttled;
  }
}

}  // namespace

bool can_remeasure(Disposition disposition) {
  return disposition == Disposition::ok || disposition == Disposition::no_counters;
}

void summarize_rounds(PointRecord& point) {
  if (point.rounds.empty()) return;
  std::ranges::sort(point.rounds, {}, &RoundRecord::round);
  summarize_kernels(point);
  summarize_clocks(point);
  if (point.rounds.size() == 1 && point.rounds.front().round == 0) point.rounds.clear();
}

void add_round(PointRecord& point, int round, const PointRecord& measured) {
  point.wall_seconds += measured.wall_seconds;
  if (measured.disposition != Disposition::ok && can_remeasure(point.disposition)) {
    // no-counters in an earlier round keeps its first reason.
    const bool as_before = measured.disposition == point.disposition;
    point.disposition = measured.disposition;
    if (!as_before) point.reason = make_reason("point.in_round", "In round {}: {}", round + 1, measured.reason);
  } else if (point.reason.empty()) {
    point.reason = measured.reason;
  }
  if (!can_remeasure(measured.disposition)) return;
  for (const KernelRecord& kernel : measured.kernels) {
    if (point.kernel(kernel.kernel) != nullptr) continue;
    KernelRecord& added = point.kernels.emplace_back(kernel);
    added.metrics.clear();
    added.samples_ns.clear();
  }
  if (point.rounds.empty()) point.rounds.push_back(own_values(point));
  point.rounds.push_back({.round = round, .kernels = values_of(measured.kernels, false), .clocks = measured.clocks});
  summarize_rounds(point);
}

void for_each_round(
    const PointRecord& point,
    const std::function<void(int, std::span<const KernelRecord>, const std::optional<ClockReading>&)>& visit) {
  if (point.rounds.empty()) visit(0, point.kernels, point.clocks);
  for (const RoundRecord& round : point.rounds) visit(round.round, round.kernels, round.clocks);
}

std::vector<std::optional<double>> round_values(std::string_view key, const KernelValues& kernel) {
  const auto value_of = [key](const KernelValues& values) {
    const std::optional<EvaluatedMetric> value = evaluate(key, values);
    return value ? std::optional(value->value) : std::nullopt;
  };
  if (kernel.rounds() == 0) return {value_of(kernel)};
  std::vector<std::optional<double>> values(kernel.rounds());
  kernel.for_each_round(
      [&](std::size_t place, const KernelValues& round_kernel) { values[place] = value_of(round_kernel); });
  return values;
}

std::vector<std::optional<double>> round_values(std::string_view key, const PointRecord& point,
                                                std::string_view kernel) {
  const std::unique_ptr<KernelValues> values = kernel_values(point, kernel);
  if (values != nullptr) return round_values(key, *values);
  return std::vector<std::optional<double>>(std::max<std::size_t>(point.rounds.size(), 1));
}

}  // namespace attnscope
