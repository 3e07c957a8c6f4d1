// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPalette>
#include <QString>
#include <QTextBrowser>
#include <optional>
#include <span>

#include "ui/runs/point_records.h"
#include "ui/runs/point_set.h"
#include "ui/runs/point_settings.h"

namespace attnscope::ui {

/// Every number with its unit and where it comes from; a heading without a row is not written.
[[nodiscard]] QString describe_point_html(const RunInfo& run, const PointRecord& record, const QPalette& palette);
/// With a row for each of these settings that the point has.
[[nodiscard]] QString describe_point_html(const RunInfo& run, const PointRecord& record, const QPalette& palette,
                                          std::span<const Field> settings);
/// What is left to say of a point whose record could not be read: what was asked for, and why.
[[nodiscard]] QString describe_lost_point_html(const ShownPoint& point, const QString& why, const QPalette& palette);

/// Everything that is known of one point, each number with its unit and where it comes from.
class DetailsPanel : public QTextBrowser {
  Q_OBJECT
 public:
  explicit DetailsPanel(QWidget* parent = nullptr);
  /// Nothing: no point is selected.
  void show_point(const std::optional<ShownPoint>& point);
  [[nodiscard]] const std::optional<ShownPoint>& point() const { return point_; }

 signals:
  /// The shown point is to be explored.
  void explore_wanted();
  /// Another file has come in the place of the one that this run of the point was read from.
  void file_replaced(const attnscope::ui::RunPtr& run);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void render();
  std::optional<ShownPoint> point_;
  PointRecords records_;
};

}  // namespace attnscope::ui
