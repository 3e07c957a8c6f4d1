// SPDX-License-Identifier: GPL-3.0-or-later
// One line below simulated points: the errors that were published of their GPUs.
#pragma once

#include <set>
#include <span>
#include <string>
#include <tuple>

#include "ui/runs/point_set.h"
#include "ui/widgets/elided_label.h"

namespace attnscope::ui {

/// What simulated points are of.
struct SimulatedPart {
  std::string algorithm;  ///< analysis::judged_as()
  Pass pass = Pass::fwd;
  std::string gpu;      ///< "NVIDIA H200"
  std::string l2_from;  ///< the GPU whose L2 was played where that one's was never measured; else empty

  bool operator<(const SimulatedPart& other) const {
    return std::tie(algorithm, pass, gpu, l2_from) < std::tie(other.algorithm, other.pass, other.gpu, other.l2_from);
  }
};
/// Of these rows, those whose run was simulated.
[[nodiscard]] std::set<SimulatedPart> simulated_parts(const PointSet& points, std::span<const Row> rows);

/// Shows "FA2 DRAM ±0.4% (p95 1.4%), time ±5% (p95 17%)"; hidden without parts.
class ErrorNote : public ElidedLabel {
  Q_OBJECT
 public:
  explicit ErrorNote(QWidget* parent = nullptr);
  void show_for(const std::set<SimulatedPart>& parts);
};

}  // namespace attnscope::ui
