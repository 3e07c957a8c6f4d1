// SPDX-License-Identifier: Apache-2.0
// Number formatting, locale-independent. Traffic and rates use powers of 1000, capacities powers of 1024; three
// significant digits by default.
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

#include "kernels/messages/message.h"

namespace attnscope {

/// Number with a unit type; mixing units (seconds as nanoseconds) does not compile.
template <class Unit>
struct UnitValue {
  double value = 0;

  constexpr UnitValue() = default;
  template <class Number>
  requires std::is_arithmetic_v<Number>
  constexpr explicit UnitValue(Number number) : value(static_cast<double>(number)) {}
  auto operator<=>(const UnitValue&) const = default;
};

using Nanoseconds = UnitValue<struct NanosecondUnit>;
using Seconds = UnitValue<struct SecondUnit>;
using Bytes = UnitValue<struct ByteUnit>;         ///< transferred bytes (powers of 1000)
using Capacity = UnitValue<struct CapacityUnit>;  ///< memory sizes (powers of 1024)
using Elements = UnitValue<struct ElementUnit>;
using Flops = UnitValue<struct FlopUnit>;
using BytesPerSecond = UnitValue<struct ByteRateUnit>;
using FlopsPerSecond = UnitValue<struct FlopRateUnit>;
using Hertz = UnitValue<struct HertzUnit>;
using Share = UnitValue<struct ShareUnit>;      ///< 0.05 = 5%
using Percent = UnitValue<struct PercentUnit>;  ///< 5 = 5%

/// "1.24 ms"
[[nodiscard]] std::string text(Nanoseconds);
/// "2 h 05 min", "1 min 20 s", "4 s"; rounded up to whole seconds.
[[nodiscard]] std::string text(Seconds);
/// "1.07 GB"
[[nodiscard]] std::string text(Bytes);
/// "227 KiB"
[[nodiscard]] std::string text(Capacity);
/// "10 M"
[[nodiscard]] std::string text(Elements);
/// "275 GFLOP"
[[nodiscard]] std::string text(Flops);
/// "4.80 TB/s"
[[nodiscard]] std::string text(BytesPerSecond);
/// "989 TFLOP/s"
[[nodiscard]] std::string text(FlopsPerSecond);
/// "1980 MHz"
[[nodiscard]] std::string text(Hertz);
/// "98.6%"
[[nodiscard]] std::string text(Percent);
/// "5%" for 0.05.
[[nodiscard]] std::string text(Share);

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
