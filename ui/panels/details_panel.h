// SPDX-License-Identifier: GPL-3.0-or-later
// The selected point: a summary, and all values folded below it. In narrow windows a strip of two lines.
#pragma once

#include <QLabel>
#include <QPushButton>
#include <QTextBrowser>
#include <QToolButton>
#include <QWidget>
#include <memory>
#include <optional>

#include "ui/panels/point_summary.h"
#include "ui/runs/point_record_reader.h"
#include "ui/runs/point_set.h"

namespace attnscope::ui {

class DetailsPanel : public QWidget {
  Q_OBJECT
 public:
  explicit DetailsPanel(QWidget* parent = nullptr);
  /// nullopt: no point is selected.
  void show_point(const std::optional<ShownPoint>& point);
  [[nodiscard]] const std::optional<ShownPoint>& point() const { return point_; }
  /// Points that the shown one is compared with.
  void set_points(std::shared_ptr<const PointSet> points);
  void set_pinned(std::optional<PinnedPoint> pinned);
  void set_strip(bool strip);
  [[nodiscard]] bool is_strip() const { return strip_->isVisibleTo(this); }
  void set_expanded(bool expanded);
  [[nodiscard]] bool is_expanded() const { return more_->isChecked(); }

 signals:
  void explore_requested();
  void expanded_changed(bool expanded);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void build_column();
  void build_strip();
  [[nodiscard]] QWidget* make_buttons();
  void render();
  void show_summary();
  void copy_command();

  std::optional<ShownPoint> point_;
  std::shared_ptr<const PointSet> points_ = std::make_shared<const PointSet>();
  std::optional<PinnedPoint> pinned_;
  std::optional<PointSummary> summary_;
  PointRecordReader records_;

  QWidget* column_ = nullptr;
  QLabel* title_ = nullptr;
  QLabel* problem_ = nullptr;
  QLabel* sentences_ = nullptr;
  QLabel* values_ = nullptr;
  QToolButton* more_ = nullptr;
  QTextBrowser* all_ = nullptr;
  QWidget* strip_ = nullptr;
  QLabel* strip_title_ = nullptr;
  QLabel* strip_values_ = nullptr;
  std::vector<QWidget*> buttons_;  ///< Hidden if no point is shown.
};

}  // namespace attnscope::ui
