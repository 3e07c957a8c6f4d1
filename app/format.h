// SPDX-License-Identifier: Apache-2.0
// Numbers for people: traffic and rates in SI units, capacities in IEC units (profiler/plan/text.h).
#pragma once

#include <string>

namespace attnscope {

/// "1.53 ms", "870 ns"
[[nodiscard]] std::string format_time(double nanoseconds);
/// "2.15 GB", "96 B"
[[nodiscard]] std::string format_traffic(double bytes);
/// "2 h 05 min", "1 min 20 s", "4 s"
[[nodiscard]] std::string format_duration(double seconds);

}  // namespace attnscope
