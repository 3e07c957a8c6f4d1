// SPDX-License-Identifier: Apache-2.0
// Which measured ceilings times are predicted with.
#pragma once

#include <span>
#include <string_view>

#include "kernels/model/device_limits.h"
#include "storage/run_store.h"

namespace attnscope {

/// Of the sets that hold a rate which times are predicted with (device_rates()) the newest of that GPU, else nullptr.
/// Empty `uuid`: of any GPU of that name.
[[nodiscard]] const StoredCeilings* newest_rates(std::span<const StoredCeilings>, const DeviceLimits&,
                                                 std::string_view uuid = {});

}  // namespace attnscope
