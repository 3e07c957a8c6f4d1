// SPDX-License-Identifier: Apache-2.0
// Values that the GPU cannot have produced. Internal to storage/exchange.
#pragma once

#include "kernels/messages/message.h"
#include "kernels/model/device_limits.h"
#include "profiler/metrics/point.h"

namespace attnscope::exchange {

/// Returns why the point's values are impossible on the GPU: DRAM bytes below compulsory bytes minus the L2, a DRAM
/// rate above 105% of the roof, a FLOP rate above the peak. Names a unit that is off by 1,000 if that explains it.
/// Returns an empty message for possible values and for what the limits do not state.
[[nodiscard]] Message impossible_reason(const PointRecord&, const DeviceLimits&);

}  // namespace attnscope::exchange
