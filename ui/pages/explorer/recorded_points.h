// SPDX-License-Identifier: GPL-3.0-or-later
// Points of open files with the explored configuration, measured on such a GPU.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ui/pages/explorer/choices.h"
#include "ui/pages/explorer/unit_bars.h"
#include "ui/runs/point_records.h"
#include "ui/runs/workspace.h"

namespace attnscope::ui {

/// What was measured of one kernel of a point. Where `--why` did not count units, the share of active cycles of the
/// tensor pipe and the bytes of DRAM over its peak. Nothing where it was not timed.
[[nodiscard]] std::optional<UnitBars::Measured> measured_of(const PointRecord& record, const std::string& kernel,
                                                            const DeviceLimits& limits);

/// The latest point of exactly this configuration that open files have, as such a GPU measured it; null without one.
[[nodiscard]] std::shared_ptr<const PointRecord> recorded_point(const Workspace& workspace, PointRecords& records,
                                                                const ExplorerChoices& choices);

}  // namespace attnscope::ui
