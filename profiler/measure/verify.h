// SPDX-License-Identifier: Apache-2.0
// The oracle table: every algorithm on every awkward shape, each checked against the reference.
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

  bool operator==(const VerifyCase&) const = default;
};
/// "fa2 fp16 causal ... tile 128x64, ascending inputs"
[[nodiscard]] Message describe(const VerifyCase&);

/// What the named algorithms (empty: all of them) are put to. Full and causal forward attention: all shapes x head
/// dimensions x dtypes x input kinds x three tile shapes. On a subset of those: windows, key lengths, block masks,
/// dropout, gradients (under each of these, deterministic too), groups of query heads, and decoding with splits and
/// pages. Algorithms and tiles change fastest, so that a device can keep the reference of a problem and its inputs. The
/// middle tile is the algorithm's own default; the others make ragged edges and several tiles out of the small shapes,
/// the last with heads fastest. What an algorithm refuses by the shape alone, on any device, is not in the table.
[[nodiscard]] std::vector<VerifyCase> verify_cases(std::span<const std::string> algorithms, const DeviceLimits&,
                                                   const Registry&);

enum class VerifyOutcome { pass, fail, skip };
struct VerifyResult {
  VerifyOutcome outcome = VerifyOutcome::skip;
  Message reason;  ///< why it failed or was skipped, one sentence
  double max_abs_error = 0;
  double error_bound = 0;
  double rms_error = 0;
};

struct VerifySummary {
  std::size_t total = 0;
  std::size_t pass = 0;
  std::size_t fail = 0;
  std::size_t skip = 0;
  bool cancelled = false;
  Message stopped;  ///< why the rest could not be run (device unusable, nothing to verify); empty when all were
};

struct VerifyObserver {
  std::function<void(std::size_t done, std::size_t total, const BuildReport&)> on_build;
  std::function<void(std::size_t index, const VerifyCase&, const VerifyResult&)> on_case;
};

/// Runs the cases in order. A simulated device computes no output: nothing is run, and `stopped` says so.
[[nodiscard]] VerifySummary run_verify(Device&, std::span<const VerifyCase>, const MeasureOptions&,
                                       const VerifyObserver&, const CancelToken&);

}  // namespace attnscope
