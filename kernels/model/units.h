// SPDX-License-Identifier: Apache-2.0
// Numbers that know their unit: seconds where nanoseconds are wanted do not compile. How they read is said by
// profiler/units.
#pragma once

#include <compare>
#include <type_traits>

namespace attnscope {

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

}  // namespace attnscope
