// SPDX-License-Identifier: Apache-2.0
// Number formatting, locale-independent. Traffic and rates use powers of 1000, capacities powers of 1024; three
// significant digits by default.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

#include "kernels/messages/message.h"

namespace attnscope {

/// Transferred bytes use powers of 1000, capacities powers of 1024. share: 0.05 = 5%; percent: 5 = 5%.
enum class NumberUnit {
  nanoseconds,
  bytes,
  capacity,
  elements,
  bytes_per_second,
  flops_per_second,
  hertz,
  seconds,
  percent,
  share,
};

/// Number with a unit type; mixing units (seconds as nanoseconds) does not compile.
template <NumberUnit unit>
struct UnitValue {
  double value = 0;

  constexpr UnitValue() = default;
  template <class Number>
  requires std::is_arithmetic_v<Number>
  constexpr explicit UnitValue(Number number) : value(static_cast<double>(number)) {}
};

using Nanoseconds = UnitValue<NumberUnit::nanoseconds>;
using Bytes = UnitValue<NumberUnit::bytes>;
using Capacity = UnitValue<NumberUnit::capacity>;
using Elements = UnitValue<NumberUnit::elements>;
using BytesPerSecond = UnitValue<NumberUnit::bytes_per_second>;
using FlopsPerSecond = UnitValue<NumberUnit::flops_per_second>;
using Hertz = UnitValue<NumberUnit::hertz>;
using Seconds = UnitValue<NumberUnit::seconds>;
using Percent = UnitValue<NumberUnit::percent>;
using Share = UnitValue<NumberUnit::share>;

/// "1.24 ms", "1.07 GB", "227 KiB", "10 M", "4.80 TB/s", "989 TFLOP/s", "1980 MHz", "98.6%". Seconds: "2 h 05 min",
/// "1 min 20 s", "4 s", rounded up to whole seconds.
[[nodiscard]] std::string unit_text(double value, NumberUnit);
template <NumberUnit unit>
[[nodiscard]] std::string text(UnitValue<unit> number) {
  return unit_text(number.value, unit);
}

/// "0.0123", "4.31", "12,300": no exponent from 0.001 to 1e9, digit groups from 10,000 on, no decimals for whole
/// numbers, "–" for NaN and infinity.
[[nodiscard]] std::string number_text(double value, int significant = 3);
/// Number of significant digits (3 to 6) at which the two numbers print differently; 3 if they are equal.
[[nodiscard]] int distinguishing_digits(double low, double high);
/// Shortest text that parses back to the same double: "123456789", "0.1". Used by exports.
[[nodiscard]] std::string exact_text(double value);
/// Formats a value in a unit of the metrics table ("byte", "ns", "percent", "flop/s", ...); "1" has no suffix.
[[nodiscard]] std::string value_text(double value, std::string_view unit);
/// Formats a sequence length: "512", "4k", "1M", "1500"; k = 1024, M = 1024k.
[[nodiscard]] std::string length_text(double n);

/// Common scale of an axis or table column with values up to `largest`: value x factor is in `suffix` ("GB").
struct UnitScale {
  double factor = 1;
  std::string suffix;
};
[[nodiscard]] UnitScale unit_scale(double largest, std::string_view unit);

/// "1 point", "21 points", "21 points in 3 rounds".
[[nodiscard]] Message points_text(std::size_t points, int rounds = 1);
/// "1 run", "3 runs (1 hidden, 1 deleted)". `runs`: including hidden and deleted ones.
[[nodiscard]] Message runs_text(std::size_t runs, std::size_t hidden = 0, std::size_t deleted = 0);

}  // namespace attnscope
