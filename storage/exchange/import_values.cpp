// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/import_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "profiler/plan/text.h"
#include "storage/bounds.h"

namespace attnscope::exchange {
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

std::optional<double> parse_amount(std::string_view text, bool decimal_comma) {
  const char group = decimal_comma ? '.' : ',';
  if (text.starts_with('+')) text.remove_prefix(1);
  const std::size_t end = std::min(text.find_first_of(decimal_comma ? ",eE" : ".eE"), text.size());
  const std::string_view whole = text.substr(0, end);
  std::string digits;
  for (std::size_t at = 0;;) {
    const std::size_t next = std::min(whole.find(group, at), whole.size());
    const std::string_view part = whole.substr(at, next - at);
    const std::size_t size = part.size() - (part.starts_with('-') ? 1 : 0);
    const bool grouped = at > 0 || next < whole.size();
    if (grouped && (at > 0 ? size != 3 : size < 1 || size > 3)) return std::nullopt;
    digits += part;
    if (next == whole.size()) break;
    at = next + 1;
  }
  digits += text.substr(end);
  if (decimal_comma) std::ranges::replace(digits, ',', '.');
  return number(digits);
}

namespace {

/// Returns the length of the number at the beginning of the text.
std::size_t number_length(std::string_view text) {
  constexpr std::string_view digits = "0123456789.,+-";
  std::size_t end = std::min(text.find_first_not_of(digits), text.size());
  const bool exponent = end > 0 && end + 1 < text.size() && (text[end] == 'e' || text[end] == 'E') &&
                        std::string_view("0123456789+-").find(text[end + 1]) != std::string_view::npos;
  if (exponent) end = std::min(text.find_first_not_of(digits, end + 1), text.size());
  return end;
}

/// Returns 1,024 for "8k", whose number must be a power of two: 10k may be 10,000.
std::optional<double> binary_factor(std::string_view suffix, double value) {
  int exponent = 0;
  if (std::frexp(value, &exponent) != 0.5) return std::nullopt;
  if (suffix == "k" || suffix == "K") return 1024;
  if (suffix == "m" || suffix == "M") return 1024 * 1024;
  return std::nullopt;
}

}  // namespace

std::optional<NumberCell> parse_cell(std::string_view text, bool decimal_comma) {
  NumberCell cell;
  const bool list =
      text.size() > 1 && ((text.front() == '[' && text.back() == ']') || (text.front() == '(' && text.back() == ')'));
  if (list) text = text.substr(1, text.size() - 2);
  bool is_deviation = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find_first_not_of(" ;", at);
    if (begin == std::string_view::npos) break;
    at = std::min(text.find_first_of(" ;", begin), text.size());
    std::string_view word = text.substr(begin, at - begin);
    if (word.ends_with(',')) word.remove_suffix(1);
    if (word == "±" || word == "+/-" || word == "+-") {
      if (std::exchange(is_deviation, true) || cell.values.size() != 1) return std::nullopt;
      continue;
    }
    const std::size_t length = number_length(word);
    if (length > 0) {
      const auto value = parse_amount(word.substr(0, length), decimal_comma);
      if (!value || cell.deviation) return std::nullopt;
      if (is_deviation) cell.deviation = value;
      if (!is_deviation) cell.values.push_back(*value);
      word.remove_prefix(length);
      if (word.empty()) continue;
      if (const auto factor = binary_factor(word, *value)) {
        cell.values.back() *= *factor;
        continue;
      }
    }
    if (word == "%" && cell.deviation && !cell.relative) {
      *cell.deviation /= 100;
      cell.relative = true;
      continue;
    }
    const auto unit = parse_unit(word);
    if (!unit || cell.values.empty() || (cell.unit && cell.unit->scale != unit->scale)) return std::nullopt;
    cell.unit = unit;
    cell.unit_text = word;
  }
  if (cell.values.empty() || (is_deviation && !cell.deviation)) return std::nullopt;
  return cell;
}

std::optional<bool> parse_flag(std::string_view text) {
  const std::string low = lower_case(text);
  if (low == "true" || low == "yes" || low == "1") return true;
  if (low == "false" || low == "no" || low == "0") return false;
  return std::nullopt;
}

bool is_missing(std::string_view text) {
  const std::string low = lower_case(text);
  constexpr std::array<std::string_view, 11> marks{"", "-", "--", "–", "—", "n/a", "na", "nan", "null", "none", "<na>"};
  return std::ranges::find(marks, low) != marks.end();
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

const Metric* metric_of(std::string_view name) {
  if (name.empty()) return nullptr;
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

namespace {

/// Returns the position of the bracket that the last character closes; npos if there is none.
std::size_t opening(std::string_view text, char open, char close) {
  int depth = 0;
  for (std::size_t i = text.size(); i > 0; --i) {
    if (text[i - 1] == close) ++depth;
    if (text[i - 1] == open && --depth == 0) return i - 1;
  }
  return std::string_view::npos;
}

/// Returns the position after the last `separator` outside of brackets; 0 if there is none.
std::size_t after_last(std::string_view text, std::string_view separator) {
  int depth = 0;
  for (std::size_t i = text.size(); i > 0; --i) {
    const char c = text[i - 1];
    if (c == '>' || c == ')' || c == '}' || c == ']') ++depth;
    if (c == '<' || c == '(' || c == '{' || c == '[') --depth;
    if (depth == 0 && text.substr(i - 1).starts_with(separator)) return i - 1 + separator.size();
  }
  return 0;
}

}  // namespace

std::string short_kernel_name(std::string_view text) {
  std::string_view name = text;
  const auto trim = [&] {
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
  };
  trim();
  // Removes parameters, then template arguments. If brackets do not match, the text is kept.
  for (const auto& [open, close] : {std::pair{'(', ')'}, std::pair{'<', '>'}}) {
    if (name.empty() || name.back() != close) continue;
    const std::size_t at = opening(name, open, close);
    // Keep "(anonymous namespace)" and "<unnamed>": they are part of a scope.
    if (at == std::string_view::npos || at == 0 || name[at - 1] == ':' || name[at - 1] == ' ') continue;
    name = name.substr(0, at);
    trim();
  }
  name.remove_prefix(after_last(name, "::"));
  name.remove_prefix(after_last(name, " "));
  if (name.empty()) name = text;
  name = name.substr(0, max_name_length);
  return std::string(name.substr(0, first_invalid_utf8(name)));  // drops an incomplete character at the end
}

}  // namespace attnscope::exchange
