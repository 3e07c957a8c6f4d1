// SPDX-License-Identifier: GPL-3.0-or-later
// A picture of a step. lesson_picture.cpp lists them by the name that texts know them by.
#pragma once

#include <QWidget>
#include <string_view>

#include "profiler/analysis/lesson/values.h"
#include "ui/lesson/lesson_answers.h"
#include "ui/lesson/lesson_data.h"

namespace attnscope::ui {

class Transport;

class LessonPicture : public QWidget {
  Q_OBJECT
 public:
  using QWidget::QWidget;

  /// What the arrow keys and the space bar move; null where nothing moves.
  [[nodiscard]] virtual Transport* transport() const { return nullptr; }
  /// How much of the page is seen at once: one that watches several things at a time fits them in, as far as its
  /// letters stay legible.
  virtual void set_room(const QSize& /*room*/) {}
};

/// What a picture is made of.
struct PictureOf {
  const LessonData& data;
  const lesson::Step& step;
  const lesson::Setting& setting;
  LessonAnswers& answers;
};

/// Null for a name that there is not.
[[nodiscard]] LessonPicture* make_lesson_picture(std::string_view name, const PictureOf& of, QWidget* parent);

}  // namespace attnscope::ui
