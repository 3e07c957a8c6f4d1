// SPDX-License-Identifier: Apache-2.0
// How quantities read, everywhere: traffic and rates in powers of 1000, capacities in powers of 1024, three significant
// digits, the same bytes on every machine and in every locale.
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

#include "kernels/messages/message.h"

namespace attnscope {

/// Numbers that know their unit: seconds where nanoseconds are wanted do not compile.
template <class Unit>
struct Amount {
  double value = 0;

  constexpr Amount() = default;
  template <class Number>
  requires std::is_arithmetic_v<Number>
  constexpr explicit Amount(Number number) : value(static_cast<double>(number)) {}
  auto operator<=>(const Amount&) const = default;
};

using Nanoseconds = Amount<struct NanosecondUnit>;
using Seconds = Amount<struct SecondUnit>;
using Bytes = Amount<struct ByteUnit>;         ///< that move
using Capacity = Amount<struct CapacityUnit>;  ///< bytes that there is room for
using Elements = Amount<struct ElementUnit>;
using Flops = Amount<struct FlopUnit>;
using BytesPerSecond = Amount<struct ByteRateUnit>;
using FlopsPerSecond = Amount<struct FlopRateUnit>;
using Hertz = Amount<struct HertzUnit>;
using Share = Amount<struct ShareUnit>;      ///< 0.05: a twentieth
using Percent = Amount<struct PercentUnit>;  ///< 5: a twentieth

/// "1.24 ms"
[[nodiscard]] std::string text(Nanoseconds);
/// What is waited for: "2 h 05 min", "1 min 20 s", "4 s".
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
/// As percent: of 0.05 "5%".
[[nodiscard]] std::string text(Share);

/// "0.0123", "4.31", "12,300": no exponent between 0.001 and a billion, groups of digits from 10,000 on; whole numbers
/// have no decimals, and what is no number is "–".
[[nodiscard]] std::string number_text(double value, int significant = 3);
/// As many significant digits, from 3 to 6, as tell two numbers apart; 3 of equal ones.
[[nodiscard]] int digits_between(double low, double high);
/// As many digits as it takes to read the very value back, as exports have it: "123456789", "0.1".
[[nodiscard]] std::string exact_text(double value);
/// A value in a unit of the metrics table ("byte", "ns", "percent", "flop/s", ...); of "1" the number alone.
[[nodiscard]] std::string value_text(double value, std::string_view unit);
/// "512", "4k", "1M", "1500": a sequence length, k = 1024, M = 1024k.
[[nodiscard]] std::string length_text(double n);

/// One factor and unit for a whole axis or table: value x factor reads in `suffix` ("GB") up to `largest`.
struct UnitScale {
  double factor = 1;
  std::string suffix;
};
[[nodiscard]] UnitScale unit_scale(double largest, std::string_view unit);

/// "1 point", "21 points", "21 points in 3 rounds".
[[nodiscard]] Message counted_points(std::size_t points, int rounds = 1);
/// "1 run", "3 runs".
[[nodiscard]] Message counted_runs(std::size_t runs);

}  // namespace attnscope
