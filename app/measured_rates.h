// SPDX-License-Identifier: Apache-2.0
// Selects the measured ceilings that predictions use.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "app/devices.h"
#include "profiler/measure/simulated_device.h"
#include "storage/run_store.h"

namespace attnscope {

/// Returns the newest ceilings of a GPU with that name in the file. Throws CommandError (usage) if there are none.
[[nodiscard]] StoredCeilings load_rates(const std::filesystem::path&, const DeviceLimits&);

/// Converts measured ceilings to the form that make_simulated_device() takes.
[[nodiscard]] MeasuredCeilings measured_ceilings(const StoredCeilings&);

/// Returns a sentence that names the source of the rates: GPU, UUID and time.
[[nodiscard]] Message describe_rates(const StoredCeilings&, const DeviceLimits&);

/// Replaces a simulated device by one that uses the measured rates in the file `ceilings`. Throws CommandError (usage)
/// if the device is not simulated or the file has no rates of that GPU.
void predict_with_ceilings(OpenedDevice&, std::string_view word, const std::string& ceilings);

}  // namespace attnscope
