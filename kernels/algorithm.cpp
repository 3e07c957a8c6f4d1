// SPDX-License-Identifier: Apache-2.0
#include "kernels/algorithm.h"

#include <algorithm>

namespace attnscope {

std::string_view to_string(Refusal::Cause cause) {
  switch (cause) {
    case Refusal::Cause::shape:
      return "shape";
    case Refusal::Cause::shared_memory:
      return "shared memory";
    case Refusal::Cause::registers:
      return "registers";
    case Refusal::Cause::threads:
      return "threads";
    case Refusal::Cause::architecture:
      return "architecture";
  }
  return "?";
}

bool Facts::in(Group group) const {
  return std::ranges::find(groups, group) != groups.end();
}

std::int64_t AttentionPlan::buffer_bytes() const {
  std::int64_t sum = 0;
  for (const BufferSpec& buffer : buffers) sum += buffer.bytes;
  return sum;
}

Traffic AttentionPlan::traffic() const {
  Traffic sum;
  for (const KernelLaunch& launch : launches) {
    if (!launch.setup) sum += launch.traffic;
  }
  return sum;
}

}  // namespace attnscope
