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

double AttentionModel::matrix_flops() const {
  double sum = 0;
  for (const KernelModel& kernel : kernels)
    sum += kernel.setup ? 0 : static_cast<double>(kernel.runs) * kernel.matrix_flops;
  return sum;
}

}  // namespace attnscope
