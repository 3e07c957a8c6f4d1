// SPDX-License-Identifier: Apache-2.0
// What theory says of an algorithm's kernels on a device, closed: nothing is compiled, allocated or walked for it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/device_limits.h"
#include "kernels/model/kernel_work.h"
#include "kernels/model/schedule.h"
#include "kernels/model/tile_program.h"

namespace attnscope {

/// Why a tile cannot run on a device, before anything is compiled or allocated.
struct Refusal {
  enum class Cause { shape, shared_memory, registers, threads, architecture };
  Cause cause = Cause::shape;
  Message reason;  ///< with the figures: needed, available
};
[[nodiscard]] std::string_view to_string(Refusal::Cause);

enum class OnChipPlace : std::uint8_t { shared, registers };

/// What a block keeps on chip of one thing: "K", "S", "O", "m, l".
struct OnChipPart {
  std::string name;
  OnChipPlace place = OnChipPlace::shared;
  std::int64_t bytes = 0;  ///< a block, all stages together
  int stages = 1;          ///< buffers of a ring, of bytes / stages each

  bool operator==(const OnChipPart&) const = default;
};

/// One kernel launch as theory sees it.
struct KernelModel {
  std::string name;  ///< short and unique in the plan: "qk", "softmax", "pv", "fwd"
  /// Runs once, before the measured launches, which start from its results; neither timed nor counted: the forward pass
  /// when the backward pass is what is measured. Set-up launches come first in the plan.
  bool setup = false;
  /// Its blocks may start while the launch before it still runs (programmatic dependent launch, compute
  /// capability 9.0): the kernel itself waits before it touches what that one writes, see device/early_start.cuh.
  bool starts_early = false;
  /// Times that it is launched, by all GPUs together: `traffic`, `operands`, `work` and `matrix_flops` are of one.
  std::int64_t runs = 1;
  bool cooperative = false;  ///< all its blocks run at once and may wait for one another
  std::array<std::uint32_t, 3> cluster{1, 1, 1};
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  /// Blocks that are launched to take those of the grid, one after the other (a persistent grid); 0: all of the grid.
  std::uint32_t persistent_blocks = 0;
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::int64_t dynamic_shared_bytes = 0;
  int registers_per_thread = 0;          ///< the estimate that refusal() uses; the compiler's count may differ a little
  double matrix_flops = 0;               ///< matrix-product operations this kernel issues, tile padding left out
  Traffic traffic;                       ///< closed form, exact
  std::vector<OperandTraffic> operands;  ///< which sum to it, each matrix once; also those of which nothing crosses
  KernelWork work{};                     ///< closed form, of what a time is predicted from
  KernelTiming timing{};                 ///< the kernel's own constants, for the same
  /// Of one block, in the order of its addresses; the parts in shared memory sum to dynamic_shared_bytes. What the
  /// registers hold beside the named parts (addresses, fragments, temporaries) is in none.
  std::vector<OnChipPart> on_chip;

  [[nodiscard]] std::int64_t blocks() const { return std::int64_t{grid[0]} * grid[1] * grid[2]; }
  [[nodiscard]] std::array<std::uint32_t, 3> launched_grid() const {
    if (persistent_blocks == 0) return grid;
    return {std::min(grid[0], persistent_blocks), 1, 1};
  }
  [[nodiscard]] std::int64_t launched_blocks() const {
    const auto [x, y, z] = launched_grid();
    return std::int64_t{x} * y * z;
  }
  [[nodiscard]] int threads_per_block() const { return static_cast<int>(block[0] * block[1] * block[2]); }
  [[nodiscard]] LaunchFootprint footprint() const {
    return {.blocks = launched_blocks(),
            .threads_per_block = threads_per_block(),
            .registers_per_thread = registers_per_thread,
            .shared_bytes = dynamic_shared_bytes};
  }
};

/// Whether what is measured is more than one launch: then each kind has a record of its own beside the sum, "all".
/// `kernels`: KernelModels, or what derives from them.
template <class Kernels>
[[nodiscard]] bool several_launches(const Kernels& kernels) {
  std::int64_t runs = 0;
  for (const auto& kernel : kernels) runs += kernel.setup ? 0 : kernel.runs;
  return runs > 1;
}

/// An algorithm's answer for a problem, a configuration and a device.
struct AttentionModel {
  std::optional<Refusal> refusal;    ///< with it, the rest is empty
  std::vector<KernelModel> kernels;  ///< in stream order, set-up first
  /// Bytes that what runs at once on the device passes through again and again: while they fit in its L2, DRAM sees
  /// little of it. 0 when nothing that grows with N is cycled through.
  std::int64_t working_set_bytes = 0;
  Schedule schedule{};        ///< of several GPUs
  bool states_bytes = true;   ///< else traffic and operands mean nothing
  bool predicts_time = true;  ///< else work and timing mean nothing

  /// Of the measured kernels.
  [[nodiscard]] Traffic traffic() const;
  [[nodiscard]] double matrix_flops() const;
};

}  // namespace attnscope
