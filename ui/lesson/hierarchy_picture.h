// SPDX-License-Identifier: GPL-3.0-or-later
// The memory hierarchy: loads on their ways and pipes that what is under way fills, then the figures as a table.
#pragma once

#include <QRectF>
#include <vector>

#include "profiler/analysis/lesson/hierarchy_flow.h"
#include "ui/lesson/lesson_picture.h"

class QSlider;

namespace attnscope::ui {

class FrameText;

/// A lane a level: its size as a square, its pipe, the load that is waited for, and what is under way.
class FlowLanes : public QWidget {
  Q_OBJECT
 public:
  FlowLanes(const LessonData& about, const lesson::Hierarchy& hierarchy, const lesson::HierarchyFlow& flow,
            QWidget* parent);

  void show_frame(std::size_t frame);
  void show_load(std::size_t load);
  /// As drawn, by lane: the pipe; the places of what is under way in it; the centre of the load, nothing without one.
  [[nodiscard]] QRectF pipe(std::size_t lane) const;
  [[nodiscard]] std::vector<QRectF> under_way(std::size_t lane) const;
  [[nodiscard]] std::optional<QPointF> waited_for(std::size_t lane) const;
  /// The two lines at its right: bandwidth reached, loads that are back.
  [[nodiscard]] QStringList texts(std::size_t lane) const;

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return {400, sizeHint().height()}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  [[nodiscard]] double line() const;
  [[nodiscard]] double lane_height() const { return 3.3 * line(); }
  [[nodiscard]] QRectF square(std::size_t lane) const;
  void paint_lane(QPainter& painter, std::size_t lane) const;

  const LessonData& data_;
  const lesson::Hierarchy& hierarchy_;
  const lesson::HierarchyFlow& flow_;
  std::size_t frame_ = 0;
  std::size_t load_ = 0;
};

class HierarchyTable : public QWidget {
  Q_OBJECT
 public:
  HierarchyTable(const LessonData& about, const lesson::Hierarchy& hierarchy, QWidget* parent);

  /// As drawn, its heading first: name, size, bandwidth, latency, bytes in flight, FLOPs a byte.
  [[nodiscard]] std::vector<QStringList> cells() const;
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return {400, sizeHint().height()}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  [[nodiscard]] QString cell(const std::optional<lesson::HierarchyFigure>& figure, lesson::Unit unit) const;

  const LessonData& data_;
  const lesson::Hierarchy& hierarchy_;
};

class HierarchyPicture : public LessonPicture {
  Q_OBJECT
 public:
  HierarchyPicture(const PictureOf& of, QWidget* parent);

  /// Null where nothing moves: nobody measured a latency.
  [[nodiscard]] Transport* transport() const override { return transport_; }
  [[nodiscard]] FlowLanes& lanes() const { return *lanes_; }
  [[nodiscard]] QSlider* loads() const { return loads_; }
  [[nodiscard]] const lesson::HierarchyFlow& flow() const { return flow_; }
  [[nodiscard]] std::vector<QStringList> cells() const { return table_->cells(); }

 private:
  void add_controls(const LessonData& about);

  lesson::Hierarchy hierarchy_;
  lesson::HierarchyFlow flow_;
  Transport* transport_ = nullptr;
  QSlider* loads_ = nullptr;
  FrameText* load_ = nullptr;
  FrameText* clock_ = nullptr;
  FlowLanes* lanes_ = nullptr;
  HierarchyTable* table_ = nullptr;
};

}  // namespace attnscope::ui
