// SPDX-License-Identifier: Apache-2.0
// One sweep: from an open device and store to the exit code.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "app/commands/collect.h"
#include "app/commands/recording.h"

namespace attnscope {

/// `max_memory`: bytes, of the largest point.
ExitCode run_collection(CollectOptions& options, Collected collected, std::int64_t max_memory, Device& device,
                        RunStore store, Reporter& reporter, CancelToken& cancel);

/// The table that was asked for, of these runs.
void print_result(const RunStore& store, const std::vector<std::int64_t>& runs, Output& out);

/// How often progress is said, and since when.
class ProgressPace {
 public:
  /// Whether it is time; the last one always is.
  [[nodiscard]] bool due(bool last);
  [[nodiscard]] double elapsed_s() const;

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_{};
};

/// Whether the point was run to its end.
[[nodiscard]] bool has_times(const PointRecord&);

}  // namespace attnscope
