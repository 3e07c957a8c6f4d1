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
};

constexpr std::array provenance_names{
    EnumName<Provenance>{Provenance::measured, "measured"},
    EnumName<Provenance>{Provenance::derived, "derived"},
    EnumName<Provenance>{Provenance::modeled, "modeled"},
    EnumName<Provenance>{Provenance::simulated, "simulated"},
    EnumName<Provenance>{Provenance::extrapolated, "extrapolated"},
    EnumName<Provenance>{Provenance::imported, "imported"},
};
constexpr std::array disposition_names{
    EnumName<Disposition>{Disposition::ok, "ok"},
    EnumName<Disposition>{Disposition::infeasible, "infeasible"},
    EnumName<Disposition>{Disposition::out_of_memory, "out-of-memory"},
    EnumName<Disposition>{Disposition::incorrect, "incorrect"},
    EnumName<Disposition>{Disposition::compile_error, "compile-error"},
    EnumName<Disposition>{Disposition::timeout, "timeout"},
    EnumName<Disposition>{Disposition::crashed, "crashed"},
    EnumName<Disposition>{Disposition::no_counters, "no-counters"},
    EnumName<Disposition>{Disposition::cancelled, "cancelled"},
};
template <class E, std::size_t n>
std::string_view name_of(const std::array<EnumName<E>, n>& words, E value) {
  for (const auto& word : words) {
    if (word.value == value) return word.text;
  }
  return "?";
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

// Quantile with linear interpolation between order statistics (type 7 of Hyndman and Fan 1996).
double quantile(std::span<const double> sorted, double p) {
  const double position = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(position));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double fraction = position - std::floor(position);
  return sorted[below] + (fraction * (sorted[above] - sorted[below]));
}

}  // namespace

std::string_view to_string(Provenance value) {
  return name_of(provenance_names, value);
}
Message title(Provenance value) {
  switch (value) {
    case Provenance::measured:
      return msg::provenance::measured{};
    case Provenance::derived:
      return msg::provenance::derived{};
    case Provenance::modeled:
      return msg::provenance::modeled{};
    case Provenance::simulated:
      return msg::provenance::simulated{};
    case Provenance::extrapolated:
      return msg::provenance::extrapolated{};
    case Provenance::imported:
      return msg::provenance::imported{};
  }
  return {};
}
Result<Provenance, Message> parse_provenance(std::string_view text) {
  return value_of(provenance_names, "provenance", text);
}

std::string_view to_string(Disposition value) {
  return name_of(disposition_names, value);
}
Message title(Disposition value) {
  switch (value) {
    case Disposition::ok:
      return msg::disposition::ok{};
    case Disposition::infeasible:
      return msg::disposition::infeasible{};
    case Disposition::out_of_memory:
      return msg::disposition::out_of_memory{};
    case Disposition::incorrect:
      return msg::disposition::incorrect{};
    case Disposition::compile_error:
      return msg::disposition::compile_error{};
    case Disposition::timeout:
      return msg::disposition::timeout{};
    case Disposition::crashed:
      return msg::disposition::crashed{};
    case Disposition::no_counters:
      return msg::disposition::no_counters{};
    case Disposition::cancelled:
      return msg::disposition::cancelled{};
  }
  return {};
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
