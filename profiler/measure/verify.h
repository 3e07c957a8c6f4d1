// SPDX-License-Identifier: Apache-2.0
// Verification cases: every algorithm on difficult shapes, checked against the reference.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "profiler/measure/device.h"

namespace attnscope {

struct VerifyCase {
  PointSpec spec;
  InputKind inputs = InputKind::normal;
  /// Number of the problem and inputs from which the case was derived; cases of several algorithms share it.
  std::size_t source = 0;

  bool operator==(const VerifyCase&) const = default;
};
/// "fa2 fp16 causal ... tile 128x64, ascending inputs"
[[nodiscard]] Message describe(const VerifyCase&);

/// Cases for the named algorithms (empty: all). Full and causal forward attention: all shapes x head dimensions x
/// dtypes x input kinds x three tiles. On subsets: windows, key lengths, block masks, dropout, gradients (also
/// deterministic), GQA groups, and decoding with splits and pages. Algorithms and tiles vary fastest, so that a device
/// can reuse references. The second tile is the algorithm's default; the others give ragged edges and several tiles for
/// small shapes. Shapes that an algorithm supports on no device are left out. A user-defined kernel has at least 100
/// feasible cases, 20 of them per pass, if it supports that many of the shapes.
[[nodiscard]] std::vector<VerifyCase> verify_cases(std::span<const std::string> algorithms, const DeviceLimits&,
                                                   const Registry&);

/// Every 13th problem with all its tiles and algorithms, which share one reference; the reference is the slowest part.
/// Adds cases of each algorithm and pass until 20 are feasible, or all.
[[nodiscard]] std::vector<VerifyCase> quick_cases(std::span<const VerifyCase>, const DeviceLimits&, const Registry&);

enum class VerifyOutcome { pass, fail, skip };
struct VerifyResult {
  VerifyOutcome outcome = VerifyOutcome::skip;
  Message reason;  ///< Why it failed or was skipped; one sentence.
  double max_abs_error = 0;
  double error_bound = 0;
  double rms_error = 0;
};

struct VerifySummary {
  std::size_t pass = 0;
  std::size_t fail = 0;
  std::size_t skip = 0;
  bool cancelled = false;
  /// Why the remaining cases were not run (device unusable, nothing to verify); empty if all were run.
  Message stopped;
};

using VerifyObserver = std::function<void(const VerifyCase&, const VerifyResult&)>;

/// Runs the cases in order. For a simulated device, which computes no output, runs nothing and sets `stopped`.
[[nodiscard]] VerifySummary run_verify(Device&, std::span<const VerifyCase>, const MeasureOptions&,
                                       const VerifyObserver&, const CancelToken&);

}  // namespace attnscope
