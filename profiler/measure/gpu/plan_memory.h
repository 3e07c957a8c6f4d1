// SPDX-License-Identifier: Apache-2.0
// Device memory of the plans: kept from point to point, since a sweep asks for the same buffers again and again. In
// several slots, so that points that are counted together have their buffers side by side; what they only read, the
// inputs, points of one problem share.
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

  /// What inputs are made of.
  struct Inputs {
    AttentionProblem problem;
    InputKind kind;
    std::uint64_t seed;
    std::map<std::string, Place> places{};  ///< of those that are not placed as without one
    bool operator==(const Inputs&) const = default;
  };
  /// Without what of the problem is not in them.
  [[nodiscard]] static Inputs inputs_of(const AttentionProblem& problem, InputKind kind, std::uint64_t seed,
                                        const AttentionPlan& plan);

  /// From another number on all buffers are allocated anew, behind a gap and at offsets that come of it, so that the
  /// rounds of a recording sample what addresses do to a time, as another process would.
  void place(std::uint64_t placement);

  struct Besides {
    bool noise = false;  ///< what KernelRunner's enqueue_write_back() reads, which all slots share
    /// Room in front of each buffer to see what is written there, too. Those of built-in algorithms have it where their
    /// placement leaves it: it moves no buffer of theirs.
    bool room_in_front = false;
  };
  /// Makes every buffer of the plan available in a slot, reusing what is there. Where memory is short, other slots give
  /// up theirs. Throws PointEnd (out_of_memory, with needed and free bytes) before or, where another process was
  /// faster, while allocating.
  void reserve(std::size_t slot, const AttentionPlan& plan, const Inputs& inputs, Besides besides);

  /// Enqueues what the buffers hold before the first launch: inputs (only when they are not there yet), NaN bytes in
  /// all others, and NaN bytes right behind each and in front of it, so that reading past an end shows in the output;
  /// the noise, where it is new. Returns with the stream idle or busy; throws DriverError. Pre: reserved for these
  /// inputs.
  void fill(std::size_t slot, const AttentionPlan& plan, const Inputs& inputs);
  /// Nobody needs what this slot and those behind it hold; it is there for others to use.
  void release_from(std::size_t slot) { filled_.erase(filled_.lower_bound(slot), filled_.end()); }

  /// The slot's inputs, or what lies beside them, may have been written to: they are uploaded anew when they are next
  /// asked for, to each slot that shares them.
  void forget_inputs(std::size_t slot);

  /// Whether the slot still has the buffers that it was last filled with.
  [[nodiscard]] bool holds(std::size_t slot) const { return filled_.contains(slot); }
  /// Whether the noise is there.
  [[nodiscard]] bool holds_noise() const;

  /// Which buffer a kernel wrote past the end of, or in front of; empty when there is none. Pre: the stream is idle.
  [[nodiscard]] Message stray_write(std::size_t slot, const AttentionPlan& plan) const;
  /// Bytes at the beginning, in the middle and at the end of each buffer that launches write, as they are now, whatever
  /// runs.
  [[nodiscard]] std::vector<std::byte> glimpse(std::size_t slot, const AttentionPlan& plan) const;

  /// Pre: a buffer of the plan that the slot was reserved for.
  [[nodiscard]] CUdeviceptr address(std::size_t slot, const std::string& buffer) const;
  /// Pre: reserved, and filled.
  [[nodiscard]] CUdeviceptr noise() const;
  /// Bytes held, which a next plan can have.
  [[nodiscard]] std::int64_t held_bytes() const;

 private:
  /// Slot and name of what is no part of another; sets of inputs come behind the slots of points, and last the noise.
  using BufferKey = std::pair<std::size_t, std::string>;
  static const BufferKey noise_key;
  struct Buffer {
    DeviceMemory memory;
    std::int64_t capacity = 0;  ///< behind the offset
    std::int64_t offset = 0;
  };
  /// A buffer to be had, by where it is held.
  struct Wanted {
    BufferKey key;
    std::int64_t bytes;
    bool input;
    bool room_in_front;
  };
  [[nodiscard]] bool fits(const Wanted& wanted) const;
  /// A set that holds these inputs, or that no slot needs.
  [[nodiscard]] std::size_t choose_set(std::size_t slot, const AttentionPlan& plan, const Inputs& inputs,
                                       bool room_in_front) const;
  [[nodiscard]] BufferKey key_of(std::size_t slot, const BufferSpec& buffer) const;
  [[nodiscard]] const Buffer& buffer_of(std::size_t slot, const std::string& buffer) const;
  /// False when there is too little memory; what was allocated until then stays, and counts as held.
  [[nodiscard]] bool allocate_missing(const std::vector<Wanted>& wanted);
  /// K or V of a paged cache, as block_table() places its pages.
  void upload_pages(const InputGenerator& generator, Tensor tensor, const AttentionProblem& problem,
                    CUdeviceptr target);
  /// What lies beside a buffer, and what is in it where inputs leave it.
  void poison_around(std::size_t slot, const BufferSpec& buffer);
  void upload(const InputGenerator& generator, Tensor tensor, const Inputs& inputs, const BufferSpec& buffer,
              CUdeviceptr target);

  const CudaApi& cuda_;
  KernelRunner& runner_;
  CUstream stream_;
  std::map<BufferKey, Buffer> buffers_;
  std::map<std::size_t, Inputs> inputs_;       ///< what the buffers of a set hold
  std::map<std::size_t, std::size_t> set_of_;  ///< where a slot's inputs are
  struct Lies {
    BufferKey key;
    std::int64_t offset;
  };
  std::map<std::size_t, std::map<std::string, Lies>> lies_;  ///< where a slot has what its plan calls so
  std::set<std::size_t> filled_;
  bool noise_stored_ = false;
  std::uint64_t placement_ = 0;
  std::mt19937_64 random_;  ///< of the placement
  DeviceMemory gap_;
  DeviceMemory pool_;  ///< one tensor's pool on its way to the buffer
};

/// The buffers of one slot, to be read.
class SlotBuffers {
 public:
  /// Keeps a reference. Pre: the slot is reserved.
  SlotBuffers(const PlanMemory& workspace, std::size_t slot) : workspace_(workspace), slot_(slot) {}
  [[nodiscard]] CUdeviceptr address(const std::string& buffer) const { return workspace_.address(slot_, buffer); }
  [[nodiscard]] Message stray_write(const AttentionPlan& plan) const { return workspace_.stray_write(slot_, plan); }

 private:
  const PlanMemory& workspace_;
  std::size_t slot_;
};

}  // namespace attnscope::gpu
