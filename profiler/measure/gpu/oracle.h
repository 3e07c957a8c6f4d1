// SPDX-License-Identifier: Apache-2.0
// Whether what a kernel computed is what its algorithm says that it computes.
#pragma once

#include <list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/oracle/inputs.h"
#include "kernels/oracle/references.h"
#include "profiler/measure/gpu/kernel_runner.h"
#include "profiler/measure/gpu/plan_memory.h"

namespace attnscope::gpu {

/// Judges outputs against float64 on the host: everything of a small problem, a sample of a large one (first and last
/// row and key of several heads, the rest at random), so that it takes some tenths of a second. Every element of
/// O and of the gradients is looked at for being finite at all, and the space beside each buffer for being untouched.
class Oracle {
 public:
  Oracle(const CudaApi& cuda, KernelRunner& runner) : cuda_(cuda), runner_(runner) {}

  /// Judges what the plan has of "o", "lse", "dq", "dk" and "dv" by the reference of that name. Pre: there is one; the
  /// launches of the plan have run, the stream is
  /// idle. References are kept for the next tiles, algorithms and layouts of the same problem. Throws DriverError, and
  /// PointEnd or LaunchTimeout for a service kernel.
  [[nodiscard]] CheckResult judge(std::string_view reference, const AttentionPlan& plan,
                                  const AttentionProblem& problem, InputKind kind, std::uint64_t seed,
                                  const SlotBuffers& buffers, std::chrono::milliseconds limit);

  struct Digest {
    std::string buffer;
    std::uint64_t value = 0;
    bool operator==(const Digest&) const = default;
  };
  enum class Part {
    inputs,   ///< lengths and masks too
    outputs,  ///< O and the gradients
  };
  /// Of what these buffers of the plan hold now, every byte of them: for telling whether a kernel wrote there, or wrote
  /// something else. Pre: the stream is idle.
  [[nodiscard]] std::vector<Digest> digest(Part part, const AttentionPlan& plan, const SlotBuffers& buffers,
                                           std::chrono::milliseconds limit);

  /// What the last judge() saw. Pre: judge() was called.
  [[nodiscard]] const KernelOutput& seen() const { return seen_; }

 private:
  struct Key {
    const ReferenceKind* reference;
    AttentionProblem problem;
    InputKind kind;
    std::uint64_t seed;
    std::optional<Quantisation> quantised;
    bool operator==(const Key&) const = default;
  };
  struct Known {
    Key key;
    Reference reference;
  };
  [[nodiscard]] const Reference& reference_for(const ReferenceKind&, const AttentionPlan& plan,
                                               const AttentionProblem& problem, InputKind kind, std::uint64_t seed,
                                               const std::optional<Quantisation>& quantised, const SlotBuffers& buffers,
                                               std::chrono::milliseconds limit);
  [[nodiscard]] RowStatistics row_statistics(const AttentionProblem& problem, std::int64_t instance,
                                             const SlotBuffers& buffers, std::chrono::milliseconds limit);
  [[nodiscard]] std::int64_t count_nonfinite(CUdeviceptr data, std::int64_t count, DType dtype,
                                             std::chrono::milliseconds limit);
  /// How a tensor that is judged lies in memory.
  struct Extents {
    Strides strides;
    std::int64_t heads;
    std::int64_t rows;  ///< of a head
    std::int64_t row_elements;
  };
  /// To seen(); returns what is wrong with what lies there, or between its rows.
  [[nodiscard]] Message read_outputs(const Reference&, const AttentionPlan& plan, const AttentionProblem& problem,
                                     const SlotBuffers& buffers, std::chrono::milliseconds limit);
  template <class T>
  void read(std::vector<T>& target, CUdeviceptr buffer, const std::vector<RowId>& rows, const Extents& extents) const;
  /// How many elements of these rows are not finite. Makes them what nobody has written.
  [[nodiscard]] static std::int64_t take_rows(std::span<std::uint16_t> memory, const Extents& extents,
                                              std::int64_t batch, DType dtype);

  const CudaApi& cuda_;
  KernelRunner& runner_;
  DeviceMemory counter_;
  std::list<Known> known_;  ///< the latest first
  KernelOutput seen_;
};

/// The reference rows and keys that a problem is judged by: all of them where that is little work. `statistics` saves
/// the keys of a large problem most of theirs. Of operands that are `quantised`, it is what those give.
[[nodiscard]] Reference make_reference(const ReferenceKind&, const AttentionProblem& problem, InputKind kind,
                                       std::uint64_t seed, const StatisticsSource& statistics = {},
                                       const std::optional<Quantisation>& quantised = {});

}  // namespace attnscope::gpu
