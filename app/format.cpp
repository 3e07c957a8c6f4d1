// SPDX-License-Identifier: Apache-2.0
#include "app/format.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "messages/common.h"
#include "messages/terminal.h"

namespace attnscope {
namespace {

/// Three significant digits with the largest of the units, each 1000 times the one before, that leaves 1 or more.
template <std::size_t count>
std::string with_unit(double value, const std::array<std::string_view, count>& units) {
  std::size_t unit = 0;
  while (unit + 1 < count && std::abs(value) >= 999.5) {
    value /= 1000;
    ++unit;
  }
  const int decimals = value == std::trunc(value) && unit == 0 ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, decimals, units.at(unit));
}

}  // namespace

std::string format_time(double nanoseconds) {
  return with_unit<4>(nanoseconds, {"ns", "us", "ms", "s"});
}

std::string format_traffic(double bytes) {
  return with_unit<6>(bytes, {"B", "kB", "MB", "GB", "TB", "PB"});
}

std::string format_duration(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

Message counted_points(std::size_t points, int rounds) {
  Message words = say::common::one_point{};
  if (points != 1) words = say::common::points{.points = points};
  if (rounds > 1) words = say::common::points_in_rounds{.points = words, .rounds = rounds};
  return words;
}

Message counted_runs(std::size_t runs) {
  if (runs == 1) return say::terminal::one_run{};
  return say::terminal::runs{.runs = runs};
}

}  // namespace attnscope
