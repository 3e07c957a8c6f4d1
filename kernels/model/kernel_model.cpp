// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/kernel_model.h"

#include <algorithm>

namespace attnscope {

std::uint8_t part_index(std::span<const OnChipPart> parts, std::string_view name) {
  const auto found = std::ranges::find(parts, name, &OnChipPart::name);
  return found == parts.end() ? no_part : static_cast<std::uint8_t>(found - parts.begin());
}

Traffic AttentionModel::traffic() const {
  Traffic sum;
  for (const KernelModel& kernel : kernels) {
    if (!kernel.setup) sum += kernel.runs * kernel.traffic;
  }
  return sum;
}

double AttentionModel::matrix_flops() const {
  double sum = 0;
  for (const KernelModel& kernel : kernels)
    sum += kernel.setup ? 0 : static_cast<double>(kernel.runs) * kernel.matrix_flops;
  return sum;
}

}  // namespace attnscope
