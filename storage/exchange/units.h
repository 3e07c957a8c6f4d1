// SPDX-License-Identifier: Apache-2.0
// Units in imported files. Internal to storage/exchange.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace attnscope::exchange {

struct Unit {
  std::string base;  ///< "ns", "byte", "byte/s", "hertz", "Tflop/s", "percent", or a counted noun such as "sector"
  double scale = 1;  ///< factor to the base unit
};

/// Parses units of ncu ("Mbyte/second", "Minst"), of CUDA and Python programs ("µs", "msec", "MiB", "TFLOPs/s") in any
/// case. A prefix K, M, G, T or P is 1,000; Ki, Mi, ... is 1,024. Per block or thread is ignored. Nullopt if unknown.
[[nodiscard]] std::optional<Unit> parse_unit(std::string_view text);

/// Returns the base unit and the factor to it; an unknown unit is returned unchanged. An empty text is "1".
[[nodiscard]] std::pair<std::string, double> base_unit(std::string_view text);

}  // namespace attnscope::exchange
