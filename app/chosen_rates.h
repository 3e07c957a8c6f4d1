// SPDX-License-Identifier: Apache-2.0
// Selects the measured ceilings that predictions use.
#pragma once

#include <filesystem>

#include "profiler/measure/simulated_device.h"
#include "storage/run_store.h"

namespace attnscope {

/// Returns the newest ceilings of a GPU with that name in the file. Throws CommandError (usage) if there are none.
[[nodiscard]] StoredCeilings rates_of_file(const std::filesystem::path&, const DeviceLimits&);

/// Converts them for make_simulated_device().
[[nodiscard]] MeasuredCeilings measured_ceilings(const StoredCeilings&);

/// Returns a sentence that names the source of the rates: GPU, UUID and time.
[[nodiscard]] Message rates_said(const StoredCeilings&, const DeviceLimits&);

}  // namespace attnscope
