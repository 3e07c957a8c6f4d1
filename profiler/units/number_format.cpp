// SPDX-License-Identifier: Apache-2.0
#include "profiler/units/number_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "messages/common.h"
#include "messages/terminal.h"

namespace attnscope {
namespace {

struct Step {
  double size;
  std::string_view suffix;
};

constexpr std::array<Step, 6> si_bytes{{{1e15, "PB"}, {1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}}};
constexpr std::array<Step, 7> iec_bytes{
    {{0x1p60, "EiB"}, {0x1p50, "PiB"}, {0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"}, {0x1p10, "KiB"}, {1, "B"}}};
constexpr std::array<Step, 4> durations{{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}}};
constexpr std::array<Step, 6> elements{{{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}}};
constexpr std::array<Step, 6> flops{
    {{1e15, "PFLOP"}, {1e12, "TFLOP"}, {1e9, "GFLOP"}, {1e6, "MFLOP"}, {1e3, "kFLOP"}, {1, "FLOP"}}};
constexpr std::array<Step, 5> flop_rates{
    {{1e15, "PFLOP/s"}, {1e12, "TFLOP/s"}, {1e9, "GFLOP/s"}, {1e6, "MFLOP/s"}, {1, "FLOP/s"}}};
constexpr std::array<Step, 3> operation_rates{{{1e12, "Top/s"}, {1e9, "Gop/s"}, {1, "op/s"}}};
constexpr std::array<Step, 5> byte_rates{{{1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "kB/s"}, {1, "B/s"}}};
// MHz at most: three digits of GHz cannot distinguish the clock steps of a GPU.
constexpr std::array<Step, 3> frequencies{{{1e6, "MHz"}, {1e3, "kHz"}, {1, "Hz"}}};

std::span<const Step> unit_steps(std::string_view unit) {
  if (unit == "byte") return si_bytes;
  if (unit == "capacity") return iec_bytes;
  if (unit == "flop") return flops;
  if (unit == "ns") return durations;
  if (unit == "flop/s") return flop_rates;
  if (unit == "op/s") return operation_rates;
  if (unit == "byte/s") return byte_rates;
  if (unit == "hertz") return frequencies;
  return {};
}

std::string with_suffix(std::string number, std::string_view suffix) {
  if (suffix.empty()) return number;
  return number.append(" ").append(suffix);
}

std::string scaled(double value, std::span<const Step> steps) {
  // 0.9995 rounds to "1.00" of this step.
  const auto step = std::ranges::find_if(
      steps, [&](const Step& each) { return std::abs(value) >= 0.9995 * each.size || each.size == 1; });
  return with_suffix(number_text(value / step->size), step->suffix);
}

std::string unit_suffix(std::string_view unit, double value) {
  if (unit == "1") return {};
  if (unit == "Tflop/s") return "TFLOP/s";
  if (unit == "flop/byte") return "FLOP/byte";
  if (unit == "celsius") return "°C";
  if (unit == "watt") return "W";
  if (unit == "cycle") return text(value == 1 ? Message(msg::common::one_cycle{}) : msg::common::cycles{});
  if (unit == "register") return text(value == 1 ? Message(msg::common::one_register{}) : msg::common::registers{});
  return std::string(unit);
}

std::string seconds_text(double value) {
  if (!(std::abs(value) < 1e15)) return number_text(value) + " s";
  const auto whole = static_cast<std::int64_t>(std::ceil(value));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

/// Inserts a comma every three digits if there are five or more before the decimal point.
std::string group_thousands(std::string digits) {
  const std::size_t first = digits.front() == '-' ? 1 : 0;
  std::size_t place = std::min(digits.find('.'), digits.size());
  if (place < first + 5) return digits;
  while (place > first + 3) {
    place -= 3;
    digits.insert(place, ",");
  }
  return digits;
}

}  // namespace

std::string unit_text(double value, NumberUnit unit) {
  // In the order of NumberUnit.
  static constexpr std::array<std::span<const Step>, 7> steps{durations,  si_bytes,   iec_bytes,  elements,
                                                              byte_rates, flop_rates, frequencies};
  if (unit == NumberUnit::seconds) return seconds_text(value);
  if (unit == NumberUnit::percent) return number_text(value) + "%";
  if (unit == NumberUnit::share) return number_text(100 * value) + "%";
  return scaled(value, steps.at(static_cast<std::size_t>(unit)));
}

std::string number_text(double value, int significant) {
  if (value == 0) return "0";
  if (!std::isfinite(value)) return "–";
  const double magnitude = std::abs(value);
  if (magnitude < 1e-3 || magnitude >= 1e9) return fmt::format("{:.{}g}", value, significant);
  const auto digits_before_point = [](double size) { return static_cast<int>(std::floor(std::log10(size))) + 1; };
  // 0.99999 has no digit before its decimal point but prints as 1.00.
  const double grain = std::pow(10, digits_before_point(magnitude) - significant);
  int decimals = std::max(0, significant - digits_before_point(std::round(magnitude / grain) * grain));
  if (std::abs(value - std::round(value)) < 1e-9 * magnitude) decimals = 0;
  return group_thousands(fmt::format("{:.{}f}", value, decimals));
}

int distinguishing_digits(double low, double high) {
  int digits = 3;
  while (low != high && digits < 6 && number_text(low, digits) == number_text(high, digits)) ++digits;
  return digits;
}

std::string exact_text(double value) {
  if (value == std::trunc(value) && std::abs(value) < 1e15) return fmt::format("{}", static_cast<std::int64_t>(value));
  return fmt::format("{}", value);
}

std::string value_text(double value, std::string_view unit) {
  if (const auto steps = unit_steps(unit); !steps.empty()) return scaled(value, steps);
  if (unit == "percent") return text(Percent(value));
  const int digits = unit == "cycle" || unit == "register" ? 12 : 3;
  return with_suffix(number_text(value, digits), unit_suffix(unit, value));
}

std::string length_text(double n) {
  const auto whole = [](double x) { return x >= 1 && std::abs(x - std::round(x)) < 1e-9; };
  const double k = n / 1024;
  if (whole(k / 1024)) return fmt::format("{}M", std::llround(k / 1024));
  if (whole(k)) return fmt::format("{}k", std::llround(k));
  return fmt::format("{}", std::llround(n));
}

UnitScale unit_scale(double largest, std::string_view unit) {
  if (unit == "percent") return {1, "%"};
  const auto steps = unit_steps(unit);
  if (steps.empty()) return {1, unit_suffix(unit, 2)};
  const auto step =
      std::ranges::find_if(steps, [&](const Step& each) { return std::abs(largest) >= each.size || each.size == 1; });
  return {1 / step->size, std::string(step->suffix)};
}

Message points_text(std::size_t points, int rounds) {
  Message words = msg::common::one_point{};
  if (points != 1) words = msg::common::points{.points = points};
  if (rounds > 1) words = msg::common::points_in_rounds{.points = words, .rounds = rounds};
  return words;
}

Message runs_text(std::size_t runs, std::size_t hidden, std::size_t deleted) {
  Message words = msg::terminal::one_run{};
  if (runs != 1) words = msg::terminal::runs{.runs = runs};
  if (hidden > 0 && deleted > 0) return make_message("{} ({} hidden, {} deleted)", words, hidden, deleted);
  if (hidden > 0) return make_message("{} ({} hidden)", words, hidden);
  if (deleted > 0) return make_message("{} ({} deleted)", words, deleted);
  return words;
}

}  // namespace attnscope
