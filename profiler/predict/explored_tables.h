// SPDX-License-Identifier: Apache-2.0
// Tables of modeled configurations: values of one, compared with a pinned one, and bytes by matrix.
#pragma once

#include <optional>
#include <string>

#include "kernels/registry.h"
#include "profiler/metrics/point.h"
#include "profiler/points/table.h"
#include "profiler/predict/exploration.h"

namespace attnscope::analysis {

struct ExploredColumn {
  std::string title = {};
  std::string help = {};
  const Exploration* exploration = nullptr;
  const PointRecord* measured = nullptr;  ///< shown where there is no prediction; null: not measured
};

/// Rows for the fields in which the configurations differ, then one per modeled value. Values of `now` are compared
/// with the pinned ones, and rated better or worse only if both have the same problem.
[[nodiscard]] Table exploration_table(const ExploredColumn& now, const std::optional<ExploredColumn>& pinned,
                                      const Registry&);

/// Change of a time: "+9.8% (slower)", "×0.45 (faster)", "equal".
[[nodiscard]] std::string change_text(double ratio);

/// SM<->L2 bytes per matrix, their sum, and DRAM bytes. Empty if the configuration is infeasible.
[[nodiscard]] Table operands_table(const Exploration&);

}  // namespace attnscope::analysis
