// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPalette>
#include <QString>
#include <QTextBrowser>
#include <optional>
#include <span>

#include "ui/runs/point_record_reader.h"
#include "ui/runs/point_set.h"
#include "ui/runs/point_settings.h"

namespace attnscope::ui {

/// Returns all values of a point with unit and provenance; empty sections are omitted.
[[nodiscard]] QString describe_point_html(const RunInfo& run, const PointRecord& record, const QPalette& palette);
/// Same, with a row for each of `settings` that the point has.
[[nodiscard]] QString describe_point_html(const RunInfo& run, const PointRecord& record, const QPalette& palette,
                                          std::span<const Field> settings);
/// Returns the parameters of a point whose record could not be read, and the reason.
[[nodiscard]] QString describe_unreadable_point_html(const ShownPoint& point, const QString& why,
                                                     const QPalette& palette);

class DetailsPanel : public QTextBrowser {
  Q_OBJECT
 public:
  explicit DetailsPanel(QWidget* parent = nullptr);
  /// nullopt: no point is selected.
  void show_point(const std::optional<ShownPoint>& point);
  [[nodiscard]] const std::optional<ShownPoint>& point() const { return point_; }

 signals:
  void explore_requested();
  /// The file of the run was replaced by another file since the run was read.
  void file_replaced(const attnscope::ui::RunPtr& run);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void render();
  std::optional<ShownPoint> point_;
  PointRecordReader records_;
};

}  // namespace attnscope::ui
