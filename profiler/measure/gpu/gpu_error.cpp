// SPDX-License-Identifier: Apache-2.0
#include "messages/gpu.h"
#include "profiler/measure/gpu/gpu_device.h"

namespace attnscope {

Message GpuError::message() const {
  if (fix.empty()) return what;
  // The loader's own words end without a full stop.
  if (english_text(what).ends_with('.')) return say::gpu::with_fix{.what = what, .fix = fix};
  return say::gpu::phrase_with_fix{.what = what, .fix = fix};
}

}  // namespace attnscope
