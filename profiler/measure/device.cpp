// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/device.h"

#include "messages/ceiling.h"

namespace attnscope {

Result<CeilingSet, CeilingFailure> Device::ceilings(const CeilingOptions&, const CancelToken&, const CeilingProgress&) {
  const DeviceLimits& limits = info().limits;
  return CeilingSet{datasheet_ceilings(limits), {say::ceiling::not_measured{.device = limits.name}}};
}

}  // namespace attnscope
