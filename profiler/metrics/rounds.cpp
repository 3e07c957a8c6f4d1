// SPDX-License-Identifier: Apache-2.0
#include "profiler/metrics/rounds.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace attnscope {
namespace {

/// Copies names, samples and metrics of kernels; modeled metrics only on request.
std::vector<KernelRecord> values_of(const std::vector<KernelRecord>& kernels, bool modelled_too) {
  std::vector<KernelRecord> values;
  for (const KernelRecord& kernel : kernels) {
    KernelRecord& of_round = values.emplace_back();
    of_round.kernel = kernel.kernel;
    of_round.samples_ns = kernel.samples_ns;
    for (const MetricValue& metric : kernel.metrics) {
      if (modelled_too || metric.provenance != Provenance::modelled) of_round.metrics.push_back(metric);
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
std::size_t place_in(std::vector<Element>& elements, const Element& wanted, IsIt&& is_it) {
  const auto found = std::ranges::find_if(elements, is_it);
  const auto place = static_cast<std::size_t>(found - elements.begin());
  if (found == elements.end()) elements.push_back(wanted);
  return place;
}

void sum_up_kernels(PointRecord& point) {
  for (KernelRecord& kernel : point.kernels) {
    kernel.metrics.clear();
    kernel.samples_ns.clear();
  }
  std::vector<std::vector<std::vector<double>>> values(point.kernels.size());  // indexed by kernel and metric
  for (const RoundRecord& round : point.rounds) {
    for (const KernelRecord& of_round : round.kernels) {
      KernelRecord named;
      named.kernel = of_round.kernel;
      const std::size_t k =
          place_in(point.kernels, named, [&](const KernelRecord& known) { return known.kernel == of_round.kernel; });
      values.resize(point.kernels.size());
      KernelRecord& kernel = point.kernels[k];
      kernel.samples_ns.insert(kernel.samples_ns.end(), of_round.samples_ns.begin(), of_round.samples_ns.end());
      for (const MetricValue& metric : of_round.metrics) {
        const std::size_t m = place_in(kernel.metrics, metric, [&](const MetricValue& known) {
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

void sum_up_clocks(PointRecord& point) {
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

bool measured_again(Disposition disposition) {
  return disposition == Disposition::ok || disposition == Disposition::no_counters;
}

void sum_up_rounds(PointRecord& point) {
  if (point.rounds.empty()) return;
  std::ranges::sort(point.rounds, {}, &RoundRecord::round);
  sum_up_kernels(point);
  sum_up_clocks(point);
  if (point.rounds.size() == 1 && point.rounds.front().round == 0) point.rounds.clear();
}

void add_round(PointRecord& point, int round, const PointRecord& measured) {
  point.wall_seconds += measured.wall_seconds;
  if (measured.disposition != Disposition::ok && measured_again(point.disposition)) {
    // no-counters in an earlier round keeps its first reason.
    const bool as_before = measured.disposition == point.disposition;
    point.disposition = measured.disposition;
    if (!as_before) point.reason = make_reason("point.in_round", "In round {}: {}", round + 1, measured.reason);
  } else if (point.reason.empty()) {
    point.reason = measured.reason;
  }
  if (!measured_again(measured.disposition)) return;
  for (const KernelRecord& kernel : measured.kernels) {
    if (point.kernel(kernel.kernel) != nullptr) continue;
    KernelRecord& added = point.kernels.emplace_back(kernel);
    added.metrics.clear();
    added.samples_ns.clear();
  }
  if (point.rounds.empty()) point.rounds.push_back(own_values(point));
  point.rounds.push_back({.round = round, .kernels = values_of(measured.kernels, false), .clocks = measured.clocks});
  sum_up_rounds(point);
}

void each_round(
    const PointRecord& point,
    const std::function<void(int, std::span<const KernelRecord>, const std::optional<ClockReading>&)>& visit) {
  if (point.rounds.empty()) visit(0, point.kernels, point.clocks);
  for (const RoundRecord& round : point.rounds) visit(round.round, round.kernels, round.clocks);
}

std::vector<std::optional<double>> round_values(std::string_view key, const KernelValues& kernel) {
  const auto value_of = [key](const KernelValues& values) {
    const std::optional<Evaluated> value = evaluate(key, values);
    return value ? std::optional(value->value) : std::nullopt;
  };
  if (kernel.rounds() == 0) return {value_of(kernel)};
  std::vector<std::optional<double>> values(kernel.rounds());
  kernel.each_round([&](std::size_t place, const KernelValues& of_round) { values[place] = value_of(of_round); });
  return values;
}

std::vector<std::optional<double>> round_values(std::string_view key, const PointRecord& point,
                                                std::string_view kernel) {
  const std::unique_ptr<KernelValues> values = kernel_values(point, kernel);
  if (values != nullptr) return round_values(key, *values);
  return std::vector<std::optional<double>>(std::max<std::size_t>(point.rounds.size(), 1));
}

std::optional<SampleSummary> over_rounds(std::string_view key, const KernelValues& kernel) {
  if (kernel.rounds() < 2) return std::nullopt;
  std::vector<double> there;
  for (const std::optional<double>& value : round_values(key, kernel)) {
    if (value) there.push_back(*value);
  }
  return there.size() < 2 ? std::nullopt : summarize(there);
}

}  // namespace attnscope
