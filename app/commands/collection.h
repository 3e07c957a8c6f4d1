// SPDX-License-Identifier: Apache-2.0
// One sweep: from an open device and store to the exit code.
#pragma once

#include <cstdint>
#include <optional>

#include "app/commands/collect.h"

namespace attnscope {

/// The newest run of this plan on this device.
[[nodiscard]] std::optional<RunSummary> newest_run(const RunStore& store, const RunHeader& header);

/// `max_memory`: bytes, of the largest point.
ExitCode run_collection(CollectOptions& options, const SweepPlan& plan, std::int64_t max_memory, Device& device,
                        RunStore store, const RunHeader& header, Reporter& reporter, CancelToken& cancel);

}  // namespace attnscope
