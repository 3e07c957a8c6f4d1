// SPDX-License-Identifier: Apache-2.0
// Whether what a kernel computed is attention.
#pragma once

#include <optional>
#include <string>

#include "kernels/algorithm.h"
#include "kernels/inputs.h"
#include "kernels/reference.h"
#include "profiler/gpu/kernel_runner.h"
#include "profiler/gpu/workspace.h"

namespace attnscope::gpu {

/// Judges outputs against float64 on the host: all rows of a small problem, a sample of a large one (first and last row
/// of several heads, the rest at random), so that it takes about a tenth of a second. Every element of O is looked at
/// for being finite at all, and the space behind each buffer for being untouched.
class Oracle {
 public:
  Oracle(const CudaApi& cuda, KernelRunner& runner) : cuda_(cuda), runner_(runner) {}

  /// Pre: the launches of the plan have run, the stream is idle. The reference is kept for the next tile of the same
  /// problem. Throws DriverError.
  [[nodiscard]] CheckResult judge(const AttentionPlan& plan, const AttentionProblem& problem, InputKind kind,
                                  std::uint64_t seed, const Workspace& workspace, std::chrono::milliseconds limit);

 private:
  struct Key {
    AttentionProblem problem;
    InputKind kind;
    std::uint64_t seed;
    bool operator==(const Key&) const = default;
  };
  [[nodiscard]] std::int64_t count_nonfinite(CUdeviceptr data, std::int64_t count, DType dtype,
                                             std::chrono::milliseconds limit);

  const CudaApi& cuda_;
  KernelRunner& runner_;
  DeviceMemory counter_;
  std::optional<Key> key_;
  Reference reference_;  ///< of key_
};

/// The reference rows that a problem is judged by: all of them where that is little work.
[[nodiscard]] Reference make_reference(const AttentionProblem& problem, InputKind kind, std::uint64_t seed);

}  // namespace attnscope::gpu
