// SPDX-License-Identifier: GPL-3.0-or-later
// What open files hold of the configuration that is explored, as it was measured on such a GPU; where they lack it,
// what lies nearest.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ui/pages/explorer/choices.h"
#include "ui/pages/explorer/unit_bars.h"
#include "ui/process/live.h"
#include "ui/runs/point_records.h"
#include "ui/runs/workspace.h"

namespace attnscope::ui {

/// What was measured of one kernel of a point. Where `--why` did not count units, the share of active cycles of the
/// tensor pipe and the bytes of DRAM over its peak. Nothing where it was not timed.
[[nodiscard]] std::optional<UnitBars::Measured> measured_of(const PointRecord& record, const std::string& kernel,
                                                            const DeviceLimits& limits);

class RecordedPoints {
 public:
  /// Of many points it is looked aside: then find() has nothing until `found` is called.
  RecordedPoints(const Workspace& workspace, const std::function<void()>& found);

  struct Found {
    std::shared_ptr<const PointRecord> record;  ///< of the configuration itself; null of one near it
    PointSpec spec;
    QString title;             ///< of its run
    std::optional<double> ns;  ///< the median
  };
  /// Points are others: those that were asked do not stay in memory.
  void forget() {
    work_.drop();
    candidates_.reset();
    asked_ = {};
  }
  /// Returns the nearest point of that algorithm and pass, by the ratios of tile, lengths, heads and d and by the
  /// number of other differing fields. Returns nothing if no open file has one.
  [[nodiscard]] std::optional<Found> find(const ExplorerChoices& choices);
  [[nodiscard]] LiveWork& work() { return work_; }

 private:
  struct Ask {
    std::shared_ptr<const PointSet> points;
    std::string algorithm;
    Pass pass{};
    std::string device;

    [[nodiscard]] bool operator==(const Ask&) const = default;
  };
  /// The rows that may be found.
  struct Candidates {
    Ask of;
    std::vector<Row> rows;
  };
  using CandidatesPtr = std::shared_ptr<const Candidates>;
  [[nodiscard]] static CandidatesPtr candidates_of(const Ask& ask, const Outdated& outdated);
  /// Null while they are looked for.
  [[nodiscard]] const Candidates* candidates(const PointSpec& spec, const std::string& device);

  const Workspace& workspace_;
  PointRecords records_;
  CandidatesPtr candidates_;
  Ask asked_;
  bool asking_ = false;
  Live<Ask, CandidatesPtr> work_;
};

}  // namespace attnscope::ui
