// SPDX-License-Identifier: Apache-2.0
// --preset, --axis, --algorithms and --cache-control: which points.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "profiler/plan/sweep.h"

namespace attnscope {

/// The axes that these words name. Throws CommandError (usage).
[[nodiscard]] std::vector<Axis> parse_axes(const std::vector<std::string>& words);
/// Throws CommandError (usage) for a name that no algorithm has.
void require_algorithms(const std::vector<std::string>& names);

class SweepOptions {
 public:
  /// `default_preset` is taken when neither preset nor axis is given; empty: free axes.
  SweepOptions(CLI::App& command, std::string default_preset);
  SweepOptions(const SweepOptions&) = delete;
  SweepOptions& operator=(const SweepOptions&) = delete;

  /// SweepPlan::preset, known before anything is planned.
  [[nodiscard]] std::string preset() const;
  /// What a point's L2 holds where no axis says.
  [[nodiscard]] CacheState cache() const;
  /// Throws CommandError (usage).
  [[nodiscard]] SweepPlan plan(const DeviceLimits&, const std::function<bool()>& cancelled = {}) const;

 private:
  std::string default_preset_;
  std::string preset_;
  std::vector<std::string> axes_;
  std::vector<std::string> algorithms_;
  std::string cache_control_ = "all";
};

}  // namespace attnscope
