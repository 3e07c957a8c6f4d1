// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

namespace attnscope::report {
namespace {

constexpr std::array<std::string_view, 6> byte_units{"B", "kB", "MB", "GB", "TB", "PB"};
constexpr std::array<std::string_view, 4> time_units{"ns", "µs", "ms", "s"};

std::string scaled(double value, std::span<const std::string_view> units) {
  std::size_t unit = 0;
  while (unit + 1 < units.size() && std::abs(value) >= 999.5) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{} {}", three_digits(value), units[unit]);
}

}  // namespace

std::string three_digits(double value) {
  return some_digits(value, 3);
}

std::string some_digits(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return value == 0 ? "0" : fmt::format("{}", value);
  const int before = static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
  if (before > digits) return fmt::format("{:.0f}", value);
  const double scale = std::pow(10.0, digits - before);
  // What rounding carries into one more digit has one decimal less: 9.996 is 10.0.
  const bool carried = std::round(std::abs(value) * scale) >= std::pow(10.0, digits);
  return fmt::format("{:.{}f}", value, std::max(0, carried ? digits - 1 - before : digits - before));
}

int digits_between(double low, double high) {
  if (low == high) return 3;
  int digits = 3;
  while (digits < 6 && some_digits(low, digits) == some_digits(high, digits)) ++digits;
  return digits;
}

std::string exact(double value) {
  if (value == std::trunc(value) && std::abs(value) < 1e15) return fmt::format("{}", static_cast<std::int64_t>(value));
  return fmt::format("{}", value);
}

std::string with_unit(double value, std::string_view unit) {
  if (unit == "byte") return scaled(value, byte_units);
  if (unit == "ns") return scaled(value, time_units);
  if (unit == "1") return three_digits(value);
  return fmt::format("{} {}", three_digits(value), unit);
}

std::string length_text(double n) {
  if (n >= 1024 && std::fmod(n, 1024) == 0) return fmt::format("{:.0f}k", n / 1024);
  return exact(n);
}

std::string coordinate(double value) {
  const double rounded = std::round(value * 100) / 100;
  return fmt::format("{}", rounded == 0 ? 0.0 : rounded);
}

}  // namespace attnscope::report
