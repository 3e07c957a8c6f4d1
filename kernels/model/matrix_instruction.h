// SPDX-License-Identifier: Apache-2.0
// The instructions that matrix products run on: each has a peak of its own.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace attnscope {

enum class MatrixInstruction : std::uint8_t {
  mma_sync,  ///< of a warp; below the peak on GPUs that have a wider one
  wgmma,     ///< of four warps, from shared memory: compute capability 9.0
};
inline constexpr std::array matrix_instructions{MatrixInstruction::mma_sync, MatrixInstruction::wgmma};
/// PTX's name: "mma.sync", "wgmma".
[[nodiscard]] constexpr std::string_view to_string(MatrixInstruction instruction) {
  return instruction == MatrixInstruction::wgmma ? "wgmma" : "mma.sync";
}

}  // namespace attnscope
