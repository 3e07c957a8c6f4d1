// SPDX-License-Identifier: Apache-2.0
// Numbers for people: traffic and rates in SI units, capacities in IEC units (profiler/plan/text.h).
#pragma once

#include <cstddef>
#include <string>

#include "kernels/model/message.h"

namespace attnscope {

/// "1.53 ms", "870 ns"
[[nodiscard]] std::string format_time(double nanoseconds);
/// "2.15 GB", "96 B"
[[nodiscard]] std::string format_traffic(double bytes);
/// "2 h 05 min", "1 min 20 s", "4 s"
[[nodiscard]] std::string format_duration(double seconds);

/// "1 point", "21 points".
[[nodiscard]] Message counted_points(std::size_t points, int rounds = 1);
/// "1 run", "3 runs".
[[nodiscard]] Message counted_runs(std::size_t runs);

}  // namespace attnscope
