// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/device.h"

#include "profiler/plan/sweep.h"

namespace attnscope {

Result<CeilingSet, CeilingFailure> Device::ceilings(const CeilingOptions&, const CancelToken&, const CeilingProgress&) {
  const DeviceLimits& limits = info().limits;
  return CeilingSet{datasheet_ceilings(limits),
                    {make_message("{} was not measured; the values are from its datasheet.", limits.name)}};
}

bool fits_in_session(std::span<const PointSpec> waiting, const PointSpec& next, const DeviceLimits& limits,
                     const Registry& registry) {
  if (waiting.size() >= max_session_points) return false;
  std::int64_t bytes = required_memory_bytes(next, limits, registry);
  for (const PointSpec& spec : waiting) bytes += required_memory_bytes(spec, limits, registry);
  return bytes <= limits.dram_bytes / 4;
}

}  // namespace attnscope
