// SPDX-License-Identifier: Apache-2.0
// Device memory of plans, reused across points. Several slots keep the buffers of points that are counted together;
// points of one problem share their inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/oracle/inputs.h"
#include "profiler/measure/gpu/driver/cuda_driver.h"
#include "profiler/measure/gpu/kernel_runner.h"

namespace attnscope::gpu {

class PlanMemory {
 public:
  /// Keeps references to both.
  PlanMemory(const CudaApi& cuda, KernelRunner& runner) : cuda_(cuda), runner_(runner), stream_(runner.stream()) {}

  /// Everything that determines the contents of the input buffers.
  struct Inputs {
    AttentionProblem problem;
    InputKind kind;
    std::uint64_t seed;
    std::map<std::string, Place> places{};  ///< Buffers whose placement is not the default.
    bool operator==(const Inputs&) const = default;
  };
  /// Drops fields of the problem that do not affect inputs.
  [[nodiscard]] static Inputs inputs_of(const AttentionProblem& problem, InputKind kind, std::uint64_t seed,
                                        const AttentionPlan& plan);

  /// A new value reallocates all buffers at other addresses (random offsets and a gap), so that the rounds of a
  /// recording sample the effect of addresses on time as separate processes would.
  void place(std::uint64_t placement);

  struct BufferOptions {
    bool noise = false;  ///< The buffer for KernelRunner::enqueue_write_back(), shared by all slots.
    /// Reserve a guard area before each buffer, to detect writes there. Without this flag, a buffer has one only if its
    /// placement leaves space.
    bool front_guard = false;
  };
  /// Allocates all buffers of the plan in a slot and reuses existing ones. If memory is short, evicts other slots.
  /// Throws PointAbort (out_of_memory, with needed and free bytes).
  void reserve(std::size_t slot, const AttentionPlan& plan, const Inputs& inputs, BufferOptions buffer_options);

  /// Enqueues the initial contents: inputs (if not already uploaded), NaN in all other buffers and in the guard areas,
  /// so that out-of-bounds reads show in the output, and noise if newly allocated. May return before the work has
  /// finished. Throws DriverError. Pre: reserve() with these inputs.
  void fill(std::size_t slot, const AttentionPlan& plan, const Inputs& inputs);
  /// Allows the buffers of this slot and all higher ones to be reused.
  void release_slots_from(std::size_t slot) { filled_.erase(filled_.lower_bound(slot), filled_.end()); }

  /// Marks the slot's inputs as possibly overwritten: they are uploaded again on the next use, for all slots that share
  /// them.
  void invalidate_inputs(std::size_t slot);

  /// Returns true if the slot still has the buffers of its last fill().
  [[nodiscard]] bool is_filled(std::size_t slot) const { return filled_.contains(slot); }
  /// Returns true if the noise buffer is allocated and filled.
  [[nodiscard]] bool has_stored_noise() const;

  /// Names the buffer that a kernel wrote past the end or in front of; empty if none. Pre: the stream is idle.
  [[nodiscard]] Message stray_write(std::size_t slot, const AttentionPlan& plan) const;
  /// Bytes at the beginning, middle and end of each output buffer, read without waiting for the stream.
  [[nodiscard]] std::vector<std::byte> sample_outputs(std::size_t slot, const AttentionPlan& plan) const;

  /// Pre: a buffer of the plan that the slot was reserved for.
  [[nodiscard]] CUdeviceptr address(std::size_t slot, const std::string& buffer) const;
  /// Pre: reserved and filled.
  [[nodiscard]] CUdeviceptr noise() const;
  /// Bytes allocated; they can be reused by the next plan.
  [[nodiscard]] std::int64_t allocated_bytes() const;

 private:
  /// Slot and name of an allocated buffer. Slot numbers: points first, then sets of inputs, last the noise buffer.
  using BufferKey = std::pair<std::size_t, std::string>;
  static const BufferKey noise_key;
  struct Buffer {
    DeviceMemory memory;
    std::int64_t capacity = 0;  ///< Without the offset.
    std::int64_t offset = 0;
  };
  struct BufferRequest {
    BufferKey key;
    std::int64_t bytes;
    bool input;
    bool front_guard;
  };
  [[nodiscard]] bool fits(const BufferRequest& request) const;
  /// Returns a set that already has these inputs, or an unused one.
  [[nodiscard]] std::size_t find_input_set(std::size_t slot, const AttentionPlan& plan, const Inputs& inputs,
                                           bool front_guard) const;
  [[nodiscard]] BufferKey key_of(std::size_t slot, const BufferSpec& buffer) const;
  [[nodiscard]] const Buffer& buffer_of(std::size_t slot, const std::string& buffer) const;
  /// Returns false if memory is insufficient; buffers allocated until then are kept.
  [[nodiscard]] bool allocate_missing(const std::vector<BufferRequest>& requests);
  /// Uploads K or V of a paged cache with the page order of block_table().
  void upload_pages(const InputGenerator& generator, Tensor tensor, const AttentionProblem& problem,
                    CUdeviceptr target);
  /// Fills the guard areas of a buffer with NaN, and the parts of it that inputs do not cover.
  void poison_guards(std::size_t slot, const BufferSpec& buffer);
  void upload(const InputGenerator& generator, Tensor tensor, const Inputs& inputs, const BufferSpec& buffer,
              CUdeviceptr target);

  const CudaApi& cuda_;
  KernelRunner& runner_;
  CUstream stream_;
  std::map<BufferKey, Buffer> buffers_;
  std::map<std::size_t, Inputs> inputs_;          ///< Contents of each input set.
  std::map<std::size_t, std::size_t> input_set_;  ///< Input set of each slot.
  struct BufferLocation {
    BufferKey key;
    std::int64_t offset;
  };
  std::map<std::size_t, std::map<std::string, BufferLocation>>
      locations_;  ///< Location of each plan buffer, by slot and name.
  std::set<std::size_t> filled_;
  bool noise_stored_ = false;
  std::uint64_t placement_ = 0;
  std::mt19937_64 random_;  ///< Seeded with the placement.
  DeviceMemory gap_;
  DeviceMemory pool_;  ///< Staging memory for one tensor's pool.
};

}  // namespace attnscope::gpu
