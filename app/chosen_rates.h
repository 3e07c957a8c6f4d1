// SPDX-License-Identifier: Apache-2.0
// Which measured ceilings of a file times are predicted with.
#pragma once

#include <filesystem>

#include "profiler/measure/simulated_device.h"
#include "storage/run_store.h"

namespace attnscope {

/// The file's, of whichever GPU of that name. Throws CommandError (usage) where it has none.
[[nodiscard]] StoredCeilings rates_of_file(const std::filesystem::path&, const DeviceLimits&);

/// As a simulated device takes them.
[[nodiscard]] MeasuredCeilings measured_ceilings(const StoredCeilings&);

/// "Times with the rates measured of ...": which, of which GPU and when.
[[nodiscard]] Message rates_said(const StoredCeilings&, const DeviceLimits&);

}  // namespace attnscope
