// SPDX-License-Identifier: GPL-3.0-or-later
// Points of open files with the explored configuration and GPU.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ui/pages/explorer/choices.h"
#include "ui/pages/explorer/unit_bars.h"
#include "ui/runs/point_record_reader.h"
#include "ui/runs/workspace.h"

namespace attnscope::ui {

/// Measurements of one kernel of a point. Without per-unit counters: tensor pipe active cycles, and DRAM bytes over
/// peak rate. Null if it was not timed.
[[nodiscard]] std::optional<UnitBars::MeasuredValues> measured_values(const PointRecord& record,
                                                                      const std::string& kernel,
                                                                      const DeviceLimits& limits);

/// Returns the latest point of open files with exactly this configuration, measured on such a GPU; null: none.
[[nodiscard]] std::shared_ptr<const PointRecord> recorded_point(const Workspace& workspace, PointRecordReader& records,
                                                                const ExplorerChoices& choices);

}  // namespace attnscope::ui
