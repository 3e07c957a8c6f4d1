// SPDX-License-Identifier: Apache-2.0
// Device memory of the plans: kept from point to point, since a sweep asks for the same buffers again and again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/oracle/inputs.h"
#include "profiler/measure/gpu/cuda_driver.h"
#include "profiler/measure/gpu/kernel_runner.h"

namespace attnscope::gpu {

class Workspace {
 public:
  /// Keeps references to both.
  Workspace(const CudaApi& cuda, KernelRunner& runner) : cuda_(cuda), runner_(runner), stream_(runner.stream()) {}

  /// Makes every buffer of the plan available, reusing what is there, and with `noise` what KernelRunner's
  /// enqueue_write_back() reads. Throws PointEnd (out_of_memory, with needed and free bytes) before or, where another
  /// process was faster, while allocating.
  void reserve(const AttentionPlan& plan, bool noise);

  /// Enqueues what the buffers hold before the first launch: inputs (only when they are not there yet), NaN bytes in
  /// all others, and NaN bytes right behind each, so that reading past an end shows in the output; the noise, where it
  /// is new. Returns with the stream idle or busy; throws DriverError.
  void fill(const AttentionPlan& plan, const AttentionProblem& problem, InputKind kind, std::uint64_t seed);

  /// The name of a buffer that a kernel wrote past the end of; empty when there is none. Pre: the stream is idle.
  [[nodiscard]] std::string overrun(const AttentionPlan& plan) const;

  /// Pre: a buffer of the reserved plan.
  [[nodiscard]] CUdeviceptr address(const std::string& buffer) const;
  /// Pre: reserved, and filled.
  [[nodiscard]] CUdeviceptr noise() const;
  /// Bytes held, which a next plan can have.
  [[nodiscard]] std::int64_t held_bytes() const;

 private:
  struct Buffer {
    DeviceMemory memory;
    std::int64_t capacity = 0;
  };
  struct InputKey {
    AttentionProblem problem;
    InputKind kind;
    std::uint64_t seed;
    bool operator==(const InputKey&) const = default;
  };
  /// K or V of a paged cache, as block_table() places its pages.
  void upload_pages(const InputGenerator& generator, Tensor tensor, const AttentionProblem& problem,
                    CUdeviceptr target);
  void upload(const InputGenerator& generator, Tensor tensor, const AttentionProblem& problem, CUdeviceptr target);

  const CudaApi& cuda_;
  KernelRunner& runner_;
  CUstream stream_;
  std::map<std::string, Buffer> buffers_;
  std::optional<InputKey> inputs_;  ///< what q, k, v and dout hold
  bool noise_stored_ = false;
  DeviceMemory pool_;  ///< one tensor's pool on its way to the buffer
};

}  // namespace attnscope::gpu
