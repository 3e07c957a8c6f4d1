// SPDX-License-Identifier: Apache-2.0
#include "profiler/metrics/point.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "profiler/plan/text.h"

namespace attnscope {
namespace {

template <class E>
struct Word {
  E value;
  std::string_view text;
};

constexpr std::array provenance_words{
    Word<Provenance>{Provenance::measured, "measured"},         Word<Provenance>{Provenance::derived, "derived"},
    Word<Provenance>{Provenance::modelled, "modelled"},         Word<Provenance>{Provenance::simulated, "simulated"},
    Word<Provenance>{Provenance::extrapolated, "extrapolated"}, Word<Provenance>{Provenance::imported, "imported"},
};
constexpr std::array disposition_words{
    Word<Disposition>{Disposition::ok, "ok"},
    Word<Disposition>{Disposition::infeasible, "infeasible"},
    Word<Disposition>{Disposition::out_of_memory, "out-of-memory"},
    Word<Disposition>{Disposition::incorrect, "incorrect"},
    Word<Disposition>{Disposition::compile_error, "compile-error"},
    Word<Disposition>{Disposition::timeout, "timeout"},
    Word<Disposition>{Disposition::crashed, "crashed"},
    Word<Disposition>{Disposition::no_counters, "no-counters"},
    Word<Disposition>{Disposition::cancelled, "cancelled"},
};
template <class E, std::size_t n>
std::string_view word_of(const std::array<Word<E>, n>& words, E value) {
  for (const auto& word : words) {
    if (word.value == value) return word.text;
  }
  return "?";
}

template <class E, std::size_t n>
Result<E, std::string> value_of(const std::array<Word<E>, n>& words, std::string_view what, std::string_view text) {
  std::vector<std::string> accepted;
  for (const auto& word : words) {
    if (word.text == text) return word.value;
    accepted.emplace_back(word.text);
  }
  return Failure{fmt::format("unknown {} '{}': {} expected", what, text, join_or(accepted))};
}

// nvmlClocksEventReason* of nvml.h; "GPU idle" (bit 0) slows nothing that runs.
constexpr std::array<std::pair<std::uint64_t, std::string_view>, 8> throttle_words{{
    {0x002, "application clocks"},
    {0x004, "power cap"},
    {0x008, "hardware slowdown"},
    {0x010, "sync boost"},
    {0x020, "thermal slowdown"},
    {0x040, "hardware thermal slowdown"},
    {0x080, "power brake"},
    {0x100, "display clocks"},
}};

// Quantile of sorted values by linear interpolation between order statistics (type 7 of Hyndman and Fan 1996).
double quantile(std::span<const double> sorted, double p) {
  const double position = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(position));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double fraction = position - std::floor(position);
  return sorted[below] + (fraction * (sorted[above] - sorted[below]));
}

}  // namespace

std::string_view to_string(Provenance value) {
  return word_of(provenance_words, value);
}
std::string_view title(Provenance value) {
  return value == Provenance::extrapolated ? "simulated, extrapolated" : to_string(value);
}
Result<Provenance, std::string> parse_provenance(std::string_view text) {
  return value_of(provenance_words, "provenance", text);
}

std::string_view to_string(Disposition value) {
  return word_of(disposition_words, value);
}
Result<Disposition, std::string> parse_disposition(std::string_view text) {
  return value_of(disposition_words, "disposition", text);
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

std::string describe_throttle_reasons(std::uint64_t reasons) {
  std::string text;
  for (const auto& [bit, word] : throttle_words) {
    if ((reasons & bit) == 0) continue;
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
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
