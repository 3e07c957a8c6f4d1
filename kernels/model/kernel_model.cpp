// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/kernel_model.h"
#include "kernels/model/integer.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

namespace attnscope {

Traffic AttentionModel::traffic() const {
  Traffic sum;
  for (const KernelModel& kernel : kernels) {
    if (!kernel.setup) sum += kernel.runs * kernel.traffic;
  }
  return sum;
}

std::optional<double> AttentionModel::executed_flops() const {
  if (refusal || !can_predict_time) return std::nullopt;
  double sum = 0;
  for (const KernelModel& kernel : kernels)
    sum += kernel.setup ? 0 : static_cast<double>(kernel.runs) * kernel.work.tensor_flops;
  return sum;
}

}  // namespace attnscope
