// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/gpu_device.h"

namespace attnscope {

Message GpuError::message() const {
  if (fix.empty()) return what;
  // Messages of the loader have no final period.
  if (english_text(what).ends_with('.')) return make_reason(what.id, "{} {}", what, fix);
  return make_reason(what.id, "{}. {}", what, fix);
}

}  // namespace attnscope
