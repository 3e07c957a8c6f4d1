// SPDX-License-Identifier: Apache-2.0
// Options that select the points of a sweep: --preset, --axis, --algorithms, --cache-control.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "profiler/plan/sweep.h"

namespace attnscope {

/// Parses axes. Throws CommandError (usage).
[[nodiscard]] std::vector<Axis> parse_axes(const std::vector<std::string>& words);
/// Throws CommandError (usage) for an unknown algorithm.
void require_algorithms(const std::vector<std::string>& names);

/// A new seed for each recording, so that recordings do not share the order of points.
[[nodiscard]] std::uint64_t new_order_seed();

class SweepOptions {
 public:
  /// `default_preset`: used if neither a preset nor an axis is given; empty: free axes.
  SweepOptions(CLI::App& command, std::string default_preset);
  SweepOptions(const SweepOptions&) = delete;
  SweepOptions& operator=(const SweepOptions&) = delete;

  /// Returns SweepPlan::preset without planning the sweep.
  [[nodiscard]] std::string preset() const;
  /// L2 state of points without a cache axis.
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
