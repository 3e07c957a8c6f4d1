// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "profiler/analysis/lesson/claims.h"

namespace attnscope::analysis::lesson {
namespace {

/// "116,224": whole, in groups of three digits.
std::string in_groups(double value) {
  std::string digits = fmt::format("{:.0f}", value);
  const std::size_t first = digits.front() == '-' ? 1 : 0;
  for (std::size_t place = digits.size(); place > first + 3;) {
    place -= 3;
    digits.insert(place, ",");
  }
  return digits;
}

}  // namespace

std::string format_figure(double value, Unit unit) {
  const auto scaled = [&](double step, const std::array<const char*, 6>& names) {
    std::size_t name = 0;
    double shown = value;
    while (std::abs(shown) >= step && name + 1 < names.size()) {
      shown /= step;
      ++name;
    }
    return fmt::format("{:.{}f} {}", shown,
                       std::abs(shown) >= 100 || shown == std::floor(shown) ? 0
                       : std::abs(shown) >= 10                              ? 1
                                                                            : 2,
                       names.at(name));
  };
  if (!std::isfinite(value)) return value > 0 ? "∞" : "−";
  switch (unit) {
    case Unit::ratio:
      return fmt::format("{:.{}f} ×", value, std::abs(value) >= 100 ? 0 : 2);
    case Unit::percent:
      return fmt::format("{:.{}f}%", value, std::abs(value) >= 1 ? 1 : 3);
    case Unit::bytes:
      return scaled(1024, {"B", "KiB", "MiB", "GiB", "TiB", "PiB"});
    case Unit::bytes_si:
      return scaled(1000, {"B", "kB", "MB", "GB", "TB", "PB"});
    case Unit::nanoseconds:
      return scaled(1000, {"ns", "µs", "ms", "s", "ks", "Ms"});
    case Unit::picoseconds:
      return fmt::format("{:.2f} ps", value);
    case Unit::tflops:
      return fmt::format("{:.0f} TFLOP/s", value);
    case Unit::length:
      return fmt::format("N {:.0f}", value);
    case Unit::plain:
      return std::abs(value) >= 1000 && std::abs(value) < 1e15 ? in_groups(value) : fmt::format("{:.4g}", value);
    case Unit::bytes_per_second:
      return scaled(1000, {"B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s"});
    case Unit::flops:
      return scaled(1000, {"FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s"});
  }
  return {};
}

}  // namespace attnscope::analysis::lesson
