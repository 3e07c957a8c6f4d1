// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "profiler/lesson/claims.h"
#include "profiler/units/spelling.h"

namespace attnscope::analysis::lesson {

std::string format_figure(double value, Unit unit) {
  if (!std::isfinite(value)) return value > 0 ? "∞" : "−";
  switch (unit) {
    case Unit::ratio:
      return fmt::format("{:.{}f} ×", value, std::abs(value) >= 100 ? 0 : 2);
    case Unit::percent:
      return text(Percent(value));
    case Unit::bytes:
      return text(Capacity(value));
    case Unit::bytes_si:
      return text(Bytes(value));
    case Unit::nanoseconds:
      return text(Nanoseconds(value));
    case Unit::picoseconds:
      return fmt::format("{:.2f} ps", value);
    case Unit::tflops:
      return text(FlopsPerSecond(1e12 * value));
    case Unit::length:
      return fmt::format("N {:.0f}", value);
    case Unit::plain:
      return number_text(value, 4);
    case Unit::bytes_per_second:
      return text(BytesPerSecond(value));
    case Unit::flops:
      return text(FlopsPerSecond(value));
  }
  return {};
}

}  // namespace attnscope::analysis::lesson
