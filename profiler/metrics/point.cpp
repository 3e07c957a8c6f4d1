// SPDX-License-Identifier: Apache-2.0
#include "profiler/metrics/point.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "messages/disposition.h"
#include "messages/provenance.h"
#include "messages/throttle.h"
#include "profiler/plan/text.h"

namespace attnscope {
namespace {

template <class E>
struct EnumName {
  E value;
  std::string_view text;
  MessageFunction title;
};

constexpr std::array provenance_names{
    EnumName<Provenance>{Provenance::measured, "measured", message_of<msg::provenance::measured>},
    EnumName<Provenance>{Provenance::derived, "derived", message_of<msg::provenance::derived>},
    EnumName<Provenance>{Provenance::modeled, "modeled", message_of<msg::provenance::modeled>},
    EnumName<Provenance>{Provenance::simulated, "simulated", message_of<msg::provenance::simulated>},
    EnumName<Provenance>{Provenance::extrapolated, "extrapolated", message_of<msg::provenance::extrapolated>},
    EnumName<Provenance>{Provenance::imported, "imported", message_of<msg::provenance::imported>},
};
constexpr std::array disposition_names{
    EnumName<Disposition>{Disposition::ok, "ok", message_of<msg::disposition::ok>},
    EnumName<Disposition>{Disposition::infeasible, "infeasible", message_of<msg::disposition::infeasible>},
    EnumName<Disposition>{Disposition::out_of_memory, "out-of-memory", message_of<msg::disposition::out_of_memory>},
    EnumName<Disposition>{Disposition::incorrect, "incorrect", message_of<msg::disposition::incorrect>},
    EnumName<Disposition>{Disposition::compile_error, "compile-error", message_of<msg::disposition::compile_error>},
    EnumName<Disposition>{Disposition::timeout, "timeout", message_of<msg::disposition::timeout>},
    EnumName<Disposition>{Disposition::crashed, "crashed", message_of<msg::disposition::crashed>},
    EnumName<Disposition>{Disposition::no_counters, "no-counters", message_of<msg::disposition::no_counters>},
    EnumName<Disposition>{Disposition::cancelled, "cancelled", message_of<msg::disposition::cancelled>},
};

/// Names are in the order of the enumerators.
template <class E, std::size_t n>
const EnumName<E>& name_of(const std::array<EnumName<E>, n>& names, E value) {
  return names.at(static_cast<std::size_t>(value));
}

template <class E, std::size_t n>
Result<E, Message> value_of(const std::array<EnumName<E>, n>& words, std::string_view what, std::string_view text) {
  std::vector<std::string> accepted;
  for (const auto& word : words) {
    if (word.text == text) return word.value;
    accepted.emplace_back(word.text);
  }
  return Failure{make_message("unknown {} '{}'; expected {}", what, text, join_or(accepted))};
}

// nvmlClocksEventReason* of nvml.h; "GPU idle" (bit 0) is no slowdown.
constexpr std::array<std::pair<std::uint64_t, MessageFunction>, 8> throttle_words{{
    {0x002, message_of<msg::throttle::application_clocks>},
    {0x004, message_of<msg::throttle::power_cap>},
    {0x008, message_of<msg::throttle::hardware_slowdown>},
    {0x010, message_of<msg::throttle::sync_boost>},
    {0x020, message_of<msg::throttle::thermal_slowdown>},
    {0x040, message_of<msg::throttle::hardware_thermal_slowdown>},
    {0x080, message_of<msg::throttle::power_brake>},
    {0x100, message_of<msg::throttle::display_clocks>},
}};

}  // namespace

std::string_view to_string(Provenance value) {
  return name_of(provenance_names, value).text;
}
Message title(Provenance value) {
  return name_of(provenance_names, value).title();
}
Result<Provenance, Message> parse_provenance(std::string_view text) {
  return value_of(provenance_names, "provenance", text);
}

std::string_view to_string(Disposition value) {
  return name_of(disposition_names, value).text;
}
Message title(Disposition value) {
  return name_of(disposition_names, value).title();
}
Result<Disposition, Message> parse_disposition(std::string_view text) {
  return value_of(disposition_names, "disposition", text);
}

std::optional<double> KernelRecord::metric(std::string_view name) const {
  const auto found = std::ranges::find(metrics, name, &MetricValue::name);
  return found == metrics.end() ? std::nullopt : std::optional(found->value);
}

const KernelRecord* PointRecord::kernel(std::string_view name) const {
  const auto found = std::ranges::find(kernels, name, &KernelRecord::kernel);
  return found == kernels.end() ? nullptr : &*found;
}

Provenance PointRecord::origin(std::string_view name) const {
  const KernelRecord* record = kernel(name);
  const bool in_part = record != nullptr && record->complete == false;
  return in_part && provenance == Provenance::simulated ? Provenance::extrapolated : provenance;
}

Message describe_throttle_reasons(std::uint64_t reasons) {
  Message all;
  for (const auto& [bit, word] : throttle_words) {
    if ((reasons & bit) == 0) continue;
    all = all.empty() ? word() : msg::throttle::several{.first = std::move(all), .next = word()};
  }
  return all;
}

double quantile(std::span<const double> sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - std::floor(place)) * (sorted[above] - sorted[below]);
}

std::optional<SampleSummary> summarize(const std::vector<double>& samples) {
  if (samples.empty()) return std::nullopt;
  std::vector<double> sorted = samples;
  std::ranges::sort(sorted);
  SampleSummary summary{.median = quantile(sorted, 0.5),
                        .q1 = quantile(sorted, 0.25),
                        .q3 = quantile(sorted, 0.75),
                        .relative_spread = 0,
                        .count = sorted.size()};
  if (summary.median > 0) summary.relative_spread = (summary.q3 - summary.q1) / summary.median;
  return summary;
}

}  // namespace attnscope
