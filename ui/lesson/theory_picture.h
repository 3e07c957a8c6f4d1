// SPDX-License-Identifier: GPL-3.0-or-later
// Predict, lock, reveal: by what factor the bytes grow when N, d, M, Br or Bc is twice as large. The learner drags a
// point on a logarithmic line; then model and counters stand beside it.
#pragma once

#include <vector>

#include "profiler/analysis/lesson/stage.h"
#include "ui/lesson/lesson_picture.h"

class QLabel;
class QPushButton;

namespace attnscope::ui {

class FactorLine : public QWidget {
  Q_OBJECT
 public:
  FactorLine(const LessonData& about, LessonAnswers& answers, const QString& id, const lesson::Prediction& prediction,
             QWidget* parent);

  /// Where a factor stands, and the factor at a place.
  [[nodiscard]] double place_of(double factor) const;
  [[nodiscard]] double factor_at(double x) const;
  /// The learner's.
  [[nodiscard]] double factor() const;
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return {260, sizeHint().height()}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override { drag(event); }
  void mouseMoveEvent(QMouseEvent* event) override { drag(event); }
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void drag(QMouseEvent* event);
  void choose(double factor);

  const LessonData& data_;
  LessonAnswers& answers_;
  QString id_;
  lesson::Prediction prediction_;
};

class TheoryPicture : public LessonPicture {
  Q_OBJECT
 public:
  TheoryPicture(const PictureOf& of, QWidget* parent);
  [[nodiscard]] const std::vector<FactorLine*>& lines() const { return lines_; }

 private:
  void add(const PictureOf& of, const lesson::Prediction& prediction);
  std::vector<FactorLine*> lines_;
};

}  // namespace attnscope::ui
