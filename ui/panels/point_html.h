// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of one point, as rich text.
#pragma once

#include <QPalette>
#include <QString>
#include <span>

#include "ui/runs/point_set.h"
#include "ui/runs/point_settings.h"

namespace attnscope::ui {

/// Every number with its unit and where it comes from; a heading without a row is not written.
[[nodiscard]] QString describe_point_html(const RunInfo& run, const PointRecord& record, const QPalette& palette);
/// With a row for each of these settings that the point has.
[[nodiscard]] QString describe_point_html(const RunInfo& run, const PointRecord& record, const QPalette& palette,
                                          std::span<const PointSetting> settings);
/// What is left to say of a point whose record could not be read: what was asked for, and why.
[[nodiscard]] QString describe_lost_point_html(const ShownPoint& point, const QString& why, const QPalette& palette);

}  // namespace attnscope::ui
