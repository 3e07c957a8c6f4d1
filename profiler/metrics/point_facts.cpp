// SPDX-License-Identifier: Apache-2.0
#include "profiler/metrics/point_facts.h"

#include <algorithm>
#include <array>

#include "messages/fact.h"

namespace attnscope {
namespace {

/// A reading of 0 is one that nobody made.
template <double ClockReading::*member>
std::optional<double> reading(const PointRecord& point) {
  if (!point.clocks || !((*point.clocks).*member > 0)) return std::nullopt;
  return (*point.clocks).*member;
}

using About = PointFact::About;

// clang-format off
constexpr std::array fact_table{
    PointFact{"max_abs_error", said<say::fact::max_abs_error>, "1", About::check, [](const PointRecord& p) { return p.max_abs_error; }},
    PointFact{"error_bound", said<say::fact::error_bound>, "1", About::check, [](const PointRecord& p) { return p.error_bound; }, true},
    PointFact{"rms_error", said<say::fact::rms_error>, "1", About::check, [](const PointRecord& p) { return p.rms_error; }},
    PointFact{"sm_clock_hz", said<say::fact::sm_clock_hz>, "hertz", About::device, reading<&ClockReading::sm_clock_hz>},
    PointFact{"memory_clock_hz", said<say::fact::memory_clock_hz>, "hertz", About::device, reading<&ClockReading::memory_clock_hz>},
    PointFact{"temperature_c", said<say::fact::temperature_c>, "celsius", About::device, reading<&ClockReading::temperature_c>},
    PointFact{"power_w", said<say::fact::power_w>, "watt", About::device, reading<&ClockReading::power_w>},
};
// clang-format on

}  // namespace

std::span<const PointFact> point_facts() {
  return fact_table;
}

const PointFact* find_point_fact(std::string_view key) {
  const auto* found = std::ranges::find(fact_table, key, &PointFact::key);
  return found == fact_table.end() ? nullptr : found;
}

std::optional<MetricValue> value_of(const PointFact& fact, const PointRecord& point) {
  const std::optional<double> value = fact.get(point);
  if (!value) return std::nullopt;
  return MetricValue{std::string(fact.key), *value, std::string(fact.unit),
                     fact.modelled ? Provenance::modelled : point.provenance};
}

}  // namespace attnscope
