// SPDX-License-Identifier: GPL-3.0-or-later
// One line below simulated points with the published prediction errors for their GPUs.
#pragma once

#include <set>
#include <span>
#include <string>
#include <tuple>

#include "profiler/predict/published_errors.h"
#include "ui/runs/point_set.h"
#include "ui/widgets/elided_label.h"

namespace attnscope::ui {

/// Group of simulated points with one published error.
struct SimulatedGroup {
  std::string algorithm;  ///< analysis::error_group()
  Pass pass = Pass::fwd;
  std::string gpu;        ///< "NVIDIA H200"
  std::string l2_source;  ///< GPU whose L2 model was used if this GPU's L2 was never measured; else empty.
  const analysis::PublishedErrors* errors = nullptr;  ///< see analysis::validated_errors()

  bool operator<(const SimulatedGroup& other) const {
    return std::tie(algorithm, pass, gpu, l2_source) <
           std::tie(other.algorithm, other.pass, other.gpu, other.l2_source);
  }
};
/// Returns the groups of the simulated rows among `rows`.
[[nodiscard]] std::set<SimulatedGroup> simulated_groups(const PointSet& points, std::span<const Row> rows);

/// Shows "FA2 DRAM ±0.4% (p95 1.4%), time ±5% (p95 17%)"; hidden if there are no groups.
class ErrorNote : public ElidedLabel {
  Q_OBJECT
 public:
  explicit ErrorNote(QWidget* parent = nullptr);
  void show_errors(const std::set<SimulatedGroup>& parts);
};

}  // namespace attnscope::ui
