// SPDX-License-Identifier: Apache-2.0
// Tables of what the model says of configurations: the figures of one, beside those of a pinned one, and its bytes by
// matrix.
#pragma once

#include <optional>
#include <string>

#include "kernels/registry.h"
#include "profiler/metrics/point.h"
#include "profiler/points/table.h"
#include "profiler/predict/exploration.h"

namespace attnscope::analysis {

/// One configuration of a comparison.
struct ExploredColumn {
  std::string title = {};
  std::string help = {};
  const Exploration* exploration = nullptr;
  const PointRecord* measured = nullptr;  ///< stands where nothing is predicted; null: nothing was measured
};

/// First the choices in which the configurations differ, then a row for each figure. Those of the first are compared
/// with the pinned ones; better or worse only where both are of one problem.
[[nodiscard]] Table figures_table(const ExploredColumn& now, const std::optional<ExploredColumn>& pinned,
                                  const Registry&);

/// The bytes of each matrix between SM and L2, their sum, and what DRAM sees; no row where the configuration does not
/// run.
[[nodiscard]] Table operands_table(const Exploration&);

}  // namespace attnscope::analysis
