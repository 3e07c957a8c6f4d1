// SPDX-License-Identifier: Apache-2.0
#include "storage/measured_rates.h"

#include "kernels/model/device_rates.h"

namespace attnscope {

const StoredCeilings* newest_rates(std::span<const StoredCeilings> sets, const DeviceLimits& limits,
                                   std::string_view uuid) {
  const StoredCeilings* found = nullptr;
  for (const StoredCeilings& set : sets) {
    if (uuid.empty() ? !same_gpu(set.device_name, limits.name) : set.device_uuid != uuid) continue;
    const DeviceRates rates = device_rates(limits, set.ceilings);
    if (!rates.dram_measured && !rates.l2_measured) continue;
    if (found == nullptr || set.measured_at > found->measured_at) found = &set;
  }
  return found;
}

}  // namespace attnscope
