// SPDX-License-Identifier: Apache-2.0
// Selects the measured ceilings that predictions use.
#pragma once

#include <filesystem>

#include "profiler/measure/simulated_device.h"
#include "storage/run_store.h"

namespace attnscope {

/// Returns the newest ceilings of a GPU with that name in the file. Throws CommandError (usage) if there are none.
[[nodiscard]] StoredCeilings load_rates(const std::filesystem::path&, const DeviceLimits&);

/// Converts measured ceilings to the form that make_simulated_device() takes.
[[nodiscard]] MeasuredCeilings measured_ceilings(const StoredCeilings&);

/// Returns a sentence that names the source of the rates: GPU, UUID and time.
[[nodiscard]] Message describe_rates(const StoredCeilings&, const DeviceLimits&);

}  // namespace attnscope
