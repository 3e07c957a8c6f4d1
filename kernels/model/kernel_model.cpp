// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/kernel_model.h"

namespace attnscope {

Traffic AttentionModel::traffic() const {
  Traffic sum;
  for (const KernelModel& kernel : kernels) {
    if (!kernel.setup) sum += kernel.traffic;
  }
  return sum;
}

double AttentionModel::matrix_flops() const {
  double sum = 0;
  for (const KernelModel& kernel : kernels) sum += kernel.setup ? 0 : kernel.matrix_flops;
  return sum;
}

}  // namespace attnscope
