// SPDX-License-Identifier: Apache-2.0
#include "kernels/tile_program.h"

namespace attnscope {

std::string_view to_string(Tensor tensor) {
  switch (tensor) {
    case Tensor::q:
      return "Q";
    case Tensor::k:
      return "K";
    case Tensor::v:
      return "V";
    case Tensor::o:
      return "O";
    case Tensor::s:
      return "S";
    case Tensor::p:
      return "P";
    case Tensor::o_acc:
      return "O_acc";
    case Tensor::l:
      return "l";
    case Tensor::m:
      return "m";
    case Tensor::lse:
      return "LSE";
  }
  return "?";
}

Traffic walk(const TileProgram& program) {
  Traffic sum;
  std::vector<TileAccess> accesses;
  for (std::int64_t block = 0; block < program.blocks(); ++block) {
    const std::int64_t steps = program.steps(block);
    for (std::int64_t step = 0; step < steps; ++step) {
      accesses.clear();
      program.visit(block, step, accesses);
      for (const TileAccess& access : accesses) {
        (access.access == Access::load ? sum.l2_to_sm_bytes : sum.sm_to_l2_bytes) += access.bytes();
      }
    }
  }
  return sum;
}

}  // namespace attnscope
