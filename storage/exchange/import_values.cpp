// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/import_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "storage/bounds.h"

namespace attnscope::exchange {
namespace {

struct Unit {
  std::string_view base;
  double scale = 1;
};

constexpr std::array<std::pair<std::string_view, Unit>, 24> units{{
    {"byte", {"byte", 1}},    {"Kbyte", {"byte", 1e3}},  {"Mbyte", {"byte", 1e6}},
    {"Gbyte", {"byte", 1e9}}, {"Tbyte", {"byte", 1e12}}, {"nsecond", {"ns", 1}},
    {"usecond", {"ns", 1e3}}, {"msecond", {"ns", 1e6}},  {"second", {"ns", 1e9}},
    {"ns", {"ns", 1}},        {"us", {"ns", 1e3}},       {"ms", {"ns", 1e6}},
    {"s", {"ns", 1e9}},       {"%", {"percent", 1}},     {"percent", {"percent", 1}},
    {"cycle", {"cycle", 1}},  {"hz", {"hertz", 1}},      {"Khz", {"hertz", 1e3}},
    {"Mhz", {"hertz", 1e6}},  {"Ghz", {"hertz", 1e9}},   {"register", {"register", 1}},
    {"µs", {"ns", 1e3}},      {"μs", {"ns", 1e3}},       {"", {"1", 1}},
}};

}  // namespace

std::string FileLocation::text() const {
  return fmt::format(fmt::runtime(whole), number) + fmt::format(fmt::runtime(part), name);
}

void fail(Message why) {
  throw ImportError(std::move(why));
}

void fail(const FileLocation& place, Message why) {
  throw ImportError(make_message("{}: {}", place.text(), why));
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> checked(const FileLocation& place, std::optional<double> value, const Metric* metric) {
  if (!value || std::isnan(*value)) return std::nullopt;
  if (std::isinf(*value)) fail(place, "the value is infinite");
  const bool may_be_negative = metric != nullptr && metric->may_be_negative;
  if (*value < 0 && !may_be_negative) fail(place, make_message("{} is below zero", *value));
  return value;
}

void require_plausible(const FileLocation& place, std::string_view metric, double value) {
  const Metric* row = find_metric(metric);
  const bool may_be_zero = metric == metric_key::gpu_combine_ns || metric == metric_key::gpu_exposed_ns;
  if (row != nullptr && row->unit == "ns" && std::abs(value) < min_time_ns && !(may_be_zero && value == 0))
    fail(place, make_message("a time of {} ns is invalid (minimum: {}; leave the field empty if nothing was measured)",
                             value, min_time_ns));
  if (metric != metric_key::achieved_occupancy_pct && metric != metric_key::theoretical_occupancy_pct) return;
  constexpr double most = 100.05;  // allows for rounding to one decimal
  if (value > most) fail(place, make_message("an occupancy of {}% is impossible", value));
}

std::pair<std::string, double> base_unit(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view above = text.substr(0, slash);
  const std::string_view below = slash == std::string_view::npos ? std::string_view() : text.substr(slash + 1);
  const auto find = [](std::string_view word) {
    return std::ranges::find(units, word, &std::pair<std::string_view, Unit>::first);
  };
  const auto* unit = find(above);
  if (unit == units.end()) return {std::string(text), 1};
  if (below.empty() || below == "block" || below == "thread")
    return {std::string(unit->second.base), unit->second.scale};
  const auto* time = find(below);
  if (time == units.end() || time->second.base != "ns" || unit->second.base == "ns") return {std::string(text), 1};
  return {fmt::format("{}/s", unit->second.base), unit->second.scale / (time->second.scale / 1e9)};
}

const Metric* metric_of(std::string_view name) {
  for (const Metric& metric : metrics_table()) {
    const bool counter = !metric.counter.empty() && (metric.counter == name || metric.counter_cc12 == name);
    if (metric.key == name || counter) return &metric;
  }
  if (name == "dram__bytes.sum") return find_metric(metric_key::dram_bytes);
  // Launch attributes of ncu that are stored as metrics from the driver.
  if (name == "launch__registers_per_thread") return find_metric(metric_key::registers);
  if (name == "sm__maximum_warps_per_active_cycle_pct") return find_metric(metric_key::theoretical_occupancy_pct);
  return nullptr;
}

bool is_counter_name(std::string_view name) {
  return name.find("__") != std::string_view::npos && name.find_first_of(" [(") == std::string_view::npos;
}

void require_valid_name(const FileLocation& place, std::string_view what, std::string_view text) {
  const bool control = std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7F; });
  if (control) fail(place, make_message("the name of the {} contains control characters", what));
  if (text.size() > max_name_length) {
    fail(place, make_message("the name of the {} has {} bytes (maximum: {})", what, text.size(), max_name_length));
  }
}

MetricValue imported_value(const FileLocation& place, const std::string& name, double value, const std::string& unit) {
  const Metric* metric = metric_of(name);
  const auto [base, scale] = base_unit(unit);
  const bool in_base_unit = metric != nullptr && unit == metric->unit;
  const auto number = checked(place, value * (in_base_unit ? 1 : scale), metric);
  if (!number) fail(place, "the value is not a number");
  if (metric == nullptr) return {name, *number, unit.empty() ? "1" : base, Provenance::imported};
  if (!unit.empty() && !in_base_unit && base != metric->unit) {
    fail(place, make_message("the unit is '{}'; expected {}", unit, metric->unit));
  }
  require_plausible(place, metric->key, *number);
  return {std::string(metric->key), *number, std::string(metric->unit), Provenance::imported};
}

}  // namespace attnscope::exchange
