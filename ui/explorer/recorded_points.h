// SPDX-License-Identifier: GPL-3.0-or-later
// What open files hold of the configuration that is explored, as it was measured on such a GPU; where they lack it,
// what lies nearest.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ui/explorer/choices.h"
#include "ui/explorer/unit_bars.h"
#include "ui/runs/point_records.h"
#include "ui/runs/workspace.h"

namespace attnscope::ui {

/// What was measured of one kernel of a point. Where `--why` did not count units, the share of active cycles of the
/// tensor pipe and the bytes of DRAM over its peak. Nothing where it was not timed.
[[nodiscard]] std::optional<UnitBars::Measured> measured_of(const PointRecord& record, const std::string& kernel,
                                                            const DeviceLimits& limits);

class RecordedPoints {
 public:
  explicit RecordedPoints(const Workspace& workspace) : workspace_(workspace) {}

  struct Found {
    std::shared_ptr<const PointRecord> record;  ///< of the configuration itself; null of one near it
    PointSpec spec;
    QString title;             ///< of its run
    std::optional<double> ns;  ///< the median
  };
  /// Of one algorithm and pass; the nearest by the ratios of tile, lengths, heads and d. Nothing where no open file has
  /// one, or its file cannot be read now.
  [[nodiscard]] std::optional<Found> find(const ExplorerChoices& choices);

 private:
  using Candidate = std::pair<Row, PointSpec>;
  const std::vector<Candidate>& candidates(const PointSpec& spec, const std::string& device);

  const Workspace& workspace_;
  PointRecords records_;
  std::shared_ptr<const PointSet> points_;  ///< that the candidates are of
  std::string asked_;                       ///< algorithm, pass and device
  std::vector<Candidate> candidates_;
};

}  // namespace attnscope::ui
