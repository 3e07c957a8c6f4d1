// SPDX-License-Identifier: GPL-3.0-or-later
// All values of a point as a table.
#pragma once

#include <QPalette>
#include <QString>
#include <span>

#include "ui/runs/point_set.h"
#include "ui/runs/point_settings.h"

namespace attnscope::ui {

struct PointValues {
  QString html;
  int count = 0;  ///< rows of values
};
/// Returns all values of a point with unit and provenance, and a row for each of `settings` that the point has. Empty
/// sections are omitted.
[[nodiscard]] PointValues describe_point(const RunInfo& run, const PointRecord& record, const QPalette& palette,
                                         std::span<const Field> settings);
/// Returns the parameters of a point whose record could not be read, and the reason.
[[nodiscard]] QString describe_unreadable_point_html(const ShownPoint& point, const QString& why,
                                                     const QPalette& palette);

}  // namespace attnscope::ui
