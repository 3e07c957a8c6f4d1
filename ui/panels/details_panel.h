// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTextBrowser>
#include <optional>

#include "ui/runs/point_records.h"

namespace attnscope::ui {

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
