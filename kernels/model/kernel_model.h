// SPDX-License-Identifier: Apache-2.0
// Closed-form model of an algorithm's kernels on a device; compiles and allocates nothing.
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

/// Reason why a configuration is infeasible on a device, known before compilation and allocation.
struct Refusal {
  enum class Cause { shape, shared_memory, registers, threads, architecture };
  Cause cause = Cause::shape;
  Message reason;  ///< with the needed and the available amount
};
[[nodiscard]] std::string_view to_string(Refusal::Cause);

enum class OnChipMemory : std::uint8_t { shared, registers };

/// On-chip data of a block: "K", "S", "O", "m, l".
struct OnChipPart {
  std::string name;
  OnChipMemory place = OnChipMemory::shared;
  std::int64_t bytes = 0;  ///< per block, all stages together
  int stages = 1;          ///< ring buffers of bytes / stages each

  bool operator==(const OnChipPart&) const = default;
};

struct KernelModel {
  std::string name;  ///< short, unique in the plan: "qk", "softmax", "pv", "fwd"
  /// Runs once before the measured launches, which use its results; neither timed nor counted. Example: the forward
  /// pass if only the backward pass is measured. Setup launches come first in the plan, except `repeated` ones.
  bool setup = false;
  /// Setup launch that runs, untimed and uncounted, at each execution of the measured launches: before them, or after
  /// them if it follows them in the plan. Example: the conversion of an accumulator.
  bool repeated = false;
  /// Its blocks may start while the previous launch still runs (programmatic dependent launch, compute capability 9.0).
  /// The kernel waits before it accesses that launch's results; see device/early_start.cuh.
  bool starts_early = false;
  /// Number of launches over all GPUs. `traffic`, `operands` and `work` are per launch.
  std::int64_t runs = 1;
  bool cooperative = false;  ///< all blocks are resident and may wait for each other
  std::array<std::uint32_t, 3> cluster{1, 1, 1};
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  /// Launched blocks of a persistent grid, which process all blocks of `grid`; 0: not persistent.
  std::uint32_t persistent_blocks = 0;
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::int64_t dynamic_shared_bytes = 0;
  int registers_per_thread = 0;          ///< estimate that refusal() uses; the compiler may need slightly more or fewer
  Traffic traffic;                       ///< closed form, exact
  std::vector<OperandTraffic> operands;  ///< one entry per matrix, also without traffic; sum to `traffic`
  KernelWork work{};                     ///< closed form; input of the time model
  KernelTiming timing{};                 ///< constants of the kernel; input of the time model
  /// On-chip data of one block in address order; parts in shared memory sum to dynamic_shared_bytes. Registers for
  /// addresses, fragments and temporaries are not listed.
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

/// Returns true if more than one launch is measured; each kind then has its own record besides the sum, "all".
/// `kernels`: KernelModel or derived.
template <class Kernels>
[[nodiscard]] bool has_several_launches(const Kernels& kernels) {
  std::int64_t runs = 0;
  for (const auto& kernel : kernels) runs += kernel.setup ? 0 : kernel.runs;
  return runs > 1;
}

/// Model of an algorithm for a problem, configuration and device.
struct AttentionModel {
  std::optional<Refusal> refusal;  ///< if set, the rest is empty
  std::vector<KernelModel> kernels;
  /// Algorithm::working_set_bytes().
  std::int64_t working_set_bytes = 0;
  Schedule schedule{};
  bool reports_traffic = true;   ///< false: traffic and operands are meaningless
  bool can_predict_time = true;  ///< false: work and timing are meaningless

  [[nodiscard]] Traffic traffic() const;
  /// FLOPs of the matrix instructions of all measured launches, recomputation and masked and ragged parts of tiles
  /// included. Empty if unknown: with a refusal, or without `work`.
  [[nodiscard]] std::optional<double> executed_flops() const;
};

}  // namespace attnscope
