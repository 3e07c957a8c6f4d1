// SPDX-License-Identifier: Apache-2.0
// Verifies kernel outputs against a reference.
#pragma once

#include <list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/oracle/inputs.h"
#include "kernels/oracle/reference.h"
#include "profiler/measure/gpu/kernel_runner.h"
#include "profiler/measure/gpu/plan_memory.h"

namespace attnscope::gpu {

/// Verifies outputs against a float64 reference on the host: all rows of a small problem, a sample of a large one
/// (first, last and random rows and keys of several heads), so that it takes a few tenths of a second. All elements of
/// O and of the gradients are checked for NaN and infinity, rows for being all 0, and the areas next to each buffer for
/// writes.
class Oracle {
 public:
  /// Outputs of launches with these inputs, in a slot of the memory.
  struct Run {
    const AttentionPlan& plan;
    const AttentionProblem& problem;
    InputKind kind;
    std::uint64_t seed;
    const PlanMemory& memory;
    std::size_t slot;
    std::chrono::milliseconds limit;  ///< Timeout of each service kernel.

    [[nodiscard]] CUdeviceptr address(const std::string& buffer) const { return memory.address(slot, buffer); }
  };
  Oracle(const CudaApi& cuda, KernelRunner& runner) : cuda_(cuda), runner_(runner) {}

  /// Checks the plan's buffers "o", "lse", "dq", "dk" and "dv" against the named reference, which must exist.
  /// References are cached for other tiles, algorithms and layouts of the same problem. Pre: the launches have run and
  /// the stream is idle. Throws DriverError; PointAbort or LaunchTimeout from a service kernel.
  [[nodiscard]] CheckResult judge(std::string_view reference, const Run& run);

  struct Digest {
    std::string buffer;
    std::uint64_t value = 0;
    bool operator==(const Digest&) const = default;
  };
  enum class Part {
    inputs,   ///< Includes lengths and masks.
    outputs,  ///< O and gradients.
  };
  /// Digests of all bytes of these buffers, to detect whether a kernel wrote to them. Pre: the stream is idle.
  [[nodiscard]] std::vector<Digest> digest(Part part, const Run& run);

  /// Outputs read by the last judge() call. Pre: judge() was called.
  [[nodiscard]] const KernelOutput& last_outputs() const { return seen_; }

 private:
  struct Key {
    const ReferenceKind* reference;
    AttentionProblem problem;
    InputKind kind;
    std::uint64_t seed;
    std::optional<Quantization> quantized;
    bool operator==(const Key&) const = default;
  };
  struct CachedReference {
    Key key;
    Reference reference;
  };
  [[nodiscard]] const Reference& reference_for(const ReferenceKind&, const Run& run,
                                               const std::optional<Quantization>& quantized);
  [[nodiscard]] RowStatistics row_statistics(const Run& run, std::int64_t instance);
  struct RowCounts {
    std::int64_t nonfinite = 0;  ///< Elements.
    std::int64_t nonzero = 0;    ///< Rows that are not all 0.
  };
  [[nodiscard]] RowCounts count_rows(CUdeviceptr data, std::int64_t count, DType dtype, std::int64_t row_elements,
                                     std::chrono::milliseconds limit);
  /// Memory layout of a checked tensor.
  struct TensorLayout {
    Strides strides;
    std::int64_t heads;
    std::int64_t rows;  ///< Rows per head.
    std::int64_t row_elements;
  };
  /// Reads the outputs into seen(). Returns an error for elements that are not finite, rows that are 0 (for normal
  /// inputs) or data between rows.
  [[nodiscard]] Message read_outputs(const Reference&, const Run& run);
  /// Reads these rows of the LSE, if there is one, into seen().
  void read_lse(const std::vector<RowId>& rows, const Run& run);
  [[nodiscard]] std::vector<float> read(DType dtype, CUdeviceptr buffer, const std::vector<RowId>& rows,
                                        const TensorLayout& extents) const;
  /// Counts as count_rows() and resets the rows to unwritten bytes.
  [[nodiscard]] static RowCounts count_and_clear_rows(std::span<std::byte> memory, const TensorLayout& extents,
                                                      std::int64_t batch, DType dtype);

  const CudaApi& cuda_;
  KernelRunner& runner_;
  DeviceMemory counter_;
  std::list<CachedReference> known_;  ///< Most recently used first.
  KernelOutput seen_;
};

/// Reference rows and keys to check a problem: all for a small problem, else a sample. `statistics` (row statistics
/// from the GPU) avoids recomputing whole rows of a large problem. If `quantized`, the reference uses the quantized
/// operands.
[[nodiscard]] Reference make_reference(const ReferenceKind&, const AttentionProblem& problem, InputKind kind,
                                       std::uint64_t seed, const StatisticsSource& statistics = {},
                                       const std::optional<Quantization>& quantized = {});

}  // namespace attnscope::gpu
